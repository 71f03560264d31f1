// @ts-check
// The address of a page without a kernel: what stands after # or, when it is opened, after ? may be a link. The address
// stays what it was while controls move. In a frame that was given its text, the page has no address of its own.
import { isLink } from "../rules/link.js";

/**
 * The first of some parts of the address that is a link; empty where there is none, but the name of a heading, say.
 * @param {("hash" | "search")[]} parts
 */
function linkIn(...parts) {
  try {
    return parts.map((part) => location[part]).find((text) => isLink(text.slice(1))) ?? "";
  } catch {
    return ""; // a frame that may not know where it is
  }
}

/** Open the link in the address, now and whenever another is put after #. @param {(link: string) => void} open */
export function followAddress(open) {
  /** @param {string} link */
  const read = (link) => link && open(link);
  read(linkIn("hash", "search"));
  window.addEventListener("hashchange", () => read(linkIn("hash")));
}

/** The address under which this page shows a link; empty where it has none. @param {string} link */
export function addressWith(link) {
  try {
    if (!/^(https?|file):$/.test(location.protocol)) return "";
    const address = new URL(location.href);
    if (isLink(address.search.slice(1))) address.search = ""; // of another picture
    address.hash = "";
    return `${address.href}#${link}`;
  } catch {
    return "";
  }
}
