// The entries under which a page's tabs are found.
import assert from "node:assert/strict";
import test from "node:test";
import { TABS } from "../../convviz/web/rules/features.js";
import { tabEntries } from "../../convviz/web/tabs/tab_groups.js";

test("every tab is a part of exactly one entry", () => {
  const parts = tabEntries(() => true).flatMap((entry) => entry.parts);
  assert.deepEqual(parts.toSorted(), TABS.toSorted());
});
