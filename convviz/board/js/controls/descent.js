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

export function createDescent() {
  /** @type {Place[]} */
  let way = [];
  /** @type {Step | null} */
  let leaving = null; // the step that is under way

  /** @param {Place} one @param {Place | undefined} other */
  const same = (one, other) =>
    other !== undefined &&
    one.about === other.about &&
    JSON.stringify(one.weights) === JSON.stringify(other.weights);

  return {
    /** A step begins, or came to nothing. @param {Step | null} step */
    leave(step) {
      leaving = step;
    },

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
      const last = way[way.length - 1];
      if (same(place, last)) {
        last.loss = place.loss; // torch's number in the place of the page's
      } else if (same(place, way[way.length - 2])) {
        way.pop(); // gone back, or undone
      } else if (leaving && last?.about === about) {
        way = [...way, { ...place, step: leaving }].slice(-MOST);
        leaving = null;
      } else {
        way = [place];
      }
    },

    /** The weights before the last step; null at the start. */
    before: () => way[way.length - 2]?.weights ?? null,
    /** The step that led here; null at the start. */
    last: () => way[way.length - 1]?.step ?? null,
    /** The loss of each place, the first one first. */
    losses: () => way.map(({ loss }) => loss),
  };
}
