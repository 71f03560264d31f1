// @ts-check
// Things that move for a moment and then are as if they had not: what is drawn below them is already the end.
// Only transforms and opacity, so that nothing is laid out; where a person asked for less
// motion, nothing moves at all.

export const LONGEST_MS = 400; // of one transition
const SHORTEST_MS = 120; // below that nobody sees it: better none

/** The motions of one part: they end together. */
export class Motion {
  #calm = matchMedia("(prefers-reduced-motion: reduce)");
  /** @type {Map<Element, Animation[]>} */
  #moving = new Map();

  /** @param {Element} whole */
  #remove(whole) {
    for (const animation of this.#moving.get(whole) ?? []) animation.cancel();
    this.#moving.delete(whole);
    whole.parentElement?.removeAttribute("data-moving");
    whole.remove();
  }

  /** Whether something may move that has so long. @param {number} ms */
  may = (ms = LONGEST_MS) => !this.#calm.matches && !document.hidden && ms >= SHORTEST_MS;

  /**
   * Put something there for as long as its parts move.
   * @param {Element} parent @param {Element} whole
   * @param {{ node: Element, frames: Keyframe[], delay?: number, ms?: number }[]} parts
   */
  play(parent, whole, parts) {
    parent.append(whole);
    parent.setAttribute("data-moving", "");
    const animations = parts.map(({ node, frames, delay = 0, ms = LONGEST_MS }) =>
      node.animate(frames, {
        duration: Math.min(ms, LONGEST_MS),
        delay,
        fill: "both",
        easing: "ease-in-out",
      }),
    );
    this.#moving.set(whole, animations);
    // Cancelled, they reject: whoever cancelled them has taken the whole away.
    Promise.all(animations.map(({ finished }) => finished)).then(
      () => this.#remove(whole),
      () => {},
    );
  }

  /** Be at the end, now. */
  finish() {
    for (const whole of [...this.#moving.keys()]) this.#remove(whole);
  }
}
