// What is said of the ways to make a mistake: each by its choices, and every choice in words can be translated.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import CATALOGUE from "../../convviz/facts/data/mistakes.json" with { type: "json" };
import { whyWrong } from "../../convviz/web/lesson/why_wrong.js";
import { choicesOf, wayOf } from "../../convviz/web/numbers/mistake_sentences.js";
import { computeStages } from "../../convviz/web/numbers/compute.js";
import { mistakenGradient } from "../../convviz/web/numbers/compute_mistake.js";
import { completeRecipe, isKnown } from "../../convviz/web/rules/recipe_steps.js";
import { fromLink } from "../../convviz/web/rules/settings_link.js";
import { tensorsOf } from "../../convviz/web/rules/settings_and_tensors.js";

const read = (/** @type {string} */ path) =>
  JSON.parse(readFileSync(new URL(`../../convviz/facts/data/${path}`, import.meta.url), "utf8"));

const SHOWN = CATALOGUE.filter(({ id }) => read("settings.json").fields.mistake.words.includes(id)).map(
  (mistake) => ({ ...mistake, ways: mistake.ways.filter(isKnown) }),
);

test("each way says which it is, and a choice in words has a sentence of its own", () => {
  const words = new Set(
    Object.entries(read("words/mistakes.json")).map(([id, text]) => /^choice\./.test(id) && text),
  );
  for (const { id, of, ways } of SHOWN) {
    assert.equal(
      new Set(ways.map((_, index) => wayOf(ways, index).replace(/^way \d+: /, ""))).size,
      ways.length,
      id,
    );
    const choices = ways
      .flatMap((way) => Object.entries(way))
      .flatMap(([step, it]) => [it, completeRecipe(of, {})[step]]);
    for (const choice of choices.filter((each) => /[a-z]{2}/.test(each)))
      assert.ok(words.has(choice), `${id}: ${choice}`);
  }
  assert.equal(
    choicesOf("grad_input", { kernel: "as it is" }),
    "kernel \u201cas it is\u201d instead of \u201crotated 180°\u201d",
  );
});

test("a wrong number's button says which way of the mistake gives it", () => {
  const settings = fromLink("v=2&grad=ones").state;
  const stages = computeStages(settings.spec, settings.loss, tensorsOf(settings), false);
  const { data } = mistakenGradient("grad_input", { kernel: "rotated 270°" }, settings.spec, stages);
  const cell = { panel: "grad_input", row: 0, column: 1 };
  const said = whyWrong({ settings, stages }, cell, String(data[1]), true).map(({ show }) => show);
  assert.ok(said.includes("Show it, way 2: kernel \u201crotated 270°\u201d"), String(said));
});
