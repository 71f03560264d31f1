// The network beside the board: a LeNet that the page computes by itself.
/// <reference path="./network_types.d.ts" />
import LENET from "./lenet.json" with { type: "json" };
import { tab } from "../../web/tabs/pane.js";
import { createLenetSource } from "./lenet_source.js";
import { NetworkPane } from "./network_pane.js";
import { say } from "./sentences.js";

export default tab("network", (pane, body) => {
  const picture = new NetworkPane(pane, body);
  // It makes backs and inputs of its own, and is given no others.
  const source = /** @type {any} */ (
    createLenetSource(LENET, (changes, { out_channels, rows, columns }) => {
      const [channel, row, column] = [out_channels, rows, columns].map(([first]) => first);
      pane.goTo({ ...changes, tab: "" }, say("opened", { channel, row, column }));
    })
  );
  return () => picture.set(source);
});
