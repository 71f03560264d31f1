// @ts-check
// The link in the address of the page. It is read from the page and not by the kernel, because a preheated
// kernel has built the app before anybody asked for an address. The address stays what it was while controls
// move: it is where a lesson starts, and a reload leads back there.
import WORDS from "../../facts/words/board.json" with { type: "json" };
import { isLink } from "../rules/link.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/** Our own served page; a notebook's address says nothing about an app in it. */
const ownPage = () => document.getElementById("convviz-main");

/**
 * Open the link that this page was opened with, once, and every link that is put after # later.
 * @param {HTMLElement} board of the app that asks; the first on the page is meant
 * @param {(link: string) => void} open
 * @returns {() => void} stop
 */
export function followLinks(board, open) {
  const page = ownPage();
  if (!page || "live" in page.dataset) return () => {}; // the live page reads its address by itself
  // With their # and ?, which tell a reader of links where they stood.
  const found = [location.hash, location.search].find((part) => isLink(part.slice(1)));
  if (found && !page.dataset.linkOpened) {
    page.dataset.linkOpened = "true"; // drawn anew, or a second app on the page: not again
    open(found);
  }
  const onChange = () => {
    const link = location.hash;
    if (isLink(link.slice(1)) && document.querySelector(".cv-board") === board) open(link);
  };
  window.addEventListener("hashchange", onChange);
  return () => window.removeEventListener("hashchange", onChange);
}

/** Whether a page's address can hold a link, and so a lesson's step as well. */
export const hasAddress = () => Boolean(ownPage());

/** What opens a link: the page's address, or a line for a notebook. @param {string} link */
export function whatOpens(link) {
  return ownPage() ? `${location.origin}${location.pathname}?${link}` : `convviz.App(link="${link}")`;
}

/** What to do with what was copied. */
export const howToOpen = () => say(ownPage() ? "copy.address" : "copy.notebook");
