// The tab My numbers: the example to copy into any language, and a field for what one's own code printed. The page
// reads it and says what it is.
import MISTAKES from "../../facts/data/mistakes.json" with { type: "json" };
import { NOT_COPIED, createClipboard } from "../../web/base/clipboard.js";
import { element, setText } from "../../web/base/dom.js";
import { setRich, rich } from "../../web/base/rich_text.js";
import { Heatmap } from "../../web/board/grid/tab_heatmap.js";
import { computeStages } from "../../web/numbers/compute.js";
import { afterwards } from "../../web/numbers/latest_request.js";
import { numbersKey, tensorsOf } from "../../web/rules/settings_and_tensors.js";
import { shownName } from "../../web/rules/tensor_display_names.js";
import { indexIn, planeIn, planeRows } from "../../web/tabs/shown_planes.js";
import { split, tab } from "../../web/tabs/pane.js";
import { button, createRadios, fillMenu } from "../../web/tabs/pane_elements.js";
import { FORMS, exampleText, shapeIn } from "./example_text.js";
import { explain, rightOf } from "./explain_numbers.js";
import { createFileOpener } from "./file_opener.js";
import { Unreadable } from "./printed_tokens.js";
import { readNumbers } from "./read_numbers.js";
import { createReasons } from "./reasons_list.js";
import { cellWords, planeAt, problemWords, verdictWords } from "./verdict_sentences.js";
import { say } from "./sentences.js";

const REST_MS = 150; // while somebody types
const RESULTS = /** @type {const} */ (["grad_input", "grad_weight", "grad_bias", "output"]);

/**
 * @import { Asked, Verdict } from "./explain_numbers.js"
 * @typedef {{ text: string, example: string, of: typeof RESULTS[number], form: import("./example_text.js").Form }}
 *   Chosen example: that the text was pasted for
 */

