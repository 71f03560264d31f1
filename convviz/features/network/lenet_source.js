// A net that the page computes by itself, forward and backward: what a picture draws from, without Python.
import { LOSSES } from "../../web/numbers/losses.js";
import { zeros } from "../../web/numbers/compute.js";
import { flatIndex, upTo } from "../../web/rules/shapes_and_indices.js";
import { boardAround } from "./lenet_board.js";
import { inkOf, layersOf, normOf, operationsOf, rmsOf, zerosOf } from "./lenet_net.js";

/**
 * @import { Built, Lenet } from "./lenet_net.js"
 * @import { Around } from "./lenet_board.js"
 * @typedef {{ kind: string, operation?: number, cell?: number[] }} From
 * @typedef {ReturnType<typeof packed>} Packed
 * @typedef {{ from: From, planes: (Packed | null)[], rms: (number | null)[], zeros: (number | null)[], weights:
 *   Record<string, { ratio: number | null, norm: number | null }> }} Back
 */

const LOSS = LOSSES.cross_entropy;
const REACH = 2; // of a window, around its cell

/** Drops the batch axis, whose size is 1. @param {Tensor} tensor */
const packed = ({ shape, data }) => ({ shape: shape.slice(1), channels: upTo(shape[1]), values: data });

/**
 * @param {Lenet} lenet @param {(changes: Partial<Settings>, around: Around) => void} [openBoard] shows a convolution on
 *   the board: the settings to go to, and which part of the net they are
 */
export const createLenetSource = (lenet, openBoard) => new LenetSource(lenet, openBoard);

class LenetSource {
  #lenet;
  #layers;
  /** Holds the output of each operation. @type {Tensor[]} */
  #outputs = [];
  #label = 0;
  /** The last that was sent. @type {Back | null} */
  #last = null;

