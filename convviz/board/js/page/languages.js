// @ts-check
// The languages of a page that comes in several: a quiet menu. The page is loaded anew in the language that is chosen, and
// goes on where it was, in this tab: the settings with their way back, and the lesson.
import WORDS from "../../../facts/words/language.json" with { type: "json" };
import { element } from "../base/dom.js";
import { language, sentences } from "../base/words.js";

const say = sentences(WORDS);
const FIRST = "en";
const STORE = "convviz:moved";
const ASKS = /^lang(?:=|$)/;

/**
 * @import { Model } from "../numbers/model.js"
 * @import { Player } from "../lesson/player.js"
 * @typedef {Record<string, { name: string, page: string }>} Languages by their tags: what each is called in itself, and the
 *   address of the page that speaks it
 */

/** The language that the address asks for; of several the last, as for a server; empty where it asks for none. */
const asked = () => new URLSearchParams(location.search).getAll("lang").at(-1) ?? "";

/** What is written alike: language and script, which a region may tell. @param {string} tag */
function written(tag) {
  const { language: name, script } = new Intl.Locale(tag).maximize();
  return `${name}-${script}`;
}

/** The tag of the language that somebody wants, as facts/spoken.py finds it; empty where there is none. @param {string} wanted @param {Languages} languages */
function understood(wanted, languages) {
  try {
    const tags = Object.keys(languages);
    const plain = wanted.trim().replaceAll("_", "-").toLowerCase();
    return tags.find((tag) => tag.toLowerCase() === plain) ?? tags.find((tag) => written(tag) === written(plain)) ?? "";
  } catch {
    return ""; // no tag of any language
  }
}

/** This address in another language. @param {string} tag @param {Languages} languages */
function addressIn(tag, languages) {
  const rest = location.search.slice(1).split("&").filter((part) => part && !ASKS.test(part));
  rest.push(`lang=${tag}`);
  return `${languages[tag].page}?${rest.join("&")}${location.hash}`;
}

/**
 * Where no server sees to it: go to the page of the language that the address asks for; from the first page, the English
 * one, which nobody has chosen yet, to the browser's.
 * @param {Languages} languages @returns {boolean} whether it is gone to
 */
export function goToAsked(languages) {
  const wanted = asked() ? [asked()] : language() === FIRST ? navigator.languages : [];
  const tag = wanted.map((each) => understood(each, languages)).find(Boolean) ?? language();
  if (tag === language()) return false;
  location.replace(addressIn(tag, languages));
  return true;
}

/** Say so where the address asks for a language that there is not, and this is English. @param {Languages} languages @param {Model} model */
export function tellUnknown(languages, model) {
  const wanted = asked();
  if (!wanted || language() !== FIRST || understood(wanted, languages)) return;
  const known = Object.entries(languages).map(([tag, { name }]) => `${tag} (${name})`);
  model.say(say("unknown", { got: `'${wanted.slice(0, 35)}'`, known: known.join(", ") }), true);
}

/**
 * Make the menu.
 * @param {Languages} languages @param {Model} model @param {Player} player
 */
export function createLanguages(languages, model, player) {
  /** @param {[string, { name: string }]} of */
  const item = ([tag, { name }]) => {
    const link = /** @type {HTMLAnchorElement} */ (element("a", { href: addressIn(tag, languages), lang: tag, hreflang: tag }, name));
    if (tag === language()) link.setAttribute("aria-current", "true");
    link.addEventListener("click", (event) => {
      link.href = addressIn(tag, languages); // what stands after # may be another by now
      if (!(event.ctrlKey || event.metaKey || event.shiftKey)) keep(tag, model, player); // else it opens elsewhere
    });
    return element("li", {}, link);
  };
  const summary = element("summary", { title: say("menu"), "aria-label": `${say("menu")}: ${languages[language()].name}` }, languages[language()].name);
  const el = /** @type {HTMLDetailsElement} */ (element("details", { class: "cv-languages" }, summary, element("ul", {}, ...Object.entries(languages).map(item))));
  el.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !el.open) return;
    el.open = false;
    summary.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  el.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !el.contains(/** @type {Node} */ (relatedTarget))) el.open = false;
  });
  return el;
}

/** Keep where this page is, for the next one. @param {string} tag of its language @param {Model} model @param {Player} player */
function keep(tag, model, player) {
  const look = player.get("look");
  const kept = { tag, ...model.kept(), finished: player.get("finished"), lesson: look?.name ?? "", step: look?.at ?? 0 };
  try {
    sessionStorage.setItem(STORE, JSON.stringify(kept));
  } catch {
    // A sandboxed page has no storage: it begins anew.
  }
}

/**
 * Go on where the page before was, if this one was loaded for its language.
 * @param {Model} model @param {Player} player @returns {boolean} whether there was one
 */
export function goOn(model, player) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(STORE) ?? "null");
    sessionStorage.removeItem(STORE);
    if (kept?.tag !== language()) return false;
    model.takeUp(kept);
    player.finish(kept.finished);
    if (kept.lesson) player.play(kept.lesson, kept.step);
    return true;
  } catch {
    return false; // no storage, or not what we wrote
  }
}
