// What a visitor is to do in a step: whether it is done follows from the settings alone, however it was done;
// and how the page does it for who cannot or would rather look.
import NAMES from "../../facts/data/names.json" with { type: "json" };
import { formatLong } from "../base/format.js";
import { samePlace } from "../base/cell_place.js";
import { editCell, editedPanels } from "../rules/edit_cells.js";
import { fromLink } from "../rules/settings_link.js";
import { LINK_KEYS } from "../rules/schema.js";
import { inPlaceOf, replaced, tensorsOf } from "../rules/settings_and_tensors.js";
import { outputShape } from "../rules/conv_geometry.js";
import { numberIn, placeOfOne } from "./step_sentence_values.js";
import { say } from "./sentences.js";
import { eachCell } from "../rules/shapes_and_indices.js";

/**
 * @import { Task } from "./available_lessons.js"
 * @typedef {{ settings: Settings, start: Settings, link: string, selected: Place | null, walked: Set<string>,
 *   chosen: string[], press: () => void }} Situation link: of the step; walked: by the 1 since the task
 *   began; chosen: in the tab; press: chooses there
 */

/** An edit is done where it alone differs. */
const SOURCES = /** @type {(keyof Settings)[]} */ (
  "spec plane transposed loss input weight grad target bias".split(" ")
);

/** A later key replaces an earlier one. @param {...string} links */
export function joinedLinks(...links) {
  const pairs = links.flatMap((link) => link.split("&")).filter(Boolean);
  const found = new Map(pairs.map((pair) => /** @type {[string, string]} */ ([pair.split("=", 1)[0], pair])));
  return [...found.values()].join("&");
}

/**
 * What a link's keys name.
 * @param {Settings} settings @param {string} link @returns {{ spec: any, rest: any }}
 */
function partOf(settings, link) {
  /** @type {Record<string, any>[]} */
  const [spec, rest] = [{}, {}];
  for (const pair of link.split("&")) {
    const { field, spec: ofSpec } = LINK_KEYS[pair.split("=", 1)[0]];
    if (ofSpec) spec[field] = /** @type {any} */ (settings.spec)[field];
    else rest[field] = /** @type {any} */ (settings)[field];
  }
  return { spec, rest };
}

/** In the step's picture: groups depend on channels. @param {string} link @param {string} set */
const wantedOf = (link, set) => partOf(fromLink(joinedLinks(link, set)).state, set);

/** @param {Settings} settings @param {string} panel */
const typedInto = (settings, panel) => tensorsOf(settings)[editedPanels(settings)[panel]];

/** @param {Settings} settings @param {string} panel */
const originOf = ({ spec }, panel) =>
  panel === "padded_input" ? spec.padding.map(([before]) => before) : [0, 0];

/** @param {Settings} settings @param {Place} place */
function typedNumber(settings, { panel, row, column }) {
  const tensor = typedInto(settings, panel);
  if (!tensor) return NaN;
  const [top, left] = originOf(settings, panel);
  return numberIn(settings, tensor, panel === "padded_input" ? "input" : panel, row - top, column - left);
}

/** They differ in one panel at most. @param {Settings} one @param {Settings} other @param {string} panel */
function sameBeside(one, other, panel) {
  const field = editedPanels(other)[panel];
  const rest = (/** @type {Settings} */ settings) =>
    JSON.stringify(SOURCES.map((name) => (name === field ? null : settings[name])));
  return (
    rest(one) === rest(other) &&
    String(typedInto(one, panel)?.shape) === String(typedInto(other, panel)?.shape)
  );
}

/** @param {string} panel @param {Situation} at */
function typedCells(panel, { settings, start }) {
  const [now, was] = [settings, start].map((each) => /** @type {Tensor} */ (typedInto(each, panel)));
  const [height, width] = was.shape.slice(-2);
  const [top, left] = originOf(start, panel);
  const other = [...was.data.keys()].filter((index) => now.data[index] !== was.data[index]);
  return other.map((index) => ({
    row: (Math.floor(index / width) % height) + top,
    column: (index % width) + left,
  }));
}

/**
 * Says what was typed instead of the wanted number; the text is empty where nothing wrong was typed.
 * @param {Place & { by: number }} edit @param {Situation} at
 */
function insteadOf(edit, at) {
  if (!sameBeside(at.settings, at.start, edit.panel)) return say("astray.picture");
  const wrong = typedCells(edit.panel, at).find(
    ({ row, column }) => row !== edit.row || column !== edit.column,
  );
  const [typed, value] = [typedNumber(at.settings, edit), typedNumber(at.start, edit)];
  if (wrong && typed === value + edit.by) {
    return say("astray.also", {
      ...wrong,
      value: formatLong(typedNumber(at.start, { ...wrong, panel: edit.panel })),
    });
  }
  if (wrong) return say("astray.cell", wrong);
  return typed === value || typed === value + edit.by
    ? ""
    : say("astray.value", { typed: formatLong(typed), value: formatLong(value + edit.by) });
}

