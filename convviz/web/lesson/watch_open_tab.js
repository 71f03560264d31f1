// What a lesson looks for in the open tab: the part that it speaks of comes in sight, and what it asks for is
// seen in the tab's buttons and menus, however it was chosen.

import { listen } from "../base/dom.js";

const BUTTONS = /** @type {const} */ (["mistake", "gradient", "variant"]);
const CHOSEN = /** @type {const} */ (["aria-pressed", "aria-checked"]);
const OWN_MOVES = ["pointerdown", "wheel", "touchmove", "keydown"]; // events by which a visitor takes over
const ABOVE = 6; // pixels

/** As far out as the tab: the page with the card stays. @param {HTMLElement} slot @param {HTMLElement} el */
function bringWithin(slot, el) {
  for (let at = el.parentElement; at && slot.contains(at); at = at.parentElement) {
    const [{ top, bottom }, box] = [el.getBoundingClientRect(), at.getBoundingClientRect()];
    if (at.scrollHeight <= at.clientHeight) continue;
    if (top < box.top + ABOVE) at.scrollTop += top - box.top - ABOVE;
    else if (bottom > box.bottom - ABOVE) at.scrollTop += bottom - box.bottom + ABOVE;
  }
}

export class TabWatch {
  #look = () => {
    if (!this.#slot) return;
    if (this.#choice) {
      const all = this.#buttons();
      const lists = /** @type {HTMLSelectElement[]} */ (this.#all("select[data-set]"));
      this.#frame(
        all.find(({ id }) => id === this.#choice)?.el ??
          lists.find(({ options }) => [...options].some(({ value }) => value === this.#choice)),
      );
      this.#onChosen([
        ...all.filter(({ el }) => this.#isChosen(el)).map(({ id }) => id),
        ...lists.map(({ value }) => value),
      ]);
    }
    this.#bring();
  };
  #choice = "";
  #part = "";
  #key = "";
  /** @type {HTMLElement | null | undefined} */
  #slot = null;
  /** @returns {{ el: HTMLElement, id: string }[]} */
  #buttons = () =>
    BUTTONS.flatMap((name) => this.#all(`[data-${name}]`).map((el) => ({ el, id: el.dataset[name] ?? "" })));
  /** @param {string} selector @returns {HTMLElement[]} */
  #all = (selector) =>
    [...(this.#slot?.querySelectorAll(selector) ?? [])].map((el) => /** @type {any} */ (el));
  #isChosen = (/** @type {HTMLElement} */ el) => CHOSEN.some((name) => el.getAttribute(name) === "true");
  #watcher = new MutationObserver(this.#look);
  /** @type {(() => void)[]} */
  #ends = [];
  #appOf;
  #onChosen;

  /**
   * @param {() => Element | null | undefined} appOf
   * @param {(chosen: string[]) => void} onChosen all, at each change
   */
  constructor(appOf, onChosen) {
    [this.#appOf, this.#onChosen] = [appOf, onChosen];
  }

  /** @param {HTMLElement | undefined} wanted */
  #frame(wanted) {
    const old = this.#slot?.querySelector("[data-wanted]");
    if (wanted === old) return;
    old?.removeAttribute("data-wanted");
    wanted?.setAttribute("data-wanted", "");
    if (this.#slot && wanted) bringWithin(this.#slot, wanted);
  }

  /** Also when more is drawn, until somebody scrolls. */
  #bring() {
    const there =
      this.#part && this.#slot?.querySelector(`[data-part="${this.#part}"], [data-plot="${this.#part}"]`);
    if (this.#slot && there)
      this.#slot.scrollTop +=
        there.getBoundingClientRect().top - this.#slot.getBoundingClientRect().top - ABOVE;
  }

  stop() {
    this.#watcher.disconnect();
    this.#frame(undefined);
    for (const end of this.#ends) end();
  }

  /**
   * @param {string} wanted choice, or empty @param {string} seen part, or empty
   * @param {string} of new at every start of a step
   */
  follow(wanted, seen, of) {
    const next = [wanted, seen, of].join(" ");
    if (next === this.#key) return;
    this.stop();
    [this.#key, this.#choice, this.#part] = [next, wanted, seen];
    this.#slot = wanted || seen ? this.#appOf()?.querySelector(".cv-slot") : null;
    if (!this.#slot) return;
    this.#watcher.observe(this.#slot, {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: [...CHOSEN, "hidden"],
    });
    this.#ends = [
      listen(this.#slot, "change", this.#look),
      listen(this.#slot, OWN_MOVES, () => (this.#part = ""), { passive: true }),
    ];
    this.#look();
  }

  /** Presses the tab's button, as a visitor would. */
  press = () => {
    const wanted = /** @type {HTMLElement | null | undefined} */ (this.#slot?.querySelector("[data-wanted]"));
    if (wanted instanceof HTMLSelectElement) {
      wanted.value = this.#choice;
      wanted.dispatchEvent(new Event("change", { bubbles: true }));
    } else if (wanted && !this.#isChosen(wanted)) wanted.click();
  };
}
