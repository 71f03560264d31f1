// The data of one tab, which torch makes of the settings and of what was chosen: asked for while it is open.
import { afterwards } from "../numbers/latest_request.js";
import { messageOf } from "../numbers/ask_kernel.js";
import { outputShape, weightShape } from "../rules/conv_geometry.js";
import { countOf } from "../rules/shapes_and_indices.js";

/**
 * @import { Choices } from "../tabs/pane.js"
 * @typedef {{ settings: any, choices: Choices, key: string }} Question key: all that the answer depends on
 */

const REST_MS = 150;

/** @typedef {import("../rules/features.js").Feature["slow"]} Slow or from so many products on */

/** Slower than a slider may wait. @param {Slow} slow @param {Settings} settings */
export const isSlow = (slow = false, { spec }) =>
  slow === true || (slow && countOf(outputShape(spec).slice(2)) * countOf(weightShape(spec).slice(1)) > slow);

export class TabData {
  #model;
  #name;
  #put;
  #slow;
  #later;
  #choices;
  /** @type {Question} */
  #shown;
  /** @type {any} */
  #data = {};
  #step = 0;
  /** The request that is under way: one at a time. @type {Question | null} */
  #asked = null;
  #hurried = ""; // key of the question that has waited long enough
  #resting = ""; // key of the question that waits until sliders rest
  #stopResting = () => {};

  /**
   * @param {Pick<Model, "kernel" | "settings" | "settled" | "say" | "chosen" | "choose">} model
   * @param {string} name @param {(changes: { data?: any, busy?: boolean, choices?: Choices }) => void} put
   * @param {Slow} [slow] @param {Later} [later]
   */
  constructor(model, name, put, slow, later = afterwards) {
    [this.#model, this.#name, this.#put, this.#slow, this.#later] = [model, name, put, slow, later];
    this.#choices = model.chosen(name);
    this.#shown = { settings: {}, choices: this.#choices, key: "" };
  }

  /** @returns {Question} */
  #question() {
    const settings = messageOf(this.#model.settings());
    const { theme, tab, ...matters } = settings;
    return { settings, choices: this.#choices, key: JSON.stringify([matters, this.#choices]) };
  }

  /** @param {Choices} next */
  #setChoices(next) {
    this.#choices = next;
    this.#model.choose(this.#name, next);
    this.#put({ choices: this.#choices });
  }

  /** @param {any} next */
  show(next) {
    this.#data = { ...next, step: ++this.#step };
    this.#put({ data: this.#data });
  }

  /** Once torch has the settings' numbers. */
  follow() {
    if (this.#model.settings().tab !== this.#name) return this.#rest("");
    const wanted = this.#question();
    this.#put({ busy: wanted.key !== this.#shown.key });
    if (wanted.key !== this.#resting) this.#rest("");
    if (wanted.key === this.#shown.key || this.#asked || this.#resting || !this.#model.settled()) return;
    if (wanted.key !== this.#hurried && isSlow(this.#slow, this.#model.settings())) this.#rest(wanted.key);
    else this.#ask(wanted);
  }

  /** Waits until sliders rest before this question is asked; an empty key ends the wait. @param {string} key */
  #rest(key) {
    this.#stopResting();
    this.#resting = key;
    if (!key) return;
    this.#stopResting = this.#later(() => {
      [this.#resting, this.#hurried] = ["", key];
      this.follow();
    }, REST_MS);
  }

  /** @param {Question} wanted */
  #ask(wanted) {
    const { settings, choices } = (this.#asked = wanted);
    /** @param {() => void} act */
    const finish = (act) => {
      if (this.#asked !== wanted) return;
      this.#asked = null;
      act();
      this.follow();
    };
    this.#model
      .kernel()
      ?.request({ type: "tab", tab: this.#name, settings, choices })
      .then(
        ({ message }) =>
          finish(() => {
            this.#shown = wanted;
            this.show(message.data);
          }),
        (error) => finish(() => this.#refuse(wanted, error.message)),
      );
  }

  /**
   * The choices before hold; or the settings cannot be shown.
   * @param {Question} wanted @param {string} sentence
   */
  #refuse(wanted, sentence) {
    if (wanted.choices === this.#shown.choices) {
      this.#shown = wanted;
      return this.show({ ...this.#data, error: sentence });
    }
    if (this.#choices === wanted.choices) this.#setChoices(this.#shown.choices);
    this.show(this.#data);
    this.#model.say(sentence, true);
  }

  hurry() {
    this.#hurried = this.#question().key;
    this.follow();
  }

  data() {
    return this.#data;
  }

  /** @param {Choices} changes */
  choose(changes) {
    this.#setChoices({ ...this.#choices, ...changes });
    if (this.#model.kernel()) this.hurry();
  }

  /** @param {any} message */
  ask(message) {
    const { settings, choices } = this.#shown;
    return this.#model.kernel()?.request({ type: "tab", tab: this.#name, settings, choices, ask: message });
  }

  /** Who comes is asked anew. */
  leave() {
    this.#rest("");
    this.#asked = null;
    this.#shown = { ...this.#shown, key: "" };
    this.#put({ busy: false });
  }
}
