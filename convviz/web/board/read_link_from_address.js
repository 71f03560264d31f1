// The link in the page's address, read by the page: a preheated kernel was built before anyone asked. It
// stays while controls move: a reload leads back to it.
import { listen } from "../base/dom.js";
import { isLink } from "../rules/settings_link.js";
import { say } from "../base/board_sentences.js";

/** A notebook's address says nothing. */
const ownPage = () => document.getElementById("convviz-main");

/**
 * The opening link once, and each later one after #.
 * @param {HTMLElement} board @param {(link: string) => void} open
 */
export function followLinks(board, open) {
  const page = ownPage();
  if (!page || "live" in page.dataset) return () => {}; // it reads its address itself
  // With # and ?: they show where a link stood.
  const found = [location.hash, location.search].find((part) => isLink(part.slice(1)));
  if (found && !page.dataset.linkOpened) {
    page.dataset.linkOpened = "true"; // a page opens its link once
    open(found);
  }
  return listen(window, "hashchange", () => {
    const link = location.hash;
    if (isLink(link.slice(1)) && document.querySelector(".cv-board") === board) open(link);
  });
}

/** Whether a page's address can hold a link. */
export const hasAddress = () => Boolean(ownPage());

/** An address, or a line of Python. @param {string} link */
export function whatOpens(link) {
  return ownPage() ? `${location.origin}${location.pathname}?${link}` : `convviz.App(link="${link}")`;
}

const OWN = ["localhost", "127.0.0.1", "[::1]"];

export function howToOpen() {
  const { hostname } = location;
  if (ownPage() && OWN.includes(hostname)) return say("copy.own", { host: hostname });
  return say(ownPage() ? "copy.address" : "copy.notebook");
}
