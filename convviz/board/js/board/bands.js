// @ts-check
// How the bands share the room of the stage: forward and to the weight side by side, to the input in a row of its own; or one
// alone where there is little room.

/** @typedef {ReturnType<typeof import("./equation.js").createEquation>} Band */

const LARGE = "input"; // the band with two readings has a row of its own
const ROW = "minmax(0, 1fr)";
const [IN_USE, OTHER] = [1, 0.76]; // shares of the height that the row in use has, and the other one
const STRIP = "64px"; // height of a band beside the one that is alone
const SHARES = { forward: 1.37, weight: 1, bias: 0.6 }; // of the width
const WHOLE = 97; // percent of the width that is the bands', beside the gaps
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

  /** Side by side in fixed shares, so that nothing but panels moves; a band whose numbers would go takes of its neighbours. */
  function shareWide() {
    const names = [...equations.keys()];
    const small = names.filter((name) => name !== LARGE);
    const least = (/** @type {string} */ name) => /** @type {Band} */ (equations.get(name)).least();
    const asked = small.reduce((sum, name) => sum + least(name).width, 0);
    const widths = small.map((name) => {
      const share = SHARES[/** @type {"forward"} */ (name)] * (name === focused ? WIDER : 1);
      const most = ((WHOLE * least(name).width) / Math.max(asked, 1)).toFixed(1);
      return `minmax(min(${least(name).width}px, ${most}%), ${share}fr)`;
    });
    const lines = [small, [LARGE]].map((row) => ({
      areas: small.map((_, index) => row[index] ?? row[0]).join(" "),
      height: `minmax(${Math.max(0, ...row.map((name) => least(name).height))}px, ${row.includes(inUse()) ? IN_USE : OTHER}fr)`,
    }));
    if (names[0] === LARGE) lines.reverse();
    rows.style.gridTemplateAreas = lines.map(({ areas }) => JSON.stringify(areas)).join(" ");
    rows.style.gridTemplateColumns = widths.join(" ");
    rows.style.gridTemplateRows = lines.map(({ height }) => height).join(" ");
  }

  /** Share it: where there is little, one has it all. */
  function share() {
    if (!equations.has(focused)) focused = "";
    const one = alone();
    for (const equation of equations.values()) equation.setPlace({ focused, alone: one, inUse: inUse() });
    if (stage() === "wide" && !one) shareWide();
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
