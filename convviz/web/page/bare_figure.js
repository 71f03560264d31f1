// The bare figure: panels and signs of one band in the box that its page gives it, for <convviz-board band="input">.
import PICTURE from "../../facts/data/picture.json" with { type: "json" };
import WORDS from "../../facts/data/words/board_element.json" with { type: "json" };
import { element, listen, setText } from "../base/dom.js";
import { isCalm } from "../base/motion.js";
import { sentences } from "../base/sentences.js";
import { Board } from "../board/board.js";
import { fromPage } from "../numbers/compute_in_page.js";
import { createPageModel } from "../numbers/page_model.js";

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

/** A cell as text, such as "grad_input 2 3"; null: none. @param {string} text @returns {Place | null} */
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
    const boxes = () => new Map([...panels()].map((panel) => [panel.spec().name, this.#boxOf(panel.area)]));
    const isOther = this.#drawn !== "" && key !== this.#drawn;
    this.#drawn = key;
    const before = isOther && !isCalm() ? boxes() : null; // where they are now, in the middle of a motion, too
    for (const animation of this.#moving.splice(0)) animation.cancel();
    draw();
    if (!before) return;
    const after = boxes();
    for (const panel of panels()) {
      const { name } = panel.spec();
      this.#play(panel, before.get(name), /** @type {Box} */ (after.get(name)));
    }
    for (const sign of this.#stage.querySelectorAll(".cv-sign")) this.#appear(sign);
  }

  /** @param {Element} node */
  #appear = (node) => void this.#moving.push(node.animate([{ opacity: 0 }, { opacity: 1 }], EASING));

  /** @param {Panel} panel @param {Box | undefined} from @param {Box} to */
  #play({ el, area }, from, to) {
    if (!from?.width) return this.#appear(el);
    const [right, down] = [from.x - to.x, from.y - to.y];
    const by = [from.width / to.width, from.height / to.height];
    if (Math.hypot(right, down) > SEEN)
      this.#moving.push(
        el.animate([{ transform: `translate(${right}px, ${down}px)` }, { transform: "none" }], EASING),
      );
    if (by.some((each) => Math.abs(each - 1) > 0.01))
      this.#moving.push(
        area.animate(
          [
            { transform: `scale(${by})`, transformOrigin: "0 0" },
            { transform: "none", transformOrigin: "0 0" },
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
 * @returns {{ model: Model, close: () => void, show: (part: Part) => void }} show: another part
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
      board.close();
      body.remove();
    },
    show(next) {
      check(next);
      if (JSON.stringify(next) === JSON.stringify(part)) return;
      part = next;
      board.relayout();
    },
  };
}
