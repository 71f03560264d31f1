// The bare figure: panels and signs of one band in the box that its page gives it, for <convviz-board band="input">.
import PICTURE from "../../facts/data/picture.json" with { type: "json" };
import WORDS from "../../facts/data/words/board_element.json" with { type: "json" };
import { element, listen, setText } from "../base/dom.js";
import { isCalm } from "../base/motion.js";
import { sentences } from "../base/sentences.js";
import { Board } from "../board/board.js";
import { fromPage } from "../numbers/compute_in_page.js";
import { createPageModel } from "../numbers/page_model.js";
import { sayBesidePanel } from "./figure_readout.js";
import { keepOneStop } from "./figure_stop.js";

const say = sentences(WORDS);
const EASE_MS = 320;
const EASING = { duration: EASE_MS, easing: "cubic-bezier(.3, 0, .2, 1)" };
const SEEN = 0.5; // pixels that a panel has to move

/**
 * @typedef {{ band: string, panels: string[] }} Part panels: empty: all of the band
 * @typedef {{ x: number, y: number, width: number, height: number }} Box
 */

/** Panels by band, of all views. @type {Map<string, Set<string>>} */
const KNOWN = new Map();
for (const { name, items } of [...PICTURE.equations.convolution, ...PICTURE.equations.transposed]) {
  const names = items.flatMap((item) => (typeof item === "string" ? [item] : []));
  KNOWN.set(name, new Set([...(KNOWN.get(name) ?? []), ...names]));
}

/** @param {string} text @returns {string[]} */
export const namesIn = (text) => text.split(/[\s,]+/).filter(Boolean);

/**
 * Reads a cell from a text such as "grad_input 2 3"; an empty text gives null.
 * @param {string} text @returns {Place | null}
 */
export function placeIn(text) {
  const [panel = "", row, column, ...more] = namesIn(text);
  if (!panel) return null;
  const place = { panel, row: Number(row), column: Number(column) };
  if (more.length || !Number.isInteger(place.row) || !Number.isInteger(place.column))
    throw new Error(say("no_cell", { value: text.slice(0, 60) }));
  return place;
}

/** @param {Part} part */
function check({ band, panels }) {
  const there = KNOWN.get(band);
  if (!there)
    throw new Error(say("no_band", { value: band.slice(0, 40), known: [...KNOWN.keys()].join(", ") }));
  const unknown = panels.find((name) => !there.has(name));
  if (unknown)
    throw new Error(say("no_panel", { value: unknown.slice(0, 40), band, known: [...there].join(", ") }));
}

/** A sign stays between panels that stay. @param {RowItem[]} items @param {string[]} names */
function chosen(items, names) {
  if (!names.length) return items;
  const all = items.filter((item) => item.key);
  return items.filter((item, at) => {
    if (item.key) return names.includes(item.name);
    const next = all.findIndex((each) => items.indexOf(each) > at);
    return [all[next - 1] ?? all[next], all[next]].every((each) => each?.key && names.includes(each.name));
  });
}

/** @param {HTMLElement} panel @returns {HTMLElement} */
const termOf = (panel) => panel.parentElement ?? panel;

/** From one picture to the next: what stays moves to its place, what comes fades in. */
class Ease {
  /** @type {Animation[]} */
  #moving = [];
  #drawn = "";
  #stage;

  /** @param {HTMLElement} stage */
  constructor(stage) {
    this.#stage = stage;
  }

  /** @param {HTMLElement} node @returns {Box} */
  #boxOf(node) {
    const [{ x, y, width, height }, frame] = [node, this.#stage].map((each) => each.getBoundingClientRect());
    return { x: x - frame.x, y: y - frame.y, width, height };
  }

