// @ts-check
// What the page knows of its kernel, for style sheets and tests at the body, and in words in a banner.

/**
 * "": none was asked for yet; "starting"; "ok": it answers; "reconnecting": it may come back; "lost": it does not.
 * @typedef {"" | "starting" | "ok" | "reconnecting" | "lost"} State
 * @typedef {"reconnecting" | "silent" | "ended" | "gone"} Trouble what may go wrong with a kernel that was there
 */

export class KernelState {
  /** @type {State} */
  #state = "";
  #say;
  #onState;

  /**
   * @param {(trouble: Trouble) => string} say the sentence of a trouble @param {(state: State) => void} [onState] called
   *   with every new state
   */
  constructor(say, onState = () => {}) {
    this.#say = say;
    this.#onState = onState;
  }

  get now() {
    return this.#state;
  }

  /** @param {State} next */
  enter(next) {
    this.#state = next;
    document.body.dataset.convvizKernel = next;
    this.#onState(next);
  }

  /** @param {Trouble} trouble */
  show(trouble) {
    this.showSentence(this.#say(trouble));
  }

  /** @param {string} sentence */
  showSentence(sentence) {
    const banner = document.getElementById("convviz-lost");
    const text = document.getElementById("convviz-lost-text");
    if (!banner || !text) return;
    banner.hidden = false;
    // Filled after it is visible: screen readers announce a change inside an alert, not its appearance.
    text.textContent = sentence;
  }

  hide() {
    const banner = document.getElementById("convviz-lost");
    if (banner) banner.hidden = true;
  }

  /** @param {Trouble} trouble */
  lose(trouble) {
    this.loseSaying(this.#say(trouble));
  }

  /** @param {string} sentence */
  loseSaying(sentence) {
    if (this.#state === "lost") return;
    this.enter("lost");
    this.showSentence(sentence);
  }
}
