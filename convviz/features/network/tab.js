// The network beside the board: a LeNet that the page computes by itself.
/// <reference path="./network_types.d.ts" />
import LENET from "./lenet.json" with { type: "json" };
import { tab } from "../../web/tabs/pane.js";
import { inkOf } from "./lenet_net.js";
import { createLenetSource } from "./lenet_source.js";
import { NetworkPane } from "./network_pane.js";
import { cellText, say } from "./sentences.js";

/** @param {PaneTools} pane @returns {NetworkSource} */
function createLenet(pane) {
  /** @type {any} */
  const lenet = LENET;
  let opened = "";
  const source = /** @type {any} */ (
    createLenetSource(lenet, (changes) => pane.goTo({ ...changes, tab: "" }, say("opened", { cell: opened })))
  );
  source.inputs = source.inputs.map((/** @type {object} */ input, /** @type {number} */ index) => ({
    ...input,
    ink: inkOf(lenet, index),
    size: lenet.size,
  }));
  const { open } = source;
  source.open = (/** @type {number} */ operation, /** @type {number[]} */ cell) => {
    opened = cellText(source.network.operations[operation], cell);
    open(operation, cell);
  };
  return source;
}

export default tab("network", (pane, body) => {
  const picture = new NetworkPane(pane, body);
  const source = createLenet(pane);
  return () => picture.set(source);
});
