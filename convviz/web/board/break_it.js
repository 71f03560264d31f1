// @ts-check
// "Break it": the control of a band that leaves out a step of its equation, and the sentence about what comes
// out.
import BROKEN from "../../facts/broken.json" with { type: "json" };
import WORDS from "../../facts/words/broken.json" with { type: "json" };
import { element, makeButton, setHidden, setText } from "../base/dom.js";
import { walkAlong } from "../base/roving.js";
import { sentences } from "../base/words.js";
import { setTinted } from "./quantities.js";

const say = sentences(WORDS);

/**
 * @import { Broken } from "../numbers/broken_view.js"
 * @typedef {import("./panel.js").Panel} Panel
 */

/** The control of one band; it stays hidden where the band has no step to break. */
export class BreakIt {
  /** @param {string} id of a mistake; empty: of none */
  #choose = (id) => {
    this.#board.model.reveal(id);
    this.#open = true;
    this.#chosen = id;
    this.#board.model.send({ type: "break", changes: { broken: id } });
  };
  #ids;
  #opener = makeButton({ class: "cv-break-open" }, say("control"), () => {
    this.#open = true;
    this.show(this.#latest.broken, this.#latest.panels);
    this.#steps.focus();
  });
  #steps;
  #says = createSays({
    fix: () => {
      this.#choose("");
      this.#steps.focus();
    },
    reveal: () => {
      this.#board.model.reveal(this.#latest.broken?.id ?? "");
      this.show(this.#latest.broken, this.#latest.panels);
      this.#says.focus();
    },
    take: (index) => {
      const offer = this.#latest.broken?.offers[index]; // of the settings as they are by now
      if (!offer) return;
      this.#board.model.send({ type: "break", changes: offer.changes });
      this.#says.focus(); // the button goes
    },
  });
  #live = element("span", { class: "cv-live", role: "status" });
  el;
  /** @type {{ broken: Broken | null, panels: Map<string, Panel> }} what was shown last */
  #latest = { broken: null, panels: new Map() };
  #open = false;
  #isMarked = true; // whether panels show what is broken; until they were seen, they may
  #isLeft = false; // by Escape
  #chosen = ""; // here; where another mistake stands by now, Reset, Undo or a link has come between
  #board;
  #name;

  /** @param {import("./shared.js").Shared} board @param {string} name of the band */
  constructor(board, name) {
    [this.#board, this.#name] = [board, name];
    this.#ids = name === "input" || name === "weight" ? BROKEN[name].map(({ id }) => id) : [];
    this.#steps = createSteps(this.#ids, this.#choose);
    this.el = element(
      "div",
      { class: "cv-break", hidden: "" },
      this.#opener,
      this.#steps.el,
      this.#says.el,
      this.#live,
    );
    this.el.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.#steps.el.hidden) return;
      event.stopPropagation();
      if (this.#chosen) this.#choose("");
      this.#open = false;
      this.#isLeft = true;
      this.show(this.#latest.broken, this.#latest.panels);
    });
  }

  /** What is broken here by now: where nobody chose it here, the row closes. @param {string} id */
  #meet(id) {
    this.#open &&= id === this.#chosen;
    this.#chosen = id;
  }

  /**
   * The keyboard goes back to where it came from, once that is to be seen: what was broken is right a frame
   * later.
   */
  #giveBack() {
    if (!this.#isLeft || this.#opener.hidden) return;
    this.#isLeft = false;
    this.#opener.focus({ preventScroll: true });
  }

  /**
   * Show what is broken, here or in another band.
   * @param {Broken | null} broken null where nothing can be @param {Map<string, Panel>} panels of this band
   */
  show(broken, panels) {
    this.#latest = { broken, panels };
    setHidden(this.el, !broken || !this.#ids.length);
    const here = broken?.id && broken.equation === this.#name ? broken : null;
    const isTold = !here || this.#board.model.get("told").includes(here.id);
    this.#meet(here?.id ?? "");
    setHidden(this.#steps.el, !isTold || !(this.#open || here));
    setHidden(this.#opener, !isTold || !this.#steps.el.hidden);
    this.#giveBack();
    this.#steps.set(here?.id ?? "");
    setText(this.#live, this.#says.set(here, isTold));
    const marked = here?.differs && !this.#board.stepping ? here : null;
    this.el.toggleAttribute("data-differs", Boolean(marked));
    // no :has(), which is asked for again after every number
    this.el.parentElement?.toggleAttribute("data-wrong", Boolean(marked));
    // its sentence takes the place of the band's
    this.el.parentElement?.toggleAttribute("data-broken", Boolean(here));
    this.el.parentElement?.toggleAttribute("data-breaking", !this.#steps.el.hidden);
    this.#isMarked = mark(panels, marked, isTold, this.#isMarked);
  }
}

/**
 * The steps of a band, of which one is broken, or none.
 * @param {string[]} ids of mistakes @param {(id: string) => void} choose
 */
function createSteps(ids, choose) {
  const buttons = ["", ...ids].map((id) => {
    const words = id ? say(/** @type {"toggle.I01"} */ (`toggle.${id}`)) : say("right");
    const button = makeButton({ class: "cv-break-step" }, words, () => choose(id));
    button.dataset.broken = id;
    return button;
  });
  const el = element(
    "div",
    { class: "cv-break-steps", role: "group", "aria-label": say("group") },
    ...buttons,
  );
  walkAlong(el, () => buttons);
  let shown = "none yet";
  return {
    el,
    focus: () => buttons.find(({ tabIndex }) => tabIndex === 0)?.focus({ preventScroll: true }),
    /** @param {string} id of what is broken, or empty */
    set(id) {
      if (id === shown) return;
      shown = id;
      for (const button of buttons) {
        const on = button.dataset.broken === id;
        button.setAttribute("aria-pressed", String(on));
        button.tabIndex = on ? 0 : -1;
      }
    },
  };
}

/**
 * The sentence about what is broken, with its buttons.
 * @param {{ fix: () => void, reveal: () => void, take: (offer: number) => void }} acts
 */
function createSays({ fix, reveal, take }) {
  const words = element("span", {});
  const offers = element("span", { class: "cv-break-offers" });
  const fixes = makeButton({ class: "cv-break-fix" }, say("fix"), fix);
  const reveals = makeButton({ class: "cv-break-reveal" }, say("reveal"), reveal);
  const el = element("p", { class: "cv-break-says" }, words, " ", offers, " ", fixes, reveals);
  let offered = "";
  return {
    el,
    focus: () => fixes.focus({ preventScroll: true }),
    /**
     * Say it, and return the words.
     * @param {Broken | null} broken @param {boolean} isTold whether its name may be said
     */
    set(broken, isTold) {
      setHidden(el, !broken);
      setHidden(reveals, isTold);
      for (const each of [fixes, offers]) setHidden(each, !isTold);
      const text = (isTold ? broken?.sentence : broken?.hidden) ?? "";
      setTinted(words, text);
      const texts = (broken?.offers ?? []).map((offer) => offer.words);
      if (texts.join("|") !== offered)
        offers.replaceChildren(
          ...texts.map((each, index) => makeButton({ class: "cv-break-offer" }, each, () => take(index))),
        );
      offered = texts.join("|");
      return text;
    },
  };
}

/**
 * Show in the panels what is broken, or that nothing is any more.
 * @param {Map<string, Panel>} panels @param {Broken | null} broken @param {boolean} isTold
 * @param {boolean} wasMarked
 * @returns {boolean} whether they show something broken
 */
function mark(panels, broken, isTold, wasMarked) {
  if (!broken && !wasMarked) return false;
  markSigns(panels, broken?.before ?? "");
  markPanels(panels, broken, isTold);
  return Boolean(broken);
}

/**
 * Turn the "=" before a panel into "≠", and every other one back.
 * @param {Map<string, Panel>} panels @param {string} before the panel's name, or empty
 */
function markSigns(panels, before) {
  for (const panel of panels.values()) {
    const wrong = panel.spec().name === before;
    const symbols = panel.el.closest(".cv-term")?.querySelectorAll(".cv-symbol") ?? [];
    for (const symbol of symbols) {
      if (symbol.textContent === "=" && wrong) setText(symbol, "≠");
      else if (symbol.textContent === "≠" && !wrong) setText(symbol, "=");
      symbol.classList.toggle("cv-unequal", symbol.textContent === "≠");
    }
  }
}

/**
 * Split the cells that come out wrong; what is guilty is named, and split, only where it may be told.
 * @param {Map<string, Panel>} panels @param {Broken | null} broken @param {boolean} isTold
 */
function markPanels(panels, broken, isTold) {
  for (const panel of panels.values()) {
    const { name } = panel.spec();
    const isGuilty = broken?.guilty === name;
    const shows = isTold || !isGuilty || broken?.result === name;
    panel.breakInto((shows && broken?.planes[name]) || null, isGuilty && isTold);
    if (name === "rotated_weight") {
      const term = panel.el.closest(".cv-term"); // its sign says "rotated window"
      term?.toggleAttribute("data-not-rotated", isGuilty && isTold);
    }
  }
}
