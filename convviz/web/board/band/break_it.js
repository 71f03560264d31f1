// "Break it": leave out a step of a band's equation, and read what comes of it.
import BROKEN from "../../../facts/data/breakable_steps.json" with { type: "json" };
import { element, makeButton, setHidden, setText } from "../../base/dom.js";
import { walkAlong } from "../../base/roving_tabindex.js";
import { sayBreakIt } from "../../rules/break_it_sentences.js";
import { setColoured } from "./coloured_names.js";

/** @import { Broken } from "../../numbers/broken_step_view_model.js" */

/** Hidden where the band has no step to break. */
export class BreakIt {
  /** @param {string} id */
  #choose = (id) => {
    this.#board.model.reveal(id);
    this.#open = true;
    this.#chosen = id;
    this.#board.model.send({ type: "break", changes: { broken: id } });
  };
  #ids;
  /** It stands among the band's tools. */
  opener = makeButton("cv-break-open", sayBreakIt("control"), () => {
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
      const offer = this.#latest.broken?.offers[index]; // offers may change while their buttons stay
      if (!offer) return;
      this.#board.model.send({ type: "break", changes: offer.changes });
      this.#says.focus();
    },
  });
  #live = element("span.cv-live", { role: "status" });
  el;
  /** @type {{ broken: Broken | null, panels: Map<string, Panel> }} */
  #latest = { broken: null, panels: new Map() };
  #open = false;
  #isMarked = true; // until seen, they may
  #isLeft = false;
  #chosen = ""; // chosen here; else by Reset, Undo or a link
  #board;
  #name;

  /** @param {Shared} board @param {string} name */
  constructor(board, name) {
    [this.#board, this.#name] = [board, name];
    this.#ids = name === "input" || name === "weight" ? BROKEN[name].map(({ id }) => id) : [];
    this.#steps = createSteps(this.#ids, this.#choose, () => this.#leave());
    this.el = element("div.cv-break", { hidden: "" }, this.#steps.el, this.#says.el, this.#live);
    this.el.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.#steps.el.hidden) return;
      event.stopPropagation();
      this.#leave();
    });
  }

  /** All steps are right again, and the bar gives way to what was there. */
  #leave() {
    if (this.#chosen) this.#choose("");
    this.#open = false;
    this.#isLeft = true;
    this.show(this.#latest.broken, this.#latest.panels);
  }

  /** It closes if chosen elsewhere. @param {string} id */
  #meet(id) {
    this.#open &&= id === this.#chosen;
    this.#chosen = id;
  }

  /** Focus returns to the opener, once that is visible. */
  #giveBack() {
    if (!this.#isLeft || this.opener.hidden) return;
    this.#isLeft = false;
    this.opener.focus({ preventScroll: true });
  }

  /** @param {Broken | null} broken @param {Map<string, Panel>} panels */
  show(broken, panels) {
    this.#latest = { broken, panels };
    const isBreakable = Boolean(broken) && this.#ids.length > 0;
    setHidden(this.el, !isBreakable);
    const here = broken?.id && broken.equation === this.#name ? broken : null;
    const isNamed = !here || this.#board.model.get("revealed").includes(here.id);
    this.#meet(here?.id ?? "");
    setHidden(this.#steps.el, !isNamed || !(this.#open || here));
    setHidden(this.opener, !isBreakable || !isNamed || !this.#steps.el.hidden);
    this.#giveBack();
    this.#steps.set(here?.id ?? "");
    setText(this.#live, this.#says.set(here, isNamed));
    const marked = here?.differs && !this.#board.stepping ? here : null;
    this.el.toggleAttribute("data-differs", Boolean(marked));
    // cheaper than :has()
    this.el.parentElement?.toggleAttribute("data-wrong", Boolean(marked));
    // replaces the band's sentence
    this.el.parentElement?.toggleAttribute("data-broken", Boolean(here));
    this.el.parentElement?.toggleAttribute("data-breaking", !this.#steps.el.hidden);
    this.#isMarked = mark(panels, marked, isNamed, this.#isMarked);
  }
}

/** @param {string[]} ids @param {(id: string) => void} choose @param {() => void} leave */
function createSteps(ids, choose, leave) {
  const buttons = ["", ...ids].map((id) => {
    const words = id ? sayBreakIt(/** @type {"toggle.I01"} */ (`toggle.${id}`)) : sayBreakIt("right");
    const button = makeButton("cv-break-step", words, () => choose(id));
    button.dataset.broken = id;
    return button;
  });
  const close = makeButton({ class: "cv-break-close", title: sayBreakIt("leave") }, "×", leave);
  const el = element(
    "div.cv-seg.cv-break-steps",
    { role: "group", "aria-label": sayBreakIt("group") },
    ...buttons,
    close,
  );
  walkAlong(el, () => [...buttons, close]);
  let shown = "none yet";
  return {
    el,
    focus: () => buttons.find(({ tabIndex }) => tabIndex === 0)?.focus({ preventScroll: true }),
    /** @param {string} id */
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

/** @param {{ fix: () => void, reveal: () => void, take: (offer: number) => void }} acts */
function createSays({ fix, reveal, take }) {
  const words = element("span");
  const offers = element("span.cv-break-offers");
  const fixes = makeButton("cv-break-fix", sayBreakIt("fix"), fix);
  const reveals = makeButton("cv-break-reveal", sayBreakIt("reveal"), reveal);
  const el = element("p.cv-break-says", words, " ", offers, " ", fixes, reveals);
  let offered = "";
  return {
    el,
    focus: () => fixes.focus({ preventScroll: true }),
    /**
     * Shows the sentence of a broken step, or none, and returns it.
     * @param {Broken | null} broken @param {boolean} isNamed its name may be said
     */
    set(broken, isNamed) {
      setHidden(el, !broken);
      setHidden(reveals, isNamed);
      for (const each of [fixes, offers]) setHidden(each, !isNamed);
      const text = (isNamed ? broken?.sentence : broken?.hidden) ?? "";
      setColoured(words, text);
      const texts = (broken?.offers ?? []).map((offer) => offer.words);
      if (texts.join("|") !== offered)
        offers.replaceChildren(
          ...texts.map((each, index) => makeButton("cv-break-offer", each, () => take(index))),
        );
      offered = texts.join("|");
      return text;
    },
  };
}

/**
 * @param {Map<string, Panel>} panels @param {Broken | null} broken @param {boolean} isNamed
 * @param {boolean} wasMarked
 */
function mark(panels, broken, isNamed, wasMarked) {
  if (!broken && !wasMarked) return false;
  markSigns(panels, broken?.before ?? "");
  markPanels(panels, broken, isNamed);
  return Boolean(broken);
}

/**
 * "=" before a panel becomes "≠", all others "=".
 * @param {Map<string, Panel>} panels @param {string} before
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
 * The guilty panel is named and split only where it may be shown.
 * @param {Map<string, Panel>} panels @param {Broken | null} broken @param {boolean} isNamed
 */
function markPanels(panels, broken, isNamed) {
  // A plane of another geometry stands in the right one's place: frames and small numbers of pairs do not hold in it.
  const isElsewhere = Object.values(broken?.planes ?? {}).some((plane) => plane.from);
  for (const panel of panels.values()) {
    const { name } = panel.spec();
    const isGuilty = broken?.guilty === name;
    const shows = isNamed || !isGuilty || broken?.result === name;
    panel.el.toggleAttribute("data-unpaired", isElsewhere && isNamed);
    panel.breakInto((shows && broken?.planes[name]) || null, isGuilty && isNamed);
    if (name === "rotated_weight") {
      const term = panel.el.closest(".cv-term"); // its sign says "rotated window"
      term?.toggleAttribute("data-not-rotated", isGuilty && isNamed);
    }
  }
}
