// The entries of a page with some of the features.
import assert from "node:assert/strict";
import test from "node:test";

import { tabEntries } from "../../convviz/web/tabs/tab_groups.js";

const seen = (has) => tabEntries(has).map(({ id, label, parts }) => [id, label, parts]);

test("a page shows the entries of the tabs that it has, and an only part by its own name", () => {
  const site = ["mistakes", "network", "race"];
  assert.deepEqual(
    seen((tab) => site.includes(tab)),
    [
      ["mistakes", "Mistakes", ["mistakes"]],
      ["network", "Network", ["network"]],
      ["race", "Race", ["race"]],
    ],
  );
  assert.deepEqual(
    seen((tab) => ["linear", "check", "double"].includes(tab)),
    [
      ["linear", "Linear", ["linear"]],
      ["entry-check", "Check", ["check", "double"]],
    ],
  );
  assert.deepEqual(
    seen(() => false),
    [],
  );
});
