// @ts-check
// The tab Race: a race that runs in a process of its own, or one that was recorded.
import WORDS from "../../../facts/words/race.json" with { type: "json" };
import { element } from "../../base/dom.js";
import { decode } from "../../base/format.js";
import { setRich } from "../../base/rich_text.js";
import { sentences } from "../../base/words.js";
import { openPane, split } from "../pane.js";
import { createKernels } from "./kernels.js";
import { RacePlots } from "./plots.js";
import { bytesOf, createMistakes, createTable } from "./results.js";
import { RaceSetup } from "./setup.js";

const say = sentences(WORDS);

/**
 * @import { Digit } from "./results.js"
 * @typedef {{ shape: number[], bytes: string }} Packed
 * @typedef {{ spec: import("../../rules/spec.js").Spec, dtype: string, scale: number, offset: number, channels:
 *   [number, number], weight: Packed, bias: Packed | null, grad_output: Packed }} Opening as lab/opening.py
 *   makes it
 */

/**
 * The settings that open a misclassified digit on the board.
 * @param {Opening} opening @param {string} pixels of the digit, in base64
 */
export function settingsOf({ spec, dtype, scale, offset, weight, bias, grad_output }, pixels) {
  const source = (/** @type {Packed} */ { shape, bytes }) => ({
    kind: "values",
    values: [...decode(bytesOf(bytes).buffer, dtype)],
    shape,
  });
  const [height, width] = spec.input_size;
  return {
    spec,
    dtype,
    transposed: false,
    lr: 0,
    // one scale for all of an equation would leave a digit's gradients pale beside the digit
    scale: "quantity",
    input: {
      kind: "values",
      values: [...bytesOf(pixels)].map((byte) => byte * scale + offset),
      shape: [1, 1, height, width],
    },
    weight: source(weight),
    bias: bias && source(bias),
    loss: "weighted_sum",
    grad: source(grad_output),
    plane: { sample: 0, out_channel: 0, in_channel: 0 },
  };
}

/** @param {import("../pane.js").PaneContext} context */
function renderRace(context) {
  return openPane(context, "race", (pane, body) => {
    let race = null;
    const setup = new RaceSetup(pane);
    const told = element("p", { class: "cv-race-told" });
    const recorded = element("p", { class: "cv-race-recorded" });
    const about = element("details", { class: "cv-muted" });
    const plots = new RacePlots(context, pane);
    const kernels = createKernels(pane);
    const table = createTable();
    const mistakes = createMistakes(open);
    body.append(
      split(
        [element("h3", {}, say("race")), element("p", {}, say("race.about")), told],
        [setup.el, setup.refused, recorded],
      ),
    );
    body.append(plots.el, kernels.el, table.el, mistakes.el, about);

    /** @param {string} layer @param {Digit} digit */
    function open(layer, digit) {
      const found = race.openings?.[layer]?.[digit.at];
      if (found) show(layer, digit, found);
      else pane.send({ type: "open", layer, at: String(digit.at) });
    }

    /** @param {string} layer @param {Digit} digit @param {Opening} opening */
    function show(layer, { at, label, found }, opening) {
      const [count, of] = opening.channels;
      const words = say("open.told", { layer, label, found, count, of });
      context.model.goTo(settingsOf(opening, race.mistakes.images[at]), words);
      pane.root.closest(".cv-app")?.scrollIntoView();
    }

    pane.onReply((reply) => {
      const layer = race?.mistakes?.layers.find(
        (/** @type {{ name: string }} */ each) => each.name === reply.layer,
      );
      const digit = layer?.digits.find((/** @type {Digit} */ each) => String(each.at) === reply.at);
      if (reply.type === "opening" && digit) show(reply.layer, digit, reply.opening);
    });

    return (data) => {
      race = data.race;
      pane.root.dataset.race = data.state;
      setup.set(data);
      setRich(told, say(data.state === "alone" || data.why_not ? "alone" : "runs"));
      recorded.hidden = !data.recorded;
      if (data.recorded)
        recorded.replaceChildren(
          say("recorded", race.made),
          " ",
          say("recorded.command"),
          " ",
          element("code", {}, race.command),
        );
      plots.set(race.plots);
      kernels.set(race.kernels);
      table.set(race.table);
      mistakes.set(race.mistakes);
      about.replaceChildren(
        element("summary", {}, say("about")),
        ...race.about.map((/** @type {string} */ line) => element("p", {}, line)),
      );
    };
  });
}

export default { render: renderRace };
