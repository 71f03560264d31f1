// The question above the board: what it asks about is there to be seen.
import assert from "node:assert/strict";
import test from "node:test";

import { fromPage } from "../../convviz/web/numbers/compute_in_page.js";
import { createPageModel } from "../../convviz/web/numbers/page_model.js";
import { kindOf, turns } from "../../convviz/web/page/headline.js";
import { fromLink, toLink } from "../../convviz/web/rules/settings_link.js";
import { replaced } from "../../convviz/web/rules/settings_and_tensors.js";
import { drawer, randomState } from "./conv_by_definition.mjs";
import { dataOf } from "./page_model_fixtures.mjs";

const STATES = Number(process.env.CONVVIZ_STATES ?? 300);
const SEED = Number(process.env.CONVVIZ_SEED ?? 1);

/** What is asked in a state, and the numbers of the panels that it shows. */
function asked(settings) {
  const model = createPageModel(dataOf(settings), fromPage);
  const { stages } = model.shown().numbers;
  return {
    kind: kindOf(settings, turns(settings, stages.weight)),
    shown: model.get("structure").equations.flatMap(({ items }) => items.map(({ name }) => name)),
    planes: model.get("values").planes,
  };
}

/** Whether the shown grad_output is a single 1 that has another place to go, and the shown kernel another look when rotated. */
function seen({ shown, planes }) {
  const sent = [...planes.grad_output];
  const movable = sent.length > 1 && sent.filter((value) => value === 1).length === 1;
  const [weight, rotated] = [planes.weight, planes.rotated_weight].map((plane) => plane && [...plane].join());
  return {
    one: movable && sent.filter((value) => value !== 0).length === 1,
    rotation: shown.includes("rotated_weight") && weight !== rotated,
  };
}

test("the headline asks to drag the 1 where it is shown, and why the kernel is rotated where one sees it", () => {
  const draw = drawer(SEED);
  const links = {
    "v=2": "single",
    "v=2&out_channels=2&plane=0,1,0": "other",
    "v=2&view=stamps": "alike",
    "v=2&view=window": "single",
    "v=2&weight=box": "alike",
    "v=2&in_channels=2&weight=box&plane=0,0,0": "alike",
    "v=2&transposed=1": "transposed",
    "v=2&broken=I01": "broken",
  };
  for (const [link, kind] of Object.entries(links))
    assert.equal(asked(fromLink(link).state).kind, kind, link);
  const met = { single: 0, alike: 0, other: 0 };
  for (let round = 0; round < STATES; round++) {
    const settings = replaced(randomState(draw), {
      transposed: false,
      loss: draw(["weighted_sum", "weighted_sum", "sum"]),
      input_view: draw(["window", "stamps", "both"]),
    });
    const found = asked(settings);
    const { one, rotation } = seen(found);
    met[found.kind] += 1;
    const isDragged = settings.grad.kind === "one_hot" && settings.loss === "weighted_sum";
    assert.equal(found.kind !== "other", one && isDragged, `the 1: ${toLink(settings)}`);
    if (found.kind !== "other")
      assert.equal(found.kind === "single", rotation, `rotated: ${toLink(settings)}`);
  }
  for (const [kind, count] of Object.entries(met)) assert.ok(count > 10, `${kind}: ${count}`);
});
