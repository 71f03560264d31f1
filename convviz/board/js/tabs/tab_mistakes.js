// @ts-check
// The tab Mistakes: the gradient with one step forgotten, beside the right one, for the numbers that stand on the board.
// The page computes all of it: it needs no kernel.
import MISTAKES from "../../../facts/mistakes.json" with { type: "json" };
import WORDS from "../../../facts/words/mistakes.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { formatNumber } from "../base/format.js";
import { createHeatmap } from "../board/heatmap.js";
import { createGallery } from "../numbers/gallery.js";
import { complete, isKnown } from "../rules/recipes.js";
import { countProducts } from "../rules/spec.js";
import { createMistakesList, GRADIENTS } from "./mistakes_list.js";
import { Products, indicesOf, planeRows, sizeOf } from "./mistakes_products.js";
import { createWhy } from "./mistakes_words.js";
import { openPane, split } from "./pane.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const ALL_UP_TO = 30_000; // products of a setting, up to which every mistake is tried at it
// Those of the gradients of a convolution, in the ways that the page computes.
const SHOWN = /** @type {Mistake[]} */ (MISTAKES)
  .filter(({ of, setting }) => GRADIENTS.includes(of) && setting)
  .map((mistake) => ({ ...mistake, ways: mistake.ways.filter(isKnown) }));

/**
 * @import { Gradient } from "../rules/recipes.js"
 * @import { Settings, Tensor } from "../rules/settings.js"
 * @import { Mistake } from "./mistakes_list.js"
 * @typedef {{ shown: () => { settings: Settings, numbers: { stages: any } } | null, selected: () => any,
 *   follow: (listener: () => void) => () => void, open: (link: string, words: string) => void }} Page the board's numbers, which
 *   this tab is about; `open` goes to a setting, and undo leads back
 */

