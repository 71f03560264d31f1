// @ts-check
// The model behind the board in a page without a kernel: what app/model.py and app/app.py do, with the arithmetic in
// the page. The board sees the interface of an anywidget model.
import { briefly, fromLink } from "../rules/link.js";
import { editCell, editedPanels, oneHot, setSize } from "../rules/change.js";
import { computeSettings } from "./checked.js";
import { createValues } from "../base/events.js";
import { createHistory } from "../rules/history.js";
import { layersStoryOf } from "../picture/output_padding.js";
import { shownName } from "../rules/names.js";
import { structureOf, valuesOf } from "../picture/payload.js";
import { equationsOf, panelsOf } from "../picture/panels.js";
import { choosePlane, showPlane } from "../rules/plane.js";
import { say } from "../rules/say.js";
import { storyOf } from "../picture/remainder.js";
import { replaced } from "../rules/settings.js";
import { geometryOf } from "../rules/spec.js";
import { formulaOf, lossWords, noteOf, truthWords } from "../picture/words.js";

/**
 * @import { Colorscales } from "../picture/payload.js"
 * @import { Changed } from "../rules/change.js"
 * @import { Plane } from "../rules/plane.js"
 * @import { Settings, Stages } from "../rules/settings.js"
 * @typedef {{ state: Settings, digits: number[][][], colorscales: Colorscales, plotly: (() => ArrayBuffer) | null }} PageData
 *   state as App.state() returns it; plotly: the gzipped bundle, asked for once
 */

/**
 * Make the model of one page.
 * @param {PageData} data @param {() => number} [clock] milliseconds
 */
