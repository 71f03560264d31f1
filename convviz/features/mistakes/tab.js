// The tab Mistakes: the gradient with one step forgotten, beside the right one, for the board's numbers. The
// page computes all of it.
import MISTAKES from "../../facts/data/mistakes.json" with { type: "json" };
import { element, setText } from "../../web/base/dom.js";
import { formatNumber } from "../../web/base/format.js";
import { Heatmap } from "../../web/board/grid/tab_heatmap.js";
import { differing } from "../../web/numbers/compute_mistake.js";
import { MistakeResults } from "../../web/numbers/mistake_results.js";
import { isKnown } from "../../web/rules/recipe_steps.js";
import { countProducts } from "../../web/rules/conv_geometry.js";
import { MistakesList, GRADIENTS } from "./mistake_list.js";
import { Products } from "./cell_products.js";
import { createWhy } from "./why_hidden.js";
import { createMistakeDetails } from "./mistake_details.js";
import { indexIn, planeIn, planeRows, planesOf } from "../../web/tabs/shown_planes.js";
import { split, tab } from "../../web/tabs/pane.js";
import { say } from "./sentences.js";
import { indicesAt, largestOf } from "../../web/rules/shapes_and_indices.js";

const ALL_UP_TO = 30_000; // products: else not every mistake is tried
const SHOWN = /** @type {Mistake[]} */ (MISTAKES)
  .filter(({ of, setting }) => GRADIENTS.includes(of) && setting)
  .map((mistake) => ({ ...mistake, ways: mistake.ways.filter(isKnown) }));

/** @import { Mistake } from "./mistake_list.js" */

