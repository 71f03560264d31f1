// @ts-check
// How the bands share the room of the stage: all of them one below the other, one large beside two strips, or one alone
// where there is little room.

/** @typedef {ReturnType<typeof import("./equation.js").createEquation>} Band */

const [BIAS, STRIP] = ["minmax(64px, 0.5fr)", "64px"]; // heights of the bias' band, and of one beside the band in focus

/**
 * Share the room of a board.
 * @param {HTMLElement} root the board @param {HTMLElement} rows in it @param {Map<string, Band>} equations
 * @param {() => boolean} isPaper where there is no stage @param {() => void} onShared told when they share it in another way
 */
export function createBands(root, rows, equations, isPaper, onShared) {
  let focused = ""; // the band that has the room
  let brought = "input"; // the band that is in sight where not all are

  /** How the app stands on the screen; empty on paper. */
  function stage() {
    const app = /** @type {HTMLElement | null} */ (isPaper() ? null : root.closest("[data-stage]"));
    return app?.dataset.stage ?? "";
  }

  /** The band that has the room for itself; empty where all of them stand there. */
  function alone() {
    if (focused || !["medium", "narrow", "lecture"].includes(stage())) return focused;
    return equations.has(brought) ? brought : [...equations.keys()][0];
  }

  /** Share it: where there is little, one has it all. */
  function share() {
    if (!equations.has(focused)) focused = "";
    const one = alone();
    for (const equation of equations.values()) equation.setFocus(one);
    const height = (name) =>
      one && name !== one ? STRIP : name === "bias" && !one ? BIAS : "minmax(0, 1fr)";
    rows.style.gridTemplateRows = [...equations.keys()].map(height).join(" ");
    onShared();
  }

  return {
    stage,
    alone,
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
