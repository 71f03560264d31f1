// @ts-check
// What a page has asked a server and has no answer to: sent again over the next connection, for a server's
// workers keep nothing of a page.
import { pack } from "./packed.js";

/**
 * @import { Reply } from "./from_kernel.js"
 * @typedef {{ frame: string | ArrayBuffer, type: string, sent: boolean, resolve: (reply: Reply) => void,
 *   reject: (error: Error) => void }} Asked
 */

/** @param {any} message @param {ArrayBuffer[]} [buffers] */
export const framed = (message, buffers = []) =>
  buffers.length ? pack(message, buffers) : JSON.stringify(message);

export class Queue {
  /** @type {Map<number, Asked>} in the order in which they were asked */
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

  /** Nobody waits for these any more. @param {string} type */
  drop(type) {
    for (const [id, each] of this.#asked) if (each.type === type) this.#asked.delete(id);
  }

  /** @param {Reply} reply @returns {boolean} whether it answers what was asked */
  take(reply) {
    const { id, type, sentence } = reply.message;
    const each = this.#asked.get(id);
    this.#asked.delete(id);
    if (type === "refused") each?.reject(new Error(sentence));
    else each?.resolve(reply);
    return Boolean(each);
  }

  /** Whether an answer is to come over this connection. */
  isSent() {
    return [...this.#asked.values()].some(({ sent }) => sent);
  }

  /**
   * Send what is not under way: of a type one at a time, for the server would drop the older one, or refuse
   *   the newer.
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

  /** The connection is over. */
  unsend() {
    for (const each of this.#asked.values()) each.sent = false;
  }
}
