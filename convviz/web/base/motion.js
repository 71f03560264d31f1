// Short motions over what is already drawn as it ends. Transforms and opacity only; none where less motion is
// asked for.

export const LONGEST_MS = 400; // of one transition
const SHORTEST_MS = 120; // shorter is not seen

export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Motion {
  /** @type {Map<Element, Animation[]>} */
  #moving = new Map();

  /** @param {Element} whole */
  #remove(whole) {
    for (const animation of this.#moving.get(whole) ?? []) animation.cancel();
    this.#moving.delete(whole);
    whole.parentElement?.removeAttribute("data-moving");
    whole.remove();
  }

  /** @param {number} ms */
  may = (ms = LONGEST_MS) => !isCalm() && !document.hidden && ms >= SHORTEST_MS;

  /**
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
    // `finished` rejects when an animation is cancelled.
    Promise.all(animations.map(({ finished }) => finished)).then(
      () => this.#remove(whole),
      () => {},
    );
  }

  finish() {
    for (const whole of [...this.#moving.keys()]) this.#remove(whole);
  }
}
