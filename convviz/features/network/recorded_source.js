// A recorded network: what its JSON has, and what Python says where it is there to be asked.
import { dimsOf, placeOf } from "./relations.js";
import { readPlanes, valueAt } from "./planes.js";
import { say } from "./sentences.js";

const REACH = 2; // cells around the one that is read

/** @param {NetworkFrom} a @param {NetworkFrom} b */
export const sameFrom = (a, b) =>
  a.kind === b.kind && a.operation === b.operation && String(a.cell ?? "") === String(b.cell ?? "");

/** @param {NetworkData} network @param {PaneTools} pane @returns {NetworkSource} */
export function createRecordedSource(network, pane) {
  const ask = network.live ? createAsking(pane) : null;
  const places = new Map([[network.backs[0], 0]]); // as Python counts ways back
  const known = (/** @type {NetworkFrom} */ from) => network.backs.find((back) => sameFrom(back.from, from));
  return {
    network,
    async back(from) {
      const there = known(from);
      if (there) return there;
      if (!ask) throw new Error(say("send.recorded"));
      const { back, index } = await ask({ ask: "back", from });
      places.set(back, index);
      network.backs.push(back);
      return back;
    },
    canSend: (from) => Boolean(ask || known(from)),
    async window(operation, cell, back) {
      const there = recordedWindow(network, operation, cell, back);
      if (!ask || there?.exact) return there;
      const { window } = await ask({ ask: "window", operation, cell, back: places.get(back) });
      return { ...window, exact: true };
    },
    channels: ask ? (operation, channels) => ask({ ask: "channels", operation, channels }) : undefined,
    open: ask
      ? (operation, cell, back) => ask({ ask: "open", operation, cell, back: places.get(back) })
      : null,
    close() {},
  };
}

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
 * 5 × 5 numbers around a cell, as far as they were recorded; null: not that plane.
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

/** NaN: there is no such cell. @param {import("./planes.js").Planes | null} planes @param {number} channel @param {number} row @param {number} column */
function readAt(planes, channel, row, column) {
  const plane = planes?.channels.indexOf(channel) ?? -1;
  if (!planes || plane < 0 || row < 0 || column < 0 || row >= planes.height || column >= planes.width)
    return NaN;
  return valueAt(planes, plane, row, column);
}
