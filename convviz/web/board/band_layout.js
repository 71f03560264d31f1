// Bands share the stage: forward and weight side by side, input below; or one alone.

import { tracksFor } from "./screen_layout.js";

/** @typedef {import("./equation_row.js").Equation} Band */

const LARGE = "input"; // two readings: a row of its own
const ROW = "minmax(0, 1fr)";
const [IN_USE, OTHER] = [1, 0.76]; // heights: of the row in use, of the other
const STRIP = "64px"; // height of the others beside one alone
const SHARES = { forward: 1.37, weight: 1, bias: 0.6 }; // of the width
const BETWEEN = 10; // pixels, as in screen_layout.css
const WIDER = 1.2; // the width of the band in use

export class Bands {
  #focused = ""; // has the room
  #brought = LARGE; // in sight where not all are
  /** Whether a drawer has the upper row. */
  #isDrawn = () => Boolean(this.#root.closest('[data-drawer][data-stage="wide"]'));
  /** A card, one step larger. */
  inUse = () => this.#focused || this.alone() || (this.#equations.has(LARGE) ? LARGE : "");
  #shared = "";
  #root;
  #rows;
  #equations;
  #isPaper;
  #onShared;

  /**
   * @param {HTMLElement} root @param {HTMLElement} rows @param {Map<string, Band>} equations
   * @param {() => boolean} isPaper @param {() => void} onShared
   */
  constructor(root, rows, equations, isPaper, onShared) {
    [this.#root, this.#rows, this.#equations] = [root, rows, equations];
    [this.#isPaper, this.#onShared] = [isPaper, onShared];
  }

  /** Empty on paper. */
  stage() {
    const app = /** @type {HTMLElement | null} */ (
      this.#isPaper() ? null : this.#root.closest("[data-stage]")
    );
    return app?.dataset.stage ?? "";
  }

  /** Empty if all are shown. */
  alone() {
    if (!["medium", "narrow", "lecture"].includes(this.stage()) && !this.#isDrawn()) return "";
    if (this.#focused) return this.#focused;
    return this.#equations.has(this.#brought) ? this.#brought : [...this.#equations.keys()][0];
  }

  /** Areas, columns, rows. @param {string} one */
  #gridOf(one) {
    if (this.stage() === "wide" && !one) return this.#gridWide();
    return ["", "", [...this.#equations.keys()].map((name) => (one && name !== one ? STRIP : ROW)).join(" ")];
  }

  /** Fixed shares, so that only panels move; a band whose numbers would vanish takes from its neighbours. */
  #gridWide() {
    const names = [...this.#equations.keys()];
    const small = names.filter((name) => name !== LARGE);
    const needs = new Map([...this.#equations].map(([name, band]) => [name, band.row.least()]));
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

  /** @returns {boolean} whether it changed */
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

  /** Empty: all. Where not all are in sight, it comes into sight. @param {string} name */
  focus(name) {
    if (name && this.alone()) this.#brought = name;
    this.#focused = this.alone() ? "" : name;
    this.share();
  }

  /** @param {string} name @returns {boolean} whether it changed */
  bring(name) {
    if (!name || name === this.#brought) return false;
    this.#brought = name;
    this.share();
    return true;
  }
}
