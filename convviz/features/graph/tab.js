// The graph: the drawing in its window, the walk backwards through it, and the box that was chosen.
import { element, setText } from "../../web/base/dom.js";
import { plainText, setRich } from "../../web/base/rich_text.js";
import { saveFile } from "../../web/base/save_file.js";
import { StepControls } from "../../web/board/steps/step_controls.js";
import { split, tab } from "../../web/tabs/pane.js";
import { say } from "./sentences.js";
import { Details } from "./node_details.js";
import { Drawing, readDrawing } from "./interactive_drawing.js";
import { Viewport } from "./viewport.js";
import { button } from "../../web/tabs/pane_elements.js";

/**
 * @typedef {{ step: number, svg: string, dark: Record<string, string>, note: string, panels: Record<string,
 *   string[]>, paths: Record<string, string>, steps: { id: string, text: string }[] }} GraphData by
 *   data.py
 */

const FILE = "graph.svg";

/** @param {"out" | "in" | "all"} id */
const named = (id) => ({ title: say(id), "aria-label": say(id) });

class GraphPane {
  #pane;
  #data = /** @type {GraphData} */ (/** @type {unknown} */ (null));
  #theme = "";
  #at = -1; // index of the shown step of the walk; -1 while no walk is open
  #drawing;
  #viewport = new Viewport(say("window"));
  #details;
  #transport = new StepControls(say("bar"), {
    onMove: (position) => {
      this.#at = position;
      this.#showStep();
      const { id, text } = this.#data.steps[this.#at];
      this.#viewport.reveal(this.#drawing.withReceivers(id));
      if (!this.#transport.speaks()) this.#pane.say(plainText(text));
    },
    onClose: () => this.#stopWalk(),
  });
  #walk = button(say("walk"), () => {
    this.#transport.open(this.#data.steps.length);
    this.#walk.hidden = true;
  });
  #sentence = element("p.cv-walk");
  #note = element("p.cv-muted.cv-graph-note");

  /** @param {PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    this.#pane = pane;
    this.#drawing = new Drawing(pane.uid, {
      open: (id) => {
        this.#drawing.select(id);
        this.#details.open(id);
      },
      point: (id) => this.#pointFrom(id),
    });
    this.#details = new Details(pane, () => {
      const box = this.#drawing.box(this.#drawing.selected());
      this.#drawing.select("");
      this.#details.close();
      box?.focus({ preventScroll: true });
    });
    const tools = element(
      "div.cv-buttons.cv-graph-tools",
      this.#walk,
      button("\u2212", () => this.#viewport.zoom(-1), named("out")),
      button("+", () => this.#viewport.zoom(1), named("in")),
      button(say("fit"), () => this.#viewport.fit(), named("all")),
      button(say("export"), () => this.#save()),
    );
    const words = [element("p", say("title")), this.#note, tools, this.#transport.el, this.#sentence];
    const figure = split(words, [this.#viewport.el, this.#details.el]);
    body.append(figure);
    figure.addEventListener("keydown", (event) => {
      const act = {
        "+": () => this.#viewport.zoom(1),
        "=": () => this.#viewport.zoom(1),
        "-": () => this.#viewport.zoom(-1),
        0: this.#viewport.fit,
      }[event.key];
      const inside = this.#viewport.el.contains(/** @type {Node} */ (event.target));
      if (!act || !inside || event.ctrlKey || event.metaKey || event.altKey) return;
      act();
      event.preventDefault();
    });
    pane.onPoint(({ cell, panels }) => {
      const named = new Set([...panels, ...(cell ? [cell.panel] : [])]);
      const ids = Object.keys(this.#data?.panels ?? {}).filter((id) =>
        this.#data.panels[id].some((panel) => named.has(panel)),
      );
      this.#drawing.frame(new Set(ids));
    });
    pane.onClose(() => {
      this.#transport.close();
      this.#viewport.close();
    });
  }

  /** @param {string | null} id */
  #pointFrom(id) {
    const panels = id ? (this.#data.panels[id] ?? []) : [];
    this.#pane.point(panels.length ? { panels } : undefined);
    const sum = id ? this.#data.paths[id] : "";
    if (sum) setRich(this.#sentence, sum);
    else this.#showSentence();
  }

  #stopWalk() {
    this.#transport.close();
    this.#walk.hidden = false;
    this.#at = -1;
    this.#drawing.mark([]);
    this.#showSentence();
    this.#walk.focus({ preventScroll: true });
  }

  #showSentence() {
    setRich(this.#sentence, this.#at >= 0 ? this.#data.steps[this.#at].text : say("hint"));
  }

  #showStep() {
    const { text } = this.#data.steps[this.#at];
    this.#drawing.mark(this.#data.steps.slice(0, this.#at + 1).map(({ id }) => id));
    this.#showSentence();
    const place = { at: this.#at + 1, of: this.#data.steps.length };
    this.#transport.say(say("step", place), say("step_read", { ...place, what: plainText(text) }));
  }

  #save() {
    const text = new XMLSerializer().serializeToString(readDrawing(this.#data, this.#theme));
    saveFile(text, FILE, "image/svg+xml");
    this.#pane.say(say("drawing.saved", { file: FILE }));
  }

  /** @param {GraphData} next */
  set = (next) => {
    const isNew = this.#data?.step !== next.step;
    const sameWalk = this.#data && next.steps.length === this.#data.steps.length;
    this.#data = next;
    this.#theme = this.#pane.root.dataset.theme ?? "light";
    const svg = readDrawing(this.#data, this.#theme);
    this.#drawing.set(svg, this.#data.paths);
    this.#viewport.set(svg);
    setText(this.#note, this.#data.note);
    if (this.#at >= 0 && !sameWalk) this.#stopWalk();
    if (this.#at >= 0) this.#showStep();
    else this.#showSentence();
    if (!this.#drawing.selected()) this.#details.close();
    else if (isNew) this.#details.refresh(this.#drawing.selected());
  };
}

export default tab("graph", (pane, body) => new GraphPane(pane, body).set);
