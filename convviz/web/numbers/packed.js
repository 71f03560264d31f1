// @ts-check
// A message and its bytes as one frame of a websocket; serve/packed.py does the same.

/** @import { Reply } from "./from_kernel.js" */

const STEP = 8; // bytes: where numbers may begin

/** @param {number} size bytes */
const padded = (size) => Math.ceil(size / STEP) * STEP;

/**
 * A message and its buffers as one frame.
 * @param {any} message @param {ArrayBuffer[]} buffers @returns {ArrayBuffer}
 */
export function pack(message, buffers) {
  const json = new TextEncoder().encode(
    JSON.stringify({ ...message, sizes: buffers.map(({ byteLength }) => byteLength) }),
  );
  const start = padded(4 + json.length);
  const frame = new Uint8Array(buffers.reduce((end, { byteLength }) => end + padded(byteLength), start));
  new DataView(frame.buffer).setUint32(0, start - 4, true);
  frame.fill(0x20, 4, start); // spaces, which JSON may end in
  frame.set(json, 4);
  let at = start;
  for (const buffer of buffers) {
    frame.set(new Uint8Array(buffer), at);
    at += padded(buffer.byteLength);
  }
  return frame.buffer;
}

/** What is in a frame. @param {ArrayBuffer} frame @returns {Reply} */
export function unpack(frame) {
  const length = new DataView(frame).getUint32(0, true);
  const { sizes, ...message } = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 4, length)));
  let at = 4 + length;
  const buffers = sizes.map((/** @type {number} */ size) => {
    const view = new DataView(frame, at, size);
    at += padded(size);
    return view;
  });
  return { message, buffers };
}
