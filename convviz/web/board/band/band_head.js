// A band's title line: name, sentence, plane pickers, readings; on demand why, formula, steps.
import { element, makeButton, setAttribute, setHidden, setText } from "../../base/dom.js";
import { rove } from "../../base/roving_tabindex.js";
import { say } from "../../base/board_sentences.js";
import { WhyButtons } from "./why_buttons.js";
import { BreakIt } from "./break_it.js";
import { createChoice, createSymbols } from "./band_elements.js";
import { createMarksKey } from "./marks_legend.js";
import { createFormula, setFormula, setColoured } from "./coloured_names.js";
import { createRemainder } from "./remainder_story.js";
import { createGradMenu } from "./grad_output_menu.js";
import { createViewSwitch } from "./window_or_stamps_switch.js";

/** @param {Shared} board @param {string} name */
function createNotes(board, name) {
  const symbols = createSymbols();
  const formula = createFormula();
  const note = element("p.cv-note");
  const remainder = createRemainder((size) => board.model.send({ type: "size", size }));
  // A transposed layer shows its remainder in the band to the input.
  symbols.el.append(formula, note, ...(["forward", "input"].includes(name) ? [remainder.el] : []));
  return { ...symbols, formula, note, remainder };
}

/** @param {Shared} board @param {HTMLElement} el */
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

export class BandHead {
  #heading = makeButton({ class: "cv-title", "aria-pressed": "false", title: say("band.title") }, [], () =>
    this.#board.focusBand(this.#name),
  );
  #caption = element("p.cv-caption");
  #aside = element("p.cv-aside");
  #unchanged = element("p.cv-unchanged", { hidden: "" });
  #because;
  #says;
  #setPickers;
  #views = createViewSwitch((view) => this.#board.model.send({ type: "view", view }));
  #sent;
  #symbols;
  key = createMarksKey();
  el;
  breakIt;
  #board;
  #name;

  /**
   * @param {Shared} board @param {string} name @param {HTMLElement} stepButton @param {() => void}
   *   showMaking
   */
  constructor(board, name, stepButton, showMaking) {
    [this.#board, this.#name] = [board, name];
    this.#because = new WhyButtons(name, board.taught);
    this.#says = element("div.cv-says", this.#caption, this.#aside, this.#unchanged, this.#because.answer);
    const choices = element("div.cv-choices");
    this.#setPickers = createPickers(board, choices);
    this.#sent = createGradMenu(board);
    this.#symbols = createNotes(board, name);
    this.breakIt = new BreakIt(board, name);
    const own = name === "forward" ? [this.#sent.el] : name === "input" ? [this.#views.el] : [];
    const steps = name === "bias" ? [] : [stepButton];
    const tools = [...steps, this.#symbols.button];
    const ofBand = element("div.cv-tools-of-band", this.breakIt.opener, choices, ...own, ...tools);
    rove(ofBand, () => tools);
    // What comes and goes stands before what stays.
    this.el = element(
      "header.cv-head",
      element("h3", this.#heading),
      this.#says,
      this.key.el,
      this.#because.el,
      this.breakIt.el,
      ofBand,
      this.#symbols.el,
    );
    this.#because.onAnswer((answered) => {
      const asked = answered && !this.#says.hasAttribute("data-answered");
      this.#says.toggleAttribute("data-answered", answered);
      if (asked) showMaking();
    });
  }

  /**
   * @param {BandSpec} spec @param {Geometry} geometry @param
   * {import("../../picture/remainder_sentences.js").RemainderStory | null} story
   */
  setSpec(spec, geometry, story) {
    setText(this.#heading, spec.title);
    this.#views.set(spec.view, geometry.transposed);
    this.#sent.set(spec.sent_back);
    this.#symbols.remainder.set(story);
    this.#setPickers(spec.choices);
    this.#because.set(/** @type {PanelItem[]} */ (spec.items.filter((item) => item.key)), geometry);
  }

  /** @param {BoardValues} texts */
  setTexts(texts) {
    setFormula(this.#symbols.formula, texts.formulas[this.#name] ?? "");
    setColoured(this.#caption, texts.captions[this.#name] ?? "");
    setAttribute(this.#caption, "title", this.#caption.textContent ?? "");
    setText(this.#symbols.note, texts.notes[this.#name] ?? "");
  }

  /** @param {string} text @param {boolean} paired small numbers pair its factors */
  say(text, paired) {
    setText(this.#aside, text);
    setAttribute(this.#aside, "title", text);
    this.key.pair(paired);
    this.#says.toggleAttribute("data-aside", Boolean(text));
  }

  /** Why results stayed, in the place of the band's sentence. @param {string[]} reasons */
  sayUnchanged(reasons) {
    setText(this.#unchanged, reasons.join(" \u00b7 "));
    setHidden(this.#unchanged, !reasons.length);
  }

  /** An answer or the formula is open: it has more words than at rest. */
  isAsked = () => this.#says.hasAttribute("data-answered") || !this.#symbols.el.hidden;

  /** @param {boolean} pressed */
  setPressed = (pressed) => this.#heading.setAttribute("aria-pressed", String(pressed));
}
