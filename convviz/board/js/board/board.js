// @ts-check
// The board: linked heatmaps in rows. It knows panels and cells; what they mean comes from the model.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { element, setLine, setText } from "../base/dom.js";
import { ArrivalPlayer } from "./arrival.js";
import { createBands } from "./bands.js";
import { createChanges } from "./changes.js";
import { followArrows } from "./drag_one.js";
import { Equation } from "./equation.js";
import { createLegend } from "./equation_parts.js";
import { decode } from "../base/format.js";
import { createHighlighter } from "./highlight.js";
import { followKeys } from "./app_keys.js";
import { followKernel } from "../base/lost_kernel.js";
import { followPaper } from "../base/paper.js";
import { keepState } from "./keep_state.js";
import { measureFace } from "./letters.js";
import { loadPlotly } from "./plotly.js";
import { createReadout } from "./readout.js";
import { samePlace } from "../base/cell_place.js";
import { followLinks } from "./share_address.js";
import { createTables } from "./tables.js";
import { followTheme } from "../base/theme.js";
import { createTray } from "./tray.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/**
 * Draw the board.
 * @param {{ model: any, el: HTMLElement, taught?: string[], own?: boolean, onBands?: () => void }} context taught: what of it a
 *   lesson explains; own: whether the page is the app's;
 *   onBands: told when the bands share the room in another way
 */
