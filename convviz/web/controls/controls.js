// The app's controls: native inputs with labels, made once and kept in step.
import NAMES from "../../facts/data/names.json" with { type: "json" };
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { element, makeButton, setHidden, setText } from "../base/dom.js";
import { explain } from "../base/help.js";
import { LIMITS, groupChoices, perAxis, boundsOf, valueOf } from "../rules/bounds.js";
import {
  chooseKernel,
  kernelName,
  linkAxes,
  setAxis,
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
import { drawPart } from "./draw_on_input_switch.js";
import { createPopover } from "../base/menu.js";
import { SCHEMA } from "../rules/schema.js";
import { replaced } from "../rules/settings_and_tensors.js";
import { say } from "../base/board_sentences.js";
import { movesOf } from "./weight_slider.js";

/** @type {Record<string, string>} */
const LABELS = { ...NAMES.controls, ...NAMES.values };
/** @type {Record<string, string>} */
const TITLES = NAMES.groups;
/** @type {Record<string, string>} */
const KERNEL_TITLES = NAMES.groups_of_the_kernel;
/** Without those that carry numbers. @param {string} field */
const namedKinds = (field) =>
  SETTINGS.fields[field].words.filter((kind) => !SETTINGS.kinds_with_own_numbers.includes(kind));
const wordFor = (name) => LABELS[name] ?? name;
/** torch's words for a border stay. @param {string} menu @param {string} option */
const wordIn = (menu, option) => (menu === "padding_mode" ? option : wordFor(option));
/** @type {Record<string, string[]>} */
const KERNEL_CONTROLS = SETTINGS.controls_of_the_kernel;
const MAX_BYTES = SETTINGS.limits.picture.bytes;
const OF_THE_KERNEL = ["preset", "weight", "turn"]; // they stand together
const ON_A_SLIDER = 16; // cells of an input; a larger one is typed
const MOVED = ["weight", "grad", "bias", "target"]; // sliders do not depend on their numbers
const SIDES = /** @type {const} */ (["control.height", "control.width"]);
const swapped = { in_channels: "out_channels", out_channels: "in_channels" };
/** The geometry's name: a transposed layer swaps in and out. */
const fieldOf = (name, { transposed }) => (transposed ? (swapped[name] ?? name) : name);

/**
 * @param {Model} model @param {string[]} chosen names of groups and of
 *   controls
 * @param {() => HTMLElement} drawSlider @param {Follow} follow
 * @returns {{ primary: HTMLElement[], more: HTMLElement[] }} primary: always visible, in blocks
 */
export function createControls(model, chosen, drawSlider, follow) {
  const makers = makersOf(model, drawSlider, follow);
  /** @type {Part["refresh"][]} */
  const refreshers = [];
  /** @param {string[]} names */
  const make = (names) => {
    const parts = names.flatMap((name) => makers[name]());
    refreshers.push(...parts.map((part) => part.refresh));
    return parts.map((part) => part.el);
  };
  const groups = Object.entries(SETTINGS.controls).map(([group, names]) => {
    const ofKernel = (KERNEL_CONTROLS[group] ?? []).filter((name) => chosen.includes(name));
    const wanted = [...ofKernel, ...names.filter((name) => chosen.includes(group) || chosen.includes(name))];
    return { wanted, title: (ofKernel.length && KERNEL_TITLES[group]) || TITLES[group] };
  });
  const all = groups.flatMap(({ wanted }) => wanted);
  const first = SETTINGS.primary_controls.filter((name) => all.includes(name));
  const isOfKernel = (/** @type {string} */ name) => OF_THE_KERNEL.includes(name);
  const blocks = { kernel: first.filter(isOfKernel), geometry: first.filter((name) => !isOfKernel(name)) };
  const primary = Object.entries(blocks).flatMap(([block, names]) =>
    names.length ? [element(`div.cv-block.cv-block-${block}`, ...make(names))] : [],
  );
  /** @param {(name: string) => boolean} belongs */
  const fieldsets = (belongs) =>
    groups.flatMap(({ wanted, title }) => {
      const names = wanted.filter((name) => !first.includes(name) && belongs(name));
      return names.length ? [element("fieldset.cv-group", element("legend", title), ...make(names))] : [];
    });
  const [common, advanced] = [true, false].map((is) =>
    fieldsets((name) => SETTINGS.more_controls.includes(name) === is),
  );
  let seen = {};
  follow("settings", () => {
    const settings = model.settings();
    const isSame = Object.keys(settings).every((key) => MOVED.includes(key) || settings[key] === seen[key]);
    seen = settings;
    for (const refresh of refreshers) refresh(settings, isSame); // after a refusal, too
  });
  return { primary, more: moreOf(common, advanced) };
}

/**
 * The rarest are folded once more.
 * @param {HTMLElement[]} common @param {HTMLElement[]} advanced @returns {HTMLElement[]}
 */
function moreOf(common, advanced) {
  const folded =
    common.length && advanced.length
      ? [element("details.cv-advanced", element("summary", say("advanced")), ...advanced)]
      : advanced;
  return common.length + folded.length
    ? [
        createPopover(
          "cv-hanging.cv-more-controls",
          element("summary", say("more")),
          element("div.cv-popover", ...common, ...folded),
        ),
      ]
    : [];
}

/** Looks and device stay. @param {Settings} settings @param {string} name @returns {Changed} */
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

/**
 * @typedef {{ el: HTMLElement, refresh: (settings: Settings, isSame: boolean) => void }} Part isSame: all but
 *   what sliders move
 * @returns {Record<string, () => Part[]>}
 */
function makersOf(model, drawSlider, follow) {
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

/**
 * @param {string} name @param {HTMLElement} words @param {HTMLElement} control @param {...HTMLElement}
 *   beside
 */
function labelled(name, words, control, ...beside) {
  explain(words, `help.${name}`);
  return element(`div.cv-control.cv-set-${name}`, element("label", words, control), ...beside);
}

/** Its range may change with every setting. @returns {Part} */
function rangePart(
  model,
  name,
  range,
  get,
  set,
  visible = (settings) => true,
  word = (settings) => wordFor(name),
) {
  const input = element("input", { type: "range", step: "1" });
  const words = element("span");
  const moves = movesOf(input);
  /** @param {number} value */
  const put = (value) =>
    model.change((settings) => set(settings, value), moves(`${name} ${word(model.settings())}`));
  const number = name === "input_size" ? typedSize(model, put) : shownNumber();
  const el = labelled(name, words, input, number.el);
  input.addEventListener("input", () => put(Number(input.value)));
  if (name === "input_size") {
    input.setAttribute("aria-keyshortcuts", "Enter");
    input.addEventListener(
      "keydown",
      ({ key }) => key === "Enter" && number.el.querySelector("input")?.focus(),
    );
  }
  let stands = ""; // where its handle stands: a refused move is taken back
  return {
    el,
    refresh(settings, isSame) {
      if (isSame && input.value === stands) return;
      setHidden(el, !visible(settings));
      if (el.hidden) return;
      const [low, high] = range(settings);
      const value = get(settings);
      const most = name === "input_size" ? Math.max(Math.min(high, ON_A_SLIDER), value) : high;
      const now = { min: String(low), max: String(most), disabled: low === high, value: String(value) };
      for (const [property, value] of Object.entries(now))
        if (input[property] !== value) input[property] = value; // writes cost layout
      stands = input.value;
      number.show(input.value, word(settings), [low, high]);
      setText(words, word(settings));
      explain(words, `help.${name}`, settings.transposed);
    },
  };
}

/** @typedef {{ el: HTMLElement, show: (value: string, name: string, range: Pair) => void }} NumberBeside */

/** @returns {NumberBeside} */
function shownNumber() {
  const el = element("span.cv-number", { "aria-hidden": "true" });
  return { el, show: (value) => setText(el, value) };
}

/**
 * A field for a number, beside its slider.
 * @param {Model} model @param {(value: number) => void} put @returns {NumberBeside}
 */
function typedSize(model, put) {
  // No stop of its own on the way to the cells: Enter on its slider leads into it.
  const field = element("input.cv-number", { type: "text", inputmode: "numeric", tabindex: "-1" });
  const beside = shownNumber(); // the field comes when its slider is in use
  let [shown, ends] = ["", [1, 1]];
  field.addEventListener("focus", () => field.select());
  field.addEventListener("change", () => {
    const value = Number(field.value);
    if (Number.isInteger(value) && value >= ends[0] && value <= ends[1]) put(value);
    else model.say(say("size.typed", { typed: field.value, low: ends[0], high: ends[1] }), true);
    field.value = shown; // what holds
  });
  field.addEventListener("keydown", (event) => event.stopPropagation()); // the board's keys are letters and digits
  return {
    el: element("span.cv-typed", beside.el, field),
    show(value, name, range) {
      [shown, ends] = [value, range];
      beside.show(value, name, range);
      if (field.value !== value) field.value = value;
      field.setAttribute("aria-label", say("size.field", { name }));
    },
  };
}

/** The width's is hidden while linked. @returns {Part} */
function axisPart(model, name, axis) {
  const value = (settings, side) => valueOf(settings.spec, name, side, settings.transposed);
  const matters = (settings) =>
    name !== "output_padding" || (settings.transposed && Math.max(...settings.spec.stride) > 1);
  const together = (settings) => settings.link_axes && value(settings, 0) === value(settings, 1);
  return rangePart(
    model,
    name,
    (s) => boundsOf(s.spec, name, axis, s.link_axes, s.transposed),
    (s) => value(s, axis),
    (s, wanted) => setAxis(s, name, axis, wanted),
    (s) => matters(s) && (axis === 0 || !together(s)),
    (s) => (matters(s) && together(s) ? wordFor(name) : say(SIDES[axis], { name: wordFor(name) })),
  );
}

/** @returns {Part} */
function menuPart(model, name, options, get, set, visible = (settings) => true) {
  const select = element("select");
  const el = labelled(name, element("span", wordFor(name)), select);
  select.addEventListener("change", () => model.change((settings) => set(settings, select.value)));
  let offered = "";
  return {
    el,
    refresh(settings, isSame) {
      const current = get(settings);
      if (isSame && select.value === current) return;
      setHidden(el, !visible(settings));
      const list = typeof options === "function" ? options(settings) : options;
      // Typed numbers or an image are listed while there.
      const all = list.includes(current) ? list : [...list, current];
      if (offered !== all.join()) {
        select.replaceChildren(
          ...all.map((option) => element("option", { value: option }, wordIn(name, option))),
        );
      }
      offered = all.join();
      select.value = current;
    },
  };
}

/** @returns {Part} */
function checkPart(model, name, get, set) {
  const input = element("input", { type: "checkbox" });
  const words = element("span", wordFor(name));
  explain(words, `help.${name}`);
  const el = element(`div.cv-control.cv-check.cv-set-${name}`, element("label", input, words));
  input.addEventListener("change", () => model.change((settings) => set(settings, input.checked)));
  return { el, refresh: (settings) => void (input.checked = get(settings)) };
}

/** @returns {Part} */
function buttonPart(model, name, act, visible) {
  const button = makeButton("cv-step", wordFor(name), () => model.change(act));
  const el = element(`div.cv-control.cv-set-${name}`, button);
  return { el, refresh: (settings) => setHidden(el, !visible(settings)) };
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

/** Disabled without a kernel. @returns {Part} */
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

/** It checks the size first: a larger file ends the connection. @returns {Part} */
function picturePart(model) {
  const input = element("input", { type: "file", accept: "image/png,image/jpeg" });
  const el = element("label.cv-upload", say("upload"), input);
  /** @param {File | undefined} file */
  async function take(file) {
    if (!file) return;
    const most = { most: MAX_BYTES / 1e6, got: Math.ceil(file.size / 1e6) };
    const kernel = model.kernel();
    if (file.size > MAX_BYTES) model.say(say("upload.bytes", most), true);
    else if (kernel) await show(kernel, await file.arrayBuffer());
    else model.say(say("upload.waits"), true); // dropped on a disabled button
  }
  /** @param {Kernel} kernel @param {ArrayBuffer} bytes */
  async function show(kernel, bytes) {
    try {
      const { message } = await kernel.request({ type: "picture" }, [bytes]);
      model.set({ input: message.source });
    } catch (error) {
      model.say(/** @type {Error} */ (error).message, true);
    }
  }
  input.addEventListener("change", async () => {
    await take(input.files?.[0]);
    input.value = ""; // allow the same file again
  });
  el.addEventListener("dragover", (event) => event.preventDefault());
  el.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer?.files[0]);
  });
  return { el, refresh() {} };
}
