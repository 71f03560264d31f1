// Plotly draws one graph a row: 3 calls take a third of 11. While anything moves, panels colour themselves.
import { element } from "../../base/dom.js";

const REST_MS = 250;
const WHOLE = 0.1; // pixels of CSS that a whole one may be off

export class Heatmaps {
  #board;
  #panels;
  // plotly keeps its data there
  el = /** @type {HTMLDivElement & { data: object[] }} */ (element("div.cv-plot", { "aria-hidden": "true" }));
  #resting = 0; // the timer that waits until nothing moves
  #drawings = 0; // how often they were drawn
  #drawn = ""; // the panels that plotly has
  #planes = [];
  #limits = [];

  /** @param {Shared} board @param {Map<string, Panel>} panels */
  constructor(board, panels) {
    this.#board = board;
    this.#panels = panels;
  }

  locate() {
    const boxes = [...this.#panels.values()].map((panel) => drawnBox(panel.area));
    return { frame: drawnBox(this.el.parentElement ?? this.el), boxes };
  }

  /** One trace and pair of axes a panel, placed over its area. @param {ReturnType<Heatmaps["locate"]>} place */
  #picture({ frame, boxes }) {
    const layout = {
      ...this.#board.plotLayout,
      width: Math.max(frame.width, 10),
      height: Math.max(frame.height, 10),
    };
    const data = [...this.#panels.values()].map((panel, index) => {
      const number = index ? String(index + 1) : "";
      const box = boxes[index];
      const { rows, columns, figure, quantity } = panel.spec();
      const [left, right] = [box.left, box.right].map((at) => (at - frame.left) / frame.width);
      const [low, high] = [box.bottom, box.top].map((at) => 1 - (at - frame.top) / frame.height);
      layout[`xaxis${number}`] = axisOf(`y${number}`, [-0.5, columns.length - 0.5], [left, right]);
      layout[`yaxis${number}`] = axisOf(`x${number}`, [rows.length - 0.5, -0.5], [low, high]);
      return {
        ...figure.data[0],
        z: this.#planes[index],
        zmin: -this.#limits[index],
        zmax: this.#limits[index],
        colorscale: this.#board.scale(quantity),
        showscale: false,
        hoverinfo: "skip",
        xaxis: `x${number}`,
        yaxis: `y${number}`,
      };
    });
    return { data, layout };
  }

  /** Plotly's images replace the panels' colours once loaded. @param {Plotly} plotly */
  #react(plotly) {
    clearTimeout(this.#resting);
    const place = this.locate();
    if (!place.frame.width) return; // hidden: drawn when seen again
    const inside = place.boxes.every(
      ({ bottom, right }) => bottom <= place.frame.bottom + 1 && right <= place.frame.right + 1,
    );
    // plotly would cut them off
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
      .catch(() => {}) // `decode` rejects for an image that was replaced
      .then(() => this.#drawings === now && inside && isWhole(place) && this.#showPlot(true));
    this.#drawn = this.#shownKeys();
  }

  /** @param {boolean} shown */
  #showPlot(shown) {
    this.el.toggleAttribute("data-behind", !shown);
    for (const panel of this.#panels.values()) panel.colour(!shown);
  }

  #shownKeys() {
    return [...this.#panels.keys()].join();
  }

  /** @param {Plotly | null} plotly @param {ArrayLike<number>[][]} nextPlanes @param {number[]} nextLimits */
  draw(plotly, nextPlanes, nextLimits) {
    [this.#planes, this.#limits] = [nextPlanes, nextLimits];
    this.#drawings += 1;
    this.#showPlot(false);
    if (!plotly || this.el.closest("[data-strip]")) return; // a band that is not in sight: drawn when it is
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

  /** Once at rest: plotly would take frames from a drag. @param {Plotly} plotly */
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

/** The pixel-aligned box: plotly draws at fractions, beside the cells' gaps. @param {Element} el */
function drawnBox(el) {
  const box = el.getBoundingClientRect();
  const whole = (/** @type {number} */ at) => Math.round(at * devicePixelRatio) / devicePixelRatio;
  const [left, right, top, bottom] = [box.left, box.right, box.top, box.bottom].map(whole);
  return { left, right, top, bottom, width: right - left, height: bottom - top };
}

/**
 * Where a screen has more than a pixel for one of CSS: plotly would put each cell at a whole one, beside its gap.
 * @param {ReturnType<Heatmaps["locate"]>} place
 */
const isWhole = ({ frame, boxes }) =>
  boxes.every(({ left, right, top, bottom }) =>
    [left - frame.left, right - frame.left, top - frame.top, bottom - frame.top].every(
      (at) => Math.abs(at - Math.round(at)) < WHOLE,
    ),
  );

/** @param {string} anchor @param {number[]} range @param {number[]} shares of the frame */
const axisOf = (anchor, range, shares) => ({
  ...{ visible: false, fixedrange: true, anchor, range },
  domain: shares.map((share) => Math.min(1, Math.max(0, share))),
});
