// What a word means, beside it: on hover, on focus of its control, after a tap.
import WORDS from "../../facts/data/words/help.json" with { type: "json" };
import { element, makeId, setText } from "./dom.js";
import { sentences } from "./sentences.js";

const say = sentences(WORDS);
const REST_MS = 400;

/** @param {string} id */
export const helpOf = (id) => (id in WORDS ? say(/** @type {"help.stride"} */ (id)) : "");

/** A transposed layer's own, if any. @param {HTMLElement} word @param {string} id */
export function explain(word, id, transposed = false) {
  const ids = transposed ? [id.replace(".", ".layer."), id] : [id];
  const found = ids.find((each) => each in WORDS);
  if (!found) delete word.dataset.help;
  else if (word.dataset.help !== found) word.dataset.help = found; // sliders ask at every step
}

/** @param {HTMLElement} app */
export function followHelp(app) {
  const id = `cv-help-${makeId()}`;
  const tip = element("div.cv-help.cv-look", { role: "tooltip", id, hidden: "" });
  app.append(tip);
  let timer = 0;
  /** @type {Element | null} */
  let described = null;

  /** @param {EventTarget | null} target @param {boolean} ofControl */
  function wordAt(target, ofControl) {
    const at = /** @type {Element} */ (target);
    const place = ofControl ? at.closest(".cv-control")?.querySelector("[data-help]") : null;
    return /** @type {HTMLElement | null} */ (place ?? at.closest("[data-help]"));
  }

  /** @param {HTMLElement} word @param {Element | null} [control] */
  function show(word, control = null) {
    if (!word.isConnected) return;
    setText(tip, helpOf(word.dataset.help ?? ""));
    tip.dataset.theme =
      /** @type {HTMLElement | null} */ (word.closest("[data-theme]"))?.dataset.theme ?? "light";
    tip.hidden = false;
    Object.assign(tip.style, { left: "0", top: "0" });
    const [box, own] = [word.getBoundingClientRect(), tip.getBoundingClientRect()];
    const below = box.bottom + 6 + own.height <= innerHeight;
    const left = Math.max(Math.min(box.left, document.documentElement.clientWidth - own.width - 8), 8);
    // Any ancestor may be what it is positioned in: measured, then moved.
    tip.style.left = `${left - own.left}px`;
    tip.style.top = `${(below ? box.bottom + 6 : box.top - 6 - own.height) - own.top}px`;
    described = control;
    control?.setAttribute("aria-describedby", id);
  }

  function hide() {
    clearTimeout(timer);
    tip.hidden = true;
    described?.removeAttribute("aria-describedby");
    described = null;
  }

  /** @type {Record<string, (event: any) => void>} */
  const listeners = {
    pointerover(event) {
      const word = event.pointerType === "touch" ? null : wordAt(event.target, false);
      if (!word) return;
      hide();
      timer = window.setTimeout(() => show(word), REST_MS);
    },
    pointerout: (event) => event.pointerType !== "touch" && wordAt(event.target, false) && hide(),
    focusin(event) {
      const word = event.target.matches(":focus-visible") ? wordAt(event.target, true) : null;
      if (!word) return;
      hide();
      timer = window.setTimeout(() => show(word, event.target), REST_MS);
    },
    focusout: hide,
    // The board is looked at now; a box ticked by its word keeps the words.
    input: (event) => event.target.type !== "checkbox" && hide(),
    click(event) {
      const word = event.pointerType === "touch" ? wordAt(event.target, false) : null;
      if (!word || word.matches("button")) return;
      // A label would hand the tap on to its control: a list would open over the words.
      if (!word.closest("label")?.querySelector("[type=checkbox]")) event.preventDefault();
      show(word);
    },
    keydown: (event) => event.key === "Escape" && hide(),
  };
  const end = new AbortController();
  const { signal } = end;
  for (const [name, listener] of Object.entries(listeners)) app.addEventListener(name, listener, { signal });
  document.addEventListener("pointerdown", hide, { signal });
  return () => {
    hide();
    end.abort();
    tip.remove();
  };
}
