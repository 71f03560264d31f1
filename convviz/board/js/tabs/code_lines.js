// @ts-check
// Lines of code with their numbers: made once, changed in place, pointed at with the pointer or the arrow keys.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { pythonTokens } from "../base/python_tokens.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const OPEN_UP_TO = 8; // lines of the tensors' part that stand there unfolded at first

/**
 * `panels`: line number → the panels that the line makes or reads; `tensors`: first and last line of their part.
 * @typedef {{ text: string, panels: Record<string, string[]>, tensors: [number, number] }} CodeFile
 */

/**
 * Make the view.
 * @param {(number: number | null) => void} onPoint a line that belongs to panels is pointed at; null: none is
 */
export function createCodeLines(onPoint) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const [before, tensors, after] = [0, 1, 2].map(() => element("div", { class: "cv-part" }));
  const summary = element("summary");
  const fold = /** @type {HTMLDetailsElement} */ (
    element("details", { class: "cv-tensors" }, summary, tensors)
  );
  const el = element("div", { class: "cv-code", role: "group", "aria-label": "Python" }, before, fold, after);
  /** @type {HTMLElement[]} */
  const lines = [];
  /** @type {Record<string, string[]>} */
  let panels = {};
  let text = "";
  let touched = false; // whether a person folded or unfolded the tensors
  /** @type {number | null} */
  let pointed = null;

  /** @param {number} number */
  const isLinked = (number) => Boolean(panels[number]?.length);

  /** @param {number | null} number */
  function point(number) {
    if (number === pointed) return;
    lines[(pointed ?? 0) - 1]?.classList.remove("cv-here");
    pointed = number;
    lines[(pointed ?? 0) - 1]?.classList.add("cv-here");
    onPoint(pointed);
  }

  /** @param {Event} event */
  function lineOf(event) {
    const line = /** @type {HTMLElement} */ (event.target).closest(".cv-line");
    const number = line ? lines.indexOf(/** @type {HTMLElement} */ (line)) + 1 : 0;
    return number && isLinked(number) ? number : null;
  }

  /** One of the lines is in the tab order; the arrow keys go on from it. @param {number} number */
  function makeStop(number) {
    lines.forEach((line, place) => {
      if (isLinked(place + 1)) line.tabIndex = place + 1 === number ? 0 : -1;
      else line.removeAttribute("tabindex");
    });
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const from = lineOf(event);
    const linked = lines
      .map((_, place) => place + 1)
      .filter((number) => isLinked(number) && lines[number - 1].offsetParent);
    const at = linked.indexOf(from ?? -1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: linked.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = linked[Math.max(0, Math.min(linked.length - 1, to))];
    makeStop(next);
    lines[next - 1].focus();
  }

  /** @param {HTMLElement} line @param {string} code */
  function write(line, code) {
    const parts = pythonTokens(code).map(([kind, part]) =>
      kind ? element("span", { class: `cv-${kind}` }, part) : part,
    );
    line.replaceChildren(...(parts.length ? parts : ["\n"])); // an empty line is copied as one, too
  }

  /** @param {HTMLElement} line */
  function flash(line) {
    if (calm.matches) return;
    line.animate([{ backgroundColor: "var(--cv-flash)" }, { backgroundColor: "transparent" }], 1200);
  }

  /** Bring the parts to their lengths, keeping the lines that are there. @param {number} count @param {[number, number]} ends */
  function arrange(count, [first, last]) {
    while (lines.length < count) lines.push(element("div", { class: "cv-line" }));
    for (const line of lines.splice(count)) line.remove();
    const homes = lines.map((_, place) => (place + 1 < first ? before : place + 1 <= last ? tensors : after));
    lines.forEach((line, place) => {
      line.dataset.line = String(place + 1);
      const home = homes[place];
      const previous = place && homes[place - 1] === home ? lines[place - 1] : null;
      if (line.parentNode !== home || line.previousSibling !== previous)
        home.insertBefore(line, previous ? previous.nextSibling : home.firstChild);
    });
  }

  el.addEventListener("mouseover", (event) => point(lineOf(event)));
  el.addEventListener("mouseleave", () => point(null));
  el.addEventListener("focusin", (event) => {
    const number = lineOf(event);
    if (number) makeStop(number);
    point(number);
  });
  el.addEventListener("focusout", () => point(null));
  el.addEventListener("keydown", onKey);
  summary.addEventListener("click", () => (touched = true));

  return {
    el,

    /**
     * Show a file.
     * @param {CodeFile} file @param {boolean} flashing whether lines that were not there before are to be seen as new
     */
    set(file, flashing) {
      const known = new Set(text.split("\n"));
      const codes = file.text.replace(/\n$/, "").split("\n");
      arrange(codes.length, file.tensors);
      codes.forEach((code, place) => {
        const line = lines[place];
        if (line.textContent !== (code || "\n")) write(line, code);
        line.classList.toggle("cv-linked", Boolean(file.panels[place + 1]?.length));
        if (!flashing) for (const running of line.getAnimations()) running.cancel();
        else if (!known.has(code)) flash(line);
      });
      ({ text, panels } = file);
      const [first, last] = file.tensors;
      setText(summary, say("code.tensors", { first, last }));
      if (!touched) fold.open = last - first < OPEN_UP_TO;
      const linked = Object.keys(panels).map(Number);
      const stop = lines.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + 1;
      makeStop(isLinked(stop) ? stop : (linked.find((number) => number > last) ?? linked[0]));
    },

    /** Mark the lines that make or read one of these panels; returns their numbers. @param {string[]} names */
    mark(names) {
      const found = lines
        .map((_, place) => place + 1)
        .filter((number) => panels[number]?.some((name) => names.includes(name)));
      lines.forEach((line, place) => line.classList.toggle("cv-marked", found.includes(place + 1)));
      return found;
    },

    /** @param {number} number */
    panelsOf: (number) => panels[number] ?? [],
  };
}
