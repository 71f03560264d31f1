// What hides a mistake: each reason is tried again, with recipes that tests/browser/test_mistakes_match_python.py holds to
// Python's.
import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync, readdirSync } from "node:fs";

import { apartBy, mistakenGradient, gradientRight } from "../../convviz/web/numbers/compute_mistake.js";
import { computeStages } from "../../convviz/web/numbers/compute.js";
import { hidingOf } from "../../convviz/web/numbers/what_hides_mistake.js";
import { fromLink } from "../../convviz/web/rules/settings_link.js";
import { isKnown } from "../../convviz/web/rules/recipe_steps.js";
import { tensorsOf } from "../../convviz/web/rules/settings_and_tensors.js";
import { outputSize, remainderOf } from "../../convviz/web/rules/conv_geometry.js";

const FOLDER = new URL("../../convviz/facts/data/mistakes/", import.meta.url);
const MISTAKES = readdirSync(FOLDER).map((name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")));
const SHOWN = MISTAKES.filter(({ of, setting }) => /^grad_\w+$/.test(of) && setting);
const WAYS = SHOWN.flatMap(({ id, of, ways }) => ways.filter(isKnown).map((way) => ({ id, of, way })));
const settingsOf = (link) => {
  const { state, notices } = fromLink(link);
  assert.deepEqual(notices, [], link);
  return state;
};

function shows(settings, { of, way }) {
  const given = computeStages(settings.spec, settings.loss, tensorsOf(settings));
  const [right, wrong] = [
    gradientRight(of, settings.spec, given),
    mistakenGradient(of, way, settings.spec, given),
  ];
  return !wrong || String(wrong.shape) !== String(right.shape) || apartBy(right, wrong).cells > 0;
}

/** What of the geometry and of the numbers is another one. */
function movedBetween(one, other) {
  const names = Object.keys(one.spec);
  const numbers = ["input", "weight", "loss", "bias", "target", "seed", "transposed"];
  return [
    ...names.filter((name) => String(one.spec[name]) !== String(other.spec[name])),
    ...numbers.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name])),
  ];
}
const ALLOWED = { groups: ["groups", "in_channels", "out_channels"], grad_output: ["loss"] };

/** Whether a fact holds, and no longer after its move. */
function isTrue(fact, value, spec, moved) {
  const axes = [0, 1];
  if (fact === "no_remainder") return axes.every((axis) => remainderOf(spec, axis) === 0);
  if (fact === "one_output_cell")
    return (
      axes.every((axis) => outputSize(spec, axis) === 1) && axes.some((axis) => outputSize(moved, axis) > 1)
    );
  if (fact === "zero") return ["input", "weight", "grad_output"].includes(value);
  return !(fact in spec) || String(spec[fact]) !== String(moved[fact]);
}

test("each reason ends with the move of one control, and then the mistake shows", () => {
  const links = [
    "v=2&size=3",
    "v=2&size=6&stride=2&weight=box",
    "v=2&size=4&grad=values:1x1x2x2:0,0,0,0",
    "v=1&size=5x4&stride=2x1&padding=1&mode=reflect&in_channels=2&out_channels=2&groups=2&batch=2",
  ];
  links.forEach((link, place) => {
    const settings = settingsOf(link);
    const { spec } = settings;
    // A quarter of the ways at each link: every one is met, and it takes seconds.
    const ways = WAYS.filter((way, index) => index % links.length === place && !shows(settings, way));
    for (const each of ways) {
      const about = `${link} ${each.id} ${JSON.stringify(each.way)}`;
      const { reasons, together } = hidingOf(settings, each.of, each.way);
      reasons.forEach(({ fact, value, move }, index) => {
        const before = together && index ? reasons[0].move.settings : settings;
        const allowed = ALLOWED[move.control] ?? [move.control];
        const isOneControl = movedBetween(before, move.settings).every((name) => allowed.includes(name));
        assert.ok(isOneControl, about);
        assert.equal(shows(move.settings, each), !together || index === 1, `${about}: ${fact}`);
        assert.ok(isTrue(fact, value, spec, move.settings.spec), `${about}: ${fact}`);
      });
    }
  });
});

test("a border of copies is no padding p that the backward pass subtracts", () => {
  for (const [link, id] of [
    ["v=2&size=1&padding=1,2&mode=replicate&in_channels=2&out_channels=2&groups=2&weight=sobel_x", "I08"],
    [
      "v=1&size=5x2&kernel=3x1&stride=1x3&padding=0&in_channels=2&out_channels=2&mode=circular&loss=mean",
      "I08",
    ],
    ["v=2&size=3&kernel=1&stride=3x1&mode=reflect", "W03"],
  ]) {
    const { of, ways } = MISTAKES.find((mistake) => mistake.id === id);
    for (const way of ways.filter(isKnown)) {
      const { reasons } = hidingOf(settingsOf(link), of, way);
      assert.ok(
        !reasons.some(({ fact }) => ["half_padding", "small_padding"].includes(fact)),
        `${link} ${id}`,
      );
    }
  }
});

test("at as many channels as the board takes nothing is tried beyond them", () => {
  const { of, ways } = MISTAKES.find(({ id }) => id === "I25");
  const { reasons } = hidingOf(settingsOf("v=2&kernel=1&in_channels=8&out_channels=8"), of, ways[0]);
  assert.deepEqual(
    reasons.map(({ fact }) => fact),
    ["groups"],
  );
});
