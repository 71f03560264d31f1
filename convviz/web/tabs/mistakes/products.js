// @ts-check
// The products of one cell in the tab Mistakes: those of the right sum and of the wrong one, and the cells
// that they are of.
import WORDS from "../../../facts/words/mistakes.json" with { type: "json" };
import { element, setText } from "../../base/dom.js";
import { formatNumber } from "../../base/format.js";
import { Heatmap } from "../../board/heatmap.js";
import { FACTOR } from "../../numbers/mistaken.js";
import { sentences } from "../../base/words.js";

const say = sentences(WORDS);
const MOST = 16; // products of a kind that are written out
const COLORS = { kept: "var(--cv-accent)", missing: "", extra: "var(--cv-bad)" };

/**
 * @import { Compared, Given, Product } from "../../numbers/mistaken.js"
 * @import { Gradient } from "../../rules/recipes.js"
 * @import { Tensor } from "../../rules/settings.js"
 * @typedef {keyof typeof COLORS} Kind
 * @typedef {{ name: string, right: number, wrong: number | null, factor: number, products: Compared }} Sums
 *   wrong: null where it has no such cell
 */

/** One plane of a tensor as rows. @param {Tensor} tensor @param {number} plane */
export function planeRows({ shape, data }, plane) {
  const [height, width] = sizeOf(shape);
  return Array.from({ length: height }, (_, row) =>
    Array.from(data.slice((plane * height + row) * width, (plane * height + row + 1) * width)),
  );
}

/**
 * Rows and columns of a plane; of what has fewer axes, a row.
 * @param {number[]} shape @returns {[number, number]}
 */
export const sizeOf = (shape) => [shape.at(-2) ?? 1, shape.at(-1) ?? 1];

/** The indices of a number in its tensor. @param {number[]} shape @param {number} index */
export function indicesOf(shape, index) {
  const found = shape.map(() => 0);
  for (let axis = shape.length - 1, rest = index; axis >= 0; axis--) {
    found[axis] = rest % shape[axis];
    rest = Math.floor(rest / shape[axis]);
  }
  return found;
}

/** Make both sums and the two tensors that are multiplied. */
export class Products {
  #hint = element("p", { class: "cv-readout" }, say("hint"));
  #right;
  #wrong;
  #maps;
  /** @type {{ of: Gradient, given: Given } | null} */
  #now = null;
  /** @type {[number, number]} */
  #planes = [0, 0]; // of the two tensors, that are shown
  /** @type {Sums | null} */
  #sums = null;

