// A board's bands: which, in what order, with what room.
import { element, setStyle } from "../../base/dom.js";
import { Bands } from "./band_layout.js";
import { Band } from "../band/band.js";
import { sayGesture } from "../../picture/gesture_sentences.js";

/**
 * @import { Values } from "../band/band.js"
 * @import { Extent } from "./band_layout.js"
 * @import { Room as Size } from "./screen_layout.js"
 * @typedef {{ bands: (Size & { name: string })[] | null, width: number }} Room of each band on the stage, or
 *   the width where they flow
 * @typedef {{ isPaper: () => boolean, onShared: () => void, onSize: () => void, schedule: () => void }}
 *   Around onShared: shared anew; onSize: a size changed; schedule: lay out
 */

export class BandList {
  el = element("div.cv-equations");
  /** As high as the picture is by the window alone; seen by nobody. */
  ruler = element("div.cv-ruler", { "aria-hidden": "true" });
  /** @type {Map<string, Band>} */
  equations = new Map();
  bands;
  /** @type {Plotly | null} */
  plotly = null;
  /** @type {Room | null} */
  #room = null; // null: measure anew
  /** @type {Extent | null} */
  #extent = null;
  #fitted = ""; // rooms of the last fit; empty: they flow
  #size = "";
  #arounds = ""; // of the bands: what their words take
  #root;
  #around;
  #watcher = new ResizeObserver(() => this.#onSize());

  /** @param {HTMLElement} root @param {Around} around */
  constructor(root, around) {
    [this.#root, this.#around] = [root, around];
    this.bands = new Bands(root, this.el, this.equations, {
      isPaper: around.isPaper,
      extent: () => this.#extentOnce(),
      onShared: () => {
        this.forgetRoom();
        around.onShared();
      },
    });
    for (const each of [root, this.el, this.ruler]) this.#watcher.observe(each);
  }

  /** @returns {Generator<Panel, void>} */
  *panels() {
    for (const equation of this.equations.values()) yield* equation.panels.values();
  }

  forgetRoom() {
    this.#room = null;
  }

  #onSize() {
    this.#around.onSize();
    const { height, beyond } = (this.#extent = this.#extentNow());
    const stage = this.bands.stage();
    const now = [
      this.#root.clientWidth,
      stage && height - (this.bands.alone() ? beyond : 0), // what it asked for is not new
      this.ruler.clientHeight,
      stage,
    ].join();
    this.#room = this.#roomNow();
    const around = [...this.equations.values()].map((equation) => equation.around()).join();
    const isKnown = this.#size === now && this.#arounds === around;
    this.#arounds = around;
    if (isKnown) {
      // its words took of a band's room: sized before it is painted
      if (this.#fitted && JSON.stringify(this.#room.bands) !== this.#fitted) this.#resize(this.#room);
      return;
    }
    this.#size = now;
    this.bands.share();
    if (this.#fitted) this.#resize(this.#roomNow()); // no frame shows cells in tracks that they do not fit
    this.#around.schedule();
  }

  /**
   * The room as known before layout: measured after writing, the browser would lay out every cell for
   * nothing.
   * @param {Structure | null} structure
   */
  known(structure) {
    const isKnown = structure
      ? structure.equations.length === this.equations.size &&
        structure.equations.every(({ name }) => this.equations.has(name))
      : this.#room;
    return isKnown ? (this.#room ?? this.#roomNow()) : null;
  }

  /** Of bands that were never seen: with their cells in them, the browser would lay out each twice. */
  #roomOfEmpty() {
    const rows = [...this.equations.values()].map(({ row }) => row.el);
    for (const row of rows) row.style.display = "none";
    const room = this.#roomNow();
    for (const row of rows) row.style.display = "";
    return room;
  }

  /** @returns {Room} */
  #roomNow() {
    return {
      bands: this.bands.stage()
        ? [...this.equations].map(([name, equation]) => ({ name, ...equation.room() }))
        : null,
      width: Math.max(0, ...[...this.el.children].map((band) => band.clientWidth)),
    };
  }

  /** As last measured. */
  #extentOnce() {
    return (this.#extent ??= this.#extentNow());
  }

  /** @returns {Extent} */
  #extentNow() {
    const { width, height } = this.el.getBoundingClientRect();
    const whole = this.#root.clientHeight;
    const beyond = Math.max(whole - this.ruler.clientHeight, 0);
    return { width: Math.floor(width), height: Math.floor(height), whole, beyond };
  }

  /**
   * The room once the tracks have moved: what stands around a stage stays as it is; where it does not, the
   * watcher sees it.
   * @param {Room} room @param {Map<string, Size>} before the bands' areas
   */
  #moved({ bands, width }, before) {
    const moved = bands?.map((band) => {
      const [from, to] = [before.get(band.name), this.bands.areas.get(band.name)];
      const by = (/** @type {keyof Size} */ side) => (from && to ? to[side] - from[side] : 0);
      return { ...band, width: band.width + by("width"), height: band.height + by("height") };
    });
    return { bands: moved ?? null, width };
  }

