// The drawing of a graph, made by Python, brought to life: its boxes can be reached, pressed and marked.
import { say } from "./sentences.js";

const ARROWS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];

/**
 * @typedef {{ id: string, label: string, el: SVGGElement, x: number, y: number, above: string[], below:
 *   string[] }} Box above: what the values come from; below: what uses them
 */

/**
 * @param {{ svg: string, dark: Record<string, string> }} data @param {string} theme @returns {SVGSVGElement}
 */
export function readDrawing({ svg, dark }, theme) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const drawing = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.importNode(parsed, true)));
  if (theme !== "dark") return drawing;
  for (const node of drawing.querySelectorAll("[fill], [stroke]")) {
    for (const name of ["fill", "stroke"]) {
      const color = dark[/** @type {string} */ (node.getAttribute(name))];
      if (color) node.setAttribute(name, color);
    }
  }
  return drawing;
}

export class Drawing {
  #uid;
  #events;
  /** @type {SVGSVGElement | null} */
  #svg = null;
  /** @type {Map<string, Box>} */
  #boxes = new Map();
  /** @type {{ el: Element, source: string, target: string }[]} */
  #edges = [];
  #cursor = "";
  #selected = "";
  #pointing = false;
  /** @type {Record<string, string>} */
  #paths = {};

  /**
   * @param {string} uid @param {{ open: (id: string) => void, point: (id: string | null) => void }} events
   */
  constructor(uid, events) {
    this.#uid = uid;
    this.#events = events;
  }