/** Moved, but not to what is wanted. @param {string} wanted in a link @param {Situation} at */
function notYet(wanted, { settings, start }) {
  const [key, value] = wanted.split("=");
  const field = LINK_KEYS[key]?.field;
  const [now, was] = [settings, start].map((each) => [partOf(each, wanted).spec[field]].flat(2)[0]);
  return now === was || String(now) === value || (key === "size" && settings.transposed)
    ? ""
    : say("astray.set", {
        name: /** @type {Record<string, string>} */ (NAMES.controls)[field] ?? field,
        now,
        value,
      });
}

/** @param {Settings} settings @returns {Point[]} of the 1 */
function placesOf({ spec }) {
  const [, , height, width] = outputShape(spec);
  return eachCell(height, width, (row, column) => ({ row, column }));
}

/**
 * lasts: what is said after it is true only as long.
 * @type {Record<string, { lasts?: boolean, done: (task: any, at: Situation) => boolean, act: (task: any, at:
 *   Situation, model: Model) => void }>}
 */
const KINDS = {
  edit: {
    lasts: true,
    done: ({ edit }, at) =>
      typedNumber(at.settings, edit) === typedNumber(at.start, edit) + edit.by && !insteadOf(edit, at),
    act({ edit: { by, ...place } }, { settings, start }, model) {
      const [made] = editCell(start, { ...place, value: typedNumber(start, place) + by });
      model.change(() => [inPlaceOf(settings, { ...made, input_view: settings.input_view }), []]);
    },
  },
  walk: {
    done: ({ walk }, { settings, walked }) => walked.size >= Math.min(walk.places, placesOf(settings).length),
    act(task, { settings, walked }, model) {
      const next = placesOf(settings).find(({ row, column }) => !walked.has(`${row},${column}`));
      if (next) model.send({ type: "select", panel: "grad_output", ...next });
    },
  },
  set: {
    lasts: true,
    done: ({ set }, { settings, link }) =>
      JSON.stringify(partOf(settings, set)) === JSON.stringify(wantedOf(link, set)),
    act({ set }, { settings, link }, model) {
      const { spec, rest } = wantedOf(link, set);
      model.change(() => [replaced(settings, { ...rest, spec: { ...settings.spec, ...spec } }), []]);
    },
  },
  pin: {
    done: ({ pin }, { selected }) => samePlace(selected, pin),
    act: ({ pin }, _, model) => model.send({ type: "select", ...pin }),
  },
  choose: {
    done: ({ choose }, { chosen }) => chosen.includes(choose),
    act: (_, { press }) => press(),
  },
};
export const KINDS_OF_TASK = Object.keys(KINDS);

/** @param {Task} task */
const kindOf = (task) => KINDS[/** @type {string} */ (KINDS_OF_TASK.find((kind) => kind in task))];

/** @param {Task} task @param {Situation} at */
export const isDone = (task, at) => kindOf(task).done(task, at);

/** Whether a task that should last was taken back. @param {Task} task @param {Situation} at */
export const isUndone = (task, at) => Boolean(kindOf(task).lasts) && !isDone(task, at);

/** In a sentence, or empty. @param {Task} task @param {Situation} at */
export const astray = ({ edit, set }, at) => (edit ? insteadOf(edit, at) : set ? notYet(set, at) : "");

/** @param {Task} task @param {Situation} at @param {Model} model */
export const doIt = (task, at, model) => kindOf(task).act(task, at, model);

/** @param {Set<string>} walked @param {Settings} settings */
export function noteWalk(walked, settings) {
  const place = placeOfOne(settings);
  if (place) walked.add(`${place.row},${place.column}`);
}

/** Returns the arguments that a task adds to those of its step. @param {Task} task */
export function argumentsOf({ edit, pin, set }) {
  const { row = 0, column = 0 } = edit ?? pin ?? {};
  return { row, column, value: set?.split("=")[1] ?? "" };
}

/**
 * Names the control that a task asks for; the name is empty where it asks for none.
 * @param {Task | undefined} task @param {Settings} settings
 */
export function controlOf(task, { transposed }) {
  const key = task?.set?.split("=")[0] ?? "";
  if (key === "size" && transposed) return "output_padding"; // sets the output's size
  return key === "loss" ? "loss_kind" : (LINK_KEYS[key]?.field ?? "");
}
