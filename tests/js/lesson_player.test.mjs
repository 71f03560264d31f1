// Every lesson from its first step to its last, played by the buttons of its card alone, with the page's own numbers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { createLessons, TITLES } from "../../convviz/web/lesson/available_lessons.js";
import { Player } from "../../convviz/web/lesson/player.js";
import { createPageModel } from "../../convviz/web/numbers/page_model.js";
import { TABS } from "../../convviz/web/rules/features.js";
import { BASE_STATE } from "../../convviz/web/rules/settings_link.js";
import { dataOf, timersByHand } from "./page_model_fixtures.mjs";

const read = (path) =>
  JSON.parse(readFileSync(new URL(`../../convviz/${path}.json`, import.meta.url), "utf8"));
const NAMES = Object.keys(TITLES);
const LESSONS = Object.fromEntries(
  NAMES.map((name) => [
    name,
    { lesson: read(`lessons/${name}`), words: read(`facts/data/words/guided/${name}`) },
  ]),
);
const WITHOUT_TORCH = TABS.filter((tab) => tab !== "quantised");

function playerWith(tabs) {
  const model = createPageModel(dataOf(BASE_STATE));
  const { waiting, later, end } = timersByHand();
  const player = new Player(model, createLessons(LESSONS), tabs, later);
  player.on("press", () => player.choose([player.get("look").choose])); // as the tab reports what was pressed in it
  const act = () => {
    player.act();
    while (waiting.size) end(); // a walk goes on by itself
  };
  return { model, player, act, tabs };
}

function playStep({ model, player, act, tabs }, step, where) {
  const look = () => player.get("look");
  const isHere = !step.tab || tabs.includes(step.tab);
  assert.equal(model.settings().tab, isHere ? (step.tab ?? "") : "", where);
  assert.equal(Boolean(look().noTab), !isHere, where);
  for (const done of (step.do ?? []).filter((task) => isHere || !task.choose).keys()) {
    assert.equal(look().tasks.filter((task) => task.done).length, done, where);
    act();
  }
  const reported = look().tasks.every((task) => task.done && task.after);
  assert.ok(reported, where);
  if (step.question) {
    assert.deepEqual([look().complete, look().hidden], [false, step.question.cell], where);
    player.check(String(step.question.answer));
    assert.equal(look().question.state, "right", where);
  }
  assert.ok(look().complete, where);
  assert.equal(model.get("notice"), "", where);
}

for (const tabs of [TABS, WITHOUT_TORCH]) {
  test(`each lesson is played to its end and leads to the next: ${tabs.length} tabs`, () => {
    const { player, ...rest } = playerWith(tabs);
    player.play(NAMES[0]);
    for (const [index, name] of NAMES.entries()) {
      const { steps, end } = LESSONS[name].lesson;
      for (const [at, step] of steps.entries()) {
        const look = player.get("look");
        assert.deepEqual([look.name, look.at, look.of], [name, at + 1, steps.length]);
        playStep({ player, ...rest }, step, `${name}, step ${at + 1}`);
        player.go(1);
      }
      const { words, exercise, after } = player.get("left");
      assert.deepEqual([words.length, exercise], [end.words.length, end.exercise ?? ""], name);
      assert.equal(after, NAMES[index + 1] ?? "");
      if (after) player.play(after);
    }
    assert.deepEqual(player.get("finished"), NAMES);
  });
}
