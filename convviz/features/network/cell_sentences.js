// The sentence below the maps: a cell's value and gradient, what is done with it next, and what it depends on.
import { numberText } from "./cell_numbers.js";
import { countOfField, spanOf } from "./masks.js";
import { readerSentence } from "./reader_sentences.js";
import { dimsOf } from "./relations.js";
import { cellText, nameOf, say } from "./sentences.js";

/**
 * @param {import("./reader_sentences.js").Seen} seen @param {number} operation @param {number[]} cell
 * @param {import("./fields.js").Field} receptive
 */
export function cellSentence(seen, operation, cell, receptive) {
  const { network, back } = seen;
  const { shape } = network.operations[operation];
  const where = {
    cell: cellText(network.operations[operation], cell),
    value: numberText(network.planes[operation], shape, cell),
  };
  const gradient = numberText(back.planes[operation], shape, cell);
  // Where nothing came back, what its readers do with a gradient does not speak of it.
  const said = back.planes[operation]
    ? [say("cell.value", { ...where, gradient }), readerSentence(seen, operation, cell)]
    : [say("cell.value_only", where)];
  return [...said, fieldSentence(network, operation, receptive)].filter(Boolean).join(" ");
}

/** @param {NetworkData} network @param {number} operation @param {import("./fields.js").Field} receptive */
function fieldSentence({ operations }, operation, { masks, unknown }) {
  if (operations[operation].kind === "input") return "";
  const ends = [...unknown].map((index) => nameOf(operations[index]));
  const sentences = operations.flatMap((input) => {
    const found = masks.get(input.index);
    if (input.kind !== "input" || !found) return [];
    const [, height, width] = dimsOf(input.shape) ?? [1, 1, 1];
    const span = spanOf(found, width);
    const name = nameOf(input);
    if (!span || height * width === 1) return [say("field.count", { name, count: countOfField(found) })];
    const { rows, columns, count } = span;
    if (count === height * width) return [say("field.all", { name, rows, columns })];
    if (count === rows * columns) return [say("field.box", { name, rows, columns })];
    return [say("field.holes", { name, rows, columns, count })];
  });
  if (ends.length) sentences.push(say("field.ends", { names: [...new Set(ends)].join(", ") }));
  return sentences.join(" ");
}
