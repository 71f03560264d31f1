// The tab My numbers: what programs print is read, and what is said of it is so.
import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync, readdirSync } from "node:fs";
import WORDS from "../../../convviz/features/pasted/words.json" with { type: "json" };
import { computeStages } from "../../../convviz/web/numbers/compute.js";
import { mistakenGradient } from "../../../convviz/web/numbers/compute_mistake.js";
import { replaced, tensorsOf } from "../../../convviz/web/rules/settings_and_tensors.js";
import { fromLink } from "../../../convviz/web/rules/settings_link.js";
import { FORMS, exampleText, givenOf } from "../../../convviz/features/pasted/example_text.js";
import { explain, mistakesOf, resultBy, rightOf } from "../../../convviz/features/pasted/explain_numbers.js";
import { Unreadable } from "../../../convviz/features/pasted/printed_tokens.js";
import { isNpy, listsOf, readNpy } from "../../../convviz/features/pasted/read_npy.js";
import { readNumbers } from "../../../convviz/features/pasted/read_numbers.js";
import { tellingApart } from "../../../convviz/features/pasted/tell_apart.js";
import { problemWords, verdictWords } from "../../../convviz/features/pasted/verdict_sentences.js";
import { drawer, randomState } from "../../js/conv_by_definition.mjs";
import { PRINT, npyOf } from "../../js/printed_numbers.mjs";
import { falseReasons } from "../../js/reasons_checked_anew.mjs";

