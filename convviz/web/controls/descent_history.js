// Learn's way so far: weights and losses. Any other change restarts it.

/**
 * @typedef {{ lr: number, lowest: number | null }} Step lowest: the rate that reaches the lowest point
 * @typedef {{ weights: Pick<Settings, "weight" | "bias">, about: string, loss: number, step: Step | null }}
 *   Place step: that led there
 */

const MAX_STEPS_BACK = 200;

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

  /** @param {Step | null} step */
  leave(step) {
    this.#leaving = step;
  }

  /** @param {{ settings: Settings, numbers: { stages: { loss: number } } }} shown */
  arrive({ settings, numbers: { stages } }) {
    const { spec, input, digit, loss, target, grad, seed, transposed, weight, bias } = settings;
    const about = JSON.stringify([spec, input, digit, loss, target, grad, seed, transposed, bias !== null]);
    /** @type {Place} */
    const place = { weights: { weight, bias }, about, loss: stages.loss, step: null };
    const last = this.#way[this.#way.length - 1];
    if (this.#same(place, last)) {
      last.loss = place.loss; // torch's replaces the page's
    } else if (this.#same(place, this.#way[this.#way.length - 2])) {
      this.#way.pop(); // a step back, or Undo
    } else if (this.#leaving && last?.about === about) {
      this.#way = [...this.#way, { ...place, step: this.#leaving }].slice(-MAX_STEPS_BACK);
      this.#leaving = null;
    } else {
      this.#way = [place];
    }
  }

  /** Returns the weights before the last step, or null at the start. */
  before = () => this.#way[this.#way.length - 2]?.weights ?? null;

  last = () => this.#way[this.#way.length - 1]?.step ?? null;

  losses = () => this.#way.map(({ loss }) => loss);
}
