// @ts-check
// What a visitor is to do in a step: whether it is done follows from the settings alone, however they came there; and how
// the page does it for somebody who cannot or would rather look.
import SETTINGS from "../../../facts/settings.json" with { type: "json" };
import { editedPanels } from "../rules/edit.js";
import { fromLink } from "../rules/link.js";
import { replaced, tensorsOf } from "../rules/settings.js";
import { outputShape } from "../rules/spec.js";
import { numberIn, placeOfOne } from "./values.js";

/**
 * @import { Model } from "../numbers/model.js"
 * @import { Settings } from "../rules/settings.js"
 * @import { Place, Task } from "./lessons.js"
 * @typedef {{ settings: Settings, start: Settings, selected: Place | null, walked: Set<string> }} Situation
 *   walked: where the 1 has stood since the task was given
 */

/** @type {Record<string, { field: string }>} */
const GEOMETRY = SETTINGS.link_keys.geometry;
/** @type {Record<string, { field: string }>} */
const OTHER = SETTINGS.link_keys.other;

/** The values of a link's keys, in their order; a later one replaces an earlier one. @param {...string} links */
export function joinedLinks(...links) {
  const pairs = links.flatMap((link) => link.split("&")).filter(Boolean);
  const found = new Map(pairs.map((pair) => /** @type {[string, string]} */ ([pair.split("=", 1)[0], pair])));
  return [...found.values()].join("&");
}

/** The part of some settings that the keys of a link name. @param {Settings} settings @param {string} link @returns {{ spec: any, rest: any }} */
function partOf(settings, link) {
  /** @type {Record<string, any>[]} */
  const [spec, rest] = [{}, {}];
  for (const pair of link.split("&")) {
    const key = pair.split("=", 1)[0];
    if (GEOMETRY[key]) spec[GEOMETRY[key].field] = /** @type {any} */ (settings.spec)[GEOMETRY[key].field];
    else rest[OTHER[key].field] = /** @type {any} */ (settings)[OTHER[key].field];
  }
  return { spec, rest };
}

/** The number in a cell that can be typed into, whatever is computed from it. @param {Settings} settings @param {Place} place */
function typedNumber(settings, { panel, row, column }) {
  const field = editedPanels(settings)[panel];
  const tensor = field && tensorsOf(settings)[field];
  if (!tensor) return NaN;
  const [top, left] = panel === "padded_input" ? settings.spec.padding.map(([before]) => before) : [0, 0];
  return numberIn(settings, tensor, panel === "padded_input" ? "input" : panel, row - top, column - left);
}

/** @param {Settings} settings @returns {{ row: number, column: number }[]} where the 1 can stand */
function placesOf({ spec }) {
  const [, , height, width] = outputShape(spec);
  return Array.from({ length: height * width }, (_, index) => ({ row: Math.floor(index / width), column: index % width }));
}

/** @param {Place | null} one @param {Place | undefined} other */
const samePlace = (one, other) => Boolean(one && other) && ["panel", "row", "column"].every((key) => /** @type {any} */ (one)[key] === /** @type {any} */ (other)[key]);

/** @type {Record<string, { done: (task: any, at: Situation) => boolean, act: (task: any, at: Situation, model: Model) => void }>} */
const KINDS = {
  edit: {
    done: ({ edit }, { settings, start }) => typedNumber(settings, edit) === typedNumber(start, edit) + edit.by,
    act({ edit: { by, ...place } }, { start }, model) {
      model.send({ type: "edit", ...place, value: typedNumber(start, place) + by });
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
    done: ({ set }, { settings }) => JSON.stringify(partOf(settings, set)) === JSON.stringify(partOf(fromLink(`v=1&${set}`).state, set)),
    act({ set }, { settings }, model) {
      const { spec, rest } = partOf(fromLink(joinedLinks("v=1", set)).state, set);
      model.change(() => [replaced(settings, { ...rest, spec: { ...settings.spec, ...spec } }), []]);
    },
  },
  pin: {
    done: ({ pin }, { selected }) => samePlace(selected, pin),
    act: ({ pin }, _, model) => model.send({ type: "select", ...pin }),
  },
};
/** What a task in a lesson's file may be. */
export const KINDS_OF_TASK = Object.keys(KINDS);

/** @param {Task} task */
const kindOf = (task) => KINDS[/** @type {string} */ (KINDS_OF_TASK.find((kind) => kind in task))];

/** Whether it is done. @param {Task} task @param {Situation} at */
export const isDone = (task, at) => kindOf(task).done(task, at);

/** Do it, or the next part of it. @param {Task} task @param {Situation} at @param {Model} model */
export const doIt = (task, at, model) => kindOf(task).act(task, at, model);

/** Note where the 1 stands. @param {Set<string>} walked @param {Settings} settings */
export function noteWalk(walked, settings) {
  const place = placeOfOne(settings);
  if (place) walked.add(`${place.row},${place.column}`);
}

/** What a task's sentences may name beside the values of its step. @param {Task} task */
export function argumentsOf({ edit, pin, set }) {
  const { row = 0, column = 0 } = edit ?? pin ?? {};
  return { row, column, value: set?.split("=")[1] ?? "" };
}