export function createPageModel(data, clock = () => performance.now()) {
  const history = createHistory(clock);
  let initial = replaced(data.state, {});
  let settings = initial;
  /** @type {Stages} */
  let stages;
  let drawn = ""; // what the structure was made for
  let [version, step] = [0, 0];
  const empty = { structure: {}, values: {}, selected: null, theme: "auto", state: {}, sources: {}, notice: "", failed: false };
  const values = createValues(empty);

  /** @param {Settings} next */
  function show(next) {
    const made = computeSettings(next, data.digits);
    [settings, stages] = [next, made];
    const equations = equationsOf(settings, stages);
    const { spec, plane, bias, transposed, scale, input_view, link_axes } = settings;
    const shown = JSON.stringify([spec, plane, bias === null, transposed, scale, input_view, link_axes]);
    const changes = /** @type {Record<string, any>} */ ({});
    if (shown !== drawn) {
      drawn = shown;
      version += 1;
      changes.structure = {
        ...structureOf(settings, equations, data.colorscales),
        geometry: geometryOf(spec, plane, transposed),
        remainder: (transposed ? layersStoryOf : storyOf)(spec, link_axes),
        version,
      };
    }
    step += 1;
    /** @param {(settings: Settings, name: string, view: string) => string} write */
    const texts = (write) => Object.fromEntries(equations.map(({ name, view }) => [name, write(settings, name, view)]));
    changes.values = {
      ...valuesOf(equations, scale === "equation"),
      version,
      step,
      loss: lossWords(settings.loss, stages.loss),
      truth: truthWords(),
      truth_ok: null, // neither good news nor bad: nothing was compared
      formulas: texts(formulaOf),
      notes: texts(noteOf),
    };
    const { input, target, grad, ...state } = settings;
    values.put({ ...changes, theme: settings.theme, state, sources: { input, target, grad } });
  }

  /** @param {string} notice @param {boolean} [failed] */
  const tell = (notice, failed = false) => values.put({ notice, failed });

  /** Go to new settings; what was moved is said. @param {Changed} changed @param {string} [move] name of the control */
  function apply([next, notices], move = "") {
    const old = settings;
    if (JSON.stringify(next) !== JSON.stringify(old)) {
      show(next);
      history.remember(old, next, move);
      values.tell("settings");
    }
    tell(notices.join(" "));
  }

  /** Run an action of the user; what goes wrong is said in a sentence, and the settings stay. @param {() => void} action */
  function attempt(action) {
    try {
      action();
    } catch (error) {
      tell(/** @type {Error} */ (error).message, true);
      values.tell("settings");
    }
  }

  /** @param {"undo" | "redo"} way */
  function go(way) {
    const there = history.take(way, settings);
    if (!there) return;
    show(replaced(there, {})); // the plane that is looked at now may not be there
    values.tell("settings");
    tell("");
  }

  /** Start from a link: Reset leads back to it, and there is nothing to undo. What it could not say is told. @param {string} link */
  function open(link) {
    const { state, notices } = fromLink(link);
    try {
      // As export/page.py brings a state into a page: computed in float64, without the tabs.
      const start = replaced({ ...state, device: "cpu", dtype: "float64", tab: "" }, {});
      show(start);
      initial = start;
    } catch (error) {
      throw new Error(say("refused.link", { why: /** @type {Error} */ (error).message }));
    }
    history.clear();
    values.tell("settings");
    tell(briefly(notices));
  }

  /** Do what a person asked for on the board. @param {any} message */
  function act(message) {
    const { type, panel, row, column } = message;
    if (type === "select") {
      if (oneHotPanels(settings).includes(panel)) apply(oneHot(settings, row, column));
      values.put({ selected: { panel, row, column } });
    } else if (type === "release") values.put({ selected: null });
    else if (type === "edit") {
      checkShown(settings, stages, message);
      const gradOutput = settings.transposed ? stages.input : stages.grad_output;
      apply(editCell(settings, message, gradOutput, data.digits));
    } else if (type === "plane") apply(withPlane(settings, showPlane(settings.plane, settings.spec, panel, message.at)));
    else if (type === "axis") apply(withPlane(settings, choosePlane(settings.plane, settings.spec, message.axis, message.index)));
    else if (type === "view") apply([replaced(settings, { input_view: message.view }), []]);
    else if (type === "size") apply(setSize(settings, message.size[0], message.size[1]));
    else if (type === "undo" || type === "redo") go(type);
    else if (type === "open") open(message.link);
    else if (type === "reset") apply([{ ...initial, theme: settings.theme }, []]);
    else if (type === "plotly" && data.plotly) {
      const buffer = data.plotly();
      queueMicrotask(() => values.tell("msg:custom", { type: "plotly" }, [buffer]));
    }
  }

  show(initial);
  return {
    get: values.get,
    on: values.on,
    off: values.off,
    set() {}, // the board sets nothing by itself: it sends what was asked for
    save_changes() {},
    /** @param {any} message */
    send: (message) => attempt(() => act(message)),

    settings: () => settings,
    stages: () => stages,
    say: tell,
    canUndo: history.canUndo,
    canRedo: history.canRedo,
    /**
     * A control moved.
     * @param {(settings: Settings) => Changed} change @param {string} [move] name of the control: quick moves are one step
     */
    change: (change, move) => attempt(() => apply(change(settings), move)),
  };
}

/** @param {Settings} settings @param {Plane} plane @returns {Changed} */
function withPlane(settings, plane) {
  return [replaced(settings, { plane }), []];
}

/** The panels in which a click moves the 1 of a one-hot grad_output. @param {Settings} settings @returns {string[]} */
function oneHotPanels({ loss, grad, transposed }) {
  if (loss !== "weighted_sum" || grad.kind !== "one_hot") return [];
  return transposed ? ["grad_input", "input"] : ["output", "grad_output"];
}

/**
 * Refuse to write where nobody sees it: the page offers only the cells that it shows.
 * @param {Settings} settings @param {Stages} stages @param {{ panel: string, row: number, column: number }} place
 */
function checkShown(settings, stages, { panel, row, column }) {
  if (!(panel in editedPanels(settings.transposed))) return; // what it follows from is told where it would be edited
  const shown = equationsOf(settings, stages).flatMap(panelsOf).find(({ name }) => name === panel);
  const [height, width] = shown ? shown.tensor.shape.slice(2) : [0, 0];
  if (row < height && column < width) return;
  throw new Error(say("refused.shown", { row, column, name: shownName(panel, settings.transposed), height, width }));
}
