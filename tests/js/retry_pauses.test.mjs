// How a page tries again: later and later, and not with all others at once.
import assert from "node:assert/strict";
import test from "node:test";

import { createPauses } from "../../convviz/web/base/retry_pauses.js";

const several = (count, make) => Array.from({ length: count }, make);

test("pauses grow to half a minute, and begin anew once there was an answer", () => {
  const pauses = createPauses(() => 0.5);
  assert.deepEqual(several(7, pauses.next), [1000, 2000, 4000, 8000, 16000, 30000, 30000]);
  pauses.reset();
  assert.equal(pauses.next(), 1000);
});

test("no two pages wait equally long", () => {
  assert.equal(createPauses(() => 0).next(), 500);
  assert.equal(createPauses(() => 0.999).next(), 1499);
});
