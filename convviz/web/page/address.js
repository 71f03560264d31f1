// @ts-check
// The address of a page without a kernel: what stands after # or, when it is opened, after ? may be a link.
// The address stays what it was while controls move. In a frame that was given its text, the page
// has no address of its own.
import { isLink } from "../rules/link.js";

/**
 * @typedef {{ name: string, step: string, done: string[] }} Wanted a lesson, its step as it was written,
 *   the lessons that are done
 */

const LANGUAGE = /^lang=/; // is read by languages.js
const PRESENT = /([#?&])present=1(?:&|$)/;

/** What a part of the address says. @param {string} part with its # or ? */
function read(part) {
  const words = part.slice(1).replaceAll("&amp;", "&").split("&");
  const said = part.slice(0, 1) + words.filter((word) => !LANGUAGE.test(word)).join("&");
  const [rest, present] = [said.replace(PRESENT, "$1").replace(/&$/, ""), PRESENT.test(part)];
  const { rest: link, wanted } = takeLesson(rest);
  return { link: isLink(link.slice(1)) ? link : "", wanted, present };
}

/**
 * What some parts of the address say: the link and the lesson of the first that has one, and whether any asks
 * for a lecture; a part may as well be the name of a heading.
 * @param {("hash" | "search")[]} parts
 */
function foundIn(...parts) {
  try {
    const found = parts.map((part) => read(location[part]));
    const { link = "", wanted = null } = found.find((part) => part.link || part.wanted) ?? {};
    return { link, wanted, present: found.some(({ present }) => present) };
  } catch {
    return null; // a frame that may not know where it is
  }
}

/**
 * Open the link in the address and play its lesson, now and whenever another is put after #.
 * @param {{ send: (message: { type: "open", link: string }) => void }} model
 * @param {{ play: (lesson: string, step: string) => void, finish: (names: string[]) => void }} player
 * @param {{ put: (values: { present: boolean }) => void }} wish
 * @param {boolean} [now] whether what it says now is meant, too
 * @returns {boolean} whether there was a link or a lesson
 */
export function followAddress(model, player, wish, now = true) {
  /** @param {ReturnType<typeof foundIn>} found */
  const follow = (found) => {
    if (found?.link) model.send({ type: "open", link: found.link });
    if (found?.wanted) {
      player.finish(found.wanted.done);
      player.play(found.wanted.name, found.wanted.step);
    }
    if (found?.present) wish.put({ present: true });
    return Boolean(found?.link || found?.wanted);
  };
  window.addEventListener("hashchange", () => follow(foundIn("hash")));
  return now && follow(foundIn("hash", "search"));
}

/** The address under which this page shows a link; empty where it has none. @param {string} link */
export function addressWith(link) {
  try {
    if (!/^(https?|file):$/.test(location.protocol)) return "";
    const address = new URL(location.href);
    const { link: other, wanted, present } = read(address.search);
    if (wanted || other || present) address.search = ""; // of another picture
    address.hash = "";
    return `${address.href}#${link}`;
  } catch {
    return "";
  }
}

/**
 * Take what names a lesson out of a part of an address.
 * @param {string} part with its # or ? @returns {{ rest: string, wanted: Wanted | null }}
 */
function takeLesson(part) {
  const pairs = part.slice(1).replaceAll("&amp;", "&").split("&");
  /** @param {string} key */
  const valueOf = (key) => pairs.find((pair) => pair.startsWith(`${key}=`))?.slice(key.length + 1);
  const name = valueOf("lesson");
  if (name === undefined) return { rest: part, wanted: null };
  const rest = pairs.filter((pair) => !/^(?:lesson|step|done)=/.test(pair)).join("&");
  return {
    rest: rest && part[0] + rest,
    wanted: {
      name: decoded(name),
      step: decoded(valueOf("step") ?? "1"),
      done: (valueOf("done") ?? "").split(",").map(decoded),
    },
  };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // no escape at all
  }
}
