// Unanswered requests, sent again over the next connection: workers keep nothing.
import { packFrame } from "./binary_frames.js";

/**
 * @typedef {{ frame: string | ArrayBuffer, type: string, sent: boolean, resolve: (reply: Reply) => void,
 *   reject: (error: Error) => void }} Asked
 */

/** @param {any} message @param {ArrayBuffer[]} [buffers] */
export const framed = (message, buffers = []) =>
  buffers.length ? packFrame(message, buffers) : JSON.stringify(message);

export class Requests {
  /** @type {Map<number, Asked>} in order */
  #asked = new Map();
  #lastId = 0;

  /** @param {any} message @param {ArrayBuffer[]} [buffers] @returns {Promise<Reply>} */
  add(message, buffers) {
    const id = ++this.#lastId;
    const frame = framed({ ...message, id }, buffers);
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { frame, type: message.type, sent: false, resolve, reject });
    });
  }

  /** @param {string} type */
  drop(type) {
    for (const [id, each] of this.#asked) if (each.type === type) this.#asked.delete(id);
  }

  /** @param {Reply} reply @returns {boolean} whether it was asked for */
  take(reply) {
    const { id, type, sentence } = reply.message;
    const each = this.#asked.get(id);
    this.#asked.delete(id);
    if (type === "refused") each?.reject(new Error(sentence));
    else each?.resolve(reply);
    return Boolean(each);
  }

  isSent() {
    return [...this.#asked.values()].some(({ sent }) => sent);
  }

  /**
   * One of a type at a time: a server drops or refuses others.
   * @param {(frame: string | ArrayBuffer) => void} send
   */
  flush(send) {
    const all = [...this.#asked.values()];
    for (const each of all) {
      if (all.some(({ type, sent }) => type === each.type && sent)) continue;
      send(each.frame);
      each.sent = true;
    }
  }

  unsend() {
    for (const each of this.#asked.values()) each.sent = false;
  }
}
