// @ts-check
// The address of a page without a kernel: what stands after # may be a link. The address stays what it was while controls
// move, as that of the served page does. In a frame that was given its text, the page has no address of its own.
import { isLink } from "../rules/link.js";

/** The link after #, with it; empty where something else stands there, such as the name of a heading. */
function linkAfterHash() {
  try {
    return isLink(location.hash.slice(1)) ? location.hash : "";
  } catch {
    return ""; // a frame that may not know where it is
  }
}

/** Open the link in the address, now and whenever another is put there. @param {(link: string) => void} open */
export function followAddress(open) {
  const read = () => {
    const link = linkAfterHash();
    if (link) open(link);
  };
  read();
  window.addEventListener("hashchange", read);
}

/** The address under which this page shows a link; empty where it has none. @param {string} link */
export function addressWith(link) {
  try {
    return /^(https?|file):$/.test(location.protocol) ? `${location.href.split("#")[0]}#${link}` : "";
  } catch {
    return "";
  }
}