/** @param {{ model: any, el: HTMLElement }} context the model has the page */
export function renderMistakes(context) {
  /** @type {Page} */
  const page = context.model.page;
  return openPane(context, "mistakes", (pane, body) => {
    /** @type {{ settings: Settings, gallery: ReturnType<typeof createGallery>, given: any } | null} */
    let now = null;
    /** @type {Gradient} */
    let of = "grad_input";
    let chosen = ""; // the setting, which a link may carry
    let way = 0;
    /** @type {{ row: number, column: number } | null} */
    let pointed = null; // in the plane of the gradient, here or on the board

    const current = () => SHOWN.find(({ id }) => id === chosen) ?? null;
    const wayNow = () => current()?.ways[way] ?? {};
    const list = createMistakesList(SHOWN, chooseGradient, (mistake) =>
      choose(mistake.id === chosen ? "" : mistake.id),
    );
    const verdict = element("p", { class: "cv-verdict", "aria-live": "polite" });
    const why = createWhy((words) => setText(verdict, words));
    const about = createAbout(
      (index) => {
        way = index;
        draw();
      },
      () => expose(),
    );
    const maps = ["right", "wrong"].map((which) => {
      const map = createHeatmap(pane, {
        onPoint: (row, column) => point({ row, column }, true),
        onLeave: () => point(null, true),
      });
      map.el.dataset.of = which;
      return map;
    });
    const nothing = element("p", { class: "cv-muted" });
    const products = new Products(pane);
    const transposed = element("p", { class: "cv-pane-failure" });
    const picture = element(
      "div",
      {},
      element("div", { class: "cv-flow cv-mistake-maps" }, ...maps.map((map) => map.el), nothing),
      products.el,
    );
    const shown = element(
      "div",
      { class: "cv-mistake-shown", "data-part": "shown" },
      verdict,
      about.el,
      transposed,
      picture,
    );
    body.append(split([element("h3", {}, say("title")), element("p", {}, say("about")), list.el], [shown]));

    /** @param {Gradient} gradient */
    function chooseGradient(gradient) {
      choose(SHOWN.find((mistake) => mistake.of === gradient)?.id ?? "");
    }

    /** @param {string} id of a mistake, or nothing */
    function choose(id) {
      context.model.goTo({ mistake: id }, "");
    }

    function expose() {
      const mistake = current();
      if (mistake) page.open(mistake.setting, say("exposed", { title: mistake.title }));
    }

    /** Take the numbers that stand on the board. */
    function take() {
      const there = page.shown();
      if (!there) return;
      const {
        settings,
        numbers: { stages },
      } = there;
      const given = { grad_output: stages.grad_output, weight: stages.weight, input: stages.input };
      now = settings.transposed ? null : { settings, given, gallery: createGallery(settings.spec, given) };
      if (settings.mistake !== chosen) [chosen, way] = [settings.mistake, 0];
      of = current()?.of ?? of;
      draw();
    }

    function draw() {
      const mistake = current();
      const all = now && countProducts(now.settings.spec) <= ALL_UP_TO;
      list.set(
        of,
        chosen,
        (each) =>
          Boolean(all) && each.ways.every((one) => now?.gallery.verdict(each.of, one).kind === "same"),
      );
      about.set(mistake, way);
      setText(transposed, now ? "" : say("transposed"));
      picture.hidden = !now;
      setText(verdict, now ? verdictOf() : "");
      verdict.hidden = !now;
      if (!now) return;
      const at = planesOf(of, now.settings);
      const right = now.gallery.right(of).tensor;
      const wrong = mistake ? (now.gallery.wrong(of, wayNow())?.tensor ?? null) : right;
      const limit = Math.max(mostOf(right), wrong ? mostOf(wrong) : 0);
      const empty = !wrong || wrong.data.length === 0;
      maps[1].el.hidden = empty || !mistake;
      nothing.hidden = !empty;
      setText(nothing, wrong && empty ? say("nothing", { shape: shapeText(wrong.shape) }) : "");
      show(maps[0], "right", right, at, limit);
      if (wrong && !empty) show(maps[1], "wrong", wrong, at, limit);
      products.set(of, now.given, factorPlanes(of, now.settings));
      light();
    }

    /** @returns {string} */
    function verdictOf() {
      if (!now || !current()) return say("none");
      const found = now.gallery.verdict(of, wayNow());
      verdict.dataset.kind = found.kind;
      if (found.kind !== "same") why.stop();
      if (found.kind === "crash") return say("verdict.crash");
      if (found.kind === "shape")
        return say("verdict.shape", { wrong: shapeText(found.wrong), right: shapeText(found.right) });
      if (found.kind === "wrong")
        return say("verdict.wrong", { count: found.cells, all: found.all, most: formatNumber(found.most) });
      return why.of(now.settings, of, wayNow());
    }

    /**
     * @param {{ set: (data: import("../board/heatmap.js").HeatmapData) => void }} heatmap @param {"right" | "wrong"} which @param {Tensor} tensor @param {number[]} at leading indices
     * @param {number} limit
     */
    function show(heatmap, which, tensor, at, limit) {
      const [height, width] = sizeOf(tensor.shape);
      const cell = Math.max(4, Math.min(34, Math.floor(300 / Math.max(height, width))));
      const [plane, place] = planeIn(tensor.shape, at);
      const shape = say(which, { shape: shapeText(tensor.shape) });
      heatmap.set({
        values: planeRows(tensor, plane),
        label: of + place,
        shape,
        limit,
        cell,
        numbers: cell >= 22,
        dtype: "float64",
      });
    }

    /** The two sums of the cell that is pointed at, or else of the one that is held on the board. */
    function light() {
      if (!now) return;
      const held = page.selected();
      const place = pointed ?? (held?.panel === of ? held : null);
      const right = now.gallery.right(of);
      const wrong = current() ? now.gallery.wrong(of, wayNow()) : right;
      const at = planesOf(of, now.settings);
      const index = place ? indexIn(right.tensor.shape, at, place) : -1;
      const there = place && wrong ? indexIn(wrong.tensor.shape, at, place) : -1;
      for (const map of maps) map.light(place ? [place] : []);
      if (!place || (index < 0 && there < 0)) {
        differing(right.tensor, wrong?.tensor ?? null, at);
        return products.show(null);
      }
      const compared = now.gallery.compared(of, wayNow(), index, there);
      const name = `${of}[${indicesOf((index < 0 ? (wrong ?? right) : right).tensor.shape, Math.max(index, 0) || Math.max(there, 0)).join(", ")}]`;
      const value = index < 0 ? null : right.tensor.data[index];
      const wrongValue = there < 0 || !wrong ? null : wrong.tensor.data[there];
      products.show({
        name,
        right: value ?? NaN,
        wrong: wrongValue,
        factor: wrong?.products.factor ?? 1,
        products: compared,
      });
      if (document.activeElement?.closest(".cv-pane") !== pane.root) return;
      const told = {
        right: value === null ? say("sum.no_cell") : formatNumber(value),
        wrong: wrongValue === null ? say("sum.no_cell") : formatNumber(wrongValue),
      };
      pane.say(
        say("told", { cell: name, ...told, missing: compared.missing.length, extra: compared.extra.length }),
      );
    }

    /** Frame the numbers that are wrong, while no cell is pointed at. @param {Tensor} right @param {Tensor | null} wrong @param {number[]} at */
    function differing(right, wrong, at) {
      if (!wrong || String(wrong.shape) !== String(right.shape)) return;
      const [ours, theirs] = [right, wrong].map((tensor) => planeRows(tensor, planeIn(tensor.shape, at)[0]));
      const far = 1e-9 * Math.max(mostOf(right), 1);
      maps[1].light(
        ours.flatMap((line, row) =>
          line.flatMap((value, column) =>
            Math.abs(value - theirs[row][column]) <= far ? [] : [{ row, column }],
          ),
        ),
      );
    }

    /** @param {{ row: number, column: number } | null} place @param {boolean} tell the board */
    function point(place, tell) {
      pointed = place;
      light();
      if (tell) pane.point(place ? { cell: { panel: of, ...place } } : undefined);
    }

    pane.onPoint(({ cell }) =>
      point(cell?.panel === of ? { row: cell.row, column: cell.column } : null, false),
    );
    pane.onClose(page.follow(take));
    pane.onClose(why.stop);
    return take;
  });
}

