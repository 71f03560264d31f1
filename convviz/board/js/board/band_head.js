// @ts-check
// The title line of a band: its name, one sentence, the pickers of planes, the readings, and what is there on
// demand: why, formula, steps.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { element, makeButton, setAttribute, setText } from "../base/dom.js";
import { sentences } from "../base/words.js";
import { createBecause } from "./because.js";
import { createBreakIt } from "./break_it.js";
import { createChoice, createSymbols } from "./equation_parts.js";
import { createMarksKey } from "./marks_key.js";
import { createFormula, setFormula, setTinted } from "./quantities.js";
import { createRemainder } from "./remainder_box.js";
import { createSentBack } from "./sent_back.js";
import { createViewSwitch } from "./viewswitch.js";

/**
 * @import { Shared } from "./shared.js"
 * @import { BandSpec, Told } from "../numbers/view.js"
 */

const say = sentences(WORDS);

/** @param {() => void} onClick */
function createTitle(onClick) {
  return makeButton({ class: "cv-title", "aria-pressed": "false", title: say("band.title") }, [], onClick);
}

/**
 * What an equation computes, in symbols, and what else there is to know of it.
 * @param {Shared} board @param {string} name
 */
function createNotes(board, name) {
  const symbols = createSymbols();
  const formula = createFormula();
  const note = element("p", { class: "cv-note" });
  const remainder = createRemainder((size) => board.model.send({ type: "size", size }));
  // The remainder's story is to the input where the layer is transposed.
  symbols.el.append(formula, note, ...(["forward", "input"].includes(name) ? [remainder.el] : []));
  return { ...symbols, formula, note, remainder };
}

/** @param {Shared} board @param {HTMLElement} el in which they stand */
function createPickers(board, el) {
  /** @param {{ axis: string, count: number, word: string, value: number }[]} list */
  return (list) => {
    const order = list.map((choice) => `${choice.axis}${choice.count}${choice.word}`).join();
    if (el.dataset.order !== order) {
      el.dataset.order = order;
      el.replaceChildren(...list.map((choice) => createChoice(board, choice)));
    }
    list.forEach((choice, index) => {
      const select = /** @type {HTMLSelectElement} */ (el.children[index].querySelector("select"));
      select.value = String(choice.value);
    });
  };
}

/**
 * @param {Shared} board @param {string} name of the band
 * @param {HTMLElement} stepButton opens its steps
 * @param {() => void} showMaking shows how what is asked about was made
 */
export function createBandHead(board, name, stepButton, showMaking) {
  const heading = createTitle(() => board.focusBand(name));
  const caption = element("p", { class: "cv-caption" });
  const aside = element("p", { class: "cv-aside" });
  const because = createBecause(name, board.taught);
  const says = element("div", { class: "cv-says" }, caption, aside, because.answer);
  const choices = element("div", { class: "cv-choices" });
  const setPickers = createPickers(board, choices);
  const views = createViewSwitch((view) => board.model.send({ type: "view", view }));
  const sent = createSentBack(board);
  const symbols = createNotes(board, name);
  const key = createMarksKey();
  const breakIt = createBreakIt(board, name);
  const own = name === "forward" ? [sent.el] : name === "input" ? [views.el] : [];
  const steps = name === "bias" ? [] : [stepButton];
  // What comes and goes stands before what stays, which keeps its place at the right end.
  const el = element(
    "header",
    { class: "cv-head" },
    element("h3", {}, heading),
    says,
    key.el,
    because.el,
    breakIt.el,
    element("div", { class: "cv-tools-of-band" }, choices, ...own, ...steps, symbols.button),
    symbols.el,
  );
  because.onAnswer((answered) => {
    const asked = answered && !says.hasAttribute("data-answered");
    says.toggleAttribute("data-answered", answered);
    if (asked) showMaking();
  });

  return {
    el,
    key,
    /** Say what is broken, and mark it. */
    showBroken: breakIt.show,
    /**
     * @param {BandSpec} spec @param {import("../rules/spec.js").Geometry} geometry
     * @param {import("../picture/remainder.js").RemainderStory | null} story
     */
    setSpec(spec, geometry, story) {
      setText(heading, spec.title);
      views.set(spec.view, geometry.transposed);
      sent.set(spec.sent_back);
      symbols.remainder.set(story);
      setPickers(spec.choices);
      because.set(
        /** @type {import("../picture/payload.js").PanelItem[]} */ (spec.items.filter((item) => item.key)),
        geometry,
      );
    },
    /** @param {Told} texts of the numbers that are shown */
    setTexts(texts) {
      setFormula(symbols.formula, texts.formulas[name] ?? "");
      setTinted(caption, texts.captions[name] ?? "");
      setAttribute(caption, "title", caption.textContent ?? "");
      setText(symbols.note, texts.notes[name] ?? "");
    },
    /**
     * Say something about the cell that is looked at.
     * @param {string} text @param {boolean} paired whether small numbers pair its factors
     */
    say(text, paired) {
      setText(aside, text);
      setAttribute(aside, "title", text);
      key.pair(paired);
      says.toggleAttribute("data-aside", Boolean(text));
    },
    /** @param {boolean} pressed */
    setPressed: (pressed) => heading.setAttribute("aria-pressed", String(pressed)),
  };
}
