// What a move changed: changed cells are washed in their hue, and an unchanged result says why. It compares
// numbers of one maker: torch rounds differently.
import { svgElement } from "../../base/dom.js";
import { Motion } from "../../base/motion.js";
import { unchanged } from "../../numbers/reason_unchanged.js";
import { box } from "./grid_marks.js";

const WASH_MS = 250;
const QUICK_MS = 300; // moves this close are one
const EXPLAINED_MS = 2600;
const WASHED_UP_TO = 12; // rows or columns of a panel
const SAME = 1e-5; // of a scale's end: rounding
const DEPTH = 0.45;

export class Changes {
  #model;
  #panels;
  #say;
  #motion = new Motion();
  /** The numbers last seen, by who made them. @type {Map<string, import("../../numbers/reason_unchanged.js").Seen>} */
  #seen = new Map();
  /** The current ones, and those before. @type {Settings[]} */
  #settings = [];
  #explained = false; // whether the last move was explained
  #when = -Infinity; // of the last move
  #timer = 0;
  #saying = "";
  /** @type {Map<string, ArrayLike<number>>} */
  #shown = new Map();

  /**
   * @param {Model} model @param {() => Iterable<Panel>} panels
   * @param {(reasons: Record<string, string>) => void} say why a stage's numbers stayed
   */
  constructor(model, panels, say) {
    [this.#model, this.#panels, this.#say] = [model, panels, say];
  }

  /** @param {Record<string, ArrayLike<number>>} planes @param {Record<string, number>} limits */
  see(planes, limits) {
    const shown = this.#model.shown();
    if (!shown) return;
    const { settings, numbers } = shown;
    const moved = settings !== this.#settings[0];
    if (moved) [this.#settings, this.#explained] = [[settings, this.#settings[0]], false];
    this.#wash(planes, limits, moved);
    const now = { settings, stages: numbers.stages };
    const before = this.#seen.get(numbers.from);
    this.#seen.set(numbers.from, now);
    if (this.#explained || !before || before.settings !== this.#settings[1]) return;
    this.#explained = true;
    this.#explain(unchanged(before, now), settings.spec);
  }

  /** @param {Record<string, string>} sentences @param {Spec | null} [spec] */
  #explain(sentences, spec = null) {
    const isNothing = !Object.keys(sentences).length;
    const text = isNothing ? "" : JSON.stringify([sentences, spec]);
    if (text !== this.#saying) this.#say(sentences);
    this.#saying = text;
    clearTimeout(this.#timer);
    if (!isNothing) this.#timer = window.setTimeout(() => this.#explain({}), EXPLAINED_MS);
  }

  /**
   * @param {Record<string, ArrayLike<number>>} planes @param {Record<string, number>} limits
   * @param {boolean} moved
   */
  #wash(planes, limits, moved) {
    const quick = performance.now() - this.#when < QUICK_MS;
    if (moved) this.#when = performance.now();
    const shows = moved && !quick && this.#motion.may(WASH_MS);
    for (const panel of this.#panels()) {
      const { key, name, rows, columns } = panel.spec();
      const [before, now] = [this.#shown.get(key), planes[name]];
      if (before === now) continue;
      this.#shown.set(key, now);
      if (!shows || before?.length !== now.length || Math.max(rows.length, columns.length) > WASHED_UP_TO)
        continue;
      const cells = changedCells(before, now, SAME * limits[key]);
      if (cells.length) this.#play(panel, cells, columns.length);
    }
  }

  /** @param {Panel} panel @param {number[]} cells @param {number} width */
  #play(panel, cells, width) {
    const d = cells.map((index) => box(index % width, Math.floor(index / width), 1, 1)).join("");
    const whole = svgElement(
      "svg.cv-wash",
      { "aria-hidden": "true", viewBox: panel.grid.svg.getAttribute("viewBox") ?? "" },
      svgElement("path", { d }),
    );
    const frames = [{ opacity: DEPTH }, { opacity: 0 }];
    this.#motion.play(panel.area, whole, [{ node: whole, frames, ms: WASH_MS }]);
  }

  close() {
    clearTimeout(this.#timer);
    this.#motion.finish();
  }
}

/** @param {ArrayLike<number>} before @param {ArrayLike<number>} now @param {number} most */
export function changedCells(before, now, most) {
  const found = [];
  for (let index = 0; index < now.length; index++)
    if (Math.abs(now[index] - before[index]) > most) found.push(index);
  return found;
}
