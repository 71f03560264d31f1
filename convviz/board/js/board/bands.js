// @ts-check
// How the bands share the room of the stage: forward and to the weight side by side, to the input in a row of its own; or one
// alone where there is little room.

import { tracksFor } from "./stage.js";

/** @typedef {import("./equation.js").Equation} Band */

const LARGE = "input"; // the band with two readings has a row of its own
const ROW = "minmax(0, 1fr)";
const [IN_USE, OTHER] = [1, 0.76]; // shares of the height that the row in use has, and the other one
const STRIP = "64px"; // height of a band beside the one that is alone
const SHARES = { forward: 1.37, weight: 1, bias: 0.6 }; // of the width
const BETWEEN = 10; // pixels between bands, as stage.css has them
const WIDER = 1.2; // how much of the width the band in use takes beside its neighbour

/**
 * Share the room of a board.
 * @param {HTMLElement} root the board @param {HTMLElement} rows in it @param {Map<string, Band>} equations
 * @param {() => boolean} isPaper where there is no stage @param {() => void} onShared told when they share it in another way
 */
export function createBands(root, rows, equations, isPaper, onShared) {
  let focused = ""; // the band that has the room
  let brought = LARGE; // the band that is in sight where not all are

  /** How the app stands on the screen; empty on paper. */
  function stage() {
    const app = /** @type {HTMLElement | null} */ (isPaper() ? null : root.closest("[data-stage]"));
    return app?.dataset.stage ?? "";
  }

  /** Whether a drawer has taken the upper row. */
  const isDrawn = () => Boolean(root.closest('[data-drawer][data-stage="wide"]'));

  /** The band that has the room for itself; empty where all of them stand there. */
  function alone() {
    if (!["medium", "narrow", "lecture"].includes(stage()) && !isDrawn()) return "";
    if (focused) return focused;
    return equations.has(brought) ? brought : [...equations.keys()][0];
  }

  /** The band in use: a card, one step larger than the others. */
  const inUse = () => focused || alone() || (equations.has(LARGE) ? LARGE : "");

  /** The grid that they stand in, as its properties say it: areas, columns, rows. @param {string} one that has the room for itself */
  function gridOf(one) {
    if (stage() === "wide" && !one) return gridWide();
    return ["", "", [...equations.keys()].map((name) => (one && name !== one ? STRIP : ROW)).join(" ")];
  }

  /** Side by side in fixed shares, so that nothing but panels moves; a band whose numbers would go takes of its neighbours. */
  function gridWide() {
    const names = [...equations.keys()];
    const small = names.filter((name) => name !== LARGE);
    const needs = new Map([...equations].map(([name, band]) => [name, band.least()]));
    const least = (/** @type {string} */ name) => needs.get(name) ?? { width: 0, bare: 0, height: 0 };
    const widths = small.map((name) => ({
      least: least(name).width,
      bare: least(name).bare,
      share: SHARES[/** @type {"forward"} */ (name)] * (name === focused ? WIDER : 1),
    }));
    const lines = [small, [LARGE]].map((row) => ({
      areas: small.map((_, index) => row[index] ?? row[0]).join(" "),
      least: Math.max(0, ...row.map((name) => least(name).height)),
      share: row.includes(inUse()) ? IN_USE : OTHER,
    }));
    if (names[0] === LARGE) lines.reverse();
    const areas = lines.map((line) => JSON.stringify(line.areas)).join(" ");
    const used = lines.findIndex(({ share }) => share === IN_USE);
    return [areas, tracksFor(widths, small.indexOf(focused), BETWEEN), tracksFor(lines, used, BETWEEN)];
  }

  let shared = ""; // how they shared it last

  /** Share it: where there is little, one has it all. @returns {boolean} whether in another way than before */
  function share() {
    if (!equations.has(focused)) focused = "";
    const one = alone();
    for (const equation of equations.values()) equation.setPlace({ focused, alone: one, inUse: inUse() });
    const [areas, columns, lines] = gridOf(one);
    const now = [stage(), one, focused, ...equations.keys(), areas, columns, lines].join("|");
    if (now === shared) return false;
    shared = now;
    Object.assign(rows.style, {
      gridTemplateAreas: areas,
      gridTemplateColumns: columns,
      gridTemplateRows: lines,
    });
    onShared();
    return true;
  }

  return {
    stage,
    alone,
    inUse,
    share,
    focused: () => focused,
    /** Let one band have the room, or give it back to all. @param {string} name empty: to all */
    focus(name) {
      focused = name;
      share();
    },
    /** Have a band in sight, where not all of them are. @param {string} name @returns {boolean} whether it is another one */
    bring(name) {
      if (!name || name === brought) return false;
      brought = name;
      share();
      return true;
    },
  };
}
