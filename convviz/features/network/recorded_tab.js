// A network that Python recorded: alone in a notebook, and in a page to keep.
/// <reference path="./network_types.d.ts" />
import { tab } from "../../web/tabs/pane.js";
import { NetworkPane } from "./network_pane.js";
import { createRecordedSource } from "./recorded_source.js";

export default tab("network", (pane, body) => {
  const picture = new NetworkPane(pane, body);
  /** @type {{ data: NetworkData, source: NetworkSource } | null} */
  let shown = null;
  return ({ network }) => {
    if (!network) return;
    if (shown?.data !== network) {
      shown?.source.close();
      shown = { data: network, source: createRecordedSource(network, pane) };
    }
    picture.set(/** @type {NonNullable<typeof shown>} */ (shown).source);
  };
});
