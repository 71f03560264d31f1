// @ts-check
// How the bands share the room of the stage: forward and to the weight side by side, to the input in a row of
// its own; or one alone where there is little room.

import { tracksFor } from "./stage.js";

/** @typedef {import("./equation.js").Equation} Band */

const LARGE = "input"; // the band with two readings has a row of its own
const ROW = "minmax(0, 1fr)";
const [IN_USE, OTHER] = [1, 0.76]; // shares of the height that the row in use has, and the other one
const STRIP = "64px"; // height of a band beside the one that is alone
const SHARES = { forward: 1.37, weight: 1, bias: 0.6 }; // of the width
const BETWEEN = 10; // pixels between bands, as stage.css has them
const WIDER = 1.2; // how much of the width the band in use takes beside its neighbour

/** Share the room of a board. */
export class Bands {
  #focused = ""; // the band that has the room
  #brought = LARGE; // the band that is in sight where not all are
  /** Whether a drawer has taken the upper row. */
  #isDrawn = () => Boolean(this.#root.closest('[data-drawer][data-stage="wide"]'));
  /** The band in use: a card, one step larger than the others. */
  inUse = () => this.#focused || this.alone() || (this.#equations.has(LARGE) ? LARGE : "");
  #shared = ""; // how they shared it last
  #root;
  #rows;
  #equations;
  #isPaper;
  #onShared;

  /**
   * @param {HTMLElement} root the board @param {HTMLElement} rows in it @param {Map<string, Band>} equations
   * @param {() => boolean} isPaper where there is no stage @param {() => void} onShared told when they share
   *   it in another way
   */
  constructor(root, rows, equations, isPaper, onShared) {
    [this.#root, this.#rows, this.#equations] = [root, rows, equations];
    [this.#isPaper, this.#onShared] = [isPaper, onShared];
  }

  /** How the app stands on the screen; empty on paper. */
  stage() {
    const app = /** @type {HTMLElement | null} */ (
      this.#isPaper() ? null : this.#root.closest("[data-stage]")
    );
    return app?.dataset.stage ?? "";
  }

  /** The band that has the room for itself; empty where all of them stand there. */
  alone() {
    if (!["medium", "narrow", "lecture"].includes(this.stage()) && !this.#isDrawn()) return "";
    if (this.#focused) return this.#focused;
    return this.#equations.has(this.#brought) ? this.#brought : [...this.#equations.keys()][0];
  }

  /**
   * The grid that they stand in, as its properties say it: areas, columns, rows.
   * @param {string} one that has the room for itself
   */
  #gridOf(one) {
    if (this.stage() === "wide" && !one) return this.#gridWide();
    return ["", "", [...this.#equations.keys()].map((name) => (one && name !== one ? STRIP : ROW)).join(" ")];
  }

  /**
   * Side by side in fixed shares, so that nothing but panels moves; a band whose numbers would go takes of
   * its neighbours.
   */
  #gridWide() {
    const names = [...this.#equations.keys()];
    const small = names.filter((name) => name !== LARGE);
    const needs = new Map([...this.#equations].map(([name, band]) => [name, band.least()]));
    const least = (/** @type {string} */ name) => needs.get(name) ?? { width: 0, bare: 0, height: 0 };
    const widths = small.map((name) => ({
      least: least(name).width,
      bare: least(name).bare,
      share: SHARES[/** @type {"forward"} */ (name)] * (name === this.#focused ? WIDER : 1),
    }));
    const lines = [small, [LARGE]].map((row) => ({
      areas: small.map((_, index) => row[index] ?? row[0]).join(" "),
      least: Math.max(0, ...row.map((name) => least(name).height)),
      share: row.includes(this.inUse()) ? IN_USE : OTHER,
    }));
    if (names[0] === LARGE) lines.reverse();
    const areas = lines.map((line) => JSON.stringify(line.areas)).join(" ");
    const used = lines.findIndex(({ share }) => share === IN_USE);
    return [areas, tracksFor(widths, small.indexOf(this.#focused), BETWEEN), tracksFor(lines, used, BETWEEN)];
  }

  /**
   * Share it: where there is little, one has it all. @returns {boolean} whether in another way than before
   */
  share() {
    if (!this.#equations.has(this.#focused)) this.#focused = "";
    const one = this.alone();
    for (const equation of this.#equations.values())
      equation.setPlace({ focused: this.#focused, alone: one, inUse: this.inUse() });
    const [areas, columns, lines] = this.#gridOf(one);
    const now = [this.stage(), one, this.#focused, ...this.#equations.keys(), areas, columns, lines].join(
      "|",
    );
    if (now === this.#shared) return false;
    this.#shared = now;
    Object.assign(this.#rows.style, {
      gridTemplateAreas: areas,
      gridTemplateColumns: columns,
      gridTemplateRows: lines,
    });
    this.#onShared();
    return true;
  }

  focused = () => this.#focused;

  /**
   * Let one band have the room, or give it back to all. Where not all are in sight, it comes into sight, until
   * a lesson brings another.
   * @param {string} name empty: to all
   */
  focus(name) {
    if (name && this.alone()) this.#brought = name;
    this.#focused = this.alone() ? "" : name;
    this.share();
  }

  /**
   * Have a band in sight, where not all of them are. @param {string} name
   * @returns {boolean} whether it is another one
   */
  bring(name) {
    if (!name || name === this.#brought) return false;
    this.#brought = name;
    this.share();
    return true;
  }
}
