// The tab Race: a race that runs in a process of its own, or one that was recorded.
import { bytesOf } from "../../web/base/base64_bytes.js";
import { element } from "../../web/base/dom.js";
import { decode } from "../../web/base/format.js";
import { setRich } from "../../web/base/rich_text.js";
import { split, tab } from "../../web/tabs/pane.js";
import { code } from "../../web/tabs/pane_elements.js";
import { createKernels } from "./kernels.js";
import { RacePlots } from "./plots.js";
import { createMistakes, createTable } from "./table_and_digits.js";
import { RaceSetup } from "./setup_and_buttons.js";
import { say } from "./sentences.js";

/**
 * @import { Digit, Mistakes } from "./table_and_digits.js"
 * @typedef {{ shape: number[], bytes: string }} Packed
 * @typedef {{ spec: Spec, dtype: string, scale: number, offset: number, channels: Pair, weight:
 *   Packed, bias: Packed | null, grad_output: Packed }} Opening by lab/tab_data.py
 */

/** @param {Opening} opening @param {string} pixels base64 */
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
    // With one scale for an equation, gradients would be pale beside the digit.
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

/** @type {Build} */
function buildRace(pane, body) {
  /** @type {any} */
  let race = null;
  const setup = new RaceSetup(pane);
  const note = element("p.cv-race-note");
  const recorded = element("p.cv-race-recorded");
  const about = element("details.cv-muted");
  const plots = new RacePlots(pane);
  const kernels = createKernels(pane);
  const table = createTable();
  const mistakes = createMistakes((layer, digit) => {
    const found = race.openings?.[layer]?.[digit.at];
    if (found) show(layer, digit, found);
    else pane.send({ type: "open", layer, at: String(digit.at) });
  });
  const words = [element("h3", say("title")), element("p", say("intro")), note];
  body.append(split(words, [setup.el, setup.refused, recorded]));
  body.append(plots.el, kernels.el, table.el, mistakes.el, about);

  /** @param {string} layer @param {Digit} digit @param {Opening} opening */
  function show(layer, { at, label, found }, opening) {
    const [count, of] = opening.channels;
    pane.goTo(
      settingsOf(opening, race.mistakes.images[at]),
      say("open.told", { layer, label, found, count, of }),
    );
    pane.root.closest(".cv-app")?.scrollIntoView();
  }

  pane.onReply(({ type, layer: name, at, opening }) => {
    /** @type {Mistakes["layers"] | undefined} */
    const layers = race?.mistakes?.layers;
    const digits = layers?.find((each) => each.name === name)?.digits;
    const digit = digits?.find((each) => String(each.at) === at);
    if (type === "opening" && digit) show(name, digit, opening);
  });

  return (data) => {
    race = data.race ?? data.recorded;
    pane.root.dataset.race = data.state;
    setup.set(data);
    setRich(note, say(data.state === "alone" || data.why_not ? "alone" : "runs"));
    recorded.hidden = !data.recorded;
    if (data.recorded) {
      const made = say("recorded", race.made);
      recorded.replaceChildren(made, " ", say("recorded.command"), " ", code(race.command));
    }
    plots.set(race.plots);
    kernels.set(race.kernels);
    table.set(race.table);
    mistakes.set(race.mistakes);
    const lines = race.about.map((/** @type {string} */ line) => element("p", line));
    about.replaceChildren(element("summary", say("about")), ...lines);
  };
}

export default tab("race", buildRace);
