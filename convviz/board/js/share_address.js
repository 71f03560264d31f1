// @ts-check
// The link in the address of the page. It is read from the page and not by the kernel, because a preheated kernel has
// built the app before anybody asked for an address. The address stays what it was while controls move: it is where a
// lesson starts, and a reload leads back there.
import { isLink } from "./link.js";

/** Our own served page; a notebook's address says nothing about an app in it. */
const ownPage = () => document.getElementById("convviz-main");

/** The link that this page was opened with, once; empty when there is none. */
export function linkToOpen() {
  const page = ownPage();
  if (!page || page.dataset.linkOpened) return "";
  const found = [location.hash.slice(1), location.search.slice(1)].find(isLink) ?? "";
  if (found) page.dataset.linkOpened = "true"; // drawn anew, or a second app on the page: not again
  return found;
}

/** What opens a link: the page's address, or a line for a notebook. @param {string} link */
export function whatOpens(link) {
  return ownPage() ? `${location.origin}${location.pathname}?${link}` : `convviz.App(link="${link}")`;
}

/** What to do with what was copied. */
export const howToOpen = () =>
  ownPage() ? "Copied: whoever opens this address gets this picture." : "Copied: paste it into a cell of a notebook.";
