// What makes each control, by its name: how it reads the settings, and how it puts them.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { element } from "../base/dom.js";
import { LIMITS, groupChoices, perAxis } from "../rules/bounds.js";
import {
  chooseKernel,
  kernelName,
  linkAxes,
  setBias,
  setGeometry,
  setTransposed,
  turnKernel,
} from "../rules/change_settings.js";
import { settingAt } from "../rules/settings_link.js";
import { kindsTaken, offeredKinds } from "../rules/loss_inputs.js";
import {
  PADDING_NAMES,
  PADDING_SIDES,
  namePadding,
  paddingName,
  setSide,
  sideRange,
} from "../rules/padding.js";
import { PRESETS } from "../rules/samples.js";
import { SCHEMA } from "../rules/schema.js";
import { replaced } from "../rules/settings_and_tensors.js";
import { axisPart, buttonPart, checkPart, labelled, menuPart, rangePart, wordFor } from "./control_parts.js";
import { drawPart } from "./draw_on_input_switch.js";
import { picturePart } from "./picture_upload.js";

/** @import { Part } from "./control_parts.js" */

/** Without those that carry numbers. @param {string} field */
const namedKinds = (field) =>
  SETTINGS.fields[field].words.filter((kind) => !SETTINGS.kinds_with_own_numbers.includes(kind));
const swapped = { in_channels: "out_channels", out_channels: "in_channels" };
/** The geometry's name: a transposed layer swaps in and out. */
const fieldOf = (name, { transposed }) => (transposed ? (swapped[name] ?? name) : name);

/**
 * Opens an example; theme, device and dtype stay.
 * @param {Settings} settings @param {string} name @returns {Changed}
 */
function openExample(settings, name) {
  const link = /** @type {Record<string, string>} */ (SETTINGS.examples)[name];
  return [link ? settingAt(settings, link) : settings, []];
}

// How settings are read and put.
const field = (name) => (settings) => settings[name];
const put = (name) => (settings, value) => [replaced(settings, { [name]: value }), []];
const source = (name) => (settings, kind) => [replaced(settings, { [name]: { kind } }), []];
const offered = (name) => (settings) => offeredKinds(settings, name);
const takes = (name) => (settings) => kindsTaken(settings.loss, name).length > 0;
const kindOf = (name) => (settings) => settings[name].kind;
const geometry = (name) => (settings, value) => setGeometry(settings, { [fieldOf(name, settings)]: value });
const planes = (name) => (settings) => settings.spec[fieldOf(name, settings)];
const reach = (name) => (settings) => [LIMITS[name][0], Math.max(LIMITS[name][1], planes(name)(settings))];

/** Makers of the controls that follow from their rows alone. @returns {Record<string, () => Part[]>} */
function plainMakers(model) {
  const makers = SCHEMA.map(([name, { kind, offered = [0, 0], words = [] }]) => {
    const [get, set] = [field(name), put(name)];
    const wordOf = (text) => words.find((word) => String(word) === text);
    const make = () => {
      if (kind === "flag") return checkPart(model, name, get, set);
      if (kind === "whole") return rangePart(model, name, () => offered, get, set);
      return menuPart(model, name, words, get, (settings, text) => set(settings, wordOf(text)));
    };
    return [name, () => [make()]];
  });
  return Object.fromEntries(makers);
}

/** @returns {Record<string, () => Part[]>} */
export function makersOf(model, drawSlider, follow) {
  const menu = (name, options, get, set, visible) => () => [
    menuPart(model, name, options, get, set, visible),
  ];
  const check = (name, get, set) => () => [checkPart(model, name, get, set)];
  const count = (name) => () => [rangePart(model, name, reach(name), planes(name), geometry(name))];
  // conv_transpose2d has one padding number, and no names.
  const plain = (settings) => !settings.transposed;
  const axes = perAxis(true).map((name) => [name, () => [0, 1].map((axis) => axisPart(model, name, axis))]);
  return {
    ...plainMakers(model),
    ...Object.fromEntries(axes),
    example: menu("example", ["none", ...Object.keys(SETTINGS.examples)], () => "none", openExample),
    preset: menu("preset", ["counting", ...PRESETS, "random"], kernelName, chooseKernel),
    weight: () => [{ el: drawSlider(), refresh() {} }],
    turn: () => [buttonPart(model, "turn", turnKernel, plain)],
    transposed: check("transposed", field("transposed"), setTransposed),
    link_axes: check("link_axes", field("link_axes"), linkAxes),
    padding_name: menu("padding_name", PADDING_NAMES, paddingName, namePadding, plain),
    padding_sides: () =>
      PADDING_SIDES.flatMap((names, axis) =>
        names.map((name, side) =>
          rangePart(
            model,
            `padding_${name}`,
            (s) => sideRange(s.spec, axis, side),
            (s) => s.spec.padding[axis][side],
            (s, cells) => setSide(s, axis, side, cells),
            plain,
          ),
        ),
      ),
    padding_mode: menu(
      "padding_mode",
      SETTINGS.fields.padding_mode.words,
      (s) => s.spec.padding_mode,
      geometry("padding_mode"),
      plain,
    ),
    in_channels: count("in_channels"),
    out_channels: count("out_channels"),
    batch: count("batch"),
    groups: menu(
      "groups",
      (s) => groupChoices(s.spec).map(String),
      (s) => String(s.spec.groups),
      (s, value) => setGeometry(s, { groups: Number(value) }),
    ),
    bias: check("bias", (s) => s.bias !== null, setBias),
    input_kind: menu("input_kind", namedKinds("input"), kindOf("input"), source("input")),
    digit: () => [
      rangePart(
        model,
        "digit",
        () => LIMITS.digit,
        field("digit"),
        (s, digit) => [replaced(s, { digit, input: { kind: "digit" } }), []],
        (s) => s.input.kind === "digit",
      ),
    ],
    seed: () => [seedPart(model)],
    draw: () => [drawPart(model, follow)],
    loss_kind: menu("loss_kind", SETTINGS.fields.loss.words, field("loss"), put("loss")),
    target: menu("target", offered("target"), kindOf("target"), source("target"), takes("target")),
    grad_output: menu("grad_output", offered("grad"), kindOf("grad"), source("grad"), takes("grad")),
    device: () => [
      ofTorch(
        model,
        menuPart(model, "device", () => model.kernel()?.facts.devices ?? [], field("device"), put("device")),
      ),
    ],
    dtype: () => [
      ofTorch(model, menuPart(model, "dtype", SETTINGS.fields.dtype.words, field("dtype"), put("dtype"))),
    ],
    picture: () => [ofTorch(model, picturePart(model))],
  };
}

/** @returns {Part} */
function seedPart(model) {
  const [, most] = LIMITS.seed;
  const input = element("input", { type: "number", min: "0", max: String(most), step: "1" });
  input.addEventListener("change", () => {
    const seed = Math.min(Math.max(Math.round(Number(input.value)) || 0, 0), most);
    input.value = String(seed);
    model.set({ seed });
  });
  return {
    el: labelled("seed", element("span", wordFor("seed")), input),
    refresh: ({ seed }) => void (input.value = String(seed)),
  };
}

/** Disables a control while there is no kernel. @returns {Part} */
function ofTorch(model, { el, refresh }) {
  const input = /** @type {HTMLInputElement | HTMLSelectElement} */ (el.querySelector("input, select"));
  return {
    el,
    refresh(settings) {
      input.disabled = !model.kernel();
      refresh(settings, false); // the kernel sends its devices
    },
  };
}