  /** @param {import("../pane.js").PaneTools} pane */
  constructor(pane) {
    [this.#right, this.#wrong] = ["right", "wrong"].map((of) =>
      element("p", { class: "cv-mistake-sum", "data-of": of }),
    );
    this.#maps = [new Heatmap(pane), new Heatmap(pane)];
    const key = element(
      "p",
      { class: "cv-mistake-key" },
      ...["kept", "missing", "extra"].map((kind) =>
        element("span", { class: `cv-${kind}` }, say(/** @type {"key.kept"} */ (`key.${kind}`))),
      ),
    );
    const factors = element(
      "div",
      { class: "cv-mistake-factors" },
      element("h4", {}, say("factors")),
      element("div", { class: "cv-flow" }, ...this.#maps.map((map) => map.el)),
      key,
    );
    this.el = element(
      "div",
      { class: "cv-mistake-products" },
      element("div", {}, this.#hint, this.#right, this.#wrong),
      factors,
    );
  }

  /** @param {Product} product */
  #textOf({ grad, other, value }) {
    if (!this.#now) return { text: "", title: "", value };
    const named = [
      { name: "grad_output", at: grad },
      { name: FACTOR[this.#now.of] ?? "", at: other },
    ].filter(({ name }) => name);
    const parts = named.map(({ name, at: [plane, cell] }) => {
      const tensor = this.#now?.given[/** @type {"weight"} */ (name)];
      const index = tensor ? plane * tensor.shape[2] * tensor.shape[3] + cell : 0;
      const number = tensor?.data[index] ?? 0;
      const place = tensor ? indicesOf(tensor.shape, index).join(", ") : "";
      return {
        title: `${name}[${place}]`,
        text: number < 0 ? `(${formatNumber(number)})` : formatNumber(number),
      };
    });
    return {
      text: parts.map(({ text }) => text).join("\u00b7"),
      title: parts.map(({ title }) => title).join(" \u00b7 "),
      value,
    };
  }

  /** @param {Product} product @param {Kind} kind */
  #createProduct(product, kind) {
    const { text, title, value } = this.#textOf(product);
    const button = element(
      "button",
      { type: "button", class: `cv-product cv-${kind}`, title, "data-value": String(value) },
      text,
    );
    const told = `${text} = ${formatNumber(value)}, ${title}`;
    button.setAttribute("aria-label", say(/** @type {"kept"} */ (kind), { product: told }));
    for (const event of ["pointerenter", "focus"])
      button.addEventListener(event, () =>
        this.#light({ kept: [], missing: [], extra: [], [kind]: [product] }),
      );
    for (const event of ["pointerleave", "blur"])
      button.addEventListener(event, () => this.#light(this.#sums?.products));
    return button;
  }

  /** @param {Compared} [products] */
  #light(products) {
    if (products) this.#showPlanes(products);
    this.#maps.forEach((map, which) => {
      if (map.el.hidden || !this.#now) return;
      const links = ["kept", "missing", "extra"].flatMap((kind) =>
        (products?.[kind] ?? [])
          .map((product) => (which ? product.other : product.grad))
          .filter(([plane]) => plane === this.#planes[which])
          .map(([, cell]) => ({
            ...this.#placeOf(which, cell),
            color: COLORS[kind],
            real: kind !== "missing",
          })),
      );
      map.grid.light(links);
    });
  }

  /** @param {number} which @param {number} cell */
  #placeOf(which, cell) {
    const width = this.#tensorOf(which)?.shape[3] ?? 1;
    return { row: Math.floor(cell / width), column: cell % width };
  }

  /** @param {number} which @returns {Tensor | null} */
  #tensorOf(which) {
    return this.#now
      ? which
        ? (this.#now.given[/** @type {"weight"} */ (FACTOR[this.#now.of])] ?? null)
        : this.#now.given.grad_output
      : null;
  }

  /** Show the planes that the products are of; what differs comes first. @param {Compared} products */
  #showPlanes({ kept, missing, extra }) {
    const [first] = [...extra, ...missing, ...kept];
    if (
      first &&
      (this.#planes[0] !== first.grad[0] || (this.#tensorOf(1) && this.#planes[1] !== first.other[0]))
    ) {
      this.#planes = [first.grad[0], first.other[0]];
      this.#draw();
    }
  }

  #draw() {
    this.#maps.forEach((map, which) => {
      const tensor = this.#tensorOf(which);
      map.el.hidden = !tensor;
      if (!tensor) return;
      const [height, width] = sizeOf(tensor.shape);
      const at = indicesOf(tensor.shape, this.#planes[which] * height * width)
        .slice(0, 2)
        .join(", ");
      const name = which && this.#now ? (FACTOR[this.#now.of] ?? "") : "grad_output";
      const limit = tensor.data.reduce((most, value) => (Math.abs(value) > most ? Math.abs(value) : most), 0);
      map.set({
        values: planeRows(tensor, this.#planes[which]),
        label: `${name}[${at}]`,
        shape: "",
        limit,
        within: [190, 5, 30],
        dtype: "float64",
      });
      map.el.dataset.tensor = name;
    });
  }

  /**
   * @param {HTMLElement} el @param {string} which @param {[Product[], Kind][]} kinds
   * @param {number | null} value @param {number} factor
   */
  #write(el, which, kinds, value, factor) {
    const head = element("b", {}, say(/** @type {"right.sum"} */ (`${which}.sum`)), ": ");
    if (value === null) return el.replaceChildren(head, say("sum.no_cell"));
    const written = kinds.flatMap(([products, kind]) =>
      products.slice(0, MOST).map((product) => this.#createProduct(product, kind)),
    );
    const more = kinds.reduce((count, [products]) => count + Math.max(products.length - MOST, 0), 0);
    const parts = written.flatMap((button, index) => [...(index ? [" + "] : []), button]);
    const scaled = factor === 1 ? [] : [` \u00b7 ${formatNumber(factor)}`];
    const total = element("output", { "data-value": String(value) }, formatNumber(value));
    el.replaceChildren(
      head,
      ...(parts.length ? parts : [say("sum.empty")]),
      ...(more ? [" ", say("sum.more", { count: more })] : []),
      ...scaled,
      " = ",
      total,
    );
  }

  /** @param {Gradient} of @param {Given} given @param {[number, number]} at the planes to begin with */
  set(of, given, at) {
    this.#now = { of, given };
    this.#planes = at;
    this.#draw();
  }

  /** Write both sums of a cell, or none. @param {Sums | null} next */
  show(next) {
    this.#sums = next;
    for (const el of [this.#right, this.#wrong]) el.hidden = !next;
    setText(this.#hint, next ? next.name : say("hint"));
    if (next) {
      const { kept, missing, extra } = next.products;
      this.#write(
        this.#right,
        "right",
        [
          [kept, "kept"],
          [missing, "missing"],
        ],
        next.right,
        1,
      );
      this.#write(
        this.#wrong,
        "wrong",
        [
          [kept, "kept"],
          [extra, "extra"],
        ],
        next.wrong,
        next.factor,
      );
    }
    this.#light(next?.products);
  }
}
