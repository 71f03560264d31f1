// The board's cells: panels by name, numbers, colours, links, products.
import { colorOf, cssColor } from "../../base/format.js";
import { Links } from "../../picture/find_linked_cells.js";
import { CellProducts } from "../../picture/cell_products.js";

/**
 * @typedef {{ planes: Record<string, ArrayLike<number>>, thumbs: Record<string, ArrayLike<number>>, limits:
 *   Record<string, number> }} Numbers
 */

const PLAIN = "var(--cv-accent)"; // a copy has no factor to colour it
const KERNELS = { weight: "forward", rotated_weight: "input", dilated_grad_output: "weight" };

export class Cells {
  /** Nothing is lit or written before. @type {Numbers | null} */
  numbers = null;
  links = /** @type {Links} */ (/** @type {unknown} */ (null)); // from the first geometry on
  // from the first numbers on
  terms = /** @type {CellProducts} */ (/** @type {unknown} */ (null));
  loss = "";
  /** @type {Map<string, Panel>} */
  #named = new Map();
  #scale;

  /** @param {ScaleOf} scale */
  constructor(scale) {
    this.#scale = scale;
  }

  /** @param {Geometry} geometry @param {string} loss @param {Panel[]} panels */
  setGeometry(geometry, loss, panels) {
    this.loss = loss;
    this.links = new Links(geometry);
    this.#named = new Map(panels.reverse().map((panel) => [panel.spec().name, panel]));
  }

  /** @param {Numbers} numbers */
  setNumbers(numbers) {
    this.numbers = numbers;
    this.terms = new CellProducts(this.links, (panel) => this.panel(panel)?.spec(), numbers);
  }

  /** @param {string} name */
  panel(name) {
    return this.#named.get(name);
  }

  /** @param {Place | null | undefined} cell @returns {cell is Place} */
  has(cell) {
    if (!cell) return false;
    const spec = /** @type {PanelSpec} */ (this.panel(cell.panel)?.spec());
    return Boolean(spec) && cell.row < spec.rows.length && cell.column < spec.columns.length;
  }

  /** @param {Place} cell */
  value({ panel, row, column }) {
    const spec = this.panel(panel)?.spec();
    return spec && this.numbers?.planes[panel][row * spec.columns.length + column];
  }

  /** @param {string} panel @param {number | undefined} value */
  colorIn = (panel, value) => {
    const spec = this.panel(panel)?.spec();
    const key = `${KERNELS[panel] ?? spec?.key.split(":")[0]}:${panel}`;
    return colorOf(
      this.#scale(spec?.quantity ?? "other"),
      value && Number.isFinite(value) ? value : 0,
      this.numbers?.limits[key] ?? 0,
    );
  };

  /** @param {Place | null} kernel */
  colorOfLink(kernel) {
    const cell = kernel && this.terms.present(kernel);
    if (!cell || !this.panel(cell.panel)) return PLAIN;
    return cssColor(this.colorIn(cell.panel, this.value(cell)));
  }
}
