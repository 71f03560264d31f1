// How numbers and colours are written, read and decoded. The table is the one that tests/views/test_views.py holds Python to.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  colorOf,
  decode,
  formatApart,
  formatLong,
  formatNumber,
  fullNumber,
  needsWhiteInk,
  parseNumber,
} from "../../convviz/web/base/format.js";

const table = JSON.parse(readFileSync(new URL("../views/format_cases.json", import.meta.url), "utf8"));

test("numbers are written as Python writes them", () => {
  for (const [value, text] of table.numbers) assert.equal(formatNumber(Number(value)), text, value);
});

test("a number has one form short and long", () => {
  for (const value of table.numbers.map(([text]) => Number(text)).filter(Number.isFinite)) {
    const [short, long] = [formatNumber(value), formatLong(value)];
    assert.equal(short.includes("e"), long.includes("e"), `${short} beside ${long}`);
    if (Number.isInteger(value) && Math.abs(value) < 999_999.5) assert.equal(short, long);
  }
  assert.deepEqual([formatNumber(44410.25), formatLong(44410.25)], ["44410", "44410.3"]);
});

test("different numbers look different", () => {
  assert.deepEqual(formatApart(0.005, 0.0021, 0.0042), ["0.005", "0.002", "0.004"]);
  assert.deepEqual(formatApart(0.004, 0.00198, 0.00396), ["0.004", "0.00198", "0.00396"]);
  assert.deepEqual(formatApart(95.01, 95.04), ["95.01", "95.04"]);
  assert.deepEqual(formatApart(2, 2), ["2", "2"]);
});

test("every number that a cell shows can be typed", () => {
  for (const [value, text] of table.numbers) {
    const number = Number(value);
    if (!Number.isFinite(number) || Math.abs(number) > 1e308) continue;
    assert.notEqual(parseNumber(text), null, text);
    for (const dtype of ["float32", "float64"])
      assert.notEqual(parseNumber(fullNumber(number, dtype)), null, value);
  }
});

test("typed numbers", () => {
  const read = {
    0: 0,
    "-0": -0,
    1.5: 1.5,
    " 2 ": 2,
    "+3": 3,
    "\u22124": -4,
    "-5.25": -5.25,
    "1,5": 1.5,
    "\u22120,5": -0.5,
    ".5": 0.5,
    "5.": 5,
    "1e3": 1000,
    "1E-2": 0.01,
    "1e\u22122": 0.01,
    "\u22121.2e\u22125": -1.2e-5,
    "007": 7,
  };
  for (const [text, value] of Object.entries(read)) assert.ok(Object.is(parseNumber(text), value), text);
});

test("what is no finite number is refused", () => {
  const refused = [
    "",
    " ",
    "-",
    ".",
    ",",
    "e3",
    "1e",
    "abc",
    "1 2",
    "0x10",
    "1_000",
    "1,2,3",
    "1.2.3",
    "--1",
    "+-1",
    "Infinity",
    "NaN",
    "1e999",
    "-1e999",
    "1n",
    "true",
    "null",
    "[1]",
    "1/2",
  ];
  for (const text of refused) assert.equal(parseNumber(text), null, text);
});

test("full numbers keep what their format really has", () => {
  assert.equal(fullNumber(Math.fround(0.1), "float32"), "0.1");
  assert.equal(fullNumber(-1.5, "float64"), "\u22121.5");
  assert.equal(fullNumber(0, "float32"), "0");
  assert.equal(fullNumber(NaN, "float32"), "nan");
  assert.equal(fullNumber(-Infinity, "float64"), "\u2212\u221e");
  assert.equal(fullNumber(16777216, "float32"), "16777216");
  assert.ok(!fullNumber(-1e-7, "float64").includes("-"), "one kind of minus sign in one number");
});

test("a full number that is typed back changes nothing that can be seen", () => {
  // Deterministic numbers of every size, from a linear congruential generator.
  let state = 1n;
  const next = () =>
    Number((state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn) >> 11n) /
    2 ** 53;
  for (let i = 0; i < 5000; i++) {
    const value = (next() - 0.5) * 10 ** Math.floor(next() * 8 - 3);
    const single = Math.fround(value);
    assert.equal(Math.fround(parseNumber(fullNumber(single, "float32"))), single, `float32 ${single}`);
    const double = parseNumber(fullNumber(value, "float64"));
    assert.ok(Math.abs(double - value) <= 1e-15 * Math.abs(value), `float64 ${value}`);
  }
});

test("colours are Python's", () => {
  for (const [name, position, expected] of table.colors) {
    const color = colorOf(table.colorscales[name], (2 * position - 1) * 7, 7);
    color.forEach((part, k) => assert.ok(Math.abs(part - expected[k]) < 1e-4, `${name} ${position}`));
  }
});

test("colours beyond the limit are those at the ends", () => {
  for (const scale of Object.values(table.colorscales)) {
    for (const sign of [-1, 1]) {
      assert.deepEqual(colorOf(scale, sign * 99, 7), colorOf(scale, sign * 7, 7));
      assert.deepEqual(colorOf(scale, sign * Infinity, 7), colorOf(scale, sign * 7, 7));
    }
  }
});

test("the ink that is chosen can be read on every colour", () => {
  const luminance = (color) => {
    const [r, g, b] = color.map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const [name, scale] of Object.entries(table.colorscales)) {
    for (let step = 0; step <= 200; step++) {
      const color = colorOf(scale, step / 100 - 1, 1);
      const white = needsWhiteInk(color);
      const contrast = white ? 1.05 / (luminance(color) + 0.05) : (luminance(color) + 0.05) / 0.05;
      assert.ok(contrast >= 4.5, `${name} ${step}: ${contrast}`);
    }
  }
});

test("bytes become numbers wherever they start in a message", () => {
  for (const [dtype, Kind] of [
    ["float32", Float32Array],
    ["float64", Float64Array],
  ]) {
    const numbers = Kind.from([0, -1.5, 3e7, NaN, Infinity]);
    for (let offset = 0; offset < 9; offset++) {
      const message = new Uint8Array(offset + numbers.byteLength + 3).fill(255);
      message.set(new Uint8Array(numbers.buffer), offset);
      const wire = new DataView(message.buffer, offset, numbers.byteLength);
      assert.deepEqual(decode(wire, dtype), numbers, `${dtype} at ${offset}`);
    }
    assert.deepEqual(decode(numbers.buffer, dtype), numbers);
  }
  assert.equal(decode(new DataView(new ArrayBuffer(0)), "float32").length, 0);
});

test("a page without a kernel passes plain lists", () => {
  const list = [1, 2, 3];
  assert.equal(decode(list, "float32"), list);
});