  /** @param {Lenet} lenet @param {((changes: Partial<Settings>, around: Around) => void) | undefined} openBoard */
  constructor(lenet, openBoard) {
    this.#lenet = lenet;
    this.#layers = layersOf(lenet);
    this.network = {
      model: "LeNet",
      batch: 1,
      sample: 0,
      operations: operationsOf(lenet, this.#layers),
      planes: /** @type {(Packed | null)[]} */ ([]),
      weights: rowsOf(this.#layers),
      backs: /** @type {Back[]} */ ([]),
      finding: /** @type {{ id: string, args: Record<string, any> } | null} */ (null),
      said: [],
      live: false,
      loss: 0,
      label: 0, // of the image, and what the net reads in it
      read: 0,
    };
    this.inputs = lenet.digits.map(({ label, read }) => ({ label, read }));
    this.open = openBoard
      ? (/** @type {number} */ operation, /** @type {number[]} */ cell) =>
          openBoard(...boardAround(this.#part(operation), cell))
      : null;
    this.input(0);
  }

  /** Runs the net on one of its digits, forward and backward. @param {number} index */
  input(index) {
    const { label, finding = null } = this.#lenet.digits[index];
    return Object.assign(this.draw(inkOf(this.#lenet, index), label), { finding });
  }

  /**
   * An image of one's own. It is rounded as the digits are: all forward is then exact, see train_lenet.py.
   * @param {ArrayLike<number>} ink in reading order, 0 to 1 @param {number} [label] for the loss; default: what the net
   *   reads
   */
  draw(ink, label) {
    const { size, ink: parts } = this.#lenet;
    const data = Float64Array.from(ink, (value) => Math.round(value * parts) / parts);
    let scores = /** @type {Tensor} */ ({ shape: [1, 1, ...size], data });
    const outputs = this.#layers.map((layer) => {
      scores = layer ? layer.forward(scores) : scores;
      return scores;
    });
    this.#outputs = outputs;
    const read = scores.data.indexOf(Math.max(...scores.data));
    this.#label = label ?? read;
    const { network } = this;
    network.operations.forEach((operation, at) => {
      [operation.rms, operation.zeros] = [rmsOf(outputs[at]), zerosOf(outputs[at])];
    });
    network.planes = outputs.map(packed);
    network.backs = [this.sent({ kind: "loss" })];
    const loss = LOSS.value(scores, this.#target());
    return Object.assign(network, { loss, label: this.#label, read, finding: null });
  }

  /** Returns true for the loss and for every cell that exists. @param {From} from */
  canSend(from) {
    if (from.kind !== "cell") return from.kind === "loss";
    const { operation = -1, cell = [] } = from;
    const shape = this.network.operations[operation]?.shape;
    return shape?.length === cell.length && cell.every((at, axis) => at >= 0 && at < shape[axis]);
  }

  /** @param {From} from */
  async back(from) {
    return this.sent(from);
  }

  /**
   * Computes synchronously what `back` returns as a promise.
   * @param {From} from the loss, or a 1 at one cell @returns {Back}
   */
  sent(from) {
    const at = from.kind === "cell" ? Number(from.operation) : this.#outputs.length - 1;
    const gradients = /** @type {(Tensor | null)[]} */ (this.#outputs.map(() => null));
    let grad = this.#start(from, at);
    for (let index = at; index >= 0; index--) {
      gradients[index] = grad;
      const layer = this.#layers[index];
      if (layer) grad = layer.backward(grad, this.#outputs[index - 1]);
    }
    this.#last = {
      from,
      planes: gradients.map((each) => each && packed(each)),
      rms: gradients.map((each) => each && rmsOf(each)),
      zeros: gradients.map((each) => each && zerosOf(each)),
      weights: this.#weights(gradients),
    };
    return this.#last;
  }

  /**
   * Exact numbers around a cell; NaN beyond the edge.
   * @param {number} operation @param {number[]} cell @param {Back} back whose gradients
   */
  async window(operation, cell, back) {
    return this.around(operation, cell, back);
  }

  /**
   * Computes synchronously what `window` returns as a promise.
   * @param {number} operation @param {number[]} cell @param {Back} back
   */
  around(operation, cell, back) {
    const [channel, row, column] = cell.length === 1 ? [cell[0], 0, 0] : cell;
    const origin = [row - REACH, column - REACH];
    const numbersOf = (/** @type {Packed | null} */ plane) =>
      upTo(2 * REACH + 1).map((r) =>
        upTo(2 * REACH + 1).map((q) => valueAt(plane, channel, origin[0] + r, origin[1] + q)),
      );
    const [values, gradients] = [this.network.planes[operation], back.planes[operation]].map(numbersOf);
    return { origin, values, gradients, exact: true };
  }

  close() {}

  /** @param {From} from @param {number} at @returns {Tensor} */
  #start(from, at) {
    const output = this.#outputs[at];
    if (from.kind !== "cell") return LOSS.gradient(output, this.#target());
    const start = zeros(output.shape);
    start.data[flatIndex(output.shape, [0, .../** @type {number[]} */ (from.cell)])] = 1;
    return start;
  }

  #target() {
    const target = zeros(this.#outputs[this.#outputs.length - 1].shape);
    target.data[this.#label] = 1;
    return target;
  }

  /** How large a step of 1 would be, beside the weight. @param {(Tensor | null)[]} gradients */
  #weights(gradients) {
    /** @type {Back["weights"]} */
    const found = {};
    for (const { index, weight } of this.network.operations) {
      const [layer, grad] = [this.#layers[index], gradients[index]];
      if (!weight) continue;
      const norm = layer?.toWeight && grad && normOf(layer.toWeight(grad, this.#outputs[index - 1]));
      found[index] = norm == null ? { ratio: null, norm: null } : { ratio: norm / weight.norm, norm };
    }
    return found;
  }

  /** @param {number} operation a convolution */
  #part(operation) {
    const { spec, weight, bias } = /** @type {Required<Built>} */ (this.#layers[operation]);
    const [input, { shape }] = [this.#outputs[operation - 1], this.#outputs[operation]];
    const data = this.#last?.planes[operation]?.values;
    return { spec, weight, bias, input, grad: data ? { shape, data } : zeros(shape) };
  }
}

/** The weights of linear layers, by operation. @param {(Built | null)[]} layers */
const rowsOf = (layers) =>
  Object.fromEntries(
    layers.flatMap((layer, at) =>
      layer?.weight?.shape.length === 2
        ? [[at, { shape: layer.weight.shape, channels: [0], values: layer.weight.data }]]
        : [],
    ),
  );

/** @param {Packed | null} plane @param {number} channel @param {number} row @param {number} column */
function valueAt(plane, channel, row, column) {
  const [, height = 1, width = 1] = plane?.shape ?? [];
  if (!plane || row < 0 || column < 0 || row >= height || column >= width) return NaN;
  return plane.values[(channel * height + row) * width + column];
}
