// The languages of a page that comes in several: the page is loaded anew in the language that is chosen, a
// widget drawn anew, and goes on where it was: the settings with their way back, and the lesson.
import WORDS from "../../facts/data/words/language.json" with { type: "json" };
import { element, makeButton } from "../base/dom.js";
import { keep, takeKept } from "../base/kept_over_reload.js";
import { createMenu } from "../base/menu.js";
import { wantedLanguage, understood } from "../base/wanted_language.js";
import { language, sentences } from "../base/sentences.js";

const say = sentences(WORDS);
const FIRST = "en";
const STORE = "moved";
const ASKS = /^lang(?:=|$)/;

/** @typedef {Record<string, { name: string, page: string }>} Languages by tag; name: in itself */

/** @param {string} tag @param {Languages} languages */
function addressIn(tag, languages) {
  const rest = location.search
    .slice(1)
    .split("&")
    .filter((part) => part && !ASKS.test(part));
  rest.push(`lang=${tag}`);
  return `${languages[tag].page}?${rest.join("&")}${location.hash}`;
}

/**
 * Where no server does: by the address, or from the first page by the browser.
 * @param {Languages} languages @returns {boolean} it is gone to
 */
export function goToAsked(languages) {
  const wanted = wantedLanguage() ? [wantedLanguage()] : language() === FIRST ? navigator.languages : [];
  const tag = wanted.map((each) => understood(each, Object.keys(languages))).find(Boolean) ?? language();
  if (tag === language()) return false;
  location.replace(addressIn(tag, languages));
  return true;
}

/** In English, if the address asks for an unknown one. @param {Languages} languages @param {Model} model */
export function warnOfUnknownLanguage(languages, model) {
  const wanted = wantedLanguage();
  if (!wanted || language() !== FIRST || understood(wanted, Object.keys(languages))) return;
  const known = Object.entries(languages).map(([tag, { name }]) => `${tag} (${name})`);
  model.say(say("unknown", { got: `'${wanted.slice(0, 35)}'`, known: known.join(", ") }), true);
}

/** @param {Languages} languages @param {Model} model @param {Player} player */
export function createLanguages(languages, model, player) {
  return menuOf(
    Object.keys(languages),
    (tag) => languages[tag].name,
    (tag, name) => {
      const link = element("a", { href: addressIn(tag, languages), hreflang: tag }, name);
      link.addEventListener("click", (event) => {
        link.href = addressIn(tag, languages); // the fragment may have changed
        // With one of these keys it opens elsewhere.
        if (!(event.ctrlKey || event.metaKey || event.shiftKey))
          keep(STORE, { tag, ...whereItIs(model, player) });
      });
      return link;
    },
  );
}

/** A widget is drawn anew. @param {string[]} tags @param {(tag: string) => void} choose */
export const createWidgetLanguages = (tags, choose) =>
  menuOf(
    tags,
    (tag) => new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag, // as the tag says itself
    (tag, name) => makeButton({}, name, () => choose(tag)),
  );

/**
 * @param {string[]} tags @param {(tag: string) => string} nameOf
 * @param {(tag: string, name: string) => HTMLElement} create
 */
function menuOf(tags, nameOf, create) {
  const name = nameOf(language());
  const summary = element("summary", { title: say("menu"), "aria-label": `${say("menu")}: ${name}` }, name);
  const items = tags.map((tag) => {
    const node = create(tag, nameOf(tag));
    node.lang = tag;
    if (tag === language()) node.setAttribute("aria-current", "true");
    return element("li", node);
  });
  return createMenu("cv-languages", summary, items);
}

/** For what goes on in another language. @param {Model} model @param {Player} player */
export function whereItIs(model, player) {
  const look = player.get("look");
  return { ...model.kept(), finished: player.get("finished"), lesson: look?.name ?? "", step: look?.at ?? 0 };
}

/** @param {ReturnType<typeof whereItIs>} kept @param {Model} model @param {Player} player */
export function goOnFrom(kept, model, player) {
  model.goOnFrom(kept);
  player.finish(kept.finished);
  if (kept.lesson) player.play(kept.lesson, kept.step);
}

/**
 * If this page was loaded for its language.
 * @param {Model} model @param {Player} player @returns {boolean} it goes on
 */
export function goOn(model, player) {
  const kept = takeKept(STORE);
  if (kept?.tag !== language()) return false;
  goOnFrom(kept, model, player);
  return true;
}