class PastedPane {
  take = () => {
    const there = this.#pane.page.shown();
    if (!there) return;
    const { settings } = there;
    const key = numbersKey(settings);
    if (key !== this.#key) {
      const { spec, loss, transposed } = settings;
      this.#stages = computeStages(spec, loss, tensorsOf(settings), transposed);
    }
    [this.#key, this.#settings] = [key, settings];
    this.#draw();
    this.#soon();
  };
  #pane;
  /** @type {Chosen} */
  #chosen = { text: "", example: "", of: "grad_input", form: "numpy" };
  #key = "";
  /** @type {Settings | null} */
  #settings = null;
  /** @type {Stages | null} */
  #stages = null;
  /** @type {Verdict | null} */
  #verdict = null;
  #stop = () => {};
  #forms = element("select", { "aria-label": say("forms") });
  #example = element("textarea.cv-pasted-example", {
    readonly: "",
    rows: "7",
    wrap: "off",
    "aria-label": say("text"),
  });
  #copier = createClipboard();
  #copied = element("span.cv-muted");
  #ask = element("p.cv-muted");
  #results = createRadios(say("of"), "of", (of) => this.#choose({ of: /** @type {Chosen["of"]} */ (of) }));
  #field = element("textarea.cv-pasted-field", {
    ...{ rows: "7", wrap: "off", spellcheck: "false", autocomplete: "off", "aria-label": say("field") },
  });
  #feedback = element("div.cv-pasted-verdict", { role: "status", "aria-live": "polite" });
  #place = button(say("place"), () => this.#goToProblem());
  /** @type {Unreadable | null} */
  #problem = null;
  #reasons;
  #map;
  #cell = element("p.cv-readout");
  #picture;

  /** @param {PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    this.#pane = pane;
    Object.assign(this.#chosen, pane.page.kept("pasted"));
    this.#reasons = createReasons((link, words) => pane.page.open(link, words));
    this.#map = new Heatmap(pane, { onPoint: (row, column) => this.#read(row, column) });
    this.#picture = element("div", this.#map.el, element("p.cv-muted", say("key")), this.#cell);
    const copy = button(say("copy"), () => this.#copy(), { "data-copy": "" });
    const opener = createFileOpener(
      body,
      this.#field,
      () => this.#typed(),
      (error) => this.#refuse(error),
    );
    fillMenu(
      this.#forms,
      FORMS.map((form) => [form, say(`form.${form}`)]),
      this.#chosen.form,
    );
    const words = [
      ...[element("h3", say("title")), element("p", say("about"))],
      element("div.cv-flow", this.#forms, copy, this.#copied),
      ...[this.#copier.el, this.#example],
    ];
    const given = element("div", this.#results.el, this.#ask, this.#field);
    given.append(element("div.cv-flow", ...opener, element("span.cv-muted", say("field.about"))));
    const answer = element("div", this.#feedback, this.#place, this.#reasons.el, this.#picture);
    body.append(split(words, [element("div.cv-pasted-parts", given, answer)]));
    this.#field.value = this.#chosen.text;
    this.#field.addEventListener("input", () => this.#typed());
    this.#forms.addEventListener("change", () =>
      this.#choose({ form: /** @type {Chosen["form"]} */ (this.#forms.value) }),
    );
    pane.onClose(pane.page.follow(this.take));
    pane.onClose(() => this.#stop());
  }

  #typed() {
    this.#keep({ text: this.#field.value, example: this.#key });
    this.#soon();
  }

  async #copy() {
    const done = await this.#copier.copy(this.#example.value);
    setText(this.#copied, done ? say("copied") : NOT_COPIED);
    this.#pane.say(this.#copied.textContent ?? "");
  }

  /** @param {Partial<Chosen>} changes */
  #keep(changes) {
    Object.assign(this.#chosen, changes);
    this.#pane.page.keep("pasted", { ...this.#chosen });
  }

  /** @param {Partial<Chosen>} changes */
  #choose(changes) {
    this.#keep(changes);
    this.#draw();
    this.#check();
  }

  /** @returns {Asked | null} */
  #asked() {
    const [settings, stages] = [this.#settings, this.#stages];
    return settings && stages ? { settings, stages, of: this.#chosen.of } : null;
  }

  #draw() {
    const asked = this.#asked();
    if (!asked) return;
    const { settings, of } = asked;
    const name = (/** @type {string} */ each) => shownName(each, settings.transposed);
    const offered = RESULTS.filter((each) => rightOf({ ...asked, of: each }));
    if (!offered.includes(of)) return this.#choose({ of: offered[0] });
    const { form } = this.#chosen;
    this.#results.set(
      of,
      offered.map((each) => [each, name(each)]),
    );
    const ask = say("ask", { name: name(of), shape: shapeIn(form, rightOf(asked)?.shape ?? []) });
    const text = exampleText(form, asked, ask);
    if (this.#example.value !== text) {
      this.#example.value = text;
      setText(this.#copied, "");
      this.#copier.close();
    }
    setText(this.#ask, ask);
  }

  #soon() {
    this.#stop();
    this.#stop = afterwards(() => this.#check(), REST_MS);
  }

  #check() {
    this.#stop();
    const asked = this.#asked();
    if (!asked) return;
    const { text, of } = this.#chosen;
    this.#show(null);
    if (!text.trim()) return;
    try {
      const pasted = readNumbers(text, shownName(of, asked.settings.transposed));
      this.#verdict = explain(pasted, asked, MISTAKES);
      if (!this.#verdict) return;
      const { right } = this.#verdict;
      const old = right || this.#chosen.example === this.#key ? [] : [say("changed")];
      this.#showFeedback([...verdictWords(this.#verdict, pasted, asked), ...old], right ? "right" : "wrong");
      this.#reasons.set(this.#verdict, asked);
      this.#paint(this.#verdict, asked);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** @param {Unreadable | unknown} error */
  #refuse(error) {
    if (!(error instanceof Unreadable)) throw error;
    this.#show(null);
    this.#problem = error;
    this.#showFeedback([problemWords(error)], "unread");
    this.#place.hidden = !error.line;
  }

  /** @param {Verdict | null} verdict */
  #show(verdict) {
    this.#verdict = verdict;
    this.#problem = null;
    this.#place.hidden = true;
    this.#picture.hidden = true;
    this.#showFeedback([], "");
    this.#reasons.clear();
  }

  /** @param {string[]} lines @param {string} kind */
  #showFeedback(lines, kind) {
    this.#feedback.dataset.kind = kind;
    while (this.#feedback.childElementCount > lines.length) this.#feedback.lastElementChild?.remove();
    lines.forEach((line, at) => {
      const there = /** @type {HTMLElement | undefined} */ (this.#feedback.children[at]);
      if (there) setRich(there, line);
      else this.#feedback.append(rich("p", line));
    });
  }

  /** @param {Verdict} verdict @param {Asked} asked */
  #paint({ reading, tensor, wrong }, { settings, of }) {
    this.#picture.hidden = !reading || !wrong.length;
    if (!reading || !wrong.length) return;
    const [plane, place] = planeIn(tensor.shape, planeAt(settings, of));
    const values = planeRows({ shape: tensor.shape, data: reading.data }, plane);
    this.#map.set({
      values,
      label: shownName(of, settings.transposed) + place,
      shape: "",
      within: [260, 4, 34],
    });
    const [height, width] = [values.length, values[0].length];
    const here = wrong
      .map((at) => at - plane * height * width)
      .filter((at) => at >= 0 && at < height * width);
    const framed = here.map((at) => ({ row: Math.floor(at / width), column: at % width }));
    this.#map.grid.light(framed.map((cell) => ({ ...cell, color: "var(--cv-bad)", real: true })));
    setText(this.#cell, "");
  }

  /** @param {number} row @param {number} column */
  #read(row, column) {
    const asked = this.#asked();
    if (!asked || !this.#verdict?.reading) return;
    const { settings, of } = asked;
    const at = indexIn(this.#verdict.tensor.shape, planeAt(settings, of), { row, column });
    if (at >= 0)
      this.#pane.read(this.#cell, cellWords(this.#verdict, at, shownName(of, settings.transposed)));
  }

  #goToProblem() {
    if (!this.#problem) return;
    const { line, column } = this.#problem;
    const before = this.#field.value.split("\n").slice(0, line - 1);
    const at = before.join("\n").length + (before.length ? 1 : 0) + column - 1;
    this.#field.focus();
    this.#field.setSelectionRange(at, at + 1);
  }
}

export default tab("pasted", (pane, body) => new PastedPane(pane, body).take);
