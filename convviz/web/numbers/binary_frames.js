// A websocket frame: message and bytes, as in serve/binary_frames.py.

const STEP = 8; // bytes of alignment

/** @param {number} size */
const padded = (size) => Math.ceil(size / STEP) * STEP;

/** @param {any} message @param {ArrayBuffer[]} buffers */
export function packFrame(message, buffers) {
  const json = new TextEncoder().encode(
    JSON.stringify({ ...message, sizes: buffers.map(({ byteLength }) => byteLength) }),
  );
  const start = padded(4 + json.length);
  const frame = new Uint8Array(buffers.reduce((end, { byteLength }) => end + padded(byteLength), start));
  new DataView(frame.buffer).setUint32(0, start - 4, true);
  frame.fill(0x20, 4, start); // JSON may end in spaces
  frame.set(json, 4);
  let at = start;
  for (const buffer of buffers) {
    frame.set(new Uint8Array(buffer), at);
    at += padded(buffer.byteLength);
  }
  return frame.buffer;
}

/** @param {ArrayBuffer} frame @returns {Reply} */
export function unpackFrame(frame) {
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
