// A recorded network: what its JSON has, and what Python says where it is there to be asked.
import { dimsOf, placeOf } from "./relations.js";
import { readPlanes, valueAt } from "./planes.js";
import { sizeOf } from "./bars_data.js";
import { remember } from "./cell_numbers.js";
import { say } from "./sentences.js";
import { upTo } from "../../web/rules/shapes_and_indices.js";

const REACH = 2; // cells around the one that is read
const MAX_ASKED = 64; // channels; as MAX_ASKED in page_data.py

/** @param {NetworkFrom} a @param {NetworkFrom} b */
export const sameFrom = (a, b) =>
  a.kind === b.kind && a.operation === b.operation && String(a.cell ?? "") === String(b.cell ?? "");

/** @param {NetworkData} network @param {PaneTools} pane @returns {NetworkSource} */
export function createRecordedSource(network, pane) {
  const ask = network.live ? createAsking(pane) : null;
  /** Of backs, as Python counts them. @type {Map<NetworkBack, number>} */
  const indices = new Map(network.backs.map((back, index) => [back, index]));
  const known = (/** @type {NetworkFrom} */ from) => network.backs.find((back) => sameFrom(back.from, from));
  return {
    network,
    async back(from) {
      const there = known(from);
      if (there) return there;
      if (!ask) throw new Error(say("send.recorded"));
      const { back, index } = await ask({ ask: "back", from });
      indices.set(back, index);
      network.backs.push(back);
      return back;
    },
    canSend: (from) => Boolean(ask || known(from)),
    async window(operation, cell, back) {
      const there = recordedWindow(network, operation, cell, back);
      if (!ask || there?.exact) return there;
      const { window } = await ask({ ask: "window", operation, cell, back: indices.get(back) ?? 0 });
      return exactWindow(network, operation, cell, back, window);
    },
    channels: ask
      ? async (operation) => {
          const have = network.planes[operation]?.channels ?? [];
          const channels = upTo(network.operations[operation].shape[0]).filter((at) => !have.includes(at));
          for (let at = 0; at < channels.length; at += MAX_ASKED) {
            const some = channels.slice(at, at + MAX_ASKED);
            const { channels: found } = await ask({ ask: "channels", operation, channels: some });
            network.planes[operation] = joined(network.planes[operation], found.planes);
            for (const [back, index] of indices)
              back.planes[operation] = joined(back.planes[operation], found.backs[index]);
          }
        }
      : undefined,
    open: ask
      ? (operation, cell, back) => ask({ ask: "open", operation, cell, back: indices.get(back) ?? 0 })
      : null,
    close() {},
  };
}

/** @param {NetworkPacked | null} there @param {NetworkPacked | null} more @returns {NetworkPacked | null} */
function joined(there, more) {
  if (!there || !more) return there;
  return {
    shape: [],
    channels: [...there.channels, ...more.channels],
    parts: [...(there.parts ?? [there]), more],
  };
}

/**
 * Exact numbers, around the cell: Python moves a window into the plane.
 * @param {NetworkData} network @param {number} operation @param {number[]} cell @param {NetworkBack} back
 * @param {{ origin: number[], values: NetworkSize[][], gradients: NetworkSize[][] | null }} window
 * @returns {NetworkWindow}
 */
function exactWindow(network, operation, cell, back, { origin, values, gradients }) {
  const { shape } = network.operations[operation];
  const [channel, row, column] = placeOf(cell);
  const start = shape.length < 2 ? [0, channel - REACH] : [row - REACH, column - REACH];
  const packed = [network.planes[operation], back.planes[operation]];
  const grids = [values, gradients ?? []].map((rows, which) =>
    upTo(2 * REACH + 1).map((r) =>
      upTo(2 * REACH + 1).map((q) => {
        const at = [start[0] + r, start[1] + q];
        const number = rows[at[0] - origin[0]]?.[at[1] - origin[1]];
        const value = number === undefined ? NaN : sizeOf(number);
        const of = packed[which];
        if (of && number !== undefined) remember(of, cellAt(shape, channel, at), value);
        return value;
      }),
    ),
  );
  return { origin: start, values: grids[0], gradients: grids[1], exact: true };
}

/** @param {number[]} shape @param {number} channel @param {number[]} at */
const cellAt = (shape, channel, at) =>
  shape.length === 3 ? [channel, ...at] : shape.length === 2 ? at : [at[1]];

/** Questions to Python; a reply names its question, or comes in their order. @param {PaneTools} pane */
function createAsking(pane) {
  /** @type {{ id: number, done: (reply: any) => void, fail: (reason: Error) => void }[]} */
  const waiting = [];
  let last = 0;
  pane.onReply((reply) => {
    const at = reply.id === undefined ? 0 : waiting.findIndex(({ id }) => id === reply.id);
    const [found] = at < 0 ? [] : waiting.splice(at, 1);
    if (reply.refused) found?.fail(new Error(reply.refused));
    else found?.done(reply);
  });
  return (/** @type {object} */ message) =>
    /** @type {Promise<any>} */ (
      new Promise((done, fail) => {
        waiting.push({ id: ++last, done, fail });
        pane.send({ ...message, id: last });
      })
    );
}

/**
 * Returns 5 × 5 numbers around a cell, as far as they were recorded, or null where its plane was not.
 * @param {NetworkData} network @param {number} operation @param {number[]} cell @param {NetworkBack} back
 * @returns {NetworkWindow | null}
 */
export function recordedWindow(network, operation, cell, back) {
  const [packed, gradient] = [network.planes[operation], back.planes[operation]];
  const dims = dimsOf(network.operations[operation].shape);
  const [channel, row, column] = placeOf(cell);
  if (!dims || !packed) return null;
  const planes = readPlanes(packed);
  if (planes.cells || planes.channels.indexOf(channel) < 0) return null;
  const gradients = gradient && readPlanes(gradient);
  const origin = [row - REACH, column - REACH];
  const around = (/** @type {import("./planes.js").Planes | null} */ of) =>
    Array.from({ length: 2 * REACH + 1 }, (_, r) =>
      Array.from({ length: 2 * REACH + 1 }, (_, q) => readAt(of, channel, origin[0] + r, origin[1] + q)),
    );
  return {
    origin,
    values: around(planes),
    gradients: around(gradients),
    exact: planes.exact && (gradients?.exact ?? true),
  };
}

/**
 * Returns NaN where there is no such cell.
 * @param {import("./planes.js").Planes | null} planes @param {number} channel @param {number} row
 * @param {number} column
 */
function readAt(planes, channel, row, column) {
  const plane = planes?.channels.indexOf(channel) ?? -1;
  if (!planes || plane < 0 || row < 0 || column < 0 || row >= planes.height || column >= planes.width)
    return NaN;
  return valueAt(planes, plane, row, column);
}
