// @ts-check
// A press on a grid that drags something, by mouse, pen or finger. A small movement is a click. What is
// dragged is whole at each step, so it can end anywhere: with a second finger, Esc, another size or picture,
// or settings that are not its own.
import { STROKE } from "../rules/history.js";

/**
 * @import { Model } from "../numbers/model.js"
 * @typedef {{ far: (down: number, right: number) => boolean, to: (event: PointerEvent, move: string) => void,
 *   ended: () => void }} Dragged far: whether so many pixels are more than a click; to: goes where the
 *   pointer is, and gives the move a name
 */

/** What is not a drag's own: other settings end it. */
const OWN = [
  "spec",
  "plane",
  "transposed",
  "loss",
  "input",
  "weight",
  "grad",
  "target",
  "bias",
  "input_view",
];

class Drag {
  /**
   * @type {{ dragged: Dragged, pointer: number, at: [number, number], move: string, begun: boolean, settings:
   *   import("../rules/settings.js").Settings | null, size: string } | null}
   */
  #held = null;
  #swallows = false; // the click that ends what was dragged
  #svg;
  #model;
  #watcher;
  /** @type {[EventTarget, string, (event: any) => void][]} while something is held */
  #around;

  /** @param {SVGElement} svg @param {Model} model */
  constructor(svg, model) {
    this.#svg = svg;
    this.#model = model;
    this.#watcher = new ResizeObserver(() => this.#held && this.#size() !== this.#held.size && this.#end());
    this.#around = [
      [window, "pointerdown", (event) => event.pointerId !== this.#held?.pointer && this.#end()],
      [window, "keydown", (event) => this.#key(event)],
      [window, "resize", () => this.#end()],
      [window, "blur", (event) => event.target === window && this.#end()], // not a cell that loses the focus
      [document, "selectstart", (event) => event.preventDefault()],
    ];
  }

  /** @param {PointerEvent} event @param {Dragged | null} dragged what a press here drags */
  down(event, dragged) {
    this.#swallows = false;
    if (!dragged || this.#held || event.button !== 0 || !event.isPrimary) return;
    this.#svg.setPointerCapture(event.pointerId);
    this.#held = {
      dragged,
      pointer: event.pointerId,
      at: [event.clientY, event.clientX],
      move: `${STROKE}${event.pointerId} ${event.timeStamp}`,
      begun: false,
      settings: this.#model.settings(),
      size: this.#size(),
    };
    this.#watcher.observe(this.#svg);
    this.#model.on("settings", this.#check);
    for (const [target, name, listener] of this.#around) target.addEventListener(name, listener, true);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const held = this.#held;
    if (event.pointerId !== held?.pointer) return;
    // what is pointed at is not what lies under the pointer; and it would be laid out anew for that
    event.stopImmediatePropagation();
    if (!(event.buttons & 1)) return this.#end();
    const [down, right] = [event.clientY - held.at[0], event.clientX - held.at[1]];
    if (!held.begun && !held.dragged.far(down, right)) return;
    held.begun = true;
    this.#svg.setAttribute("data-dragging", "");
    held.settings = null; // what is set now is its own
    held.dragged.to(event, held.move);
    held.settings = this.#model.settings();
  }

  /** @param {PointerEvent} event */
  up(event) {
    if (event.pointerId === this.#held?.pointer) this.#end();
  }

  /** @param {Event} event */
  click(event) {
    if (this.#swallows) event.stopImmediatePropagation();
    this.#swallows = false;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key !== "Escape" || !this.#held?.begun) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // what is pinned stays
    this.#end();
  }

  #size = () => `${this.#svg.clientWidth} ${this.#svg.clientHeight}`;

  /** Somebody else has set something: a lesson, a link, Python, undo, or a refusal. */
  #check = () => {
    const [now, own] = [this.#model.settings(), this.#held?.settings];
    if (own && OWN.some((name) => now[name] !== own[name])) this.#end();
  };

  #end() {
    const held = this.#held;
    if (!held) return;
    this.#held = null;
    this.#swallows = held.begun;
    this.#watcher.disconnect();
    this.#model.off("settings", this.#check);
    for (const [target, name, listener] of this.#around) target.removeEventListener(name, listener, true);
    if (this.#svg.hasPointerCapture(held.pointer)) this.#svg.releasePointerCapture(held.pointer);
    this.#svg.removeAttribute("data-dragging");
    if (held.begun) held.dragged.ended();
  }
}

/**
 * Let cells of a grid be dragged.
 * @param {SVGElement} svg the grid @param {Model} model
 * @param {(event: PointerEvent) => Dragged | null} take what a press drags, if anything
 */
export function followDrag(svg, model, take) {
  const drag = new Drag(svg, model);
  svg.addEventListener("pointerdown", (event) => drag.down(event, take(event)));
  // before what follows the pointer
  svg.addEventListener("pointermove", (event) => drag.move(event), { capture: true });
  for (const name of /** @type {const} */ (["pointerup", "pointercancel", "lostpointercapture"]))
    svg.addEventListener(name, (event) => drag.up(event));
  svg.addEventListener("click", (event) => drag.click(event), { capture: true });
}
