// @ts-check
// What lights up: the cells linked with the one under the pointer or the focus, or with the one that is pinned.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { colorOf } from "../base/format.js";
import { Links } from "../picture/links.js";
import { backwardWords } from "../picture/cell_words.js";
import { fromLoss } from "../picture/loss_words.js";
import { createPairing } from "../picture/stamps.js";
import { createSum } from "./sum.js";
import { createTerms } from "../picture/terms.js";
import { followPointer, pointAt } from "../base/wire.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const PLAIN = "var(--cv-accent)"; // a copy of the same number: there is no factor to take a colour from
const KERNELS = { weight: "forward", rotated_weight: "input", dilated_grad_output: "weight" };

/**
 * Make the highlighter of a board.
 * @param {any} board @param {() => Iterable<any>} panels all panels, in all rows
 */
export function createHighlighter(board, panels) {
  const sum = createSum((factors) => {
    if (!factors && !term) return;
    term = factors;
    draw();
  });
  sum.el.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !exists(pinned)) return;
    panelNamed(pinned.panel).grid.focusCell(pinned.row, pinned.column); // the sum that has the focus is about to go
    board.release();
    event.preventDefault();
    event.stopPropagation();
  });
  /** @type {Links} */
  let links; // from the first geometry on
  /** @type {ReturnType<typeof createTerms>} */
  let terms;
  let loss = ""; // its name
  let numbers = null; // { planes, thumbs, limits }; draw and write wait for them
  let hovered = null;
  let pinned = null;
  let anyLit = false;
  let term = null; // factors of the sum, while one is pointed at
  /** @type {{ cell: any, result: string, links: (() => any[]) | null, text: (() => string) | null } | null} */
  let step = null; // of the equation that is stepped through
  const pairing = createPairing(board);
  /** @type {import("../base/wire.js").Pointed | null} */
  let elsewhere = null; // what a pane beside the board points at

  /** @type {Map<string, any>} the first panel of each name; they change with the geometry only */
  let named = new Map();
  /** @param {string} panel */
  const panelNamed = (panel) => named.get(panel);

  /** @param {any} cell */
  function exists(cell) {
    const spec = cell && panelNamed(cell.panel)?.spec();
    return Boolean(spec) && cell.row < spec.rows.length && cell.column < spec.columns.length;
  }

  /** The colour of a value on its panel's scale. @param {string} panel @param {number} value */
  function colorIn(panel, value) {
    const key = `${KERNELS[panel] ?? panelNamed(panel)?.spec().key.split(":")[0]}:${panel}`;
    return colorOf(board.scale(), Number.isFinite(value) ? value : 0, numbers.limits[key]);
  }

  function colorOfLink(kernel) {
    const cell = kernel && terms.present(kernel);
    const spec = cell && panelNamed(cell.panel)?.spec();
    if (!spec) return PLAIN;
    const value = numbers.planes[cell.panel][cell.row * spec.columns.length + cell.column];
    return `rgb(${colorIn(cell.panel, value).map(Math.round).join(", ")})`; // as the browser writes it
  }

  function draw() {
    if (!numbers) return;
    const cell = hovered ?? elsewhere?.cell ?? step?.cell ?? pinned;
    pairUp();
    const alone = term ?? (hovered ? null : elsewhere?.cells.length ? elsewhere.cells : null);
    const found = alone
      ? alone.map((each) => ({ ...each, real: true, kernel: null }))
      : step?.links && cell === step.cell
        ? step.links()
        : exists(cell)
          ? links.of(cell)
          : [];
    if (!alone)
      found.push(...(elsewhere?.cells ?? []).map((each) => ({ ...each, real: true, kernel: null })));
    if (!alone && cell === elsewhere?.cell && exists(cell)) found.push({ ...cell, real: true, kernel: null });
    if (!found.length && !anyLit) return; // a slider step with nothing pinned
    anyLit = found.length > 0;
    const byPanel = groupByPanel(found);
    for (const panel of panels()) {
      const list = byPanel.get(panel.spec().name) ?? [];
      panel.grid.light(
        list.map((link) => ({ ...link, color: colorOfLink(link.kernel) })),
        fades(panel.spec().name, cell) ? [cell].filter((one) => one?.panel === panel.spec().name) : null,
      );
    }
  }

  /** Whether what is not lit in a panel fades: in a lecture, but not where steps fill it in. @param {string} name @param {any} cell */
  const fades = (name, cell) =>
    anyLit && board.fades() && !(cell === step?.cell && [cell.panel, step?.result].includes(name));

  /** Show in the equation to the input which factors belong together. */
  function pairUp() {
    const isGradient = (cell) =>
      cell && ["grad_input", "grad_padded_input"].includes(cell.panel) && exists(cell);
    const cell = [hovered, step?.cell, pinned].find(isGradient) ?? null;
    pairing.show(cell, () => [...panels()].filter((panel) => panel.spec().key.startsWith("input:")), links);
  }

  /** A number of a plane that is shown. @param {string} panel */
  function valueAt(panel, row, column) {
    const spec = panelNamed(panel)?.spec();
    return spec && numbers.planes[panel][row * spec.columns.length + column];
  }

  /** Tell the panes beside the board what is pointed at. */
  function tell() {
    const cell = hovered ?? (exists(pinned) ? pinned : null);
    pointAt(sum.el, { cell, panels: cell ? [cell.panel] : [] });
  }

  function write() {
    if (!numbers) return;
    if (step?.text) return sum.say(step.text());
    const cell = step?.cell ?? pinned;
    if (!cell || !exists(cell)) return sum.say(say("sum.hint"));
    const { panel, row, column } = cell;
    const spec = panelNamed(panel).spec();
    const value = numbers.planes[panel][row * spec.columns.length + column];
    if (panelNamed(panel).grid.isAsked(row, column))
      return sum.say(panelNamed(panel).grid.describe(row, column));
    const isSum = ["output", "grad_input", "grad_padded_input", "grad_weight", "grad_bias"].includes(panel);
    if (!isSum) {
      const [told, made] = [
        links.geometry.transposed ? "" : backwardWords(links, terms, cell, valueAt),
        fromLoss(loss, links.geometry, cell, valueAt),
      ];
      if (made?.difference.length) return writeDifference(cell, made, told);
      if (made?.words)
        return sum.say(`${panelNamed(panel).grid.describe(row, column)}. ${made.words} ${told}`.trim());
      return sum.say(`${panelNamed(panel).grid.describe(row, column)}. ${told || say("sum.none")}`);
    }
    const list = terms.of(cell);
    if (list.some((factors) => factors.some((factor) => factor.value === undefined))) {
      return sum.say(say("sum.elsewhere"));
    }
    const nothing = say(panel === "output" || panel === "grad_weight" ? "sum.padding" : "sum.nothing");
    const [label, after] = [`${spec.label}[${row},${column}]`, panelNamed(panel).brokenSum(row, column)];
    sum.show({ cell, label, factors: spec.products, value, terms: list, nothing, after }, colorIn);
  }

  /** How the loss makes grad_output: as the terms of a sum. @param {any} cell @param {import("../picture/loss_words.js").FromLoss} made @param {string} after */
  function writeDifference(cell, { gradient, difference, words }, after) {
    const label = `${panelNamed(gradient.panel).spec().label}[${gradient.row},${gradient.column}]`;
    const both = difference.map((each) => [
      { ...each, value: valueAt(each.panel, each.row, each.column), shown: true },
    ]);
    const value = /** @type {number} */ (valueAt(gradient.panel, gradient.row, gradient.column));
    sum.show({ cell, label, factors: words, value, terms: both, minus: true, after }, colorIn);
  }

  return {
    el: sum.el,

    /** The panels are about to be others: until their numbers come, the focus that moves among them finds nothing to link. */
    rest() {
      numbers = null;
    },

    /** @param {any} next @param {string} kind of the loss */
    setGeometry(next, kind) {
      loss = kind;
      links = new Links(next);
      named = new Map([...panels()].reverse().map((panel) => [panel.spec().name, panel]));
      pairing.forget();
    },

    /** @param {any} next @param {Record<string, number>} limits @param {any} cell that is pinned with them; null for none */
    setNumbers(next, limits, cell) {
      numbers = { ...next, limits };
      terms = createTerms(links, (panel) => panelNamed(panel)?.spec(), numbers);
      const isOther = !sameCell(cell, pinned);
      pinned = cell;
      draw();
      write();
      if (isOther) tell();
    },

    /** @param {any} cell null when the pointer or the focus has left */
    hover(cell) {
      if (sameCell(cell, hovered)) return;
      hovered = cell;
      draw();
      tell();
    },

    /** Light up what the panes beside the board point at. @param {HTMLElement} root @returns {() => void} stop */
    listen(root) {
      return followPointer(root, (pointed) => {
        elsewhere = pointed;
        for (const panel of panels())
          panel.el.classList.toggle("cv-pointed", pointed.panels.includes(panel.spec().name));
        draw();
      });
    },

    /**
     * Light up one step of an equation, and write what happens in it.
     * @param {{ cell: any, result: string, links: (() => any[]) | null, text: (() => string) | null } | null} next null when it ends
     * @param {boolean} [now] false when all is drawn anew right after
     */
    step(next, now = true) {
      step = next;
      if (!now) return;
      draw();
      write();
    },

    /** @param {any} cell null to release */
    pin(cell) {
      if (sameCell(cell, pinned)) return;
      pinned = cell;
      draw();
      write();
      tell();
    },
  };
}

/** @param {any} one @param {any} other */
function sameCell(one, other) {
  if (!one || !other) return !one && !other;
  return one.panel === other.panel && one.row === other.row && one.column === other.column;
}

/** @param {any[]} links @returns {Map<string, any[]>} */
function groupByPanel(links) {
  const found = new Map();
  for (const link of links) {
    if (!found.has(link.panel)) found.set(link.panel, []);
    found.get(link.panel).push(link);
  }
  return found;
}
