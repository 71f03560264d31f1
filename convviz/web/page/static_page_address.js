// The address of a page without a kernel: what stands after # or, when it is opened, after ? may be a link.
// The address stays what it was while controls move. A frame that was given its text has none.
// A link before a lesson is the picture that it begins in; one after it is what was moved in its step.
import { isLink, settingAt } from "../rules/settings_link.js";

/** @typedef {{ name: string, step: string, done: string[] }} Wanted step: as written */

const OTHER = /^(?:lang=|present=1$)/; // lang is read by languages.js
const OF_LESSON = /^(?:lesson|step|done)=/;

/** @param {string} part with its # or ? */
function read(part) {
  const pairs = part.slice(1).replaceAll("&amp;", "&").split("&");
  const own = pairs.filter((pair) => !OTHER.test(pair));
  const wanted = lessonOf(own);
  const at = wanted ? own.findIndex((pair) => pair.startsWith("lesson=")) : own.length;
  /** @param {string[]} some */
  const linkOf = (some) => {
    const link = some.filter((pair) => !wanted || !OF_LESSON.test(pair)).join("&");
    return isLink(link) ? part[0] + link : "";
  };
  const present = pairs.includes("present=1");
  return { link: linkOf(own.slice(0, at)), wanted, moved: linkOf(own.slice(at)), present };
}

/** @param {string[]} pairs @returns {Wanted | null} */
function lessonOf(pairs) {
  const valueOf = (/** @type {string} */ key) =>
    pairs.find((pair) => pair.startsWith(`${key}=`))?.slice(key.length + 1);
  const name = valueOf("lesson");
  if (name === undefined) return null;
  const done = (valueOf("done") ?? "").split(",").map(decoded);
  return { name: decoded(name), step: decoded(valueOf("step") ?? "1"), done };
}

/**
 * Reads the first part that has a link or a lesson; a heading's name is neither. Returns null in a frame that may not
 * know its address.
 * @param {("hash" | "search")[]} parts
 */
function foundIn(...parts) {
  try {
    const found = parts.map((part) => read(location[part]));
    const { link = "", wanted = null, moved = "" } = found.find((part) => part.link || part.wanted) ?? {};
    return { link, wanted, moved, present: found.some(({ present }) => present) };
  } catch {
    return null; // a frame that may not know where it is
  }
}

/**
 * Now and at each change after #.
 * @param {Model} model @param {Player} player @param {import("./lecture.js").Wish} wish
 * @param {boolean} [now] @returns {boolean} there was one
 */
export function followAddress(model, player, wish, now = true) {
  /** @param {ReturnType<typeof foundIn>} found */
  const follow = (found) => {
    if (found?.link) model.send({ type: "open", link: found.link });
    if (found?.wanted) {
      const { wanted, moved } = found;
      player.finish(wanted.done);
      const move = () => moved && model.change((settings) => [settingAt(settings, moved), []]);
      const coming = player.play(wanted.name, wanted.step);
      if (coming) coming.then(move);
      else move();
    }
    if (found?.present) wish.put({ present: true });
    return Boolean(found?.link || found?.wanted);
  };
  window.addEventListener("hashchange", () => follow(foundIn("hash")));
  return now && follow(foundIn("hash", "search"));
}

/** Of this page; or empty. @param {string} link */
export function addressWith(link) {
  try {
    if (!/^(https?|file):$/.test(location.protocol)) return "";
    const address = new URL(location.href);
    const { link: other, wanted, present } = read(address.search);
    if (wanted || other || present) address.search = ""; // this query belongs to another picture
    address.hash = "";
    return `${address.href}#${link}`;
  } catch {
    return "";
  }
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // no escape at all
  }
}
