// @ts-check
// Stepping through one equation: the window or the stamp moves, the result fills in. All of it is worked out in the page.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { element, focusOf } from "../base/dom.js";
import { formatNumber } from "../base/format.js";
import { Links } from "../picture/links.js";
import { stampLinks } from "../picture/stamps.js";
import { findPlane } from "../picture/terms.js";
import { completedAt, spanOf, walkOf } from "../picture/steps.js";
import { stampedSoFar } from "../numbers/stamped.js";
import { LONGEST_MS } from "../base/motion.js";
import { createTransport } from "./transport.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/** Where one is, by what a step is called. */
const WHERE = /** @type {const} */ ({ cell: "step.cell", stamp: "step.stamp" });

/**
 * Make what steps through an equation.
 * @param {any} board
 * @param {string} name of the equation
 * @param {{ panels: Map<string, any>, refresh: () => void, film: ReturnType<typeof import("./film.js").createFilm> }} equation
 */
export function createStepper(board, name, equation) {
  const button = element(
    "button",
    { type: "button", class: "cv-step", "aria-expanded": "false" },
    say("step"),
  );
  const transport = createTransport(say("step"), { onMove: moveTo, onClose: () => close(true) });
  let view = "";
  /** @type {any} */
  let geometry = null;
  let known = ""; // the geometry that the steps are made for
  /** @type {any} */
  let numbers = null;
  /** @type {import("../picture/steps.js").Walk} */
  let walk; // from the first opening on: nothing steps before
  let position = -1; // before the first step there is none
  /** @type {Record<string, Float64Array>} */
  let partial = {}; // numbers that stand in for the final ones

  const panelOf = (stage) => [...equation.panels.values()].find((panel) => panel.spec().name === stage);
  const cellOf = (index) => [Math.floor(index / walk.size[1]), index % walk.size[1]];
  const isLast = () => position === walk.size[0] * walk.size[1] - 1;

  button.addEventListener("click", () => (transport.isOpen() ? close(true) : open()));

  function open() {
    board.stepping?.close(true); // one at a time
    board.stepping = stepper;
    walk = walkOf(geometry, name, view);
    position = -1;
    button.setAttribute("aria-expanded", "true");
    transport.open(walk.size[0] * walk.size[1]);
  }

  /** @param {boolean} [draw] not when the picture is laid out anew right after */
  function close(draw = false) {
    if (!transport.isOpen()) return;
    const focused = transport.el.contains(focusOf(transport.el));
    equation.film.finish();
    transport.close();
    board.stepping = null;
    button.setAttribute("aria-expanded", "false");
    if (focused) button.focus({ preventScroll: true });
    for (const panel of equation.panels.values()) {
      panel.veil.cover(null);
      panel.veil.frame(null, null);
    }
    const stoodIn = Object.keys(partial).length > 0;
    partial = {};
    board.highlight.step(null, draw);
    board.read(() => "", false); // what it said about a step is over
    if (draw && stoodIn) equation.refresh();
  }

  /** @param {number} next @param {boolean} byHand */
  function moveTo(next, byHand) {
    const follows = next === position + 1;
    const begins = next === 0 && (position < 0 || !byHand);
    equation.film.finish(); // the step before is over
    position = next;
    const [row, column] = cellOf(position);
    addUp();
    veil();
    const cell = { panel: walk.over, row, column };
    const stamps = walk.unit === "stamp";
    if (stamps) equation.refresh();
    board.highlight.step({
      cell,
      result: walk.result,
      links: stamps ? () => stampLinks(geometry, walk.result, [row, column]) : null,
      text: stamps ? stampWords : null,
    });
    retell();
    board.read(() => say("step.read", told()), byHand && !transport.speaks());
    if (!(begins && equation.film.making()) && (follows || begins))
      animate(byHand ? LONGEST_MS : Math.min(LONGEST_MS, transport.beat() * 0.8));
  }

  /** Which step this is, and the cell that it is about. */
  function told() {
    const [row, column] = cellOf(position);
    const what = panelOf(walk.over).grid.describe(row, column);
    return { step: say(WHERE[walk.unit], { at: position + 1, of: walk.size[0] * walk.size[1] }), what };
  }

  /** Say it as its numbers are now. */
  const retell = () => transport.say(told().step, say("step.told", told()));

  /** The products of a step fly to where they are added, and what they add up to appears. @param {number} ms */
  function animate(ms) {
    if (!equation.film.may(ms)) return;
    const [row, column] = cellOf(position);
    const cell = { panel: walk.over, row, column };
    const value = (place) => panelOf(place.panel)?.grid.value(place.row, place.column) ?? NaN;
    const stamps = walk.unit === "stamp";
    const flights = stamps
      ? stampLinks(geometry, walk.result, [row, column]).flatMap((to) =>
          to.panel === walk.result && to.kernel
            ? [{ from: to.kernel, to, value: value(cell) * value(to.kernel) }]
            : [],
        )
      : new Links(geometry)
          .terms(cell)
          .map(({ kernel, image }) => ({ from: image, to: cell, value: value(kernel) * value(image) }));
    equation.film.fly(
      flights.filter((flight) => !Number.isNaN(flight.value)),
      ms,
    );
    if (!stamps) equation.film.fill(walk.result, { row, column, rows: 1, columns: 1 }, ms);
  }

  /** What the stamps so far have added up to; the last step shows what torch computed. */
  function addUp() {
    partial = {};
    if (walk.unit !== "stamp" || isLast() || !numbers) return;
    const planes = stampPlanes();
    if (!planes) return;
    const { plane, folded } = stampedSoFar(geometry, planes.gradients, planes.kernels, position + 1);
    const bias = geometry.transposed ? (numbers.planes.bias?.[geometry.plane.c] ?? 0) : 0; // there the sum is an output
    partial = {
      [walk.result]: plane.map((value) => value + bias),
      grad_input: folded.map((value) => value + bias),
    };
  }

  /** The planes of grad_output and weight that reach the shown input channel; null when the page lacks one. */
  function stampPlanes() {
    const { n, c } = geometry.plane;
    const [inputs, outputs] = [
      geometry.in_channels / geometry.groups,
      geometry.out_channels / geometry.groups,
    ];
    const channels = [...Array(outputs).keys()].map((j) => Math.floor(c / inputs) * outputs + j);
    const read = (stage, at) => {
      const { rows, columns } = panelOf(stage).spec();
      const found = findPlane(panelOf(stage).spec(), numbers, at);
      return (
        found && Array.from({ length: rows.length * columns.length }, (_, i) => found.values[found.start + i])
      );
    };
    const gradients = channels.map((o) => read("grad_output", [n, o]));
    const kernels = channels.map((o) => read("weight", [o, c % inputs]));
    const isThere = gradients.every((plane) => plane !== null) && kernels.every((plane) => plane !== null);
    return isThere ? { gradients, kernels } : null;
  }

  function veil() {
    const cell = cellOf(position);
    const span = spanOf(geometry, name, view, cell);
    const one = { row: cell[0], column: cell[1], rows: 1, columns: 1 };
    const stamps = walk.unit === "stamp";
    const complete = !stamps && walk.result === "grad_padded_input" ? completedAt(geometry) : null;
    const lacking = () => !isLast() && !Object.keys(partial).length; // then the stamps' sums cannot be shown
    const late = stamps ? lacking : (row, column) => row * walk.size[1] + column > position;
    const lateFold = stamps ? lacking : complete && ((row, column) => complete(row, column) > position);
    for (const panel of equation.panels.values()) {
      const { name: stage, rows, columns } = panel.spec();
      const covers = stage === walk.result ? late : stage === "grad_input" ? lateFold : null;
      panel.veil.cover(covers, rows.length, columns.length);
      panel.veil.frame(stage === walk.image ? span : null, stage === walk.over ? one : null);
    }
  }

  /** What one stamp does, with its numbers. */
  function stampWords() {
    const [row, column] = cellOf(position);
    const [from, kernel, to] = ["grad_output", "weight", walk.result].map((stage) => panelOf(stage).spec());
    const value = formatNumber(panelOf("grad_output").grid.value(row, column));
    const touched = stampLinks(geometry, walk.result, [row, column]).filter(
      (link) => link.panel === "weight",
    );
    const dropped = touched.filter((link) => !link.real).length;
    const names = { from: `${from.label}[${row},${column}]`, value, kernel: kernel.label, to: to.label };
    const told = [
      say(dropped ? "step.stamps_padding" : "step.stamps", { ...names, dropped, cells: touched.length }),
    ];
    if (geometry.out_channels / geometry.groups > 1) told.push(say("step.several"));
    if (walk.unit === "stamp" && !isLast() && !Object.keys(partial).length) told.push(say("step.lacking"));
    return told.join(" ");
  }

  /** Open the steps, or go on in them; before the first, they close. @param {number} by */
  function step(by) {
    if (name === "bias") return;
    if (transport.isOpen() && position + by < 0) close(true);
    else if (transport.isOpen()) transport.step(by);
    else if (by > 0) open();
  }

  /** Play the steps, or pause. */
  function play() {
    if (name === "bias") return;
    if (!transport.isOpen()) open();
    transport.play();
  }

  const stepper = {
    step,
    play,
    retell,
    button,
    bar: transport.el,
    close,

    /** @param {any} spec of the equation @param {any} next the geometry */
    setSpec(spec, next) {
      view = spec.view;
      geometry = next;
      transport.el.setAttribute("aria-label", say("step.bar", { equation: spec.title }));
      const { plane, ...shape } = next;
      const now = JSON.stringify([view, shape]);
      if (now !== known) close(); // the steps are others now
      known = now;
    },

    /** @param {any} next all numbers of the page */
    setNumbers(next) {
      numbers = next;
      if (transport.isOpen()) addUp();
    },

    /** The numbers that a panel shows at this step instead of its own. @param {string} stage */
    valuesOf: (stage) => partial[stage],

    destroy() {
      transport.close();
    },
  };
  return stepper;
}
