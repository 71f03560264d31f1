// @ts-check
// The graph: the drawing in its window, the walk backwards through it, and the box that was chosen.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { Details } from "./graph_details.js";
import { Drawing, readDrawing } from "./graph_drawing.js";
import { createViewport } from "./graph_viewport.js";
import { openPane, split } from "./pane.js";
import { plainText, setRich } from "../base/rich_text.js";
import { Transport } from "../board/transport.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const FILE = "graph.svg";

/** @param {{ model: any, el: HTMLElement }} context */
function renderGraph(context) {
  return openPane(context, "graph", (pane, body) => {
    /** @type {any} */
    let data = null;
    let theme = "";
    let at = -1; // the step of the walk; -1: not walking

    const drawing = new Drawing(pane.uid, { open: openBox, point: pointFrom });
    const viewport = createViewport(say("graph.window"));
    const details = new Details(pane, closeBox);
    const transport = new Transport(say("graph.bar"), { onMove: walkTo, onClose: stopWalk });
    const walk = button(say("graph.walk"), startWalk);
    const told = element("p", { class: "cv-told" });
    const note = element("p", { class: "cv-muted cv-graph-note" });
    const tools = element(
      "div",
      { class: "cv-buttons cv-graph-tools" },
      walk,
      button("\u2212", () => viewport.zoom(-1), say("graph.out")),
      button("+", () => viewport.zoom(1), say("graph.in")),
      button(say("graph.fit"), () => viewport.fit(), say("graph.all")),
      button(say("graph.export"), save),
    );
    const words = [element("p", {}, say("graph")), note, tools, transport.el, told];
    const figure = split(words, [viewport.el, details.el]);
    body.append(figure);

    /** @param {string} id */
    function openBox(id) {
      drawing.select(id);
      details.open(id);
    }

    function closeBox() {
      const box = drawing.box(drawing.selected());
      drawing.select("");
      details.close();
      box?.focus({ preventScroll: true });
    }

    /** @param {string | null} id */
    function pointFrom(id) {
      const panels = id ? (data.panels[id] ?? []) : [];
      pane.point(panels.length ? { panels } : undefined);
      const sum = id ? data.paths[id] : "";
      if (sum) setRich(told, sum);
      else tell();
    }

    function startWalk() {
      transport.open(data.steps.length);
      walk.hidden = true;
    }

    function stopWalk() {
      transport.close();
      walk.hidden = false;
      at = -1;
      drawing.mark([]);
      tell();
      walk.focus({ preventScroll: true });
    }

    /** @param {number} position */
    function walkTo(position) {
      at = position;
      showStep();
      const { id, text } = data.steps[at];
      viewport.reveal(drawing.withReceivers(id));
      if (!transport.speaks()) pane.say(plainText(text));
    }

    /** What stands above the drawing while nothing is pointed at. */
    function tell() {
      setRich(told, at >= 0 ? data.steps[at].text : say("graph.hint"));
    }

    function showStep() {
      const { text } = data.steps[at];
      drawing.mark(data.steps.slice(0, at + 1).map(({ id }) => id));
      tell();
      const place = { at: at + 1, of: data.steps.length };
      transport.say(say("graph.step", place), say("graph.step_read", { ...place, what: plainText(text) }));
    }

    function save() {
      const text = new XMLSerializer().serializeToString(readDrawing(data, theme));
      const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
      const link = element("a", { href: address, download: FILE });
      body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(address)); // after the browser has taken it
      pane.say(say("graph.saved", { file: FILE }));
    }

    figure.addEventListener("keydown", (event) => {
      const act = {
        "+": () => viewport.zoom(1),
        "=": () => viewport.zoom(1),
        "-": () => viewport.zoom(-1),
        0: viewport.fit,
      }[event.key];
      const inside = viewport.el.contains(/** @type {Node} */ (event.target));
      if (!act || !inside || event.ctrlKey || event.metaKey || event.altKey) return;
      act();
      event.preventDefault();
    });
    pane.onPoint(({ cell, panels }) => {
      const named = new Set([...panels, ...(cell ? [cell.panel] : [])]);
      const ids = Object.keys(data?.panels ?? {}).filter((id) =>
        data.panels[id].some((panel) => named.has(panel)),
      );
      drawing.frame(new Set(ids));
    });
    pane.onClose(() => {
      transport.close();
      viewport.close();
    });

    return (next) => {
      const isNew = data?.step !== next.step;
      const sameWalk = data && next.steps.length === data.steps.length;
      data = next;
      theme = pane.root.dataset.theme ?? "light";
      const svg = readDrawing(data, theme);
      drawing.set(svg, data.paths);
      viewport.set(svg);
      setText(note, data.note);
      if (at >= 0 && !sameWalk) stopWalk();
      if (at >= 0) showStep();
      else tell();
      if (!drawing.selected()) details.close();
      else if (isNew) details.refresh(drawing.selected());
    };
  });
}

/** @param {string} words @param {() => void} action @param {string} [label] */
function button(words, action, label = words) {
  const made = element("button", { type: "button", class: "cv-button", "aria-label": label }, words);
  if (label !== words) made.title = label;
  made.addEventListener("click", action);
  return made;
}

export default { render: renderGraph };
