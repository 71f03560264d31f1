// The plane in which a mistake is made, as it is then: grad_output under the kernel or as kernel, the input,
// the rotated kernel.
import { slidOver } from "../rules/grad_input_by_recipe.js";
import { cellApart, completeRecipe, linesOf } from "../rules/recipe_steps.js";
import { eachCell, planeOf } from "../rules/shapes_and_indices.js";
import { outputSizes, unfolded } from "../rules/conv_geometry.js";

/**
 * @import { Panel } from "../picture/panels.js"
 * @typedef {{ pitch: number, first: number, length: number }} Along an axis: pitch of cells, place of the
 *   first (maybe outside), length
 */

/**
 * Returns null where the mistake is in a result, or cropped away.
 * @param {Settings} settings @param {Toggle} toggle @param {Panel} panel
 * @param {{ grad_output: Tensor, input: Tensor }} stages @returns {WrongPlane | null}
 */
export function mistakenPlane({ spec }, toggle, panel, { grad_output, input }) {
  const chosen = completeRecipe(toggle.of, toggle.recipe);
  const right = completeRecipe(toggle.of, {});
  const cells = outputSizes(spec);
  if (toggle.guilty === "rotated_weight") return rotatedBack(panel);
  if (toggle.guilty === "padded_grad_output") {
    const slid = spec.padding_mode === "zeros" ? spec : unfolded(spec);
    return spread(grad_output, panel.at, slidOver(chosen, slid), slidOver(right, slid));
  }
  if (toggle.guilty === "dilated_grad_output") {
    const [apart, belongs] = [chosen, right].map((recipe) => gapsOf(recipe, spec, cells));
    return spread(grad_output, panel.at, apart, belongs);
  }
  if (toggle.guilty !== "padded_input") return null;
  const bare = spec.input_size.map((length) => ({ pitch: 1, first: 0, length }));
  const padded = spec.padding.map(([first]) => ({ pitch: 1, first, length: 0 }));
  return spread(input, panel.at, bare, padded);
}

/**
 * @param {Recipe} recipe @param {Settings["spec"]} spec @param {number[]} cells
 * @returns {Along[]}
 */
function gapsOf(recipe, spec, cells) {
  return linesOf(recipe, spec).map((line, axis) => {
    const pitch = line[recipe.gap];
    return { pitch, first: 0, length: (cells[axis] - 1) * pitch + 1 };
  });
}

/**
 * Cells apart, with zeros around.
 * @param {Tensor} tensor @param {Pair} place @param {Along[]} along
 * @param {Along[]} right @returns {WrongPlane | null}
 */
function spread(tensor, place, [down, across], right) {
  const [height, width] = tensor.shape.slice(2);
  const plane = planeOf(tensor, place);
  if (down.length <= 0 || across.length <= 0) return null;
  const values = eachCell(down.length, across.length, (below, beside) => {
    const [row, column] = [cellApart(down, below, height), cellApart(across, beside, width)];
    return row === null || column === null ? 0 : plane[row * width + column];
  });
  const from = [down, across].map(({ first }, axis) => right[axis].first - first);
  const [rows, columns] = [down.length, across.length];
  return { rows, columns, values, wrong: values.map(() => true), from: [from[0], from[1]] };
}

/** @param {Panel} panel @returns {WrongPlane} */
function rotatedBack({ tensor, at }) {
  const [rows, columns] = tensor.shape.slice(2);
  const belongs = [...planeOf(tensor, at)];
  const values = [...belongs].reverse();
  return { rows, columns, values, wrong: values.map((value, index) => value !== belongs[index]) };
}
