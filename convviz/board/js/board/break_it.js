// @ts-check
// "Break it": the control of a band that leaves out a step of its equation, and the sentence about what comes
// out.
import BROKEN from "../../../facts/broken.json" with { type: "json" };
import WORDS from "../../../facts/words/broken.json" with { type: "json" };
import { element, makeButton, setHidden, setText } from "../base/dom.js";
import { walkAlong } from "../base/roving.js";
import { sentences } from "../base/words.js";
import { setTinted } from "./quantities.js";

const say = sentences(WORDS);

/**
 * @import { Broken } from "../numbers/broken_view.js"
 * @typedef {import("./panel.js").Panel} Panel
 */

/**
 * The mistakes that a visitor has chosen, or been told: of those that a link has brought the name is a
 * riddle.
 * @type {WeakMap<object, Set<string>>}
 */
const KNOWN = new WeakMap();

/** @param {object} model */
function knownBy(model) {
  const known = KNOWN.get(model) ?? new Set();
  KNOWN.set(model, known);
  return known;
}

/**
 * Make the control of one band; it stays hidden where the band has no step to break.
 * @param {import("./shared.js").Shared} board @param {string} name of the band
 */
export function createBreakIt(board, name) {
  const ids = name === "input" || name === "weight" ? BROKEN[name].map(({ id }) => id) : [];
  const known = knownBy(board.model);
  const opener = makeButton({ class: "cv-break-open" }, say("control"), () => {
    open = true;
    show(latest.broken, latest.panels);
    steps.focus();
  });
  const steps = createSteps(ids, choose);
  const says = createSays({
    fix() {
      choose("");
      steps.focus();
    },
    reveal() {
      known.add(latest.broken?.id ?? "");
      show(latest.broken, latest.panels);
      says.focus();
    },
    take(index) {
      const offer = latest.broken?.offers[index]; // of the settings as they are by now
      if (!offer) return;
      board.model.send({ type: "break", changes: offer.changes });
      says.focus(); // the button goes
    },
  });
  const live = element("span", { class: "cv-live", role: "status" });
  const el = element("div", { class: "cv-break", hidden: "" }, opener, steps.el, says.el, live);
  /** @type {{ broken: Broken | null, panels: Map<string, Panel> }} what was shown last */
  let latest = { broken: null, panels: new Map() };
  let open = false;
  let isMarked = true; // whether panels show what is broken; until they were seen, they may
  let isLeft = false; // by Escape
  let chosen = ""; // here; where another mistake stands by now, Reset, Undo or a link has come between

  /** What is broken here by now: where nobody chose it here, the row closes. @param {string} id */
  function meet(id) {
    open &&= id === chosen;
    chosen = id;
  }

  /** @param {string} id of a mistake; empty: of none */
  function choose(id) {
    known.add(id);
    open = true;
    chosen = id;
    board.model.send({ type: "break", changes: { broken: id } });
  }

  el.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || steps.el.hidden) return;
    event.stopPropagation();
    if (chosen) choose("");
    open = false;
    isLeft = true;
    show(latest.broken, latest.panels);
  });

  /**
   * The keyboard goes back to where it came from, once that is to be seen: what was broken is right a frame
   * later.
   */
  function giveBack() {
    if (!isLeft || opener.hidden) return;
    isLeft = false;
    opener.focus({ preventScroll: true });
  }

  /**
   * Show what is broken, here or in another band.
   * @param {Broken | null} broken null where nothing can be @param {Map<string, Panel>} panels of this band
   */
  function show(broken, panels) {
    latest = { broken, panels };
    setHidden(el, !broken || !ids.length);
    const here = broken?.id && broken.equation === name ? broken : null;
    const isTold = !here || known.has(here.id);
    meet(here?.id ?? "");
    setHidden(steps.el, !isTold || !(open || here));
    setHidden(opener, !isTold || !steps.el.hidden);
    giveBack();
    steps.set(here?.id ?? "");
    setText(live, says.set(here, isTold));
    const marked = here?.differs && !board.stepping ? here : null;
    el.toggleAttribute("data-differs", Boolean(marked));
    // no :has(), which is asked for again after every number
    el.parentElement?.toggleAttribute("data-wrong", Boolean(marked));
    // its sentence takes the place of the band's
    el.parentElement?.toggleAttribute("data-broken", Boolean(here));
    el.parentElement?.toggleAttribute("data-breaking", !steps.el.hidden);
    isMarked = mark(panels, marked, isTold, isMarked);
  }

  return { el, show };
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
