// Torch's numbers against the page's. Each tensor is recomputed from torch's own inputs to it, so that only
// one sum's rounding differs.
import { formatLong } from "../base/format.js";
import { say } from "../picture/sentences.js";
import { panelName } from "../rules/tensor_display_names.js";
import { tensorsOf } from "../rules/settings_and_tensors.js";
import { countProducts } from "../rules/conv_geometry.js";
import {
  correlate,
  fold,
  padInput,
  plusBias,
  sumOfChannels,
  tableOf,
  toPaddedInput,
  toWeight,
} from "./compute.js";
import { LOSSES } from "./losses.js";
import { MAX_PAGE_PRODUCTS } from "./compute_in_page.js";
import { indicesAt, largestOf } from "../rules/shapes_and_indices.js";

/**
 * @import { Given } from "../rules/settings_and_tensors.js"
 * @typedef {{ name: string, mine: Tensor, terms: Tensor }} Expected terms: the sum of absolute terms
 */

// A cell may be off by C roundings of its terms' absolute sum: n terms of one sign are off by some √n / 4,
// and a grad_weight has thousands. Sums of bfloat16 are kept in float32 and rounded once.
// tests/browser/test_compare_with_torch.py holds torch to it.
/** @type {Record<string, number>} */
export const C = { float32: 32, float64: 32, bfloat16: 2 };
/** @type {Record<string, number>} torch.finfo(dtype).eps */
export const EPS = { float32: 2 ** -23, float64: 2 ** -52, bfloat16: 2 ** -7 };
const TINY = 2 ** -126; // float32's smallest normal; torch may flush below

/** @param {Tensor} tensor @param {(value: number, index: number) => number} change @returns {Tensor} */
const mapped = ({ shape, data }, change) => ({ shape, data: data.map(change) });

/** @param {Tensor} tensor */
export const unsigned = (tensor) => mapped(tensor, Math.abs);

/** @param {Settings} settings @param {Stages} stages */
function expectedOf(settings, stages) {
  const { spec, transposed } = settings;
  const table = tableOf(spec);
  const given = tensorsOf(settings);
  const layer = transposed
    ? { input: "grad_output", output: "grad_input", grad: "input" }
    : { input: "input", output: "output", grad: "grad_output" };
  const byName = /** @type {Record<string, Tensor>} */ (/** @type {unknown} */ (stages));
  /**
   * @param {string} name
   * @param {(input: Tensor, weight: Tensor, grad: Tensor, bias: Tensor | null) => Tensor} compute
   */
  const twice = (name, compute) => {
    const bias = name === layer.output ? stages.bias : null;
    const terms = compute(
      unsigned(stages.input),
      unsigned(stages.weight),
      unsigned(stages.grad_output),
      bias && unsigned(bias),
    );
    return { name, mine: compute(stages.input, stages.weight, stages.grad_output, bias), terms };
  };
  // Resized or named inputs are sums, too.
  const largest = largestOf([...given.input.data, ...(settings.input.values ?? [])]);
  const inputTerms = mapped(given.input, () => largest);
  const copied = /** @type {[string, Tensor | null][]} */ ([
    ["weight", given.weight],
    ["bias", given.bias],
    ["target", given.target],
  ]);
  const grad = LOSSES[settings.loss].gradient(
    byName[layer.output],
    given.target ?? given.grad ?? given.input,
  );
  const expected = [
    { name: layer.input, mine: given.input, terms: inputTerms },
    ...copied.flatMap(([name, mine]) => (mine ? [{ name, mine, terms: unsigned(mine) }] : [])),
    twice("output", (input, weight, _, bias) =>
      plusBias(correlate(spec, table, padInput(input, spec), weight), bias),
    ),
    { name: layer.grad, mine: grad, terms: termsOfLoss(byName[layer.output], grad, given) },
    twice("grad_input", (_, weight, gradient, bias) =>
      plusBias(fold(toPaddedInput(spec, table, gradient, weight), spec), bias),
    ),
    twice("grad_weight", (input, _, gradient) => toWeight(spec, table, gradient, padInput(input, spec))),
  ];
  if (stages.bias)
    expected.push(twice("grad_bias", (input, _, gradient) => sumOfChannels(transposed ? input : gradient)));
  return /** @type {Expected[]} */ (expected);
}

/** @param {Tensor} output @param {Tensor} grad @param {Given} given @returns {Tensor} */
function termsOfLoss(output, grad, { target }) {
  const reach = (/** @type {number} */ index) =>
    target ? Math.abs(output.data[index]) + Math.abs(target.data[index]) : 0;
  return mapped(grad, (value, index) => Math.abs(value) + reach(index));
}

/**
 * Finds the first cell that is off by more than rounding. Returns null where there is none, or too much to compute.
 * @param {Settings} settings @param {Numbers} numbers
 */
export function firstDifference(settings, { stages, dtype }) {
  if (countProducts(settings.spec) > MAX_PAGE_PRODUCTS) return null;
  const theirs = /** @type {Record<string, Tensor>} */ (/** @type {unknown} */ (stages));
  for (const { name, mine, terms } of expectedOf(settings, stages)) {
    const index = mine.data.findIndex(
      (value, i) => !(Math.abs(value - theirs[name].data[i]) <= C[dtype] * EPS[dtype] * terms.data[i] + TINY),
    );
    if (index >= 0)
      return {
        name,
        place: indicesAt(mine.shape, index),
        page: mine.data[index],
        torch: theirs[name].data[index],
      };
  }
  return null;
}

/**
 * Says where page and torch first differ; the text is empty where they agree.
 * @param {Settings} settings @param {Numbers} numbers
 */
export function comparisonWords(settings, numbers) {
  const found = firstDifference(settings, numbers);
  if (!found) return "";
  const [name, place] = [panelName(found.name, settings), found.place.join(", ")];
  return say("truth.differs_from_page", {
    name,
    place,
    page: formatLong(found.page),
    torch: formatLong(found.torch),
  });
}
