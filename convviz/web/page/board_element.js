// <convviz-board>: the board as an element of somebody else's page, in a shadow root. The modules of several
// languages meet in one place of the page, and each element takes the one of its language.
import WORDS from "../../facts/data/words/board_element.json" with { type: "json" };
import { samePlace } from "../base/cell_place.js";
import { element } from "../base/dom.js";
import { understood } from "../base/wanted_language.js";
import { language, sentences } from "../base/sentences.js";
import { isLink, toLink } from "../rules/settings_link.js";
import { namesIn, placeIn } from "./bare_figure.js";

const say = sentences(WORDS);
const NAME = "convviz-board";
const CHANGE = "convviz-change";
const PLACE = Symbol.for("convviz.boards");

/**
 * @import { Part } from "./bare_figure.js"
 * @typedef {{ state: string | null, controls: string[] | null, lesson: string | null, part: Part | null }}
 *   Wanted null: no attribute; part: it is a bare figure
 * @typedef {{ model: Model, close: () => void, show?: (part: Part) => void, release?: () => void }} Shown show,
 *   release: of a bare figure
 * @typedef {{ show: (place: HTMLElement, wanted: Wanted) => Shown, sheet: () => CSSStyleSheet }} Speaker of
 *   one language
 * @typedef {{ speakers: Map<string, Speaker>, views: Set<BoardElement> }} Meeting
 */

/** @returns {Meeting} */
function meeting() {
  const page = /** @type {any} */ (globalThis);
  page[PLACE] ??= { speakers: new Map(), views: new Set() };
  return page[PLACE];
}

/** Shows why there is no board, in its place. @param {unknown} error */
export function failed(error) {
  const why = /** @type {Error} */ (error).message.replace(/\.$/, "");
  return element("p.cv-notice", { "data-failed": "true", role: "alert" }, say("failed", { why }));
}

/** No link, or no address that ends in one. @param {string} text */
function checkLink(text) {
  const own = text.slice(Math.max(text.lastIndexOf("#"), text.lastIndexOf("?")) + 1);
  if (!isLink(own.trim())) throw new Error(say("no_link", { value: text.slice(0, 80) }));
}

// Read by something that is no page, there is none to extend.
const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? Object);

class BoardElement extends Base {
  static observedAttributes = ["state", "controls", "lesson", "lang", "band", "panels", "cell"];
  #root = this.attachShadow({ mode: "open" });
  /** @type {Shown | null} */
  #made = null;
  #tag = ""; // the language that was chosen for it
  #link = /** @type {string | null} */ (null); // the link of the last event
  #cell = /** @type {Place | null} */ (null); // the cell of the last event
  /** While out of the page, or drawn anew. @type {Settings | null} */
  #kept = null;
  #start = ""; // the link that Reset opens
  #quiet = false; // attributes send no event

  connectedCallback() {
    meeting().views.add(this);
    this.#draw();
  }

