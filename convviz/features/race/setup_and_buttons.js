// What a race is to be, and its buttons: start, pause, go on, stop; and how far it is.
import { element, setText } from "../../web/base/dom.js";
import { fillMenu, button } from "../../web/tabs/pane_elements.js";
import { say } from "./sentences.js";

const RUNNING = ["starting", "running", "pausing", "paused"];

/**
 * @typedef {{ layers: string[], own: string, epochs: number, train: number, seeds: number, dtype: string }}
 *   Chosen
 * @typedef {{ state: string, why_not?: string, failed?: string, recorded: any, names: string[], dtypes:
 *   string[], own: boolean, limits: Record<string, Pair>, chosen: Chosen, progress: { done:
 *   number, total: number, left: number | null } }} RaceData by data.py
 */

const NUMBERS = /** @type {const} */ (["epochs", "train", "seeds"]);

function createChoices() {
  const layers = element("div.cv-race-layers");
  const own = element("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const ownLabel = element("label", say("own"), own);
  const numbers = NUMBERS.map((name) => ({ name, input: element("input", { type: "number", step: "1" }) }));
  const dtype = element("select");
  const counts = element(
    "div.cv-flow",
    ...numbers.map(({ name, input }) => element("label", say(name), input)),
    element("label", say("dtype"), dtype),
  );
  const el = element("fieldset", element("legend", say("layers")), layers, ownLabel, counts);
  return {
    el,
    chosen() {
      const boxes = /** @type {HTMLInputElement[]} */ ([...layers.querySelectorAll("input:checked")]);
      return {
        layers: boxes.map(({ value }) => value),
        own: own.value,
        ...Object.fromEntries(numbers.map(({ name, input }) => [name, input.valueAsNumber])),
        dtype: dtype.value,
      };
    },
    /** Once: what a visitor chooses stays. @param {RaceData} data */
    fill({ names, chosen, limits, dtypes, own: hasOwn }) {
      if (layers.children.length) return;
      layers.replaceChildren(...names.map((name) => createBox(name, chosen.layers.includes(name))));
      for (const { name, input } of numbers) {
        const [min, max] = limits[name];
        Object.assign(input, { min, max, value: chosen[name] });
      }
      fillMenu(
        dtype,
        dtypes.map((name) => [name]),
        chosen.dtype,
      );
      own.value = chosen.own;
      ownLabel.hidden = !hasOwn;
    },
  };
}

export class RaceSetup {
  #choices = createChoices();
  #bar = element("progress", { "aria-label": say("title") });
  #line = element("span.cv-race-line");
  refused = element("p.cv-pane-failure.cv-race-failed", { role: "alert" });
  #closing = element("p.cv-muted", say("closing"));
  #paused = false;
  #said = "";
  #pane;
  #start = this.#button("start", () => ({ type: "start", chosen: this.#choices.chosen() }));
  #pause = this.#button("pause", () => ({ type: this.#paused ? "go" : "pause" }));
  #stop = this.#button("stop", () => ({ type: "stop" }));
  el = element(
    "div.cv-race-setup",
    this.#choices.el,
    element("div.cv-flow", this.#start, this.#pause, this.#stop, this.#bar, this.#line),
    this.#closing,
  );

  /** @param {Pick<PaneTools, "send" | "say">} pane */
  constructor(pane) {
    this.#pane = pane;
  }

  /** @param {"start" | "pause" | "stop"} name @param {() => object} message */
  #button(name, message) {
    return button(say(name), () => this.#pane.send(message()), { "data-race": name });
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

/** @param {RaceData} data */
function lineOf({ state, progress: { done, total, left } }) {
  if (state === "ready" || (state === "failed" && !total)) return "";
  if (state !== "running") return say(/** @type {"state.paused"} */ (`state.${state}`), { done, total });
  if (done === total) return say("state.measuring", { total });
  return left === null
    ? say("state.first", { done, total })
    : say("state.running", { done, total, left: duration(left) });
}

/** @param {number} left seconds */
function duration(left) {
  const seconds = Math.ceil(left);
  return seconds < 60
    ? say("seconds", { seconds })
    : say("minutes", { minutes: Math.floor(seconds / 60), seconds: seconds % 60 });
}

/** @param {string} name @param {boolean} checked */
function createBox(name, checked) {
  const box = element("input", { type: "checkbox", value: name });
  box.checked = checked;
  return element("label", box, name);
}
