// Formulas are typeset from their plain text: nothing of it is lost, an index stays whole, a sum has its letters below it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

import { piecesOf } from "../../convviz/web/base/mathml.js";
import { fromPage } from "../../convviz/web/numbers/compute_in_page.js";
import { equationsOf } from "../../convviz/web/picture/panels.js";
import { formulaOf } from "../../convviz/web/picture/formulas_and_notes.js";
import { drawer, randomState } from "./conv_by_definition.mjs";

const [LETTERS, SUMS] = [/[a-z]/gi, /Σ(_[a-z]+|[ᵢₒₙ])?/g];
const SUBSCRIPTS = { ᵢ: "i", ₒ: "o", ₙ: "n" };

/** A node as text; what stands below a sum, or above a matrix, in braces. */
function written({ tag, text, children = [] }) {
  if (tag === "munder") return `∑{${written(children[1])}}`;
  if (tag === "msup") return `${written(children[0])}{${written(children[1])}}`;
  return text ?? children.map(written).join("");
}

/** The same of the plain text. */
const plainly = (formula) =>
  formula
    .replace(SUMS, (_, under) =>
      under ? `∑{${under.replace(/^_/, "").replace(/[ᵢₒₙ]/, (sign) => SUBSCRIPTS[sign])}}` : "∑",
    )
    .replaceAll("ᵀ", "{T}")
    .replace(/\s/g, "");

/** What is promised of every formula. */
function check(formula) {
  const pieces = piecesOf(formula);
  assert.ok(
    pieces.every((row) => row.length),
    `an empty piece: ${formula}`,
  );
  const texts = pieces.map((row) => row.map(written).join(""));
  assert.equal(texts.join(""), plainly(formula), "everything is there, in its order");
  for (const text of texts) {
    for (const [open, close] of ["[]", "()"]) {
      assert.equal(text.split(open).length, text.split(close).length, `${text} is broken: ${formula}`);
    }
  }
  for (const row of pieces) {
    for (const { tag, text, children } of row.flatMap((node) => [node, ...(node.children ?? [])])) {
      assert.notEqual(text === undefined, children === undefined, "letters, or what they stand for");
      if (tag === "mi" || tag === "mn") assert.ok(!/[[\](),=]/.test(text), text);
    }
    assert.ok(!/[=⊛·+−]$/.test(written(row.at(-1))), `an operator ends no piece: ${formula}`);
    assert.ok(written(row.at(-1)) !== "∑", `a sum ends no piece: ${formula}`);
  }
  return texts;
}

test("an index is never broken, whatever the line", () => {
  assert.deepEqual(
    check("grad_input[0, 1] = Σ_oij grad_output[0, 1 + o, i, j] · weight[o, 0] laid at (2i − 1, 2j)"),
    ["grad_input[0,1]", "=∑{oij}grad_output[0,1+o,i,j]", "·weight[o,0]", "laid", "at", "(2i−1,2j)"],
  );
  assert.deepEqual(check("grad_weight = Σ_n (padded_input[n, 2] ⊛ dilated_grad_output[n, 3])[:3, :3]"), [
    "grad_weight",
    "=∑{n}(padded_input[n,2]⊛dilated_grad_output[n,3])[:3,:3]",
  ]);
  assert.deepEqual(check("grad_columns = weightᵀ · grad_output, grad_input = col2im(grad_columns)"), [
    "grad_columns",
    "=weight{T}",
    "·grad_output,",
    "grad_input",
    "=col2im(grad_columns)",
  ]);
  assert.deepEqual(check("output[n, o] = Σᵢ input[n, i] · weight[o, i] + bias[o]").slice(1), [
    "=∑{i}input[n,i]",
    "·weight[o,i]",
    "+bias[o]",
  ]);
  assert.deepEqual(check("grad_bias[o] = Σ grad_output[n, o, i, j]，对 n、i 和 j 求和"), [
    "grad_bias[o]",
    "=∑grad_output[n,o,i,j]，对",
    "n、i",
    "和",
    "j",
    "求和",
  ]);
});

test("every formula of random states", () => {
  const draw = drawer(7);
  const seen = new Set();
  for (let index = 0; index < 150; index++) {
    const settings = randomState(draw);
    const { stages } = fromPage(settings, 0);
    for (const { name } of equationsOf(settings, stages)) {
      for (const view of ["window", "stamps"]) seen.add(formulaOf(settings, name, view));
    }
  }
  assert.ok(seen.size > 100, String(seen.size));
  for (const formula of seen) check(formula);
});

test("every formula of the words, in every language, with its arguments", () => {
  const folder = new URL("../../convviz/facts/i18n/languages/", import.meta.url);
  const texts = readdirSync(folder).flatMap((file) =>
    [
      ...readFileSync(new URL(file, folder), "utf8").matchAll(
        /msgctxt "words\/picture:formula[^"]*"\nmsgid "(.*)"\nmsgstr "(.+)"/g,
      ),
    ].flatMap(([, id, text]) => [id, text]),
  );
  assert.ok(texts.length > 80, String(texts.length));
  const filled = {
    no: "[0, 1]",
    nc: "[0, 2]",
    ok: "[1, 2]",
    cj: "[2, 1]",
    from_c: "2 + ",
    from_o: "4 + ",
    at: "0, 1, ",
  };
  for (const text of texts) {
    const formula = text.replace(/\{(\w+)\}/g, (_, name) =>
      name === "left" ? "grad_input" : name === "formula" ? "output = weight" : (filled[name] ?? "1"),
    );
    check(formula);
    assert.ok(formula.match(LETTERS));
  }
});
