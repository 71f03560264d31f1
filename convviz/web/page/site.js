// @ts-check
// The live page on a static host: as the served one before its kernel, but no kernel is asked
// for, and none is promised.
import { createCopyLink } from "../controls/copy_link.js";
import { stepLink } from "../lesson/start.js";
import { addressWith } from "./address.js";
import { goToAsked } from "./languages.js";
import { dataOfPage, startPage } from "./live_page.js";

/** Begin; called once, when the page's document is there. */
function start() {
  const data = dataOfPage();
  if (goToAsked(data.languages)) return;
  startPage(data, false, Object.keys(data.tabs), (model, player) => ({
    share: createCopyLink(model, addressWith, () => stepLink(player)),
  }));
}

export default { start };
