// What is heavy waits for a hand that moves, though not for ever.
import assert from "node:assert/strict";
import test from "node:test";

import { followHand } from "../../convviz/board/js/page/hand.js";

/** A hand that moves every 100 ms for so long, from 0 on; how many milliseconds it is waited for. */
async function waited(context, moves) {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const place = new EventTarget();
  const rests = followHand(place, Date.now);
  let over = false;
  if (moves) place.dispatchEvent(new Event("input"));
  rests().then(() => (over = true));
  for (let at = 0; ; at += 10) {
    for (let turn = 0; turn < 3; turn += 1) await null;
    if (over) return at;
    context.mock.timers.tick(10);
    if (at + 10 <= moves && (at + 10) % 100 === 0) place.dispatchEvent(new Event("input"));
  }
}

for (const [moves, expected] of [
  [0, 250],
  [100, 350],
  [1000, 1250],
  [60_000, 3000],
]) {
  test(`a hand that moves for ${moves} ms is waited for ${expected} ms`, async (context) => {
    const found = await waited(context, moves);
    assert.ok(found >= expected && found <= expected + 250, `${found} ms`);
  });
}
