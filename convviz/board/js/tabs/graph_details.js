// @ts-check
// What a box of the graph holds: value and gradient, what it has saved, its settings, and what stands inside it.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { createInside } from "./graph_inside.js";
import { setRich } from "../base/rich_text.js";
import { createTensorView } from "./tensor_view.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/**
 * Make the details.
 * @param {import("./pane.js").PaneTools} pane @param {() => void} onClose
 */
export function createDetails(pane, onClose) {
  const title = element("h4", { tabindex: "-1" });
  const text = element("p", {});
  const note = element("p", { class: "cv-note" });
  const open = element("button", { type: "button", class: "cv-button", "aria-expanded": "false" });
  const close = element("button", { type: "button", class: "cv-button" }, say("graph.hide"));
  const tensors = element("div", { class: "cv-flow cv-tensors" });
  const readout = element("p", { class: "cv-muted cv-details-readout" });
  const settings = element("table", {});
  const inside = createInside(
    pane,
    (text) => setText(readout, text),
    (plane) => {
      chosenPlane = plane;
      pane.send({ type: "inside", id, plane });
    },
  );
  const saved = element("details", {}, element("summary", {}, say("graph.settings")), settings);
  const head = element(
    "div",
    { class: "cv-details-head" },
    title,
    element("div", { class: "cv-buttons" }, open, close),
  );
  const el = element(
    "section",
    { class: "cv-details", hidden: "" },
    head,
    text,
    note,
    inside.el,
    tensors,
    readout,
    saved,
  );
  /** @type {Map<string, ReturnType<typeof createTensorView>>} */
  let views = new Map();
  let id = "";
  /** @type {Record<string, number[]>} */
  let planes = {};
  let chosenPlane = null;
  let isOpen = false;
  let wanted = ""; // the box that was asked for last: an earlier answer is not shown any more

  function ask() {
    wanted = id;
    pane.send({ type: "node", id, planes });
    if (isOpen) pane.send({ type: "inside", id, plane: chosenPlane });
  }

  /** @param {boolean} next */
  function setOpen(next) {
    isOpen = next;
    open.setAttribute("aria-expanded", String(next));
    setText(open, say(next ? "graph.close" : "graph.open"));
    if (!next) inside.hide();
  }

  function toggle() {
    setOpen(!isOpen);
    if (isOpen) pane.send({ type: "inside", id, plane: chosenPlane });
  }

  /** @param {any} reply @param {DataView<ArrayBuffer>[]} buffers */
  function show(reply, buffers) {
    setText(title, reply.label);
    setRich(text, reply.text);
    setText(note, reply.note);
    open.hidden = !reply.opens;
    if (!reply.opens && isOpen) setOpen(false);
    const keys = reply.tensors.map(({ key }) => key);
    if (keys.join() !== [...views.keys()].join()) {
      pane.point(); // a heatmap that is replaced never tells that the pointer has left it
      const make = (key) =>
        createTensorView(
          pane,
          (line) => setText(readout, line),
          (at) => choose(key, at),
        );
      views = new Map(keys.map((key) => [key, views.get(key) ?? make(key)]));
      tensors.replaceChildren(...[...views.values()].map((view) => view.el));
    }
    for (const tensor of reply.tensors) views.get(tensor.key)?.set(tensor, buffers);
    saved.hidden = !reply.settings.length;
    settings.replaceChildren(
      ...reply.settings.map((each) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, element("code", {}, each.name)),
          element("td", {}, [each.value, each.note].filter(Boolean).join(" ")),
        ),
      ),
    );
    el.hidden = false;
    if (el.dataset.shown !== id) title.scrollIntoView({ block: "nearest", behavior: "instant" });
    el.dataset.shown = id;
  }

  /** @param {string} key @param {number[]} at */
  function choose(key, at) {
    planes = { ...planes, [key]: at };
    ask();
  }

  open.addEventListener("click", toggle);
  close.addEventListener("click", onClose);
  pane.onReply((reply, buffers) => {
    if (reply.id !== wanted) return;
    if (reply.type === "node") show(reply, buffers);
    if (reply.type === "inside" && isOpen) inside.show(reply, buffers);
  });
  pane.onPoint((pointed) => {
    for (const view of views.values()) view.hear(pointed);
    inside.hear(pointed);
  });

  return {
    el,
    /** Show a box; the same one again closes or opens it. @param {string} next */
    open(next) {
      if (next === id && !open.hidden && !el.hidden) return toggle();
      if (next !== id) {
        id = next;
        planes = {};
        chosenPlane = null;
        setOpen(false);
      }
      ask();
    },
    /** Ask again: there are new numbers, and the box may be called otherwise. @param {string} now */
    refresh(now) {
      id = now;
      ask();
    },
    close() {
      id = wanted = "";
      setOpen(false);
      el.hidden = true;
      delete el.dataset.shown;
    },
  };
}
