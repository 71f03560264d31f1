// The app's controls in their groups: native inputs with labels, made once and kept in step.
import NAMES from "../../facts/data/names.json" with { type: "json" };
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { element } from "../base/dom.js";
import { createPopover } from "../base/menu.js";
import { say } from "../base/board_sentences.js";
import { makersOf } from "./makers_by_name.js";

/** @type {Record<string, string>} */
const TITLES = NAMES.groups;
/** @type {Record<string, string>} */
const KERNEL_TITLES = NAMES.groups_of_the_kernel;
/** @type {Record<string, string[]>} */
const KERNEL_CONTROLS = SETTINGS.controls_of_the_kernel;
const OF_THE_KERNEL = ["preset", "weight", "turn"]; // these controls stand together
const MOVED = ["weight", "grad", "bias", "target"]; // sliders do not depend on their numbers

/**
 * @param {Model} model @param {string[]} chosen names of groups and of
 *   controls
 * @param {() => HTMLElement} drawSlider @param {Follow} follow
 * @returns {{ primary: HTMLElement[], more: HTMLElement[] }} primary: always visible, in blocks
 */
export function createControls(model, chosen, drawSlider, follow) {
  const makers = makersOf(model, drawSlider, follow);
  /** @type {import("./control_parts.js").Part["refresh"][]} */
  const refreshers = [];
  /** @param {string[]} names */
  const make = (names) => {
    const parts = names.flatMap((name) => makers[name]());
    refreshers.push(...parts.map((part) => part.refresh));
    return parts.map((part) => part.el);
  };
  const groups = Object.entries(SETTINGS.controls).map(([group, names]) => {
    const ofKernel = (KERNEL_CONTROLS[group] ?? []).filter((name) => chosen.includes(name));
    const wanted = [...ofKernel, ...names.filter((name) => chosen.includes(group) || chosen.includes(name))];
    return { wanted, title: (ofKernel.length && KERNEL_TITLES[group]) || TITLES[group] };
  });
  const all = groups.flatMap(({ wanted }) => wanted);
  const first = SETTINGS.primary_controls.filter((name) => all.includes(name));
  const isOfKernel = (/** @type {string} */ name) => OF_THE_KERNEL.includes(name);
  const blocks = { kernel: first.filter(isOfKernel), geometry: first.filter((name) => !isOfKernel(name)) };
  const primary = Object.entries(blocks).flatMap(([block, names]) =>
    names.length ? [element(`div.cv-block.cv-block-${block}`, ...make(names))] : [],
  );
  /** @param {(name: string) => boolean} belongs */
  const fieldsets = (belongs) =>
    groups.flatMap(({ wanted, title }) => {
      const names = wanted.filter((name) => !first.includes(name) && belongs(name));
      return names.length ? [element("fieldset.cv-group", element("legend", title), ...make(names))] : [];
    });
  const [common, advanced] = [true, false].map((is) =>
    fieldsets((name) => SETTINGS.more_controls.includes(name) === is),
  );
  let seen = {};
  follow("settings", () => {
    const settings = model.settings();
    const isSame = Object.keys(settings).every((key) => MOVED.includes(key) || settings[key] === seen[key]);
    seen = settings;
    for (const refresh of refreshers) refresh(settings, isSame); // after a refusal, too
  });
  return { primary, more: moreOf(common, advanced) };
}

/**
 * The rarest are folded once more.
 * @param {HTMLElement[]} common @param {HTMLElement[]} advanced @returns {HTMLElement[]}
 */
function moreOf(common, advanced) {
  const folded =
    common.length && advanced.length
      ? [element("details.cv-advanced", element("summary", say("advanced")), ...advanced)]
      : advanced;
  return common.length + folded.length
    ? [
        createPopover(
          "cv-hanging.cv-more-controls",
          element("summary", say("more")),
          element("div.cv-popover", ...common, ...folded),
        ),
      ]
    : [];
}
