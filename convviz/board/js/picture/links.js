// @ts-check
// Which cells belong together: what a cell depends on, and what depends on it. All of it follows from the taps.
import { axisTaps, sourceOf } from "../rules/taps.js";

/** @import { Geometry, Pair } from "../rules/spec.js" */

/**
 * One row of the picture: each cell of the result is a sum of kernel times image, over these triples of rows.
 * `real` is false where a factor is zero by construction: padding, a zero that the stride inserted, the remainder.
 * @typedef {{ result: number, kernel: number, image: number, real: boolean }} Triple
 * @typedef {"result" | "kernel" | "image"} Part
 * @typedef {{ name: string, axes: Triple[][] } & Record<Part, string>} Rule
 * @typedef {{ panel: string, row: number, column: number }} Cell
 * @typedef {Cell & { real: boolean, kernel: Cell | null }} Link the kernel cell says in which colour
 */

/** @param {number} count */
const upTo = (count) => [...Array(count).keys()];

/**
 * The three equations as triples of rows, one list an axis.
 * @param {Geometry} geometry @returns {Rule[]}
 */
function rulesOf(geometry) {
  const folds = geometry.padding_mode !== "zeros";
  /** @param {(axis: number) => Triple[]} make */
  const both = (make) => [make(0), make(1)];
  const forward = both((axis) =>
    axisTaps(geometry, axis).map(({ o, k, i, at }) => ({
      result: o,
      kernel: k,
      image: at,
      real: i !== null,
    })),
  );
  const toInput = both((axis) => {
    const [kernel, stride, dilation] = [
      geometry.kernel_size[axis],
      geometry.stride[axis],
      geometry.dilation[axis],
    ];
    const start = geometry.gradient_padding[axis];
    const rows =
      geometry.input_size[axis] + (folds ? geometry.padding[axis][0] + geometry.padding[axis][1] : 0);
    const last = (geometry.output_size[axis] - 1) * stride;
    /** @param {number} at */
    const isData = (at) => at >= 0 && at <= last && at % stride === 0;
    return upTo(rows).flatMap((result) =>
      upTo(kernel).map((k) => {
        const image = result + k * dilation;
        return { result, kernel: k, image, real: isData(image - start) };
      }),
    );
  });
  const toWeight = both((axis) => {
    const stride = geometry.stride[axis];
    const seen = new Map(axisTaps(geometry, axis).map(({ at, i }) => [at, i !== null]));
    const rows = (geometry.output_size[axis] - 1) * stride + 1;
    return upTo(geometry.kernel_size[axis]).flatMap((result) =>
      upTo(rows).map((kernel) => {
        const image = result * geometry.dilation[axis] + kernel;
        return { result, kernel, image, real: kernel % stride === 0 && seen.get(image) === true };
      }),
    );
  });
  const gradient = folds ? "grad_padded_input" : "grad_input";
  return [
    { name: "forward", result: "output", kernel: "weight", image: "padded_input", axes: forward },
    { name: "input", result: gradient, kernel: "rotated_weight", image: "padded_grad_output", axes: toInput },
    {
      name: "weight",
      result: "grad_weight",
      kernel: "dilated_grad_output",
      image: "padded_input",
      axes: toWeight,
    },
  ];
}

/** @param {Rule} rule @param {Part} part @param {Cell} cell */
function* triplesAt(rule, part, cell) {
  const columns = rule.axes[1].filter((triple) => triple[part] === cell.column);
  for (const row of rule.axes[0]) {
    if (row[part] !== cell.row) continue;
    for (const column of columns) {
      /** @param {Part} name */
      const at = (name) => ({ panel: rule[name], row: row[name], column: column[name] });
      yield { result: at("result"), kernel: at("kernel"), image: at("image"), real: row.real && column.real };
    }
  }
}

/**
 * Everything that can be asked about the cells of one geometry.
 * @param {Geometry} geometry
 */