const FOLDER = new URL("../../../convviz/facts/data/mistakes/", import.meta.url);
const MISTAKES = readdirSync(FOLDER).map((name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")));
const RESULTS = ["output", "grad_input", "grad_weight", "grad_bias"];

function exampleOf(settings) {
  const { spec, loss, transposed } = settings;
  return { settings, stages: computeStages(spec, loss, tensorsOf(settings), transposed) };
}
const at = (link) => exampleOf(fromLink(link).state);

function randomExample(draw) {
  const random = { input: { kind: "random" }, weight: { kind: "random" }, transposed: false };
  return exampleOf(replaced(randomState(draw), { ...random, seed: draw([...Array(999).keys()]) }));
}

test("what programs print is read, with its shape", () => {
  const flat = [1, 2, 3, 4];
  const read = {
    "[[1. 2.]\n [3. 4.]]": [[2, 2], flat],
    "array([[1., 2.],\n       [3., 4.]], dtype=float32)": [[2, 2], flat],
    "tensor([[[1., 2.],\n [3., 4.]]], device='cuda:0', grad_fn=<ConvolutionBackward0>)": [[1, 2, 2], flat],
    "(tensor([[1.], [2.]]), None, None)": [
      [1, 2, 1],
      [1, 2],
    ],
    "tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)": [[2, 2], flat],
    '{"loss": 3, "grad_input": [[1, 2], [3, 4]]}': [[2, 2], flat],
    "const float g[2][2] = {{1.f, 2.0f}, {3, 4}};": [[2, 2], flat],
    "2\u00d72 Matrix{Float64}:\n 1.0  2.0\n 3.0  4.0": [[2, 2], flat],
    "2-element Vector{Float32}:\n 1.0f0\n 2.0": [
      [2, 1],
      [1, 2],
    ],
    "Float64[1.0 2.0; 3.0 4.0]": [[2, 2], flat],
    "g =\n\n   1.0e+03 *\n\n    0.0010    0.0020\n    0.0030    1.2346\n": [
      [2, 2],
      [1, 2, 3, 1234.6],
    ],
    "ans =\n\n Columns 1 through 2:\n\n   1   2\n   5   6\n\n Columns 3 and 4:\n\n   3   4\n   7   8\n": [
      [2, 4],
      [1, 2, 3, 4, 5, 6, 7, 8],
    ],
    "1,2\r\n3,4\r\n": [[2, 2], flat],
    "1,5;2,5\n3;4": [
      [2, 2],
      [1.5, 2.5, 3, 4],
    ],
    " 1  2\n 3  4\n\n-5 \u22126\n 7e0 .8e1": [
      [2, 2, 2],
      [1, 2, 3, 4, -5, -6, 7, 8],
    ],
    "[nan, -inf, Infinity]": [[3], [NaN, -Infinity, Infinity]],
    "tensor([], size=(1, 0))": [[0], []],
  };
  for (const [text, [shape, data]] of Object.entries(read)) {
    const found = readNumbers(text, "grad_input");
    assert.deepEqual([found.shape, [...found.data]], [shape, data], text);
  }
});

test("what does not parse is said with its line and column", () => {
  const wrong = {
    "[[1, 2],\n [3 4, 5]]": ["ragged", 2, 2],
    "[[1, 2], [3, x]]": ["word", 1, 14],
    "[1, , 2]": ["empty", 1, 5],
    "[[1, 2], [3, 4]": ["open", 1, 1],
    "[1, 2}": ["close", 1, 6],
    "[[0. 1. ... 2.]]": ["cut", 1, 9],
    "1,2\n3": ["ragged", 2, 1],
    "1 2\n3 foo": ["word", 2, 3],
    "[1, [2, 3]]": ["mixed", 1, 5],
    "(tensor([1.]), tensor([2.]))": ["several", 1, 23],
    "1 2\n\n3 4\n5 6": ["planes", 3, 1],
    hello: ["word", 1, 1],
    "  \n": ["nothing", 0, 0],
  };
  for (const [text, wanted] of Object.entries(wrong))
    assert.throws(
      () => readNumbers(text),
      (error) => {
        assert.ok(error instanceof Unreadable, `${text}: ${error}`);
        assert.deepEqual([error.id, error.line, error.column], wanted, text);
        assert.ok(problemWords(error).length > 10);
        return true;
      },
    );
});

test("a .npy file becomes text, in either order; what it cannot read it says", () => {
  const tensor = { shape: [2, 3], data: [1, 2.5, -3, 4, 5, 6] };
  const file = npyOf(tensor);
  assert.ok(isNpy(file));
  const { shape, data } = readNumbers(listsOf(readNpy(file)));
  assert.deepEqual([shape, [...data]], [tensor.shape, tensor.data]);
  const turned = readNpy(npyOf({ shape: [2, 3], data: [1, 4, 2.5, 5, -3, 6] }, { fortran: true }));
  assert.deepEqual([...turned.data], tensor.data);
  const text = new Uint8Array(file.slice(0));
  text.set(
    [..."<c8"].map((letter) => letter.charCodeAt(0)),
    new TextDecoder().decode(text).indexOf("<f4"),
  );
  assert.throws(() => readNpy(text.buffer), Unreadable);
  assert.ok(!isNpy(new TextEncoder().encode("1,2").buffer));
});

/** The lines that give a tensor. */
function linesOf(text, form, name) {
  if (form === "json") return text;
  const start = text.search(new RegExp(`^(const double )?${name}\\b`, "m"));
  const end = { numpy: "dtype", torch: "dtype", cpp: ";\n", matlab: ";\n", julia: "\n" }[form];
  return start < 0
    ? ""
    : `${text.slice(start, text.indexOf(end, start))}${"numpy torch".includes(form) ? ")" : ""}`;
}

for (const form of FORMS)
  test(`the example for ${form} has every given tensor, which reads back`, () => {
    for (const link of [
      "v=2&bias=1",
      "v=2&in_channels=2&padding=1,0x2&mode=reflect",
      "v=2&transposed=1&stride=2",
    ]) {
      const example = at(link);
      const text = exampleText(form, example, "Compute");
      for (const [name, { data, shape }] of givenOf(example)) {
        const lines = linesOf(text, form, name);
        const many = shape.length === 4 && shape[0] * shape[1] > 1;
        if (many && (form === "matlab" || form === "julia"))
          assert.match(lines, new RegExp(`reshape\\(\\w*\\[${[...data].join(" ")}\\], .${shape[3]}`));
        else assert.deepEqual([...readNumbers(lines, name).data], [...data], lines);
      }
    }
  });

function assertRight(asked) {
  for (const format of Object.keys(PRINT)) {
    const text = PRINT[format](rightOf(asked));
    assert.ok(
      explain(readNumbers(text, "result"), asked, MISTAKES).right,
      `${asked.of} as ${format}: ${text}`,
    );
  }
}

function assertNamed(asked, mistake, way, format) {
  const tensor = resultBy(asked.of, way, asked.settings.spec, asked.stages)?.tensor;
  if (!tensor?.data.length) return "impossible";
  const pasted = readNumbers(PRINT[format](tensor), "result");
  const verdict = explain(pasted, asked, MISTAKES);
  const about = `${mistake.id} as ${format} at ${JSON.stringify(asked.settings.spec)}`;
  const ids = verdict.mistakes.map((found) => found.mistake.id);
  assert.ok(verdict.right || ids.includes(mistake.id), about);
  assert.deepEqual(falseReasons(verdict, pasted, asked), [], about);
  assert.ok(verdictWords(verdict, pasted, asked).every(Boolean));
  return verdict.right ? "hidden" : "named";
}

test("right numbers are right in every format, and every mistake is named, alone or with those that coincide", () => {
  const draw = drawer(5);
  const met = { named: 0, hidden: 0, impossible: 0 };
  for (let round = 0; round < 14; round++) {
    const example = randomExample(draw);
    for (const of of RESULTS) {
      assertRight({ ...example, of });
      for (const mistake of mistakesOf(MISTAKES, of))
        met[assertNamed({ ...example, of }, mistake, draw(mistake.ways), draw(Object.keys(PRINT)))]++;
    }
  }
  assert.ok(met.named > 200, JSON.stringify(met));
});

/** By what they are: numbers made of the right ones. */
function variants({ shape, data }) {
  const [n, c, h, w] = shape;
  const value = (i, j, y, x) => data[((i * c + j) * h + y) * w + x];
  const made = (sizes, of) => {
    const found = [];
    for (let i = 0; i < sizes[0]; i++)
      for (let j = 0; j < sizes[1]; j++)
        for (let y = 0; y < sizes[2]; y++) for (let x = 0; x < sizes[3]; x++) found.push(of(i, j, y, x));
    return { shape: sizes, data: found };
  };
  const each = (of) => ({ shape, data: [...data].map(of) });
  return {
    transposed: made([n, c, w, h], (i, j, y, x) => value(i, j, x, y)),
    rotated_180: made(shape, (i, j, y, x) => value(i, j, h - 1 - y, w - 1 - x)),
    flipped_down: made(shape, (i, j, y, x) => value(i, j, h - 1 - y, x)),
    layout: made([n, h, w, c], (i, y, x, j) => value(i, j, y, x)),
    factor: each((number) => number * 3),
    offset: each((number) => number + 1.5),
    offset_by_channel: made(shape, (i, j, y, x) => value(i, j, y, x) + 2 * j + 1),
    cut: each(Math.trunc),
    bfloat16: each((number) => {
      const bits = new DataView(new ArrayBuffer(4));
      bits.setFloat32(0, number);
      const word = bits.getUint32(0);
      bits.setUint32(0, (word + 0x7fff + ((word >> 16) & 1)) & 0xffff0000);
      return bits.getFloat32(0);
    }),
    cropped: made([n, c, h - 2, w - 1], (i, j, y, x) => value(i, j, y + 1, x + 1)),
    bordered: made([n, c, h + 2, w + 2], (i, j, y, x) =>
      y && x && y <= h && x <= w ? value(i, j, y - 1, x - 1) : 0,
    ),
    missing_row: made([n, c, h - 1, w], (i, j, y, x) => value(i, j, y + Number(y >= 2), x)),
    missing_column: made([n, c, h, w - 1], (i, j, y, x) => value(i, j, y, x + Number(x >= 2))),
    shifted: made(shape, (i, j, y, x) => (y >= 1 ? value(i, j, y - 1, x) : 0)),
    zeros: each(() => 0),
  };
}

test("what is no mistake of the catalogue is named by what it is", () => {
  const example = at("v=2&size=6x5&in_channels=3&batch=2&input=random&weight=random&grad=random&seed=3");
  const asked = { ...example, of: "grad_input" };
  for (const [kind, tensor] of Object.entries(variants(rightOf(asked)))) {
    const pasted = readNumbers(PRINT.lists(tensor));
    const verdict = explain(pasted, asked, MISTAKES);
    const kinds = verdict.near.map((near) => near.kind);
    assert.ok(
      kinds.includes(kind),
      `${kind}: ${JSON.stringify([kinds, verdict.mistakes.map((each) => each.mistake.id)])}`,
    );
    assert.deepEqual(falseReasons(verdict, pasted, asked), [], kind);
    assert.ok(`near.${kind}` in WORDS);
  }
  const other = explain(readNumbers(PRINT.numpy(example.stages.output)), asked, MISTAKES);
  assert.deepEqual(other.near, [{ kind: "other", values: { tensor: "output" } }]);
});

test("of random wrong arrays nothing is said that is not so", () => {
  const draw = drawer(8);
  for (let round = 0; round < 150; round++) {
    const asked = { ...randomExample(draw), of: draw(RESULTS) };
    const { shape, data } = rightOf(asked);
    const numbers = [...data];
    for (let times = draw([1, 2, 40]); times; times--)
      numbers[draw([...numbers.keys()])] = draw([0, 1, -2, 0.25]);
    const pasted = readNumbers(PRINT[draw(Object.keys(PRINT))]({ shape, data: numbers }), "result");
    assert.deepEqual(falseReasons(explain(pasted, asked, MISTAKES), pasted, asked), []);
  }
});

test("NaN is said first, and no reason with it", () => {
  const asked = { ...at("v=2"), of: "grad_input" };
  const data = rightOf(asked).data.map((value, index) => (index === 3 ? NaN : value));
  const pasted = readNumbers(PRINT.lists({ shape: [5, 5], data }));
  const verdict = explain(pasted, asked, MISTAKES);
  assert.deepEqual([verdict.nans, verdict.mistakes, verdict.near, verdict.wrong], [1, [], [], [3]]);
  assert.match(verdictWords(verdict, pasted, asked)[0], /1 of the numbers is NaN/);
});

test("mistakes that coincide get an example in which they differ", () => {
  const asked = { ...at("v=2"), of: "grad_input" };
  const wrong = mistakenGradient("grad_input", { kernel: "as it is" }, asked.settings.spec, asked.stages);
  const { mistakes } = explain(readNumbers(PRINT.numpy(wrong)), asked, MISTAKES);
  assert.deepEqual(
    mistakes.map(({ mistake }) => mistake.id),
    ["I01", "I06"],
  );
  const { link, parts } = tellingApart(asked.settings, "grad_input", mistakes);
  assert.equal(parts, 2);
  const there = at(link);
  const texts = mistakes.map(({ way }) =>
    [...mistakenGradient("grad_input", way, there.settings.spec, there.stages).data].join(),
  );
  assert.notEqual(texts[0], texts[1]);
  assert.equal(tellingApart(asked.settings, "grad_input", [mistakes[0], mistakes[0]]), null);
});