  /**
   * @param {() => void} draw @param {() => Iterable<Panel>} panels
   * @param {string} key of what is drawn: a new size alone is no other picture
   */
  draw(draw, panels, key) {
    // A term is a panel with the signs before it: both have places of their own.
    const boxes = () =>
      new Map(
        [...panels()].map(({ spec, area, el }) => [
          spec().name,
          [area, termOf(el)].map((node) => this.#boxOf(node)),
        ]),
      );
    const isOther = this.#drawn !== "" && key !== this.#drawn;
    this.#drawn = key;
    const before = isOther && !isCalm() ? boxes() : null; // where they are now, in the middle of a motion, too
    for (const animation of this.#moving.splice(0)) animation.cancel();
    draw();
    if (!before) return;
    const after = boxes();
    for (const panel of panels()) {
      const { name } = panel.spec();
      this.#play(panel, before.get(name), after.get(name) ?? []);
    }
    for (const sign of this.#stage.querySelectorAll(".cv-sign")) this.#appear(sign);
  }

  /** @param {Element} node */
  #appear = (node) => void this.#moving.push(node.animate([{ opacity: 0 }, { opacity: 1 }], EASING));

  /** @param {Panel} panel @param {Box[] | undefined} from @param {Box[]} to of its area and of its term */
  #play({ el, area }, from, to) {
    if (!from?.[0].width) return this.#appear(el);
    const [own, ofTerm] = from.map(({ x, y }, at) => [x - to[at].x, y - to[at].y]);
    // Whatever box has moved starts where it was: a browser counts each that did not as a shift of the layout.
    this.#move(termOf(el), ofTerm);
    this.#move(
      el,
      own.map((far, at) => far - ofTerm[at]),
    );
    const by = [from[0].width / to[0].width, from[0].height / to[0].height];
    if (by.some((each) => Math.abs(each - 1) > 0.01)) this.#ease(area, `scale(${by})`);
  }

  /** @param {HTMLElement} node @param {number[]} from */
  #move(node, [right, down]) {
    if (Math.hypot(right, down) > SEEN) this.#ease(node, `translate(${right}px, ${down}px)`);
  }

  /** @param {HTMLElement} node @param {string} transform where it begins */
  #ease(node, transform) {
    const transformOrigin = "0 0";
    this.#moving.push(
      node.animate(
        [
          { transform, transformOrigin },
          { transform: "none", transformOrigin },
        ],
        EASING,
      ),
    );
  }
}

/**
 * A finger scrolls the page, unless it begins on the 1 or on the kernel: touch-action is of a whole grid, and
 * cannot tell them apart.
 * @param {HTMLElement} picture
 */
function scrollByFinger(picture) {
  let isOnOne = false;
  picture.addEventListener(
    "pointerdown",
    (event) => {
      const { dataset } = /** @type {HTMLElement} */ (event.target);
      const area = /** @type {Element} */ (event.target).closest(".cv-area");
      if (event.pointerType !== "touch" || !area) return;
      isOnOne = area.matches(".cv-single-one") && dataset.value === "1";
      if (!isOnOne && !area.closest("[data-panel=weight]")) event.stopPropagation();
    },
    { capture: true },
  );
  picture.addEventListener("touchmove", (event) => isOnOne && event.preventDefault(), { passive: false });
  listen(picture, ["touchend", "touchcancel"], () => {
    isOnOne = false;
  });
}

/**
 * @param {HTMLElement} place @param {import("../numbers/page_model.js").PageData} data @param {Part} first
 * @returns {{ model: Model, close: () => void, show: (part: Part) => void, release: () => void }} show: another
 *   part; release: what was pointed at
 */
export function drawFigure(place, data, first) {
  check(first);
  let part = first;
  const model = createPageModel({ ...data, plotly: () => /** @type {any} */ (null) }, fromPage);
  // It has no button that asks which mistake a link has brought.
  const reveal = () => {
    const { broken } = model.settings();
    if (broken) model.reveal(broken);
  };
  reveal();
  model.on("settings", reveal);
  const picture = element("div.cv-picture");
  scrollByFinger(picture);
  sayBesidePanel(picture);
  const endStop = keepOneStop(picture);
  const notice = element("p.cv-notice", { role: "status" });
  const body = element("div.cv-body", { "data-stage": "figure" }, picture, notice);
  model.on("change:notice", () => setText(notice, model.get("notice")));
  place.append(body);
  const ease = new Ease(picture);
  /** @param {Structure} structure */
  const only = (structure) => ({
    ...structure,
    equations: structure.equations
      .filter(({ name }) => name === part.band)
      .map((equation) => ({ ...equation, items: chosen(equation.items, part.panels) })),
  });
  const board = new Board({
    model,
    el: picture,
    figure: {
      only,
      ease: (draw, panels) => ease.draw(draw, panels, JSON.stringify([model.get("structure").version, part])),
    },
  });
  return {
    model,
    close() {
      endStop();
      board.close();
      body.remove();
    },
    release: () => board.release(),
    show(next) {
      check(next);
      if (JSON.stringify(next) === JSON.stringify(part)) return;
      part = next;
      board.relayout();
    },
  };
}
