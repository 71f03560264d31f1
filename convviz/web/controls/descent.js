// @ts-check
// The way that Learn has come: the weights after each step, and the loss that belongs to them. Whatever else
// is set begins it anew, because another picture has another loss.

/**
 * @import { Settings } from "../rules/settings.js"
 * @typedef {{ lr: number, lowest: number | null }} Step its learning rate, and the one that would have
 *   come to the lowest point
 * @typedef {{ weights: Pick<Settings, "weight" | "bias">, about: string, loss: number,
 *   step: Step | null }} Place step: that led there
 */

const MOST = 200; // steps that can be gone back

export class Descent {
  /** @type {Place[]} */
  #way = [];
  /** @type {Step | null} */
  #leaving = null; // the step that is under way
  /** @param {Place} one @param {Place | undefined} other */
  #same = (one, other) =>
    other !== undefined &&
    one.about === other.about &&
    JSON.stringify(one.weights) === JSON.stringify(other.weights);

  /** A step begins, or came to nothing. @param {Step | null} step */
  leave(step) {
    this.#leaving = step;
  }

  /** There are numbers. @param {{ settings: Settings, numbers: { stages: { loss: number } } }} shown */
  arrive({ settings, numbers: { stages } }) {
    const { spec, input, digit, loss, target, grad, seed, transposed, weight, bias } = settings;
    const about = JSON.stringify({
      spec,
      input,
      digit,
      loss,
      target,
      grad,
      seed,
      transposed,
      bias: bias !== null,
    });
    /** @type {Place} */
    const place = { weights: { weight, bias }, about, loss: stages.loss, step: null };
    const last = this.#way[this.#way.length - 1];
    if (this.#same(place, last)) {
      last.loss = place.loss; // torch's number in the place of the page's
    } else if (this.#same(place, this.#way[this.#way.length - 2])) {
      this.#way.pop(); // gone back, or undone
    } else if (this.#leaving && last?.about === about) {
      this.#way = [...this.#way, { ...place, step: this.#leaving }].slice(-MOST);
      this.#leaving = null;
    } else {
      this.#way = [place];
    }
  }

  /** The weights before the last step; null at the start. */
  before = () => this.#way[this.#way.length - 2]?.weights ?? null;

  /** The step that led here; null at the start. */
  last = () => this.#way[this.#way.length - 1]?.step ?? null;

  /** The loss of each place, the first one first. */
  losses = () => this.#way.map(({ loss }) => loss);
}
