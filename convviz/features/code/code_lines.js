// Lines of code with their numbers: changed in place, pointed at with the pointer or the arrow keys.
import { element, setText } from "../../web/base/dom.js";
import { isCalm } from "../../web/base/motion.js";
import { pythonTokens } from "../../web/base/python_tokens.js";
import { say } from "./sentences.js";

const OPEN_UP_TO = 8; // lines of tensors unfolded at first

/**
 * `panels`: by line number, those it makes or reads; `tensors`: first and last line of their part.
 * @typedef {{ text: string, panels: Record<string, string[]>, tensors: Pair }} CodeFile
 */

export class CodeLines {
  #onPoint;

  #before;
  #tensors;
  #after;
  #summary = element("summary");
  #fold;
  el;
  /** @type {HTMLElement[]} */
  #lines = [];
  /** @type {Record<string, string[]>} */
  #panels = {};
  #text = "";
  #touched = false; // folded or unfolded by hand
  /** @type {number | null} */
  #pointed = null;

  /** @param {(number: number | null) => void} onPoint null: no linked line */
  constructor(onPoint) {
    this.#onPoint = onPoint;
    [this.#before, this.#tensors, this.#after] = [0, 1, 2].map(() => element("div.cv-part"));
    this.#fold = element("details.cv-tensors", this.#summary, this.#tensors);
    this.el = element(
      "div.cv-code",
      { role: "group", "aria-label": "Python" },
      this.#before,
      this.#fold,
      this.#after,
    );
    this.el.addEventListener("mouseover", (event) => this.#point(this.#lineOf(event)));
    this.el.addEventListener("mouseleave", () => this.#point(null));
    this.el.addEventListener("focusin", (event) => {
      const number = this.#lineOf(event);
      if (number) this.#makeStop(number);
      this.#point(number);
    });
    this.el.addEventListener("focusout", () => this.#point(null));
    this.el.addEventListener("keydown", (event) => this.#onKey(event));
    this.#summary.addEventListener("click", () => (this.#touched = true));
  }

  /** @param {number} number */
  #isLinked(number) {
    return Boolean(this.#panels[number]?.length);
  }

  /** @param {number | null} number */
  #point(number) {
    if (number === this.#pointed) return;
    this.#lines[(this.#pointed ?? 0) - 1]?.classList.remove("cv-here");
    this.#pointed = number;
    this.#lines[(this.#pointed ?? 0) - 1]?.classList.add("cv-here");
    this.#onPoint(this.#pointed);
  }

  /** @param {Event} event */
  #lineOf(event) {
    const line = /** @type {HTMLElement} */ (event.target).closest(".cv-line");
    const number = line ? this.#lines.indexOf(/** @type {HTMLElement} */ (line)) + 1 : 0;
    return number && this.#isLinked(number) ? number : null;
  }

  /** Makes one linked line the only tab stop; the arrow keys reach the others. @param {number} number */
  #makeStop(number) {
    this.#lines.forEach((line, place) => {
      if (this.#isLinked(place + 1)) line.tabIndex = place + 1 === number ? 0 : -1;
      else line.removeAttribute("tabindex");
    });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const from = this.#lineOf(event);
    const linked = this.#lines
      .map((_, place) => place + 1)
      .filter((number) => this.#isLinked(number) && this.#lines[number - 1].offsetParent);
    const at = linked.indexOf(from ?? -1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: linked.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = linked[Math.max(0, Math.min(linked.length - 1, to))];
    this.#makeStop(next);
    this.#lines[next - 1].focus();
  }

  /** @param {HTMLElement} line @param {string} code */
  #write(line, code) {
    const parts = pythonTokens(code).map(([kind, part]) => (kind ? element(`span.cv-${kind}`, part) : part));
    line.replaceChildren(...(parts.length ? parts : ["\n"])); // copied as a line
  }

  /** @param {HTMLElement} line */
  #flash(line) {
    if (isCalm()) return;
    line.animate([{ backgroundColor: "var(--cv-flash)" }, { backgroundColor: "transparent" }], 1200);
  }

  /** Lines that are there stay. @param {number} count @param {Pair} ends */
  #arrange(count, [first, last]) {
    while (this.#lines.length < count) this.#lines.push(element("div.cv-line"));
    for (const line of this.#lines.splice(count)) line.remove();
    const homes = this.#lines.map((_, place) =>
      place + 1 < first ? this.#before : place + 1 <= last ? this.#tensors : this.#after,
    );
    this.#lines.forEach((line, place) => {
      line.dataset.line = String(place + 1);
      const home = homes[place];
      const previous = place && homes[place - 1] === home ? this.#lines[place - 1] : null;
      if (line.parentNode !== home || line.previousSibling !== previous)
        home.insertBefore(line, previous ? previous.nextSibling : home.firstChild);
    });
  }

  /** @param {CodeFile} file @param {boolean} flashing mark new lines */
  set(file, flashing) {
    const known = new Set(this.#text.split("\n"));
    const codes = file.text.replace(/\n$/, "").split("\n");
    this.#arrange(codes.length, file.tensors);
    codes.forEach((code, place) => {
      const line = this.#lines[place];
      if (line.textContent !== (code || "\n")) this.#write(line, code);
      line.classList.toggle("cv-linked", Boolean(file.panels[place + 1]?.length));
      if (!flashing) for (const running of line.getAnimations()) running.cancel();
      else if (!known.has(code)) this.#flash(line);
    });
    ({ text: this.#text, panels: this.#panels } = file);
    const [first, last] = file.tensors;
    setText(this.#summary, say("tensors", { first, last }));
    if (!this.#touched) this.#fold.open = last - first < OPEN_UP_TO;
    const linked = Object.keys(this.#panels).map(Number);
    const stop = this.#lines.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + 1;
    this.#makeStop(this.#isLinked(stop) ? stop : (linked.find((number) => number > last) ?? linked[0]));
  }

  /** @param {string[]} names */
  mark(names) {
    const found = this.#lines
      .map((_, place) => place + 1)
      .filter((number) => this.#panels[number]?.some((name) => names.includes(name)));
    this.#lines.forEach((line, place) => line.classList.toggle("cv-marked", found.includes(place + 1)));
    return found;
  }

  /** @param {number} number */
  panelsOf(number) {
    return this.#panels[number] ?? [];
  }
}