export function createLinks(geometry) {
  const rules = rulesOf(geometry);
  const lastOfPadded = rules[1].axes.map((triples) => Math.max(...triples.map(({ image }) => image)));
  const folds = geometry.padding_mode !== "zeros";
  const {
    stride,
    kernel_size: kernel,
    output_size: output,
    input_size: size,
    gradient_padding: start,
  } = geometry;
  const padding = geometry.padding.map((sides) => sides[0]);

  /** The same number in other panels. @param {Cell} cell @returns {Cell[]} */
  function copies(cell) {
    const { panel, row, column } = cell;
    if (panel === "weight" || panel === "rotated_weight") {
      const other = panel === "weight" ? "rotated_weight" : "weight";
      return [{ panel: other, row: kernel[0] - 1 - row, column: kernel[1] - 1 - column }];
    }
    if (panel === "input")
      return [{ panel: "padded_input", row: row + padding[0], column: column + padding[1] }];
    if (panel === "padded_input" && geometry.transposed) {
      const from = sourceCell(cell);
      return from ? [{ panel: "input", ...from }] : [];
    }
    if (panel === "padded_input" && folds) {
      const from = sourceCell(cell);
      return cellsCopying(from).filter((copy) => copy.row !== row || copy.column !== column);
    }
    const o = outputCell(cell);
    if (!o) return [];
    return [
      { panel: "grad_output", row: o.row, column: o.column },
      { panel: "dilated_grad_output", row: o.row * stride[0], column: o.column * stride[1] },
      {
        panel: "padded_grad_output",
        row: start[0] + o.row * stride[0],
        column: start[1] + o.column * stride[1],
      },
    ].filter((copy) => copy.panel !== panel && (copy.panel !== "padded_grad_output" || notCropped(copy)));
  }

  /** Whether a cell of padded_grad_output is there: negative padding crops it. @param {Cell} cell */
  function notCropped({ row, column }) {
    return [row, column].every((at, axis) => at >= 0 && at <= lastOfPadded[axis]);
  }

  /** The output cell whose gradient stands here; null for an inserted zero or padding. @param {Cell} cell */
  function outputCell({ panel, row, column }) {
    /** @type {Record<string, Pair | null>} */
    const offsets = { grad_output: null, dilated_grad_output: [0, 0], padded_grad_output: start };
    const offset = offsets[panel];
    if (offset === undefined) return null;
    if (offset === null) return { row, column };
    const place = [row, column].map((at, axis) => (at - offset[axis]) / stride[axis]);
    const inside = place.every((at, axis) => Number.isInteger(at) && at >= 0 && at < output[axis]);
    return inside ? { row: place[0], column: place[1] } : null;
  }

  /** The input cell that a cell of the padded input is a copy of. @param {{ row: number, column: number }} cell */
  function sourceCell({ row, column }) {
    const at = [row, column].map((place, axis) =>
      sourceOf(place - padding[axis], size[axis], geometry.padding_mode),
    );
    return at[0] === null || at[1] === null ? null : { row: at[0], column: at[1] };
  }

  /** All cells of the padded input that are copies of one input cell, itself included. @param {{ row: number, column: number } | null} from */
  function cellsCopying(from, panel = "padded_input") {
    if (!from) return [];
    const rows = [from.row, from.column].map((place, axis) =>
      upTo(size[axis] + geometry.padding[axis][0] + geometry.padding[axis][1]).filter(
        (at) => sourceOf(at - padding[axis], size[axis], geometry.padding_mode) === place,
      ),
    );
    return rows[0].flatMap((row) => rows[1].map((column) => ({ panel, row, column })));
  }

  /** The cells whose sums together are this cell: for a folded border all copies, else itself. @param {Cell} cell */
  function results(cell) {
    return cell.panel === "grad_input" && folds ? cellsCopying(cell, "grad_padded_input") : [cell];
  }

  /** The products that add up to a cell, without those that are zero by construction. @param {Cell} cell */
  function terms(cell) {
    const rule = rules.find((each) => each.result === results(cell)[0]?.panel);
    return rule
      ? results(cell)
          .flatMap((each) => [...triplesAt(rule, "result", each)])
          .filter(({ real }) => real)
      : [];
  }

  /**
   * Every cell that this one depends on, and every cell that depends on it.
   * @param {Cell} cell @returns {Link[]}
   */
  function of(cell) {
    /** @type {Map<string, Link>} */
    const found = new Map();
    /** @param {Cell} other @param {boolean} real @param {Cell | null} kernelCell */
    const add = (other, real, kernelCell) => {
      const key = `${other.panel} ${other.row},${other.column}`;
      const known = found.get(key);
      if (!known || (real && !known.real)) found.set(key, { ...other, real, kernel: kernelCell });
    };
    /** @param {Cell} other @param {boolean} real @param {Cell | null} kernelCell */
    const addWithCopies = (other, real, kernelCell) => {
      add(other, real, kernelCell);
      if (!real) return;
      if (other.panel !== "padded_input" || geometry.transposed)
        copies(other).forEach((copy) => add(copy, true, kernelCell));
      else if (folds) {
        const from = sourceCell(other); // not all other copies: the cell itself is what the border shows
        if (from)
          add(
            { panel: "padded_input", row: from.row + padding[0], column: from.column + padding[1] },
            true,
            kernelCell,
          );
      }
      if (other.panel === "grad_padded_input") {
        const to = sourceCell(other);
        if (to) add({ panel: "grad_input", ...to }, true, kernelCell);
      }
    };
    const same = [cell, ...copies(cell)];
    pairsOf(same).forEach((pair) => addWithCopies(pair, true, null));
    copies(cell).forEach((copy) => add(copy, true, null));
    if (cell.panel === "grad_input" && folds) results(cell).forEach((each) => add(each, true, null));
    if (cell.panel === "grad_padded_input") {
      const to = sourceCell(cell);
      if (to) add({ panel: "grad_input", ...to }, true, null);
    }
    for (const rule of rules) {
      for (const start of same.flatMap(results)) {
        for (const part of /** @type {Part[]} */ (["result", "kernel", "image"])) {
          if (rule[part] !== start.panel) continue;
          for (const { result, kernel: factor, image, real } of triplesAt(rule, part, start)) {
            if (part !== "result") addWithCopies(result, real, factor);
            else for (const other of [factor, image]) addWithCopies(other, real, factor);
          }
        }
      }
    }
    sumsOverAll(cell).forEach((other) => addWithCopies(other, true, null));
    found.delete(`${cell.panel} ${cell.row},${cell.column}`);
    return [...found.values()];
  }

  /**
   * Output, its target and its gradient, cell by cell: what went forward, what it should be, and what comes back for it.
   * @param {Cell[]} cells the same number in several panels @returns {Cell[]}
   */
  function pairsOf(cells) {
    const layer = geometry.transposed
      ? ["grad_input", "target", "input"]
      : ["output", "target", "grad_output"];
    const here = cells.find(({ panel }) => layer.includes(panel));
    return here ? layer.filter((panel) => panel !== here.panel).map((panel) => ({ ...here, panel })) : [];
  }

  /** The bias is in every output cell of its channel, and its gradient is the sum of theirs. @param {Cell} cell @returns {Cell[]} */
  function sumsOverAll(cell) {
    const channel = geometry.transposed ? geometry.plane.c : geometry.plane.o;
    const [rows, columns] = geometry.transposed ? size : output;
    /** @param {string} panel */
    const all = (panel) =>
      upTo(rows).flatMap((row) => upTo(columns).map((column) => ({ panel, row, column })));
    if (geometry.transposed) {
      // its output is what the convolution that it reads the other way calls grad_input
      if (cell.panel === "grad_input") return [{ panel: "bias", row: 0, column: channel }];
      if (cell.panel === "bias" && cell.column === channel) return all("grad_input");
      if (cell.panel === "grad_bias" && cell.column === channel) return all("input");
      const isInput = cell.panel === "input" || (cell.panel === "padded_input" && sourceCell(cell));
      return isInput ? [{ panel: "grad_bias", row: 0, column: channel }] : [];
    }
    if (cell.panel === "output") return [{ panel: "bias", row: 0, column: channel }];
    if (cell.panel === "bias" && cell.column === channel) return all("output");
    if (cell.panel === "grad_bias" && cell.column === channel) return all("grad_output");
    return outputCell(cell) ? [{ panel: "grad_bias", row: 0, column: channel }] : [];
  }

  /** Where the number of a cell stands in another panel. @param {string} panel @param {Cell} cell */
  const copyIn = (panel, cell) => [cell, ...copies(cell)].find((copy) => copy.panel === panel);

  /** The gradient of the pixel that stands in a cell of padded_input; null on a padding zero. @param {Cell} cell @returns {Cell | null} */
  function gradientOf(cell) {
    const from = sourceCell(cell);
    return from && { panel: "grad_input", ...from };
  }

  /**
   * The pairs of planes whose products a cell adds up, as [kernel's plane, image's plane].
   * @param {string} panel of the result
   * @param {boolean} stamps whether the kernel of the input's gradient is the weight itself, not the rotated one
   * @returns {[number[], number[]][]}
   */
  function planes(panel, stamps) {
    const { n, o, c } = geometry.plane;
    const [inputs, outputs] = [
      geometry.in_channels / geometry.groups,
      geometry.out_channels / geometry.groups,
    ];
    if (panel === "output") {
      const first = Math.floor(o / outputs) * inputs;
      return upTo(inputs).map((j) => [
        [o, j],
        [n, first + j],
      ]);
    }
    if (panel === "grad_weight")
      return upTo(geometry.batch).map((sample) => [
        [sample, o],
        [sample, c],
      ]);
    const first = Math.floor(c / inputs) * outputs;
    return upTo(outputs).map((j) => [stamps ? [first + j, c % inputs] : [c, j], [n, first + j]]);
  }

  /** Whether stamps of one channel lie over each other anywhere. */
  const overlap = () =>
    rules[1].axes.some((triples) => {
      const reached = triples.filter(({ real }) => real).map(({ result }) => result);
      return new Set(reached).size < reached.length;
    });

  return { geometry, of, terms, results, copyIn, gradientOf, planes, overlap };
}
