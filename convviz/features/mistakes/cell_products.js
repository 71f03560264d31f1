// The products of one cell: those of the right sum and of the wrong one, and the cells that they are of.
import { element, listen, setText } from "../../web/base/dom.js";
import { formatNumber } from "../../web/base/format.js";
import { Heatmap } from "../../web/board/grid/tab_heatmap.js";
import { FACTOR } from "../../web/numbers/compute_mistake.js";
import { planeRows, sizeOf } from "../../web/tabs/shown_planes.js";
import { shownAt } from "../../web/rules/shown_plane.js";
import { say } from "./sentences.js";
import { flatIndex, indicesAt, largestOf, pointAt } from "../../web/rules/shapes_and_indices.js";

const MAX_LISTED_PRODUCTS = 16;
const KINDS = /** @type {const} */ (["kept", "missing", "extra"]);
const COLORS = { kept: "var(--cv-accent)", missing: "", extra: "var(--cv-bad)" };

/**
 * @import { Given, Product } from "../../web/numbers/compute_mistake.js"
 * @import { Compared } from "../../web/numbers/mistake_results.js"
 * @typedef {typeof KINDS[number]} Kind
 * @typedef {{ name: string, right: number, wrong: number | null, factor: number, products: Compared }} Sums
 *   wrong: null: no such cell
 */

/** @param {string} of */
const lineOf = (of) => element("p.cv-mistake-sum", { "data-of": of });

export class Products {
  #hint = element("p.cv-readout", say("hint"));
  #lines = { right: lineOf("right"), wrong: lineOf("wrong") };
  #maps;
  /** @type {{ of: Gradient, given: Given } | null} */
  #now = null;
  #planes = [0, 0];
  /** @type {Sums | null} */
  #sums = null;
  el;

  /** @param {PaneTools} pane */
  constructor(pane) {
    this.#maps = [new Heatmap(pane), new Heatmap(pane)];
    const key = KINDS.map((kind) => element(`span.cv-${kind}`, say(`key.${kind}`)));
    const factors = element(
      "div.cv-mistake-factors",
      element("h4", say("factors")),
      element("div.cv-flow", ...this.#maps.map((map) => map.el)),
      element("p.cv-mistake-key", ...key),
    );
    const sums = element("div", this.#hint, this.#lines.right, this.#lines.wrong);
    this.el = element("div.cv-mistake-products", sums, factors);
  }

  /** Returns the factors of a product. That of grad_bias has only one: grad_output. */
  #factors() {
    if (!this.#now) return [];
    const { of, given } = this.#now;
    const names = /** @type {const} */ (["grad_output", FACTOR[of]]);
    return names.flatMap((name) => (name ? [{ name, tensor: given[name] }] : []));
  }

  /** @param {Product} product */
  #textOf({ grad, other }) {
    const parts = this.#factors().map(({ name, tensor }, which) => {
      const [plane, cell] = which ? other : grad;
      const index = plane * tensor.shape[2] * tensor.shape[3] + cell;
      const number = formatNumber(tensor.data[index] ?? 0);
      return {
        title: `${name}[${indicesAt(tensor.shape, index).join(", ")}]`,
        text: tensor.data[index] < 0 ? `(${number})` : number,
      };
    });
    return {
      text: parts.map(({ text }) => text).join("\u00b7"),
      title: parts.map(({ title }) => title).join(" \u00b7 "),
    };
  }

  /** @param {Product} product @param {Kind} kind */
  #createProduct(product, kind) {
    const { value } = product;
    const { text, title } = this.#textOf(product);
    const words = say(kind, { product: `${text} = ${formatNumber(value)}, ${title}` });
    const attributes = { title, "data-value": String(value), "aria-label": words };
    const button = element(`button.cv-product.cv-${kind}`, { type: "button", ...attributes }, text);
    const only = { kept: [], missing: [], extra: [], [kind]: [product] };
    listen(button, ["pointerenter", "focus"], () => this.#light(only));
    listen(button, ["pointerleave", "blur"], () => this.#light(this.#sums?.products));
    return button;
  }

  /** @param {Compared} [products] */
  #light(products) {
    if (products) this.#showPlanes(products);
    this.#factors().forEach(({ tensor }, which) => {
      const width = tensor.shape[3] ?? 1;
      const links = KINDS.flatMap((kind) =>
        (products?.[kind] ?? [])
          .map((product) => (which ? product.other : product.grad))
          .filter(([plane]) => plane === this.#planes[which])
          .map(([, cell]) => ({
            ...pointAt(cell, width),
            color: COLORS[kind],
            real: kind !== "missing",
          })),
      );
      this.#maps[which].grid.light(links);
    });
  }

  /** Shows the planes of the first product; extra products come first, then missing ones. @param {Compared} products */
  #showPlanes({ kept, missing, extra }) {
    const [first] = [...extra, ...missing, ...kept];
    if (!first) return;
    const planes = [first.grad[0], first.other[0]];
    if (this.#factors().every((_, which) => planes[which] === this.#planes[which])) return;
    this.#planes = planes;
    this.#draw();
  }

  #draw() {
    const factors = this.#factors();
    this.#maps.forEach((map, which) => {
      map.el.hidden = !factors[which];
      if (!factors[which]) return;
      const { name, tensor } = factors[which];
      const [height, width] = sizeOf(tensor.shape);
      const at = indicesAt(tensor.shape, this.#planes[which] * height * width).slice(0, 2);
      map.set({
        values: planeRows(tensor, this.#planes[which]),
        label: `${name}[${at.join(", ")}]`,
        shape: "",
        limit: largestOf(tensor.data),
        within: [190, 5, 30],
      });
      map.el.dataset.tensor = name;
    });
  }

  /**
   * @param {"right" | "wrong"} which @param {Kind[]} kinds @param {Compared} products
   * @param {number | null} value @param {number} factor
   */
  #write(which, kinds, products, value, factor) {
    const el = this.#lines[which];
    const head = element("b", say(`${which}.sum`), ": ");
    if (value === null) return el.replaceChildren(head, say("sum.no_cell"));
    const written = kinds.flatMap((kind) =>
      products[kind].slice(0, MAX_LISTED_PRODUCTS).map((product) => this.#createProduct(product, kind)),
    );
    const more = kinds.reduce(
      (count, kind) => count + Math.max(products[kind].length - MAX_LISTED_PRODUCTS, 0),
      0,
    );
    const parts = written.flatMap((button, index) => [...(index ? [" + "] : []), button]);
    const total = element("output", { "data-value": String(value) }, formatNumber(value));
    el.replaceChildren(
      head,
      ...(parts.length ? parts : [say("sum.empty")]),
      ...(more ? [" ", say("sum.more", { count: more })] : []),
      ...(factor === 1 ? [] : [` \u00b7 ${formatNumber(factor)}`]),
      " = ",
      total,
    );
  }

  /** @param {Gradient} of @param {Given} given @param {Settings} settings whose planes are shown first */
  set(of, given, { plane, spec }) {
    this.#now = { of, given };
    this.#planes = this.#factors().map(({ name, tensor }) =>
      flatIndex(tensor.shape, shownAt(plane, spec, name, false)),
    );
    this.#draw();
  }

  /** @param {Sums | null} next */
  show(next) {
    this.#sums = next;
    for (const el of Object.values(this.#lines)) el.hidden = !next;
    setText(this.#hint, next ? next.name : say("hint"));
    if (next) {
      this.#write("right", ["kept", "missing"], next.products, next.right, 1);
      this.#write("wrong", ["kept", "extra"], next.products, next.wrong, next.factor);
    }
    this.#light(next?.products);
  }
}
