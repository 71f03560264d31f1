// @ts-check
// What a page of Voilà knows of its kernel, for style sheets and tests at the body, and in words in a banner.

/**
 * "": nobody has connected yet; "ok": it answers; "reconnecting": it may come back; "lost": only a
 * new page has another one.
 * @typedef {"" | "ok" | "reconnecting" | "lost"} State
 * @typedef {"reconnecting" | "silent" | "gone"} Passing what may pass: no connection, no answer, no server
 * @typedef {"ended" | "missing"} Fatal what a page finds out by itself: the kernel has ended; the server
 *   knows none, as after a restart
 */

export class KernelState {
  /** @type {State} */
  #state = "";
  #say;
  #onLost;

  /**
   * @param {(trouble: Passing | Fatal) => string} say the sentence of a trouble @param {() => void} onLost
   */
  constructor(say, onLost) {
    this.#say = say;
    this.#onLost = onLost;
  }

  get now() {
    return this.#state;
  }

  get over() {
    return this.#state === "lost";
  }

  /** @param {State} next */
  enter(next) {
    if (this.over) return;
    this.#state = next;
    document.body.dataset.convvizKernel = next;
  }

  /** @param {Passing} trouble */
  show(trouble) {
    this.showSentence(this.#say(trouble));
  }

  /** @param {string} sentence */
  showSentence(sentence) {
    const banner = document.getElementById("convviz-lost");
    const text = document.getElementById("convviz-lost-text");
    if (!banner || !text || this.over) return;
    banner.hidden = false;
    // Filled after it is visible: screen readers announce a change inside an alert, not its appearance.
    text.textContent = sentence;
  }

  hide() {
    const banner = document.getElementById("convviz-lost");
    if (banner && !this.over) banner.hidden = true;
  }

  /** @param {Fatal} trouble */
  lose(trouble) {
    this.end(this.#say(trouble));
  }

  /** There is no kernel any more. @param {string} sentence */
  end(sentence) {
    if (this.over) return;
    this.showSentence(sentence);
    this.enter("lost");
    this.#onLost();
  }
}