/** What is said of a mistake: its ways, what to do instead, where it was met. @param {(index: number) => void} choose a way @param {() => void} expose */
function createAbout(choose, expose) {
  const [fix, choices, met] = [
    element("p"),
    element("p", { class: "cv-muted" }),
    element("p", { class: "cv-muted" }),
  ];
  const ways = element("div", { class: "cv-buttons", role: "group", "aria-label": say("ways") });
  const go = element("button", { type: "button", class: "cv-button cv-mistake-go" }, say("expose"));
  go.addEventListener("click", expose);
  const el = element("div", { class: "cv-mistake-about" }, ways, fix, choices, met, element("p", {}, go));
  let drawn = "";
  return {
    el,
    /** @param {Mistake | null} mistake @param {number} way */
    set(mistake, way) {
      el.hidden = !mistake;
      if (!mistake) return;
      if (drawn !== mistake.id) {
        ways.replaceChildren(
          ...mistake.ways.map((_, index) => {
            const button = element(
              "button",
              { type: "button", class: "cv-button" },
              say("way", { number: index + 1 }),
            );
            button.addEventListener("click", () => choose(index));
            return button;
          }),
        );
      }
      drawn = mistake.id;
      ways.hidden = mistake.ways.length < 2;
      [...ways.children].forEach((button, index) =>
        button.setAttribute("aria-pressed", String(index === way)),
      );
      setText(fix, say("fix", { fix: mistake.fix }));
      const right = complete(mistake.of, {});
      const code = (/** @type {string} */ text) => `\u201c${text}\u201d`;
      const steps = Object.entries(mistake.ways[way]).map(([step, wrong]) =>
        say("choice", { step, wrong: code(wrong), right: code(right[step]) }),
      );
      setText(
        choices,
        say("choices", { choices: steps.reduce((these, last) => say("and", { these, last })) }),
      );
      setText(met, mistake.met.length ? say("met", { places: mistake.met.join(", ") }) : "");
    },
  };
}

/** The plane of a gradient that is shown, by its leading indices. @param {Gradient} of @param {Settings} settings @returns {number[]} */
function planesOf(of, { plane, spec }) {
  if (of === "grad_input") return [plane.sample, plane.in_channel];
  return of === "grad_weight"
    ? [plane.out_channel, plane.in_channel % (spec.in_channels / spec.groups)]
    : [plane.sample, plane.out_channel];
}

/** The planes of grad_output and of what it is multiplied by that the board shows. @param {Gradient} of @param {Settings} settings @returns {[number, number]} */
function factorPlanes(of, { plane: { sample, out_channel, in_channel }, spec }) {
  const ins = spec.in_channels / spec.groups;
  return [
    sample * spec.out_channels + out_channel,
    of === "grad_input" ? out_channel * ins + (in_channel % ins) : sample * spec.in_channels + in_channel,
  ];
}

/** Which plane of a tensor is the one at these leading indices, or the nearest, and how it is written. @param {number[]} shape @param {number[]} at @returns {[number, string]} */
function planeIn(shape, at) {
  const leading = shape.slice(0, -2);
  const near = leading.map((count, axis) =>
    Math.max(Math.min(at[axis + 2 - leading.length] ?? 0, count - 1), 0),
  );
  return [
    near.reduce((plane, index, axis) => plane * leading[axis] + index, 0),
    near.length ? `[${near.join(", ")}]` : "",
  ];
}

/** Where a place of the shown plane stands in a tensor; -1 where it has no such place. @param {number[]} shape @param {number[]} at @param {{ row: number, column: number }} place */
function indexIn(shape, at, { row, column }) {
  const [height, width] = sizeOf(shape);
  return row < height && column < width ? (planeIn(shape, at)[0] * height + row) * width + column : -1;
}

/** @param {number[]} shape */
const shapeText = (shape) => `[${shape.join(", ")}]`;

/** @param {Tensor} tensor */
const mostOf = ({ data }) =>
  data.reduce((most, value) => (Math.abs(value) > most ? Math.abs(value) : most), 0);

export default { render: renderMistakes };
