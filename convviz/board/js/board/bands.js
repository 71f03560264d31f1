// @ts-check
// How the bands share the room of the stage: forward and to the weight side by side, to the input in a row of its own; or one
// alone where there is little room.

import { tracksFor } from "./stage.js";

/** @typedef {ReturnType<typeof import("./equation.js").createEquation>} Band */

const LARGE = "input"; // the band with two readings has a row of its own
const ROW = "minmax(0, 1fr)";
const [IN_USE, OTHER] = [1, 0.76]; // shares of the height that the row in use has, and the other one
const BETWEEN = 10; // pixels between bands, as stage.css has them
const STRIP = "64px"; // height of a band beside the one that is alone
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

  /** The band that has the room for itself; empty where all of them stand there. */
  function alone() {
    if (!["medium", "narrow", "lecture"].includes(stage())) return "";
    if (focused) return focused;
    return equations.has(brought) ? brought : [...equations.keys()][0];
  }

  /** The band in use: a card, one step larger than the others. */
  const inUse = () => focused || alone() || (equations.has(LARGE) ? LARGE : "");

  /** Side by side, each as wide as its panels ask for; the large one below them, or above where it comes first. */
  function shareWide() {
    const names = [...equations.keys()];
    const small = names.filter((name) => name !== LARGE);
    /** @param {string} name */
    const bandOf = (name) => /** @type {Band} */ (equations.get(name));
    const shares = small.map((name) => {
      const { cells, rest } = bandOf(name).measure();
      return (cells * 20 + rest) * (name === focused ? WIDER : 1);
    });
    const whole = shares.reduce((sum, share) => sum + share, 0);
    const columns = small.map((name, index) => ({
      least: bandOf(name).leastWidth(),
      share: shares[index] / whole,
    }));
    const lines = [small.join(" "), small.map(() => LARGE).join(" ")];
    const heights = [small, [LARGE]].map((row) => ({
      least: Math.max(0, ...row.map((name) => bandOf(name).leastHeight())),
      share: row.includes(inUse()) ? IN_USE : OTHER,
    }));
    if (names[0] === LARGE) for (const list of [lines, heights]) list.reverse();
    rows.style.gridTemplateAreas = lines.map((line) => `"${line}"`).join(" ");
    rows.style.gridTemplateColumns = tracksFor(columns, small.indexOf(focused), BETWEEN);
    const used = heights.findIndex(({ share }) => share === IN_USE);
    rows.style.gridTemplateRows = tracksFor(heights, used, BETWEEN);
  }

  /** Share it: where there is little, one has it all. */
  function share() {
    if (!equations.has(focused)) focused = "";
    const one = alone();
    for (const equation of equations.values()) equation.setPlace({ focused, alone: one, inUse: inUse() });
    if (stage() === "wide") shareWide();
    else {
      rows.style.gridTemplateAreas = rows.style.gridTemplateColumns = "";
      rows.style.gridTemplateRows = [...equations.keys()]
        .map((name) => (one && name !== one ? STRIP : ROW))
        .join(" ");
    }
    onShared();
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