class MistakesPane {
  take = () => {
    const there = this.#pane.page.shown();
    if (!there) return;
    const { settings, numbers } = there;
    const { grad_output, weight, input } = numbers.stages;
    const given = { grad_output, weight, input };
    this.#now = settings.transposed
      ? null
      : { settings, given, gallery: new MistakeResults(settings.spec, given) };
    if (settings.mistake !== this.#chosen) [this.#chosen, this.#way] = [settings.mistake, 0];
    this.#of = this.#current()?.of ?? this.#of;
    this.#draw();
  };
  #pane;
  /** @typedef {import("../../web/numbers/compute_mistake.js").Given} Given */
  /** @type {{ settings: Settings, gallery: MistakeResults, given: Given } | null} */
  #now = null;
  /** @type {Gradient} */
  #of = "grad_input";
  #chosen = "";
  #way = 0;
  /** @type {Point | null} */
  #pointed = null; // here or on the board
  #list = new MistakesList(
    SHOWN,
    (gradient) => this.#choose(SHOWN.find((mistake) => mistake.of === gradient)?.id ?? ""),
    (mistake) => this.#choose(mistake.id === this.#chosen ? "" : mistake.id),
  );
  #verdict = element("p.cv-verdict", { "aria-live": "polite" });
  #why = createWhy((words) => setText(this.#verdict, words));
  #about = createMistakeDetails(
    (index) => {
      this.#way = index;
      this.#draw();
    },
    () => {
      const mistake = this.#current();
      if (mistake) this.#pane.page.open(mistake.setting, say("exposed", { title: mistake.title }));
    },
  );
  #maps;
  #nothing = element("p.cv-muted");
  #products;
  #transposed = element("p.cv-pane-failure");
  #picture;

  /** @param {PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    this.#pane = pane;
    this.#maps = ["right", "wrong"].map((which) => {
      const map = new Heatmap(this.#pane, {
        onPoint: (row, column) => this.#point({ row, column }, true),
        onLeave: () => this.#point(null, true),
      });
      map.el.dataset.of = which;
      return map;
    });
    this.#products = new Products(pane);
    const maps = this.#maps.map((map) => map.el);
    const flow = element("div.cv-flow.cv-mistake-maps", ...maps, this.#nothing);
    this.#picture = element("div", flow, this.#products.el);
    const shown = [this.#verdict, this.#about.el, this.#transposed, this.#picture];
    const words = [element("h3", say("title")), element("p", say("about")), this.#list.el];
    body.append(split(words, [element("div.cv-mistake-shown", { "data-part": "shown" }, ...shown)]));
    pane.onPoint(({ cell }) =>
      this.#point(cell?.panel === this.#of ? { row: cell.row, column: cell.column } : null, false),
    );
    pane.onClose(pane.page.follow(this.take));
    pane.onClose(this.#why.stop);
  }

  #current() {
    return SHOWN.find(({ id }) => id === this.#chosen) ?? null;
  }

  #wayNow() {
    return this.#current()?.ways[this.#way] ?? {};
  }

  /** @param {string} id or empty */
  #choose(id) {
    this.#pane.goTo({ mistake: id }, "");
  }

  #draw() {
    const mistake = this.#current();
    const all = this.#now && countProducts(this.#now.settings.spec) <= ALL_UP_TO;
    this.#list.set(
      this.#of,
      this.#chosen,
      (each) =>
        Boolean(all) && each.ways.every((one) => this.#now?.gallery.verdict(each.of, one).kind === "same"),
    );
    const kind = this.#now?.gallery.verdict(this.#of, this.#wayNow()).kind ?? "same";
    this.#about.set(mistake, this.#way, kind !== "same");
    setText(this.#transposed, this.#now ? "" : say("transposed"));
    this.#picture.hidden = !this.#now;
    setText(this.#verdict, this.#now ? this.#verdictOf() : "");
    this.#verdict.hidden = !this.#now;
    if (!this.#now) return;
    const at = planesOf(this.#of, this.#now.settings);
    const right = this.#now.gallery.right(this.#of).tensor;
    const wrong = mistake ? (this.#now.gallery.wrong(this.#of, this.#wayNow())?.tensor ?? null) : right;
    const limit = Math.max(largestOf(right.data), wrong ? largestOf(wrong.data) : 0);
    const empty = !wrong || wrong.data.length === 0;
    this.#maps[1].el.hidden = empty || !mistake;
    this.#nothing.hidden = !empty;
    setText(this.#nothing, wrong && empty ? say("nothing", { shape: shapeText(wrong.shape) }) : "");
    this.#show(this.#maps[0], "right", right, at, limit);
    if (wrong && !empty) this.#show(this.#maps[1], "wrong", wrong, at, limit);
    this.#products.set(this.#of, this.#now.given, this.#now.settings);
    this.#light();
  }

  /** @returns {string} */
  #verdictOf() {
    if (!this.#now || !this.#current()) return say("none");
    const found = this.#now.gallery.verdict(this.#of, this.#wayNow());
    this.#verdict.dataset.kind = found.kind;
    if (found.kind !== "same") this.#why.stop();
    if (found.kind === "crash") return say("verdict.crash");
    if (found.kind === "shape")
      return say("verdict.shape", { wrong: shapeText(found.wrong), right: shapeText(found.right) });
    if (found.kind === "wrong")
      return say("verdict.wrong", { count: found.cells, all: found.all, most: formatNumber(found.most) });
    return this.#why.of(this.#now.settings, this.#of, this.#wayNow());
  }

  /**
   * @param {{ set: (data: import("../../web/board/grid/tab_heatmap.js").HeatmapData) => void }} heatmap
   * @param {"right" | "wrong"} which @param {Tensor} tensor @param {number[]} at @param {number} limit
   */
  #show(heatmap, which, tensor, at, limit) {
    const [plane, place] = planeIn(tensor.shape, at);
    const shape = say(which, { shape: shapeText(tensor.shape) });
    heatmap.set({
      values: planeRows(tensor, plane),
      label: this.#of + place,
      shape,
      limit,
      within: [300, 4, 34],
    });
  }

  /** Of the cell pointed at, else of the one held on the board. */
  #light() {
    if (!this.#now) return;
    const { gallery, settings } = this.#now;
    const held = this.#pane.page.selected();
    const place = this.#pointed ?? (held?.panel === this.#of ? held : null);
    const right = gallery.right(this.#of);
    const wrong = this.#current() ? gallery.wrong(this.#of, this.#wayNow()) : right;
    const at = planesOf(this.#of, settings);
    for (const map of this.#maps) map.light(place ? [place] : []);
    const [index, there] = [right, wrong].map((each) =>
      place && each ? indexIn(each.tensor.shape, at, place) : -1,
    );
    if (index < 0 && there < 0) {
      this.#differing(right.tensor, wrong?.tensor ?? null, at);
      return this.#products.show(null);
    }
    const [{ tensor }, flat] = index < 0 && wrong ? [wrong, there] : [right, index];
    this.#showSums({
      name: `${this.#of}[${indicesAt(tensor.shape, flat).join(", ")}]`,
      right: numberAt(right.tensor, index),
      wrong: numberAt(wrong?.tensor, there),
      factor: wrong?.products.factor ?? 1,
      products: gallery.compared(this.#of, this.#wayNow(), index, there),
    });
  }

  /** @param {Omit<import("./cell_products.js").Sums, "right"> & { right: number | null }} sums */
  #showSums(sums) {
    this.#products.show({ ...sums, right: sums.right ?? NaN });
    if (document.activeElement?.closest(".cv-pane") !== this.#pane.root) return;
    const [right, wrong] = [sums.right, sums.wrong].map((value) =>
      value === null ? say("sum.no_cell") : formatNumber(value),
    );
    const { missing, extra } = sums.products;
    const counts = { missing: missing.length, extra: extra.length };
    this.#pane.say(say("told", { cell: sums.name, right, wrong, ...counts }));
  }

  /**
   * Frame wrong numbers while no cell is pointed at.
   * @param {Tensor} right @param {Tensor | null} wrong @param {number[]} at
   */
  #differing(right, wrong, at) {
    if (!wrong || String(wrong.shape) !== String(right.shape)) return;
    const apart = { shape: right.shape, data: Float64Array.from(differing(right, wrong), Number) };
    this.#maps[1].light(
      planeRows(apart, planeIn(right.shape, at)[0]).flatMap((line, row) =>
        line.flatMap((isWrong, column) => (isWrong ? [{ row, column }] : [])),
      ),
    );
  }

  /** @param {Point | null} place @param {boolean} notify */
  #point(place, notify) {
    this.#pointed = place;
    this.#light();
    if (notify) this.#pane.point(place ? { cell: { panel: this.#of, ...place } } : undefined);
  }
}

/** @param {Tensor | undefined} tensor @param {number} index */
const numberAt = (tensor, index) => (index < 0 || !tensor ? null : tensor.data[index]);

/** @param {number[]} shape */
const shapeText = (shape) => `[${shape.join(", ")}]`;

export default tab("mistakes", (pane, body) => new MistakesPane(pane, body).take);