  disconnectedCallback() {
    meeting().views.delete(this);
    this.#clear();
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    if (before === now) return;
    const here = meeting().views.has(this);
    if (name === "state") {
      const text = this.getAttribute(name);
      if (here && this.#made && text) return this.#open(this.#made.model, text);
      this.#clear();
      this.#kept = null;
    }
    const part = this.#part();
    if (here && this.#made?.show && part && ["band", "panels", "cell"].includes(name)) {
      return this.#attempt(this.#made.model, () => {
        if (name !== "cell") this.#made?.show?.(part);
        this.#pin();
      });
    }
    if (here) this.#draw();
  }

  arrived() {
    if (this.#choice() !== this.#tag || !this.#tag) this.#draw();
  }

  /** The element's own, else of the page around, else the first there. */
  #choice() {
    const tags = [...meeting().speakers.keys()];
    const own = this.getAttribute("lang");
    if (own) return understood(own, tags);
    const around = this.parentElement?.closest("[lang]")?.getAttribute("lang") ?? "";
    return understood(around, tags) || tags[0];
  }

  #draw() {
    this.#clear();
    this.#tag = this.#choice();
    const tag = this.#tag || language();
    const speaker = /** @type {Speaker} */ (meeting().speakers.get(tag));
    const place = element("div.cv-app.cv-page.cv-look", { "data-grows": "", lang: tag });
    this.#root.adoptedStyleSheets = [speaker.sheet()];
    this.#root.replaceChildren(place);
    try {
      this.#checkLanguage();
      this.#made = speaker.show(place, this.#wanted());
    } catch (error) {
      place.replaceChildren(failed(error));
      return;
    }
    const { model } = this.#made;
    this.#start = this.#startLink();
    if (this.#kept && !this.getAttribute("lesson")) model.restore(this.#kept);
    this.#attempt(model, () => this.#pin());
    model.on("settings", () => this.#notify(model));
    model.on("change:selected", () => this.#notify(model));
  }

  /** And keep what was on the board. */
  #clear() {
    this.#kept = this.#made?.model.settings() ?? this.#kept;
    this.#made?.close();
    this.#made = null;
    this.#root.replaceChildren();
  }

  #checkLanguage() {
    if (this.#tag) return;
    const there = [...meeting().speakers.keys()].join(", ");
    throw new Error(say("language", { wanted: this.getAttribute("lang") ?? "", there }));
  }

  /** A board drawn anew keeps its own. */
  #startLink() {
    return this.#kept ? this.#start : (this.getAttribute("state") ?? "");
  }

  /** @returns {Part | null} */
  #part() {
    const band = this.getAttribute("band");
    return band ? { band, panels: namesIn(this.getAttribute("panels") ?? "") } : null;
  }

  /** The cell that the attribute names. */
  #pin() {
    const cell = placeIn(this.getAttribute("cell") ?? "");
    if (cell || this.#part()) this.#made?.model.select(cell);
    this.#cell = this.#made?.model.get("selected") ?? null;
  }

  /** @returns {Wanted} */
  #wanted() {
    const [controls, lesson] = ["controls", "lesson"].map((name) => this.getAttribute(name));
    const state = this.#startLink();
    if (state) checkLink(state);
    return {
      state: state || null,
      controls: controls === null ? null : controls.split(/[\s,]+/).filter(Boolean),
      lesson: lesson || null,
      part: this.#part(),
    };
  }

  /**
   * Opens a link. An invalid one changes nothing, and the board says what is wrong with it.
   * @param {Model} model @param {string} text
   */
  #open(model, text) {
    if (text === this.#link) return; // somebody keeps what the event said
    this.#attempt(model, () => {
      checkLink(text);
      model.send({ type: "open", link: text });
      if (!model.get("failed")) this.#start = text;
      this.#pin();
      this.#made?.release?.();
    });
  }

  /** Of an attribute: it sends no event, and what is wrong is said. @param {Model} model @param {() => void} act */
  #attempt(model, act) {
    this.#quiet = true;
    try {
      act();
    } catch (error) {
      model.say(/** @type {Error} */ (error).message, true);
    }
    this.#quiet = false;
    this.#link = linkOf(model);
  }

  /** @param {Model} model */
  #notify(model) {
    const [link, cell] = [linkOf(model), model.get("selected")];
    if (this.#quiet || (link === this.#link && samePlace(cell, this.#cell))) return;
    [this.#link, this.#cell] = [link, cell];
    const event = new CustomEvent(CHANGE, { bubbles: true, composed: true, detail: { link, cell } });
    this.dispatchEvent(event);
  }
}

/** Returns null where too many numbers were typed for a link. @param {Model} model */
function linkOf(model) {
  try {
    return toLink(model.settings());
  } catch {
    return null;
  }
}

/** @param {Speaker} speaker */
export function offerBoardElement(speaker) {
  if (!globalThis.customElements) return; // read by something that is no page
  const { speakers, views } = meeting();
  speakers.set(language(), speaker);
  for (const view of views) view.arrived();
  if (!customElements.get(NAME)) customElements.define(NAME, BoardElement);
}
