// Bands share the stage: forward and weight side by side, input below; or one alone.

import { tracksFor } from "./screen_layout.js";

/** @typedef {import("../band/band.js").Band} Band */

/**
 * @typedef {import("./screen_layout.js").Room} Room
 * @typedef {Room & { whole: number, beyond: number }} Extent whole: the picture's height; beyond: what it has of
 *   it because it asked for it
 */

const LARGE = "input"; // two readings: a row of its own
const ROW = "minmax(0, 1fr)";
const [IN_USE, OTHER] = [1, 0.76]; // heights: of the row in use, of the other
const SHARES = { forward: 1.37, weight: 1, bias: 0.6 }; // shares of the width
const BETWEEN = 10; // pixels, as in screen_layout.css
const WIDER = 1.2; // the width of the band in use
const ANOTHER = 210; // the least height of a row that is not in use, where its words and colours need less
const BESIDE = 400; // the least width of each of the bands that stand side by side: their words would be columns
const NONE = { width: 0, bare: 0, height: 0 };

export class Bands {
  #focused = ""; // the band that a visitor gave the room; empty: none
  #brought = LARGE; // the band in sight where not all bands are
  #lent = ""; // the band in sight instead, while a tab speaks of it
  #isCrowded = false; // the numbers of all bands have no room
  #isDrawn = () => Boolean(this.#root.closest('[data-drawer][data-stage="wide"]'));
  /** A card, one step larger. */
  inUse = () => this.#focused || this.alone() || (this.#equations.has(LARGE) ? LARGE : "");
  #shared = ""; // key of how the room is shared
  #tracks = ""; // key of the grid tracks that follow from it
  /** Of each band, where all have tracks. @type {Map<string, Room>} */
  areas = new Map();
  #root;
  #rows;
  #equations;
  #isPaper;
  #extent;
  #onShared;

