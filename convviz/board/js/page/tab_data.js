// @ts-check
// The data of one tab, which torch makes from the settings and from what was chosen in the tab: asked for while it is open.
import SETTINGS from "../../../facts/settings.json" with { type: "json" };
import { afterwards } from "../numbers/asking.js";
import { messageOf } from "../numbers/from_kernel.js";
import { outputShape, weightShape } from "../rules/spec.js";

/**
 * @import { Later } from "../numbers/asking.js"
 * @import { Model } from "../numbers/model.js"
 * @import { Settings } from "../rules/settings.js"
 * @typedef {Record<string, any>} Choices what was chosen in a tab; what is not there has its default in Python
 * @typedef {{ settings: any, choices: Choices, key: string }} Question key: of all that the answer depends on
 */

const REST_MS = 150; // what takes time is computed anew when the sliders have rested this long

/** @param {number[]} sizes */
const product = (sizes) => sizes.reduce((made, size) => made * size, 1);

/** Whether a tab's data take longer than a slider may wait. @param {string} name @param {Settings} settings */
export function isSlow(name, { spec }) {
  const entries = product(outputShape(spec).slice(2)) * product(weightShape(spec).slice(1));
  return SETTINGS.slow_tabs.includes(name) || (name === "matrix" && entries > SETTINGS.slow_matrix);
}

/**
 * Make what keeps one tab's data at the settings.
 * @param {Pick<Model, "kernel" | "settings" | "settled" | "say" | "chosen" | "choose">} model @param {string} name of the tab
 * @param {(changes: { data?: any, busy?: boolean, choices?: Choices }) => void} put gives the pane what it shows
 * @param {Later} [later]
 */
export function createTabData(model, name, put, later = afterwards) {
  let choices = model.chosen(name);
  /** What the shown data belong to. @type {Question} */
  let shown = { settings: {}, choices, key: "" };
  /** @type {any} */
  let data = {};
  let step = 0;
  /** The one question under way: the newest is made of what is set when its answer comes. @type {Question | null} */
  let asked = null;
  let hurried = ""; // of the settings that wait for no rest
  let resting = ""; // of the settings that do
  let stopResting = () => {};

  /** @returns {Question} */
  function question() {
    const settings = messageOf(model.settings());
    const { theme, tab, ...matters } = settings;
    return { settings, choices, key: JSON.stringify([matters, choices]) };
  }

  /** @param {Choices} next */
  function setChoices(next) {
    choices = next;
    model.choose(name, next);
    put({ choices });
  }

  /** @param {any} next */
  function show(next) {
    data = { ...next, step: ++step };
    put({ data });
  }

  /** Ask for what belongs to settings and choices, once torch has the settings' numbers. */
  function follow() {
    if (model.settings().tab !== name) return rest(""); // closed meanwhile
    const wanted = question();
    put({ busy: wanted.key !== shown.key });
    if (wanted.key !== resting) rest("");
    if (wanted.key === shown.key || asked || resting || !model.settled()) return;
    if (wanted.key !== hurried && isSlow(name, model.settings())) rest(wanted.key);
    else ask(wanted);
  }

  /** Wait for a rest of the sliders at these settings; empty: for none. @param {string} key */
  function rest(key) {
    stopResting();
    resting = key;
    if (!key) return;
    stopResting = later(() => {
      [resting, hurried] = ["", key];
      follow();
    }, REST_MS);
  }

  /** @param {Question} wanted */
  function ask(wanted) {
    const { settings, choices } = (asked = wanted);
    /** @param {() => void} act */
    const finish = (act) => {
      if (asked !== wanted) return;
      asked = null;
      act();
      follow();
    };
    model
      .kernel()
      ?.request({ type: "tab", tab: name, settings, choices })
      .then(
        ({ message }) =>
          finish(() => {
            shown = wanted;
            show(message.data);
          }),
        (error) => finish(() => refuse(wanted, error.message)),
      );
  }

  /** What was chosen cannot be, and what was chosen before holds; or these settings cannot be shown. @param {Question} wanted @param {string} sentence */
  function refuse(wanted, sentence) {
    if (wanted.choices === shown.choices) {
      shown = wanted;
      return show({ ...data, error: sentence });
    }
    if (choices === wanted.choices) setChoices(shown.choices);
    show(data);
    model.say(sentence, true);
  }

  /** The tab was opened, or torch has come. */
  function hurry() {
    hurried = question().key;
    follow();
  }

  return {
    follow,
    hurry,
    show,
    data: () => data,
    /** @param {Choices} changes */
    choose(changes) {
      setChoices({ ...choices, ...changes });
      if (model.kernel()) hurry();
    },
    /** Ask for something about the data that are shown. @param {any} message */
    ask: (message) => {
      const { settings, choices } = shown;
      return model.kernel()?.request({ type: "tab", tab: name, settings, choices, ask: message });
    },
    /** There is nobody to ask: what was asked is asked anew of who comes. */
    leave() {
      rest("");
      asked = null;
      shown = { ...shown, key: "" };
      put({ busy: false });
    },
  };
}
