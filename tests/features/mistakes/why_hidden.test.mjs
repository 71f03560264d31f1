// What the tab says of a mistake that shows nowhere: why, and what would show it.
import assert from "node:assert/strict";
import test from "node:test";

import MISTAKES from "../../../convviz/facts/data/mistakes.json" with { type: "json" };
import { createWhy, hidingWords } from "../../../convviz/features/mistakes/why_hidden.js";
import { hidingOf } from "../../../convviz/web/numbers/what_hides_mistake.js";
import { fromLink } from "../../../convviz/web/rules/settings_link.js";
import { timersByHand } from "../../js/page_model_fixtures.mjs";

const settingsOf = (link) => {
  const { state, notices } = fromLink(link);
  assert.deepEqual(notices, [], link);
  return state;
};

test("a reason is said with what would show the mistake", () => {
  const same = "Nobody would notice here: wrong equals right";
  const cases = [
    ["v=2", "W04", 0, "because the dilation is 1. It shows with dilation 2."],
    ["v=2", "I13", 0, "because the stride is 1. It shows with stride 2."],
    ["v=2", "I10", 0, "because no row or column is left over. It shows with stride 3."],
    ["v=2&size=3", "B01", 1, "because the output has one cell only. It shows with padding 1."],
    [
      "v=2&size=3",
      "W13",
      0,
      "because the output has one cell only, and the batch is one sample. " +
        "It shows with padding 1, or with 2 samples.",
    ],
    [
      "v=2&size=6&stride=2",
      "I11",
      0,
      "because the numbers of grad_output happen to hide it, and the padding is 0. " +
        "It shows with random numbers in grad_output and padding 1 together.",
    ],
    [
      "v=2&weight=box",
      "I01",
      0,
      "because this kernel looks the same either way: it is symmetric. " +
        "It shows with random numbers in weight.",
    ],
  ];
  for (const [link, id, way, why] of cases) {
    const { of, ways } = MISTAKES.find((mistake) => mistake.id === id);
    assert.equal(hidingWords(hidingOf(settingsOf(link), of, ways[way])), `${same}, ${why}`, `${link} ${id}`);
  }
  assert.equal(hidingWords({ reasons: [], together: false }), `${same}.`);
});

test("a reason is searched when the sliders rest, once for each picture", () => {
  const {
    of,
    ways: [way],
  } = MISTAKES.find(({ id }) => id === "I10");
  const same = "Nobody would notice here: wrong equals right";
  const found = [];
  const { waiting, later, end: rest } = timersByHand();
  const why = createWhy((words) => found.push(words), later);
  const said = (link) => why.of(settingsOf(link), of, way);
  assert.deepEqual(["v=2", "v=2&size=6", "v=2&size=7"].map(said), Array(3).fill(`${same}.`));
  rest();
  assert.deepEqual(found, [`${same}, because no row or column is left over. It shows with stride 3.`]);
  assert.equal(said("v=2&size=7&view=stamps"), found[0]);
  said("v=2");
  why.stop();
  assert.equal(waiting.size, 0);
  assert.equal(said("v=2&size=7"), found[0]);
});