  /** @param {Structure} structure @param {Shared} shared */
  layOut(structure, shared) {
    this.#extentOnce(); // while it is empty: with bands in it, the browser would lay out every cell
    const wanted = new Set(structure.equations.map(({ name }) => name));
    const before = new Map(this.equations);
    for (const [name, equation] of before) {
      if (wanted.has(name)) continue;
      this.#watcher.unobserve(equation.stage);
      equation.destroy(this.plotly);
    }
    this.equations.clear(); // in the structure's order
    for (const name of wanted) this.equations.set(name, before.get(name) ?? this.#begin(shared, name));
    const { geometry, cell_words, remainder } = structure;
    const withRemainder = geometry.transposed ? "input" : "forward"; // the band that shows it
    const met = new Set(); // explained by a band before
    for (const spec of structure.equations) {
      const equation = /** @type {Band} */ (this.equations.get(spec.name));
      equation.setSpec(spec, geometry, spec.name === withRemainder ? remainder : null);
      equation.head.key.set(spec.items, met, cell_words, geometry.transposed);
    }
    const inOrder = [...this.equations.values()].map(({ el }) => el);
    // `append` moves the bands into the structure's order.
    if (inOrder.some((el, index) => el !== this.el.children[index])) this.el.append(...inOrder);
    this.el.dataset.count = String(this.equations.size);
  }

  /** @param {Shared} shared @param {string} name */
  #begin(shared, name) {
    const equation = new Band(shared, name);
    this.#watcher.observe(equation.stage); // words take of its room
    this.el.append(equation.el);
    return equation;
  }

  /**
   * Write all, then size it: one layout, not one a band.
   * @param {Values} numbers @param {BoardValues} values @param {boolean} isNew @param {Room | null} known
   */
  write(numbers, values, isNew, known) {
    const equations = [...this.equations.values()];
    const changed = equations.map((equation) => equation.setValues(numbers, values.dtype, values));
    if (isNew || (this.bands.stage() && equations.some((equation) => equation.row.outgrown()))) {
      // new bands, or wider numbers
      const before = this.bands.areas;
      const shared = this.bands.share();
      const room = shared === "tracks" && known ? this.#moved(known, before) : known;
      this.#resize((shared !== "all" && room) || (this.#size ? this.#roomNow() : this.#roomOfEmpty()));
    } else equations.forEach((equation, index) => equation.draw(this.plotly, changed[index]));
  }

  /** @param {Room} measured */
  #resize(measured) {
    if (!measured.width) return;
    const { bands, width } = (this.#room = this.#grown(measured));
    this.#fitted = bands ? JSON.stringify(bands) : "";
    const wraps = Boolean(this.bands.alone());
    const equations = [...this.equations.values()];
    if (bands) for (const { name, ...size } of bands) this.equations.get(name)?.row.fit(size, wraps);
    else {
      const cell = cellSize(
        equations.map((equation) => equation.row.measure()),
        width,
      );
      for (const equation of equations) equation.row.setSize(cell, width);
    }
    for (const equation of equations) equation.draw(this.plotly, null);
  }

  /**
   * The room with the height that the picture asks for: a band that stands alone needs its numbers' height, one
   * that answers its answer's; the page scrolls where the window has less. Predicted, since the browser would lay
   * out every cell to know it; and no variable, since it would ask every cell whether it reads that.
   * @param {Room} room @returns {Room}
   */
  #grown(room) {
    const picture = /** @type {HTMLElement | null} */ (this.#root.closest("[data-stage] > .cv-picture"));
    if (!picture) return room;
    const extent = this.#extentOnce();
    const least = Math.ceil(this.#leastHeight(room, extent));
    setStyle(picture, "min-height", `${least}px`);
    const alone = this.bands.alone();
    const by = Math.max(least - extent.whole, -extent.beyond);
    if (!by || !alone || this.bands.isFixed()) return room;
    const [height, whole, beyond] = [extent.height + by, extent.whole + by, extent.beyond + by];
    this.#extent = { width: extent.width, height, whole, beyond };
    const bands = (room.bands ?? []).map((band) =>
      band.name === alone ? { ...band, height: band.height + by } : band,
    );
    return { bands, width: room.width };
  }

  /** @param {Room} room @param {Extent} extent */
  #leastHeight({ bands }, { whole, height }) {
    if (this.bands.isFixed()) return 0;
    const alone = this.bands.alone();
    if (!alone) return whole - height + this.bands.leastHeight(true);
    const stage = bands?.find(({ name }) => name === alone);
    if (!stage?.width) return 0;
    return whole - stage.height + (this.equations.get(alone)?.row.leastHeight(stage.width) ?? 0);
  }

  /** In a panel the first of its places. @param {"mark" | "hide"} act @param {(Place | null)[]} places */
  at(act, ...places) {
    for (const panel of this.panels())
      panel.grid[act](places.find((place) => place?.panel === panel.spec().name) ?? null);
  }

  /** Each in the first band that shows its panel. @param {Record<string, string>} reasons by stage */
  sayUnchanged(reasons) {
    const left = this.#root.closest("[data-lesson]") ? {} : { ...reasons }; // its card speaks of what it set
    for (const { head, panels, el } of this.equations.values()) {
      const specs = [...panels.values()].map((panel) => panel.spec());
      const here = el.hasAttribute("data-strip") ? [] : specs.filter(({ name }) => left[name]);
      head.sayUnchanged(
        here.map(({ name, label }) => sayGesture("unchanged", { name: label, why: left[name] })),
      );
      for (const { name } of here) delete left[name];
    }
  }

  inUse() {
    return this.equations.get(this.bands.inUse());
  }

  close() {
    this.#watcher.disconnect();
    for (const equation of this.equations.values()) equation.destroy(this.plotly);
  }
}

/** One size for all rows. @param {{ cells: number, rest: number }[]} needs @param {number} width */
export function cellSize(needs, width) {
  const fits = Math.min(...needs.map(({ cells, rest }) => (width - rest) / Math.max(cells, 1)));
  return fits >= 28 ? Math.min(Math.floor(fits), 48) : 32; // where cells would be smaller, rows wrap
}
