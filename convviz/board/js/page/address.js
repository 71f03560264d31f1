// @ts-check
// The address of a page without a kernel: what stands after # or, when it is opened, after ? may be a link. The address
// stays what it was while controls move. In a frame that was given its text, the page has no address of its own.
import { takeLesson } from "../lesson/start.js";
import { isLink } from "../rules/link.js";

/**
 * The first of some parts of the address that is a link or names a lesson; neither where it is the name of a heading, say.
 * @param {("hash" | "search")[]} parts
 */
function foundIn(...parts) {
  try {
    const found = parts.map((part) => takeLesson(location[part])).map(({ rest, wanted }) => ({ link: isLink(rest.slice(1)) ? rest : "", wanted }));
    return found.find(({ link, wanted }) => link || wanted) ?? null;
  } catch {
    return null; // a frame that may not know where it is
  }
}

/**
 * Open the link in the address and play its lesson, now and whenever another is put after #.
 * @param {(link: string) => void} open @param {(lesson: string, step: string) => void} play
 * @returns {boolean} whether there was any
 */
export function followAddress(open, play) {
  /** @param {ReturnType<typeof foundIn>} found */
  const read = (found) => {
    if (found?.link) open(found.link);
    if (found?.wanted) play(found.wanted.name, found.wanted.step);
    return found !== null;
  };
  window.addEventListener("hashchange", () => read(foundIn("hash")));
  return read(foundIn("hash", "search"));
}

/** The address under which this page shows a link; empty where it has none. @param {string} link */
export function addressWith(link) {
  try {
    if (!/^(https?|file):$/.test(location.protocol)) return "";
    const address = new URL(location.href);
    const { rest, wanted } = takeLesson(address.search);
    if (wanted || isLink(rest.slice(1))) address.search = ""; // of another picture
    address.hash = "";
    return `${address.href}#${link}`;
  } catch {
    return "";
  }
}
