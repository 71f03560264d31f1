// The network beside the board: a LeNet that the page computes by itself.
/// <reference path="./network_types.d.ts" />
import LENET from "./lenet.json" with { type: "json" };
import { tab } from "../../web/tabs/pane.js";
import { inkOf } from "./lenet_net.js";
import { createLenetSource } from "./lenet_source.js";
import { NetworkPane } from "./network_pane.js";
import { cellText, say } from "./sentences.js";

const NAME = "network";

/** @param {PaneTools} pane @param {() => object} state what leads back to where one was @returns {NetworkSource} */
function createLenet(pane, state) {
  /** @type {any} */
  const lenet = LENET;
  /** Holds the index of an operation, then the indices of a cell. @type {number[]} */
  let opened = [];
  const source = /** @type {any} */ (
    createLenetSource(lenet, (changes, { out_channels: [first, end] }) => {
      pane.page.keep(NAME, { chosen: source.chosen, ...state() });
      const { operations } = source.network;
      const [cell, count] = [
        cellText(operations[opened[0]], opened.slice(1)),
        operations[opened[0]].shape[0],
      ];
      pane.goTo({ ...changes, tab: "" }, say("opened", { cell, shown: end - first, count }));
    })
  );
  source.inputs = source.inputs.map((/** @type {object} */ input, /** @type {number} */ index) => ({
    ...input,
    ink: inkOf(lenet, index),
    size: lenet.size,
  }));
  const { open, input } = source;
  source.open = (/** @type {number} */ operation, /** @type {number[]} */ cell) => {
    opened = [operation, ...cell];
    open(operation, cell);
  };
  source.input = (/** @type {number} */ index) => {
    source.chosen = index;
    input.call(source, index);
  };
  return source;
}

export default tab(NAME, (pane, body) => {
  const picture = new NetworkPane(pane, body);
  const source = createLenet(pane, picture.state);
  const kept = pane.page.kept(NAME);
  source.input?.(kept.chosen ?? 0);
  let isNew = true;
  return () => {
    picture.set(source);
    if (isNew) void picture.restore(kept);
    isNew = false;
  };
});
