// What the board gets: structure, and values of a step.
import PICTURE from "../../facts/data/picture.json" with { type: "json" };
import { axisWord, cellWords, productsOf } from "../rules/tensor_display_names.js";
import { isSingleOne } from "../rules/change_settings.js";
import { gesturesOn } from "../rules/edit_cells.js";
import { isPanel, panelsOf } from "./panels.js";
import { eachCell, planeOf } from "../rules/shapes_and_indices.js";
import { planeIndex } from "../rules/shown_plane.js";
import { gradSource } from "../rules/grad_output_source.js";
import { roundHalfEven } from "../rules/torch_random.js";
import { scaleEnds, isGradient, quantityOf } from "./colour_scales.js";
import { say } from "./sentences.js";

const THUMB = 16; // rows and columns at most
const SHADES = PICTURE.figure.shades;

/**
 * @import { Panel, Sign } from "./panels.js"
 * @typedef {ReturnType<typeof itemOf> & { turns?: undefined }} PanelItem
 * @typedef {PanelItem | (Sign & { key?: undefined })} RowItem what stands in a row
 * @typedef {{ light: Hues, dark: Hues }} Colorscales
 */

/** @param {Settings} settings @param {Equation[]} equations @param {Colorscales} colorscales */
export function boardStructure(settings, equations, colorscales) {
  const { plane, scale, transposed } = settings;
  const gesturesOf = gesturesOn(settings);
  return {
    colorscales,
    cell_words: cellWords(transposed),
    equations: equations.map((equation) => ({
      name: equation.name,
      title: equation.title,
      scale,
      view: equation.view,
      sent_back: equation.name === "forward" && !transposed ? gradSource(settings) : null,
      items: equation.items.map((item) =>
        isPanel(item) ? itemOf(equation.name, item, settings, gesturesOf, colorscales) : item,
      ),
      choices: equation.choices.map(([axis, count]) => ({
        axis,
        word: axisWord(axis, transposed),
        count,
        value: planeIndex(plane, axis),
      })),
    })),
  };
}

/**
 * @param {string} equation @param {Panel} panel @param {Settings} settings
 * @param {ReturnType<typeof gesturesOn>} gesturesOf @param {Colorscales} colorscales
 */
function itemOf(equation, panel, settings, gesturesOf, colorscales) {
  const { transposed } = settings;
  return {
    key: `${equation}:${panel.name}`,
    name: panel.name,
    called: panel.called,
    quantity: quantityOf(panel.called),
    gradient: isGradient(panel.called),
    label: panel.label,
    products: productsOf(panel.name, transposed),
    shape: `[${panel.shape.join(", ")}]`,
    at: panel.at,
    ...panel.roles,
    words: cellWords(transposed),
    ...gesturesOf(panel.name),
    single: panel.called === "grad_output" && isSingleOne(settings),
    figure: figureOf(panel, colorscales),
    thumbs: planeCount(panel) > 1 ? thumbsOf(panel) : null,
  };
}

/** @param {Equation[]} equations @param {Stages} stages @param {Settings} settings */
export function boardValues(equations, stages, settings, dtype = "float64") {
  // JavaScript has no bfloat16.
  const Kind = dtype === "float64" ? Float64Array : Float32Array;
  /** @type {[Record<string, Float64Array | Float32Array>, Record<string, Float64Array | Float32Array>]} */
  const [planes, thumbs] = [{}, {}];
  for (const panel of equations.flatMap(panelsOf)) {
    planes[panel.name] ??= Kind.from(planeOf(panel.tensor, panel.at));
    if (planeCount(panel) > 1) thumbs[panel.name] ??= Kind.from(thinnedOut(panel));
  }
  return {
    dtype: dtype === "float64" ? dtype : "float32",
    limits: scaleEnds(equations, stages, settings),
    planes,
    thumbs,
  };
}

/** @param {Panel} panel */
const planeCount = ({ tensor }) => tensor.shape[0] * tensor.shape[1];

/** @param {Panel} panel */
const thumbSize = ({ tensor }) => tensor.shape.slice(2).map((size) => Math.min(size, THUMB));

/** The largest of each block: every other cell may be an inserted zero. @param {Panel} panel */
function thinnedOut(panel) {
  const [height, width] = panel.tensor.shape.slice(2);
  const [rows, columns] = thumbSize(panel);
  const thin = new Float64Array(planeCount(panel) * rows * columns);
  panel.tensor.data.forEach((value, at) => {
    const row = Math.floor((Math.floor(at / width) * rows) / height); // counted through all planes
    const place = row * columns + Math.floor(((at % width) * columns) / width);
    if (!(Math.abs(value) <= Math.abs(thin[place]))) thin[place] = value;
  });
  return thin;
}

/** @param {Panel} panel */
function thumbsOf(panel) {
  const [first, second] = panel.tensor.shape;
  const [rows, columns] = thumbSize(panel);
  const planes = eachCell(first, second, (n, c) => ({
    label: `${panel.called}[${n}, ${c}]`,
    at: [n, c],
    shown: n === panel.at[0] && c === panel.at[1],
  }));
  return { rows, columns, planes };
}

/**
 * As plotly's JSON without numbers: views/figures.py.
 * @param {Panel} panel @param {Colorscales} colorscales
 */
function figureOf({ called, label, roles, shape, tensor }, colorscales) {
  const [rows, columns] = tensor.shape.slice(2);
  const { cell, most, least, beside, above } = PICTURE.figure.sides;
  const side = Math.max(Math.min(cell * Math.max(rows, columns), most), least) / Math.max(rows, columns);
  const axis = { ...PICTURE.figure.axis, dtick: rows <= 16 ? 1 : 8 };
  const hover = say("figure.cell", { name: called, row: "%{y}", column: "%{x}", value: "%{z}" });
  const trace = {
    ...PICTURE.figure.trace,
    name: called,
    colorscale: colorscales.light[quantityOf(called)],
    hovertemplate: `${hover}<extra></extra>`,
  };
  const layout = {
    ...PICTURE.figure.layout,
    title: { ...PICTURE.figure.title, text: say("figure.title", { label, shape: shape.join(", ") }) },
    width: roundHalfEven(side * columns) + beside,
    height: roundHalfEven(side * rows) + above,
    xaxis: { ...axis, range: [-0.5, columns - 0.5] },
    yaxis: { ...axis, range: [rows - 0.5, -0.5], scaleanchor: "x" },
    shapes: [
      ...bandsOf(roles.rows, roles.unread_rows, "y"),
      ...bandsOf(roles.columns, roles.unread_columns, "x"),
    ],
  };
  return { data: [trace], layout };
}

/** @param {string} letters @param {number[]} unread @param {"x" | "y"} along */
function bandsOf(letters, unread, along) {
  return [...letters].flatMap((letter, index) => {
    const kind = /** @type {keyof typeof SHADES | "d"} */ (
      letter !== "i" && unread.includes(index) ? "unread" : letter
    );
    if (kind === "d") return [];
    return [
      {
        ...PICTURE.figure.bands[along],
        [`${along}0`]: index - 0.5,
        [`${along}1`]: index + 0.5,
        fillcolor: SHADES[kind],
      },
    ];
  });
}
