// The network: where the gradient goes, on its way from the loss back to the input. A recorded one is what it is given;
// else the page computes a small one by itself.
/// <reference path="./network_types.d.ts" />
import LENET from "./lenet.json" with { type: "json" };
import { tab } from "../../web/tabs/pane.js";
import { inkOf } from "./lenet_net.js";
import { createLenetSource } from "./lenet_source.js";
import { NetworkPane } from "./network_pane.js";
import { createRecordedSource } from "./recorded_source.js";
import { cellText, say } from "./sentences.js";

/** @param {PaneTools} pane @returns {NetworkSource} */
function createLenet(pane) {
  /** @type {any} */
  const lenet = LENET;
  let opened = "";
  // Alone in a notebook there is no board.
  const openBoard = pane.goTo
    ? (/** @type {Partial<Settings>} */ changes) => pane.goTo(changes, say("opened", { cell: opened }))
    : undefined;
  const source = /** @type {any} */ (createLenetSource(lenet, openBoard));
  source.inputs = source.inputs.map((/** @type {object} */ input, /** @type {number} */ index) => ({
    ...input,
    ink: inkOf(lenet, index),
    size: lenet.size,
  }));
  const { open } = source;
  source.open =
    open &&
    ((/** @type {number} */ operation, /** @type {number[]} */ cell) => {
      opened = cellText(source.network.operations[operation], cell);
      open(operation, cell);
      pane.root.closest(".cv-app")?.scrollIntoView();
    });
  return source;
}

export default tab("network", (pane, body) => {
  const picture = new NetworkPane(pane, body);
  /** @type {{ data: NetworkData | null, source: NetworkSource } | null} */
  let shown = null;
  return ({ network = null }) => {
    if (shown?.data !== network || !shown) {
      shown?.source.close();
      shown = { data: network, source: network ? createRecordedSource(network, pane) : createLenet(pane) };
    }
    picture.set(shown.source);
  };
});
