// @ts-check
// What a race is to be, and its buttons: start, pause, go on, stop; and how far it is.
import WORDS from "../../../facts/words/race.json" with { type: "json" };
import { element, setText } from "../../base/dom.js";
import { sentences } from "../../base/words.js";

const say = sentences(WORDS);
const RUNNING = ["starting", "running", "pausing", "paused"];

/**
 * @typedef {{ layers: string[], own: string, epochs: number, train: number, seeds: number, dtype: string }}
 *   Chosen
 * @typedef {{ state: string, why_not?: string, failed?: string, recorded: boolean, names: string[], dtypes:
 *   string[], own: boolean, limits: Record<string, [number, number]>, chosen: Chosen, progress: { done:
 *   number, total: number, left: number | null } }} RaceData as app/tabs/race.py sends it
 */

/** Make the form, in which a person chooses what is raced. */
function createChoices() {
  const layers = element("div", { class: "cv-race-layers" });
  const own = element("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const ownLabel = element("label", {}, say("own"), own);
  const numbers = Object.fromEntries(
    ["epochs", "train", "seeds"].map((name) => [name, createNumber(say(/** @type {"epochs"} */ (name)))]),
  );
  const dtype = element("select");
  const counts = element(
    "div",
    { class: "cv-flow" },
    ...Object.values(numbers).map(({ el }) => el),
    element("label", {}, say("dtype"), dtype),
  );
  const el = element("fieldset", {}, element("legend", {}, say("layers")), layers, ownLabel, counts);
  return {
    el,
    /** @returns {Chosen} */
    chosen() {
      const boxes = /** @type {HTMLInputElement[]} */ ([...layers.querySelectorAll("input:checked")]);
      const typed = Object.fromEntries(
        Object.entries(numbers).map(([name, { input }]) => [name, input.valueAsNumber]),
      );
      return /** @type {Chosen} */ ({
        layers: boxes.map(({ value }) => value),
        own: own.value,
        ...typed,
        dtype: dtype.value,
      });
    },
    /** The choices that the kernel has; what a person is about to choose stays. @param {RaceData} data */
    fill(data) {
      if (layers.children.length) return;
      layers.replaceChildren(...data.names.map((name) => createBox(name, data.chosen.layers.includes(name))));
      for (const [name, { input }] of Object.entries(numbers)) {
        const [min, max] = data.limits[name];
        Object.assign(input, { min, max, value: data.chosen[name] });
      }
      dtype.replaceChildren(...data.dtypes.map((name) => element("option", { value: name }, name)));
      dtype.value = data.chosen.dtype;
      own.value = data.chosen.own;
      ownLabel.hidden = !data.own;
    },
  };
}

export class RaceSetup {
  #choices = createChoices();
  #start;
  #pause;
  #stop;
  #bar = element("progress", { "aria-label": say("race") });
  #line = element("span", { class: "cv-race-line" });
  refused = element("p", { class: "cv-pane-failure cv-race-failed", role: "alert" });
  #closing = element("p", { class: "cv-muted" }, say("closing"));
  el;
  #paused = false;
  #said = "";
  #pane;

  /** @param {Pick<import("../pane.js").PaneTools, "send" | "say">} pane */
  constructor(pane) {
    this.#pane = pane;
    [this.#start, this.#pause, this.#stop] = ["start", "pause", "stop"].map((name) =>
      button(/** @type {"start"} */ (name)),
    );
    this.el = element(
      "div",
      { class: "cv-race-setup" },
      this.#choices.el,
      element("div", { class: "cv-flow" }, this.#start, this.#pause, this.#stop, this.#bar, this.#line),
      this.#closing,
    );
    this.#start.addEventListener("click", () => pane.send({ type: "start", chosen: this.#choices.chosen() }));
    this.#pause.addEventListener("click", () => pane.send({ type: this.#paused ? "go" : "pause" }));
    this.#stop.addEventListener("click", () => pane.send({ type: "stop" }));
  }

  /** @param {RaceData} data */
  set(data) {
    const alone = data.state === "alone" || Boolean(data.why_not);
    this.el.hidden = alone;
    setText(this.refused, data.failed ?? "");
    if (alone) return;
    this.#choices.fill(data);
    const runs = RUNNING.includes(data.state);
    this.#paused = data.state === "paused";
    setText(this.#start, say(data.recorded || runs ? "start" : "again"));
    setText(this.#pause, say(this.#paused ? "go" : "pause"));
    this.#choices.el.toggleAttribute("disabled", runs);
    this.#start.hidden = runs;
    for (const each of [this.#pause, this.#stop, this.#bar, this.#closing]) each.hidden = !runs;
    this.#pause.toggleAttribute("disabled", !["running", "paused"].includes(data.state));
    fillBar(this.#bar, data.progress);
    setText(this.#line, lineOf(data));
    if (data.state !== this.#said && this.#said) this.#pane.say(lineOf(data));
    this.#said = data.state;
  }
}

/** @param {HTMLProgressElement} bar @param {RaceData["progress"]} progress */
function fillBar(bar, { done, total }) {
  bar.max = total || 1;
  if (total) bar.value = done;
  else bar.removeAttribute("value");
}

/** How far the race is. @param {RaceData} data */
function lineOf({ state, progress: { done, total, left } }) {
  if (state === "ready" || (state === "failed" && !total)) return "";
  if (state !== "running") return say(/** @type {"state.paused"} */ (`state.${state}`), { done, total });
  if (done === total) return say("state.measuring", { total });
  return left === null
    ? say("state.first", { done, total })
    : say("state.running", { done, total, left: duration(left) });
}

/** @param {number} left in seconds */
function duration(left) {
  const seconds = Math.ceil(left);
  return seconds < 60
    ? say("seconds", { seconds })
    : say("minutes", { minutes: Math.floor(seconds / 60), seconds: seconds % 60 });
}

/** @param {"start" | "pause" | "stop"} name */
const button = (name) =>
  element("button", { type: "button", class: "cv-button", "data-race": name }, say(name));

/** @param {string} label */
function createNumber(label) {
  const input = element("input", { type: "number", step: "1" });
  return { input, el: element("label", {}, label, input) };
}

/** @param {string} name @param {boolean} checked */
function createBox(name, checked) {
  const box = element("input", { type: "checkbox", value: name });
  box.checked = checked;
  return element("label", {}, box, name);
}