  /** @param {Event} event */
  #boxAt(event) {
    const group = /** @type {Element} */ (event.target).closest("[data-node]");
    return this.#boxes.get(group?.getAttribute("data-node") ?? "") ?? null;
  }

  #readEdges() {
    this.#edges = [.../** @type {any} */ (this.#svg).querySelectorAll("[data-edge]")].map((el) => {
      const [source, target] = el.dataset.edge.split(" ");
      return { el, source, target };
    });
  }

  #readBoxes() {
    this.#boxes = new Map();
    for (const el of /** @type {any} */ (this.#svg).querySelectorAll("[data-node]")) {
      const [x, y, width] = ["x", "y", "width"].map((name) =>
        Number(el.querySelector("rect").getAttribute(name)),
      );
      const id = el.dataset.node;
      const label = el.querySelector("text").textContent;
      this.#boxes.set(id, { id, label, el, x: x + width / 2, y, above: [], below: [] });
      el.setAttribute("role", "button");
      el.setAttribute("tabindex", "-1");
      el.setAttribute("aria-label", [labelOf(el), this.#paths[id]].filter(Boolean).join(". "));
    }
    for (const { source, target } of this.#edges) {
      this.#boxes.get(target)?.above.push(source);
      this.#boxes.get(source)?.below.push(target);
    }
  }

  #prepare() {
    if (!this.#svg) return;
    this.#svg.setAttribute("role", "group");
    this.#svg.setAttribute("aria-label", this.#svg.querySelector("title")?.textContent ?? "");
    this.#svg.querySelector("title")?.remove(); // else a tooltip over everything
    const description = this.#svg.querySelector("desc");
    if (description) description.id = `cv${this.#uid}-desc`;
    this.#svg.setAttribute("aria-describedby", `cv${this.#uid}-desc`);
    this.#svg.addEventListener("click", (event) => {
      const box = this.#boxAt(event);
      if (box) this.#press(box);
    });
    this.#svg.addEventListener("keydown", (event) => this.#onKey(event));
    this.#svg.addEventListener("pointerover", (event) => this.#point(this.#boxAt(event)));
    this.#svg.addEventListener("pointerleave", () => this.#point(null));
    this.#svg.addEventListener("focusin", (event) => {
      const box = this.#boxAt(event);
      if (box) this.#setCursor(box.id);
      this.#point(box);
    });
    this.#svg.addEventListener("focusout", () => this.#point(null));
  }

  /** @param {Box | null | undefined} box */
  #point(box) {
    this.#pointing = Boolean(box);
    const way = box && this.#paths[box.id] ? behind(this.#boxes, box.id) : new Set();
    for (const { el, source } of this.#edges) el.classList.toggle("cv-path", way.has(source));
    this.#events.point(box?.id ?? null);
  }

  /** @param {Box} box */
  #press(box) {
    this.#setCursor(box.id);
    box.el.focus({ preventScroll: true });
    this.#events.open(box.id);
  }

  /** @param {string} id */
  #setCursor(id) {
    this.#boxes.get(this.#cursor)?.el.setAttribute("tabindex", "-1");
    this.#cursor = this.#boxes.has(id) ? id : ([...this.#boxes.keys()][0] ?? "");
    this.#boxes.get(this.#cursor)?.el.setAttribute("tabindex", "0");
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const box = this.#boxAt(event);
    if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = ARROWS.includes(event.key) ? neighbour(this.#boxes, box, event.key) : null;
    if (next) next.el.focus();
    else if (event.key === "Enter" || event.key === " ") this.#press(box);
    else if (!ARROWS.includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation(); // or a notebook takes the arrow keys
  }

  /**
   * Replaces the drawing and keeps the focus and the selection on boxes that it still has.
   * @param {SVGSVGElement} next @param {Record<string, string>} sums box → its gradient as a sum over paths
   */
  set(next, sums) {
    this.#paths = sums;
    const held = this.#svg?.contains(document.activeElement);
    const [cursorBefore, selectedBefore] = [this.#boxes.get(this.#cursor), this.#boxes.get(this.#selected)];
    if (this.#pointing) this.#point(null); // a replaced box never reports that the pointer left
    this.#svg?.replaceWith(next);
    this.#svg = next;
    this.#readEdges();
    this.#readBoxes();
    this.#prepare();
    this.select(sameBox(this.#boxes, selectedBefore));
    this.#setCursor(sameBox(this.#boxes, cursorBefore));
    if (held) this.#boxes.get(this.#cursor)?.el.focus({ preventScroll: true });
  }

  selected() {
    return this.#selected;
  }

  box(/** @type {string} */ id) {
    return this.#boxes.get(id)?.el;
  }

  /** And those that it hands gradients to. @param {string} id */
  withReceivers(id) {
    return [id, ...(this.#boxes.get(id)?.above ?? [])].flatMap((each) => this.#boxes.get(each)?.el ?? []);
  }

  /** @param {string} id */
  select(id) {
    this.#selected = id;
    if (id) this.#setCursor(id);
    for (const box of this.#boxes.values()) {
      box.el.setAttribute("aria-pressed", String(box.id === id));
      box.el.classList.toggle("cv-selected", box.id === id);
    }
  }

  /** @param {Set<string>} ids */
  frame(ids) {
    for (const box of this.#boxes.values()) box.el.classList.toggle("cv-framed", ids.has(box.id));
  }

  /** Marks how far the backward pass is; an empty list removes the marks. @param {string[]} reached */
  mark(reached) {
    const current = reached[reached.length - 1];
    const seen = new Set(reached);
    for (const box of this.#boxes.values()) {
      box.el.classList.toggle("cv-current", box.id === current);
      box.el.classList.toggle("cv-ahead", current !== undefined && !seen.has(box.id));
      if (box.id === current) box.el.setAttribute("aria-current", "step");
      else box.el.removeAttribute("aria-current");
    }
    for (const { el, source, target } of this.#edges) {
      el.classList.toggle("cv-arrives", source === current);
      el.classList.toggle("cv-leaves", target === current);
      el.classList.toggle("cv-ahead", current !== undefined && !seen.has(target));
    }
  }
}

/**
 * And all boxes on its paths to the output.
 * @param {Map<string, Pick<Box, "below">>} boxes @param {string} id @returns {Set<string>}
 */
export function behind(boxes, id) {
  const found = new Set([id]);
  // grows while it is read
  for (const each of found) boxes.get(each)?.below.forEach((next) => found.add(next));
  return found;
}

/**
 * By label: with a bias more, other numbers move.
 * @param {Map<string, Box>} boxes @param {Box | undefined} before @returns {string} or empty
 */
function sameBox(boxes, before) {
  if (!before) return "";
  if (boxes.get(before.id)?.label === before.label) return before.id;
  return [...boxes.values()].find(({ label }) => label === before.label)?.id ?? "";
}

/** @param {SVGGElement} el */
function labelOf(el) {
  const lines = [...el.querySelectorAll("text")].map((text) => text.textContent);
  if (el.dataset.kind === "rest") return lines.join(", ");
  const step = el.dataset.step ? say("box_step", { step: el.dataset.step }) : say("box_never");
  return [lines[0], step, ...lines.slice(el.dataset.step ? 2 : 1)].join(", ");
}

/**
 * Up to what the values come from, down to what uses them, the nearest first; sideways in the layer.
 * @param {Map<string, Box>} boxes @param {Box} from @param {string} key @returns {Box | null}
 */
export function neighbour(boxes, from, key) {
  if (key === "ArrowUp" || key === "ArrowDown") {
    const ids = key === "ArrowUp" ? from.above : from.below;
    const found = ids.map((id) => /** @type {Box} */ (boxes.get(id)));
    const away = (/** @type {Box} */ box) => [Math.abs(box.y - from.y), Math.abs(box.x - from.x)];
    return found.sort((a, b) => away(a)[0] - away(b)[0] || away(a)[1] - away(b)[1])[0] ?? null;
  }
  const side = key === "ArrowRight" ? 1 : -1;
  const beside = [...boxes.values()].filter((box) => box.y === from.y && side * (box.x - from.x) > 0);
  return beside.sort((a, b) => side * (a.x - b.x))[0] ?? null;
}
