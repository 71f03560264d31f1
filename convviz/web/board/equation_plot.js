// @ts-check
// What plotly draws of an equation: one graph a row instead of one a panel, because plotly's cost is mostly
// per call: 3 graphs take a third of the time that 11 take. Until nothing moves any more the panels show
// colours of their own.
import { element } from "../base/dom.js";

/**
 * @import { Plotly } from "./plotly.js"
 */

const REST_MS = 250;

export class Plot {
  #board;
  #panels;
  // plotly keeps there what it draws
  el = /** @type {HTMLDivElement & { data: object[] }} */ (
    element("div", { class: "cv-plot", "aria-hidden": "true" })
  );
  #resting = 0; // until plotly draws what the panels show meanwhile
  #drawings = 0; // how often they have begun to show something
  #drawn = ""; // the keys of the panels that plotly has now
  #planes = [];
  #limits = [];

  /**
   * @param {import("./shared.js").Shared} board
   * @param {Map<string, import("./panel.js").Panel>} panels of the row
   */
  constructor(board, panels) {
    this.#board = board;
    this.#panels = panels;
  }

  /** Where the row and its panels stand. */
  locate() {
    const boxes = [...this.#panels.values()].map((panel) => drawnBox(panel.area));
    return { frame: drawnBox(this.el.parentElement ?? this.el), boxes };
  }

  /**
   * The picture of this row for plotly: one trace and one pair of axes a panel, placed where its area stands.
   * @param {ReturnType<Plot["locate"]>} place
   */
  #picture({ frame, boxes }) {
    const layout = {
      ...this.#board.plotLayout,
      width: Math.max(frame.width, 10),
      height: Math.max(frame.height, 10),
    };
    const data = [...this.#panels.values()].map((panel, index) => {
      const number = index ? String(index + 1) : "";
      const box = boxes[index];
      const { rows, columns, figure } = panel.spec();
      const axis = { visible: false, fixedrange: true };
      layout[`xaxis${number}`] = {
        ...axis,
        anchor: `y${number}`,
        range: [-0.5, columns.length - 0.5],
        domain: [(box.left - frame.left) / frame.width, (box.right - frame.left) / frame.width].map(unit),
      };
      layout[`yaxis${number}`] = {
        ...axis,
        anchor: `x${number}`,
        range: [rows.length - 0.5, -0.5],
        domain: [1 - (box.bottom - frame.top) / frame.height, 1 - (box.top - frame.top) / frame.height].map(
          unit,
        ),
      };
      return {
        ...figure.data[0],
        z: this.#planes[index],
        zmin: -this.#limits[index],
        zmax: this.#limits[index],
        colorscale: this.#board.scale(),
        showscale: false,
        hoverinfo: "skip",
        xaxis: `x${number}`,
        yaxis: `y${number}`,
      };
    });
    return { data, layout };
  }

  /**
   * Let plotly draw everything, and take the place of the panels' own colours once its images are there.
   * @param {Plotly} plotly
   */
  #react(plotly) {
    clearTimeout(this.#resting);
    const place = this.locate();
    if (!place.frame.width) return; // hidden meanwhile: the board draws when it is seen again
    const inside = place.boxes.every(
      ({ bottom, right }) => bottom <= place.frame.bottom + 1 && right <= place.frame.right + 1,
    );
    // plotly would cut them off: theirs is the picture
    if (this.#shownKeys() === this.#drawn && !inside) return;
    const { data, layout } = this.#picture(place);
    const now = this.#drawings;
    Promise.resolve(plotly.react(this.el, data, layout, { staticPlot: true, displayModeBar: false }))
      .then(() =>
        Promise.all(
          [...this.el.querySelectorAll("image")].map((image) =>
            /** @type {SVGImageElement & { decode?: () => Promise<void> }} */ (image).decode?.(),
          ),
        ),
      )
      .catch(() => {}) // an image that another one has replaced
      .then(() => this.#drawings === now && inside && this.#showPlot(true));
    this.#drawn = this.#shownKeys();
  }

  /**
   * Show plotly's colours, or those of the panels: theirs are there at once, and where the panels are.
   * @param {boolean} shown
   */
  #showPlot(shown) {
    this.el.toggleAttribute("data-behind", !shown);
    for (const panel of this.#panels.values()) panel.colour(!shown);
  }

  #shownKeys() {
    return [...this.#panels.keys()].join();
  }

  /**
   * The panels colour themselves, and plotly draws when nothing moves any more.
   * @param {Plotly | null} plotly none before it is loaded
   * @param {ArrayLike<number>[][]} nextPlanes rows of numbers, a panel
   * @param {number[]} nextLimits ends of the scales
   */
  draw(plotly, nextPlanes, nextLimits) {
    [this.#planes, this.#limits] = [nextPlanes, nextLimits];
    this.#drawings += 1;
    this.#showPlot(false);
    if (!plotly) return;
    if (this.#shownKeys() !== this.#drawn) return this.#react(plotly);
    [...this.#panels.values()].forEach((panel, i) =>
      Object.assign(this.el.data[i], panel.spec().figure.data[0], {
        z: this.#planes[i],
        zmin: -this.#limits[i],
        zmax: this.#limits[i],
      }),
    );
    this.#rest(plotly);
  }

  /**
   * Let plotly draw once nothing moves and no cell is held: it would take frames from the hand.
   * @param {Plotly} plotly
   */
  #rest(plotly) {
    clearTimeout(this.#resting);
    const isHeld = () => this.el.closest(".cv-board")?.querySelector(".cv-grid[data-dragging]");
    this.#resting = window.setTimeout(() => (isHeld() ? this.#rest(plotly) : this.#react(plotly)), REST_MS);
  }

  /** @param {Plotly | null} plotly */
  destroy(plotly) {
    clearTimeout(this.#resting);
    plotly?.purge(this.el);
  }
}

/**
 * Where a browser draws an element: at whole pixels of the screen. Within its picture plotly draws at any
 *   fraction, and
 * its cells would stand beside the gaps between them.
 * @param {Element} el
 */
function drawnBox(el) {
  const box = el.getBoundingClientRect();
  const whole = (/** @type {number} */ at) => Math.round(at * devicePixelRatio) / devicePixelRatio;
  const [left, right, top, bottom] = [box.left, box.right, box.top, box.bottom].map(whole);
  return { left, right, top, bottom, width: right - left, height: bottom - top };
}

/** @param {number} share */
function unit(share) {
  return Math.min(1, Math.max(0, share));
}