export function renderBoard({ model, el, taught = [], own = false, onBands = () => {} }) {
  const loss = element("p", { class: "cv-loss" });
  const truth = element("p", { class: "cv-truth" });
  const rows = element("div", { class: "cv-equations" });
  const readout = createReadout(model);
  const lost = element("p", { class: "cv-lost", role: "alert" });
  const tables = createTables(() => schedule(false));
  const legend = createLegend();
  const facts = element("div", { class: "cv-facts" }, loss, truth, legend.el, tables.el);
  const foot = element(
    "div",
    { class: "cv-foot" },
    lost,
    element("div", { class: "cv-under" }, readout.el),
    facts,
    readout.live,
  );
  const root = element("div", { class: "cv-board cv-look" }, rows, foot);
  el.append(root);

  /** @type {Map<string, Equation>} */
  const equations = new Map();
  let theme = "light";
  let plotly = null;
  let frame = 0;
  let whole = true; // whether the next frame lays out everything, or only draws new numbers
  let gone = false;
  let onPaper = false;
  /** @type {{ panel: string, row: number, column: number } | null} */
  let asked = null; // the cell whose number is to be predicted
  /** @type {ReturnType<typeof roomNow> | null} */
  let room = null; // what there is for the panels, as long as nothing tells that it may be another
  let fitted = ""; // the rooms that the cells were fitted into; empty where they flow
  const bands = createBands(
    root,
    rows,
    equations,
    () => onPaper,
    () => {
      room = null;
      onBands();
    },
  );

  function* panels() {
    for (const equation of equations.values()) yield* equation.panels.values();
  }
  const changes = createChanges(model, panels);
  const library = loadPlotly(model);
  const board = {
    model,
    taught,
    tray: createTray(),
    highlight: createHighlighter(
      {
        scale: () => board.scale(),
        fades: () => board.isLecture(),
        aside: (text, paired) => board.aside(text, paired),
        release: () => board.escape(),
      },
      panels,
    ),
    uid: Math.random().toString(36).slice(2, 8),
    plotly: library.ready,
    plotLayout: {
      margin: { l: 0, r: 0, t: 0, b: 0 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      showlegend: false,
    },
    scale: () => model.get("structure").colorscales?.[theme],
    /** Close the figure that a panel has opened over the page. */
    closeFigure() {},
    /** @type {any} the stepper that is open */
    stepping: null,
    /** Draw what another step changed in one equation. @param {any} equation @param {number[]} changed */
    redraw: (equation, changed) => equation.draw(plotly, changed),
    /** What the equation to the input says about the cell that is looked at. @param {string} text @param {boolean} paired whether small numbers pair its factors */
    aside: (text, paired) => equations.get("input")?.say(text, paired),
    isLecture: () => bands.stage() === "lecture",
    /** Give a band the room, or take it back. @param {string} name */
    focusBand: (name) => focusBand(name === bands.focused() ? "" : name),
    /** Let go of what was taken last, and say whether there was anything. */
    escape() {
      const [pinned, wide, brush] = [model.get("selected"), bands.focused(), model.get("brush") !== null];
      if (brush) model.send({ type: "draw", value: null });
      else if (pinned) model.send({ type: "release" });
      else if (wide) focusBand("");
      return Boolean(brush || pinned || wide);
    },
    say: readout.say,
    read: readout.read,
    unread: readout.unread,
  };

  lost.after(board.highlight.el);
  const arrival = new ArrivalPlayer(board, root, {
    band: () => equations.get("input"),
    stage: bands.stage,
    bring() {
      bands.bring("input");
      focusBand("");
    },
  });

  function schedule(everything) {
    whole ||= everything;
    frame ||= requestAnimationFrame(paint);
  }

  function paint() {
    frame = 0;
    if (gone) return;
    const structure = model.get("structure");
    const values = model.get("values");
    if (!structure.equations || values.version !== structure.version) return; // half of an update: wait for the rest
    const everything = whole;
    whole = false;
    // Before anything is written: asked for later, the browser would lay out every cell at a size that is about to go.
    const there = structure.equations.map(({ name }) => equations.get(name));
    const isKnown = everything ? there.every(Boolean) && there.length === equations.size : Boolean(room);
    const known = isKnown ? (room ?? roomNow()) : null;
    if (everything) layOut(structure);
    const numbers = decodeAll(values);
    // First everything is written, then everything is measured: in turn, the browser would lay out once an equation.
    const changed = [...equations.values()].map((equation) =>
      equation.setValues(numbers, values.dtype, values),
    );
    const outgrown = bands.stage() && [...equations.values()].some((equation) => equation.outgrown());
    if (everything || outgrown) {
      const shifted = bands.share(); // also with a band that has just come, and with numbers that ask for more
      resize((shifted ? null : known) ?? roomNow());
    } else [...equations.values()].forEach((equation, index) => equation.draw(plotly, changed[index]));
    if (everything) board.highlight.setGeometry(structure.geometry, structure.loss);
    markAsked();
    changes.see(numbers.planes, values.limits);
    board.highlight.setNumbers(numbers, values.limits, model.get("selected"));
    legend.set(structure.equations[0]?.scale === "equation" ? Object.values(values.limits)[0] : null);
    seeTray = () => {
      if (model.get("values") !== values) return; // other numbers come right after, and these are no longer of this 1
      const widthNow = () => (board.isLecture() ? board.tray.el.offsetWidth : 0); // there it stands beside the panels
      const before = widthNow();
      const selected = model.get("selected");
      board.tray.see(structure.geometry, numbers, isAsked(selected) ? null : selected); // it would give the number away
      if (widthNow() !== before) schedule(true);
    };
    tables.show(structure, numbers.planes);
    board.stepping?.retell();
    readout.retell();
    setLine(loss, values.loss);
    setLine(truth, values.broken?.differs ? "" : values.truth); // what is equal is not what one looks at
    truth.dataset.ok = String(values.truth_ok);
    markSelected();
    root.dataset.painted = plotly ? String(values.step) : "";
    root.dataset.from = values.from; // who computed what stands there
    arrival.see();
  }

  function layOut(structure) {
    board.highlight.rest();
    const wanted = structure.equations.map((equation) => equation.name);
    for (const [name, equation] of equations) {
      if (wanted.includes(name)) continue;
      watcher.unobserve(equation.stage);
      equation.destroy(plotly);
      equations.delete(name);
    }
    const told = structure.geometry.transposed ? "input" : "forward"; // the equation whose sizes the remainder is about
    const met = new Set(); // marks that a band before has explained
    for (const spec of structure.equations) {
      if (!equations.has(spec.name)) {
        equations.set(spec.name, new Equation(board, spec.name));
        watcher.observe(/** @type {any} */ (equations.get(spec.name)).stage); // words beside it may take of its room
        rows.append(/** @type {any} */ (equations.get(spec.name)).el);
      }
      equations
        .get(spec.name)
        ?.setSpec(spec, structure.geometry, spec.name === told ? structure.remainder : null);
      equations.get(spec.name)?.key.set(spec.items, met, structure.cell_words, structure.geometry.transposed);
    }
    for (const name of wanted) {
      const equation = /** @type {any} */ (equations.get(name));
      equations.delete(name);
      equations.set(name, equation); // in this order they share the room
    }
    const inOrder = [...equations.values()].map(({ el }) => el);
    if (inOrder.some((el, index) => el !== rows.children[index])) rows.append(...inOrder); // the other way round now
    rows.dataset.count = String(equations.size);
    root.style.setProperty(
      "--cv-ramp",
      structure.colorscales[theme].map(([at, color]) => `${color} ${at * 100}%`).join(),
    );
  }

  /** What there is for the panels: a room for each band of the stage, or the width where they flow. */
  function roomNow() {
    return {
      bands: bands.stage() ? [...equations].map(([name, equation]) => ({ name, ...equation.room() })) : null,
      width: Math.max(0, ...[...rows.children].map((band) => band.clientWidth)),
    };
  }

  /** @param {ReturnType<typeof roomNow>} known */
  function resize(known) {
    const { bands: rooms, width } = known;
    if (!width) return;
    room = known;
    fitted = rooms ? JSON.stringify(rooms) : "";
    const wraps = bands.stage() !== "wide";
    if (rooms) for (const { name, ...room } of rooms) equations.get(name)?.fit(room, wraps);
    else {
      const cell = cellSize(
        [...equations.values()].map((equation) => equation.measure()),
        width,
      );
      for (const equation of equations.values()) equation.setSize(cell, width);
    }
    for (const equation of equations.values()) equation.draw(plotly, null);
  }

  /** Keep the number that is asked for to itself. */
  function markAsked() {
    for (const equation of equations.values()) {
      for (const panel of equation.panels.values())
        panel.grid.hide(asked?.panel === panel.spec().name ? asked : null);
    }
  }

  /** @param {{ panel: string, row: number, column: number } | null} place */
  const isAsked = (place) => samePlace(place, asked);

  let seeTray = () => {}; // from the first numbers on

  function markSelected() {
    const selected = model.get("selected");
    seeTray();
    board.highlight.pin(selected);
    for (const equation of equations.values()) {
      for (const panel of equation.panels.values()) {
        const here = selected && selected.panel === panel.spec().name;
        panel.grid.mark(here ? { row: selected.row, column: selected.column } : null);
      }
    }
    readout.refresh();
  }

  /** Let one band have the room, or give it back to all. @param {string} name empty: to all */
  function focusBand(name) {
    bands.focus(name);
    schedule(true);
  }

  const showBrush = () => root.toggleAttribute("data-brush", model.get("brush") !== null);
  const onStructure = () => schedule(true);
  const onValues = () => schedule(false);
  const onSelected = () => frame || markSelected(); // the frame that comes marks it, beside the numbers that it is of
  const follower = followTheme(
    () => model.get("theme"),
    (next) => {
      theme = next;
      const page = root.closest(".cv-app") ?? root;
      for (const node of new Set([root, page])) /** @type {HTMLElement} */ (node).dataset.theme = next;
      // A served or exported page has the whole window to colour; a notebook keeps its own colours.
      if (document.querySelector("#convviz-main, body > .cv-page")) {
        document.documentElement.dataset.convvizTheme = next;
      }
      schedule(true);
    },
  );
  const stopPrinting = followPaper((printing) => {
    onPaper = printing;
    room = null;
    cancelAnimationFrame(frame); // the theme has just asked for one, but the paper is laid out before it would come
    whole = true;
    paint();
    for (const equation of equations.values())
      for (const panel of equation.panels.values()) panel.print(printing);
  });
  // A widget is drawn before it is put into the page: only now can the app around the board be found.
  let stopKeys = () => {};
  const arrive = once(() => {
    const stops = [followKeys(board, root, own), followArrows(root, own, panels)];
    stopKeys = () => stops.forEach((stop) => stop());
    measureFace(root);
    follower.refresh();
  });
  let size = "";
  const watcher = new ResizeObserver(() => {
    arrive();
    room = null;
    const now = [root.clientWidth, bands.stage() && rows.clientHeight, bands.stage()].join();
    if (size === now && !(fitted && JSON.stringify(roomNow().bands) !== fitted)) return; // its own rows made the board higher
    size = now;
    bands.share();
    schedule(true);
  });
  watcher.observe(root);
  watcher.observe(rows);
  model.on("change:structure", onStructure);
  model.on("change:values", onValues);
  model.on("change:selected", onSelected);
  model.on("change:brush", showBrush);
  showBrush();
  model.on("change:theme", follower.refresh);
  const stopFollowing = followLinks(root, (link) => model.send({ type: "open", link }));
  const stopKeeping = keepState(model);
  const stopKernel = followKernel(model, () => setText(lost, say("kernel.ended_board")));
  const stopListening = board.highlight.listen(root);
  board.plotly.then(
    (loaded) => {
      plotly = loaded;
      schedule(true);
    },
    (error) => gone || board.read(() => say("colours.failed", { why: error.message }), true),
  );

  const close = () => {
    gone = true;
    board.closeFigure();
    arrival.close();
    changes.close();
    library.cancel();
    cancelAnimationFrame(frame);
    model.off("change:structure", onStructure);
    model.off("change:values", onValues);
    model.off("change:selected", onSelected);
    model.off("change:brush", showBrush);
    model.off("change:theme", follower.refresh);
    follower.stop();
    stopPrinting();
    watcher.disconnect();
    stopFollowing();
    stopKeeping();
    stopKernel();
    stopListening();
    stopKeys();
    for (const equation of equations.values()) equation.destroy(plotly);
    root.remove();
  };
  return {
    close,
    arrival,
    /** Give a band the room; nobody when empty. @param {string} name */
    focus: (name) => name !== bands.focused() && focusBand(name),
    /** Keep the number of a cell to itself, or show it again. @param {{ panel: string, row: number, column: number } | null} place */
    hide(place) {
      if (isAsked(place)) return;
      asked = place;
      schedule(false);
    },
    /** Close what lies over the captions, by the buttons that opened it. */
    plain() {
      const opened = rows.querySelectorAll(":is(.cv-symbols-open, .cv-why)[aria-expanded=true]");
      for (const button of /** @type {NodeListOf<HTMLElement>} */ (opened)) button.click();
    },
    /** Let the tray forget what it holds, and begin anew. @param {boolean} full with all that a pixel gets */
    tray(full) {
      board.tray.begin(full);
      schedule(false);
    },
    /** See to it that a band is in sight, where not all of them are. @param {string} name */
    bring(name) {
      if (bands.bring(name)) schedule(true);
    },
    /** The room is another, or its clothes are: a lecture begins or ends. */
    present() {
      bands.share();
      schedule(true);
    },
    /** The bands, and which of them has the room. */
    bands: () =>
      (model.get("structure").equations ?? []).map(({ name, title }) => ({
        name,
        title,
        shown: name === bands.inUse(),
      })),
    /** Give the room to another band, where one has it. @param {string} name */
    show(name) {
      bands.bring(name);
      focusBand("");
    },
    /** Step through the band that has the room. @param {number} by */
    step: (by) => equations.get(bands.inUse())?.step(by),
    /** Play its steps, or pause. */
    play: () => equations.get(bands.inUse())?.play(),
    escape: () => board.escape(),
  };
}

/**
 * One size for the cells of all rows: as large as the widest row allows, never too small to read.
 * @param {{ cells: number, rest: number }[]} needs @param {number} width
 */
export function cellSize(needs, width) {
  const fits = Math.min(...needs.map(({ cells, rest }) => (width - rest) / Math.max(cells, 1)));
  return fits >= 28 ? Math.min(Math.floor(fits), 48) : 32; // below 28 the rows wrap instead
}

/** Every panel's numbers, from the bytes on the wire. */
function decodeAll(values) {
  const read = (wires) =>
    Object.fromEntries(Object.entries(wires).map(([name, wire]) => [name, decode(wire, values.dtype)]));
  return { planes: read(values.planes), thumbs: read(values.thumbs) };
}

/** A function that acts at its first call only. @param {() => void} act */
function once(act) {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}