  /**
   * @param {HTMLElement} root @param {HTMLElement} rows @param {Map<string, Band>} equations
   * @param {{ isPaper: () => boolean, extent: () => Extent, onShared: () => void }} around extent: of the rows
   */
  constructor(root, rows, equations, around) {
    [this.#root, this.#rows, this.#equations] = [root, rows, equations];
    [this.#isPaper, this.#extent, this.#onShared] = [around.isPaper, around.extent, around.onShared];
  }

  /** Returns the layout that `data-stage` names, or an empty text on paper. */
  stage() {
    const app = /** @type {HTMLElement | null} */ (
      this.#isPaper() ? null : this.#root.closest("[data-stage]")
    );
    return app?.dataset.stage ?? "";
  }

  /** The picture asks for no height: a lecture fills its screen, a bare figure its box. */
  isFixed = () => ["lecture", "figure"].includes(this.stage());

  /** Empty if all are shown. */
  alone() {
    const isOne = ["medium", "narrow", "lecture", "figure"].includes(this.stage());
    if (!isOne && !(this.stage() && (this.#isDrawn() || this.#isCrowded))) return "";
    if (this.#focused) return this.#focused;
    const names = [this.#lent, this.#brought, ...this.#equations.keys()];
    return names.find((name) => this.#equations.has(name)) ?? "";
  }

  /** @param {string} one @param {() => Room} extent */
  #gridOf(one, extent) {
    if (this.stage() === "wide" && !one) return this.#gridWide(extent());
    this.areas = new Map();
    return ["", "", [...this.#equations.keys()].map(() => ROW).join(" ")];
  }

  /** @returns {boolean} the numbers of the band in use have no room among the others */
  #crowds() {
    if (this.stage() !== "wide") return false;
    const { width } = this.#equations.get(this.#focused || LARGE)?.least() ?? NONE;
    const extent = this.#extent();
    if (extent.width < BESIDE * (this.#equations.size - 1)) return true;
    return width > extent.width || this.leastHeight() > extent.height - extent.beyond;
  }

  /**
   * Of all bands together: the numbers of the band in use, and a row for the others.
   * @param {boolean} asked with the answers that were asked for, in any band
   */
  leastHeight(asked = false) {
    const used = this.#equations.get(this.#focused || LARGE);
    const others = [...this.#equations.values()].filter(
      (band) => (band.name === LARGE) !== (used?.name === LARGE),
    );
    const needs = others.map((band) => {
      const { height, low } = band.least(asked);
      return asked && band.head.isAsked() ? height : low;
    });
    return (used?.least(asked) ?? NONE).height + BETWEEN + Math.max(ANOTHER, ...needs);
  }

  /**
   * Fixed shares, so that only panels move; a band whose numbers would vanish takes from its neighbours.
   * @param {Room} extent
   */
  #gridWide(extent) {
    const names = [...this.#equations.keys()];
    const small = names.filter((name) => name !== LARGE);
    const needs = new Map([...this.#equations].map(([name, band]) => [name, band.least(true)]));
    const least = (/** @type {string} */ name) => needs.get(name) ?? NONE;
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
    const columns = tracksFor(widths, small.indexOf(this.#focused), BETWEEN, extent.width);
    const rows = tracksFor(lines, used, BETWEEN, extent.height);
    const ofLarge = lines.findIndex(({ areas: row }) => row.includes(LARGE));
    this.areas = new Map(
      names.map((name) =>
        name === LARGE
          ? [name, { width: extent.width, height: rows[ofLarge] }]
          : [name, { width: columns[small.indexOf(name)], height: rows[1 - ofLarge] }],
      ),
    );
    return [areas, ...[columns, rows].map((sizes) => sizes.map((size) => `${size}px`).join(" "))];
  }

  /** @returns {"" | "tracks" | "all"} what changed */
  share() {
    if (!this.#equations.has(this.#focused)) this.#focused = "";
    if (!this.#crowds()) return this.#shareNow(false);
    // What words take beside other bands was measured there, perhaps of other words: tried anew, and not painted.
    for (const equation of this.#equations.values()) equation.forgetAround();
    const changed = this.#shareNow(this.#crowds());
    if (this.#isCrowded) return changed;
    for (const equation of this.#equations.values()) equation.room();
    return this.#shareNow(this.#crowds()) || changed;
  }

  /** @param {boolean} isCrowded @returns {"" | "tracks" | "all"} what changed */
  #shareNow(isCrowded) {
    this.#isCrowded = isCrowded;
    const one = this.alone();
    const stage = /** @type {HTMLElement | null} */ (this.#root.closest("[data-stage]"));
    if (stage) stage.dataset.bands = this.isFixed() ? this.stage() : one ? "one" : "all";
    for (const equation of this.#equations.values())
      equation.setPlace({ focused: this.#focused, alone: one, inUse: this.inUse() });
    const [areas, columns, lines] = this.#gridOf(one, this.#extent);
    const tracks = [columns, lines].join("|");
    const shared = [this.stage(), one, this.#focused, ...this.#equations.keys(), areas].join("|");
    if (shared === this.#shared && tracks === this.#tracks) return "";
    const changed = shared === this.#shared && this.areas.size ? "tracks" : "all";
    [this.#shared, this.#tracks] = [shared, tracks];
    Object.assign(this.#rows.style, {
      gridTemplateAreas: areas,
      gridTemplateColumns: columns,
      gridTemplateRows: lines,
    });
    this.#onShared();
    return changed;
  }

  focused = () => this.#focused;

  /**
   * Gives a band the room; an empty name gives it to all. Where not all bands are in sight, this one comes into sight.
   * @param {string} name
   */
  focus(name) {
    if (name && this.alone()) [this.#brought, this.#lent] = [name, ""];
    this.#focused = this.alone() ? "" : name;
    this.share();
  }

  /** @param {string} name @returns {boolean} whether it changed */
  bring(name) {
    if (!name || name === (this.#lent || this.#brought)) return false;
    [this.#brought, this.#lent] = [name, ""];
    this.share();
    return true;
  }

  /** Until it is empty again. @param {string} name @returns {boolean} whether it changed */
  lend(name) {
    if (name === this.#lent) return false;
    this.#lent = name;
    this.share();
    return true;
  }
}
