// Press and drag on a grid; a small movement is a click. A drag is complete at each step, so that it may end
// anywhere: with a second finger, Esc, another size, picture or settings.
import { listen, setAttribute } from "../../base/dom.js";
import { UNDO_STROKE } from "../../rules/undo_rules.js";

/**
 * @typedef {{ far: (down: number, right: number) => boolean, to: (event: PointerEvent, move: string) => void,
 *   ended: () => void }} Dragged far: more than a click; to: follows the pointer, and names the move
 */

/** A change of these from elsewhere ends a drag. */
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
   *   Settings | null, size: string } | null}
   */
  #held = null;
  #swallows = false; // swallow the click that ends a drag
  #svg;
  #model;
  #watcher;
  /** @type {(() => void)[]} */
  #ends = [];

  /** @param {SVGElement} svg @param {Model} model */
  constructor(svg, model) {
    this.#svg = svg;
    this.#model = model;
    this.#watcher = new ResizeObserver(() => this.#held && this.#size() !== this.#held.size && this.#end());
  }

  /** @param {PointerEvent} event @param {Dragged | null} dragged */
  down(event, dragged) {
    this.#swallows = false;
    if (!dragged || this.#held || event.button !== 0 || !event.isPrimary) return;
    this.#svg.setPointerCapture(event.pointerId);
    this.#held = {
      dragged,
      pointer: event.pointerId,
      at: [event.clientY, event.clientX],
      move: `${UNDO_STROKE}${event.pointerId} ${event.timeStamp}`,
      begun: false,
      settings: this.#model.settings(),
      size: this.#size(),
    };
    this.#watcher.observe(this.#svg);
    const first = { capture: true };
    this.#ends = [
      this.#model.on("settings", this.#check),
      listen(window, "pointerdown", (other) => other.pointerId !== event.pointerId && this.#end(), first),
      listen(window, "keydown", (key) => this.#key(key), first),
      listen(window, "resize", () => this.#end(), first),
      // not of a cell that loses focus
      listen(window, "blur", ({ target }) => target === window && this.#end(), first),
      listen(document, "selectstart", (selects) => selects.preventDefault(), first),
    ];
  }

  /** @param {PointerEvent} event */
  move(event) {
    const held = this.#held;
    if (event.pointerId !== held?.pointer) return;
    // hover would lay the page out
    event.stopImmediatePropagation();
    if (!(event.buttons & 1)) return this.#end();
    const [down, right] = [event.clientY - held.at[0], event.clientX - held.at[1]];
    if (!held.begun && !held.dragged.far(down, right)) return;
    held.begun = true;
    setAttribute(this.#svg, "data-dragging", "");
    held.settings = null; // ignore the changes that the drag itself makes
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
    event.stopImmediatePropagation();
    this.#end();
  }

  #size = () => `${this.#svg.clientWidth} ${this.#svg.clientHeight}`;

  /** Set by a lesson, a link, Python, undo or a refusal. */
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
    for (const end of this.#ends) end();
    if (this.#svg.hasPointerCapture(held.pointer)) this.#svg.releasePointerCapture(held.pointer);
    this.#svg.removeAttribute("data-dragging");
    if (held.begun) held.dragged.ended();
  }
}

/** @param {SVGElement} svg @param {Model} model @param {(event: PointerEvent) => Dragged | null} take */
export function followDrag(svg, model, take) {
  const drag = new Drag(svg, model);
  svg.addEventListener("pointerdown", (event) => drag.down(event, take(event)));
  // Captured before hover, which a drag suppresses.
  svg.addEventListener("pointermove", (event) => drag.move(event), { capture: true });
  listen(svg, ["pointerup", "pointercancel", "lostpointercapture"], (event) => drag.up(event));
  svg.addEventListener("click", (event) => drag.click(event), { capture: true });
}
