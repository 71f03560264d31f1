// @ts-check
// What the page knows of its kernel, for style sheets and tests at the body, and in words in a banner.

/**
 * "": none was asked for yet; "queued": others come first; "starting"; "ok": it answers; "reconnecting": it may come back.
 * Then it is over: "resting": the next move asks for another one; "again": the page does by itself; "lost": a click does.
 * @typedef {"" | "queued" | "starting" | "ok" | "reconnecting" | "resting" | "again" | "lost"} State
 * @typedef {"reconnecting" | "silent" | "gone"} Passing what may pass: no connection, no answer, no server
 * @typedef {"ended" | "missing"} Fatal what a page finds out by itself: the kernel has ended; the server knows none, as after a restart
 */

const OVER = new Set(["resting", "again", "lost"]);

export class KernelState {
  /** @type {State} */
  #state = "";
  #say;
  #onState;
  #onLose;
  #calm;

  /**
   * @param {(trouble: Passing | Fatal) => string} say the sentence of a trouble
   * @param {{ onState?: (state: State) => void, onLose?: (trouble: Fatal) => void, calm?: boolean }} [how] onState: called with
   *   every new state; onLose: decides what follows, else the page is lost; calm: whether the board lives on
   */
  constructor(say, { onState = () => {}, onLose = (trouble) => this.end("lost", say(trouble)), calm = false } = {}) {
    this.#say = say;
    this.#onState = onState;
    this.#onLose = onLose;
    this.#calm = calm;
  }

  get now() {
    return this.#state;
  }

  get over() {
    return OVER.has(this.#state);
  }

  /** @param {State} next */
  enter(next) {
    if (this.over) return;
    this.#state = next;
    document.body.dataset.convvizKernel = next;
    this.#onState(next);
  }

  /** @param {Passing} trouble */
  show(trouble) {
    this.showSentence(this.#say(trouble), this.#calm);
  }

  /** @param {string} sentence @param {boolean} [calm] whether there is nothing to do about it */
  showSentence(sentence, calm = false) {
    if (!this.over) write(sentence, calm);
  }

  hide() {
    const banner = document.getElementById("convviz-lost");
    if (banner && !this.over) banner.hidden = true;
  }

  /** @param {Fatal} trouble */
  lose(trouble) {
    if (!this.over) this.#onLose(trouble);
  }

  /** There is no kernel any more. @param {"resting" | "again" | "lost"} last @param {string} sentence @param {boolean} [calm] */
  end(last, sentence, calm = false) {
    if (this.over) return;
    this.enter(last);
    write(sentence, calm);
  }
}

/** @param {string} sentence @param {boolean} calm */
function write(sentence, calm) {
  const banner = document.getElementById("convviz-lost");
  const text = document.getElementById("convviz-lost-text");
  if (!banner || !text) return;
  banner.toggleAttribute("data-calm", calm);
  text.setAttribute("role", calm ? "status" : "alert");
  banner.hidden = false;
  // Filled after it is visible: screen readers announce a change inside an alert, not its appearance.
  text.textContent = sentence;
}
