// From numbers to the board: structure and values together.
import { paddingStory } from "../picture/output_padding_sentences.js";
import { captionOf } from "../picture/band_captions.js";
import { equationsOf } from "../picture/panels.js";
import { boardStructure, boardValues } from "../picture/board_payload.js";
import { remainderStory } from "../picture/remainder_sentences.js";
import { formulaOf, lossWords, noteOf } from "../picture/formulas_and_notes.js";
import { isSingleOne } from "../rules/change_settings.js";
import { geometryOf } from "../rules/conv_geometry.js";
import { brokenOf } from "./broken_step_view_model.js";

/**
 * @import { Colorscales } from "../picture/board_payload.js"
 * @typedef {ReturnType<typeof structureWith>} Made
 * @typedef {Omit<Made["equations"][number], "items"> & { items: RowItem[] }} BandSpec
 * @typedef {Omit<Made, "equations"> & { equations: BandSpec[], version: number }} Structure
 * @typedef {ReturnType<typeof valuesWith> & { version: number }} BoardValues
 */

/**
 * The structure only if it changed.
 * @param {Colorscales} colorscales
 * @returns {(settings: Settings, numbers: Numbers) => { structure?: Structure, values: BoardValues }}
 */
export function createView(colorscales) {
  let drawn = ""; // the structure's key
  let version = 0;
  return (settings, numbers) => {
    const equations = equationsOf(settings, numbers.stages);
    const { spec, plane, bias, loss, transposed, scale, input_view, link_axes } = settings;
    const others = [bias === null, loss, transposed, scale, input_view, link_axes, isSingleOne(settings)];
    const shown = JSON.stringify([spec, plane, ...others]);
    const next = shown === drawn ? version : version + 1;
    const values = { ...valuesWith(settings, equations, numbers), version: next };
    if (next === version) return { values };
    const structure = { ...structureWith(settings, equations, colorscales), version: next };
    [drawn, version] = [shown, next]; // nothing fails from here
    return { structure, values };
  };
}

/** @param {Settings} settings @param {Equation[]} equations @param {Colorscales} colorscales */
function structureWith(settings, equations, colorscales) {
  const { spec, plane, transposed, link_axes } = settings;
  return {
    ...boardStructure(settings, equations, colorscales),
    geometry: geometryOf(spec, plane, transposed),
    loss: settings.loss,
    remainder: (transposed ? paddingStory : remainderStory)(spec, link_axes),
  };
}

/** @param {Settings} settings @param {Equation[]} equations @param {Numbers} numbers */
function valuesWith(settings, equations, { k, stages, dtype, truth, truth_ok, from }) {
  /** @param {(settings: Settings, name: string, view: string) => string} write */
  const texts = (write) =>
    Object.fromEntries(equations.map(({ name, view }) => [name, write(settings, name, view)]));
  return {
    ...boardValues(equations, stages, settings, dtype),
    step: k,
    from,
    loss: lossWords(settings.loss, stages.loss),
    truth,
    truth_ok,
    formulas: texts(formulaOf),
    captions: texts(captionOf),
    notes: texts(noteOf),
    broken: brokenOf(settings, stages, equations),
  };
}
