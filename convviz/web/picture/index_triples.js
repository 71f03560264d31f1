// The equations as triples: result += kernel · image.
import { foldsBack, stampedSize } from "./cell_copies.js";
import { axisTaps } from "../rules/taps.js";
import { upTo } from "../rules/shapes_and_indices.js";

/**
 * @typedef {{ result: number, kernel: number, image: number, real: boolean }} Triple rows, or columns;
 *   real: no factor is structurally zero
 * @typedef {"result" | "kernel" | "image"} Part
 * @typedef {{ name: string, axes: Triple[][] } & Record<Part, string>} Rule
 */

/** @param {Geometry} geometry @param {number} axis */
const forward = (geometry, axis) =>
  axisTaps(geometry, axis).map(({ o, k, i, at }) => ({ result: o, kernel: k, image: at, real: i !== null }));

/** @param {Geometry} geometry @param {number} axis */
function toInput(geometry, axis) {
  const [stride, dilation] = [geometry.stride[axis], geometry.dilation[axis]];
  const start = geometry.gradient_padding[axis];
  const last = (geometry.output_size[axis] - 1) * stride;
  /** @param {number} at */
  const isData = (at) => at >= 0 && at <= last && at % stride === 0;
  return upTo(stampedSize(geometry, axis)).flatMap((result) =>
    upTo(geometry.kernel_size[axis]).map((kernel) => {
      const image = result + kernel * dilation;
      return { result, kernel, image, real: isData(image - start) };
    }),
  );
}

/** @param {Geometry} geometry @param {number} axis */
function toWeight(geometry, axis) {
  const stride = geometry.stride[axis];
  const isData = new Map(axisTaps(geometry, axis).map(({ at, i }) => [at, i !== null]));
  const rows = (geometry.output_size[axis] - 1) * stride + 1;
  return upTo(geometry.kernel_size[axis]).flatMap((result) =>
    upTo(rows).map((kernel) => {
      const image = result * geometry.dilation[axis] + kernel;
      return { result, kernel, image, real: kernel % stride === 0 && isData.get(image) === true };
    }),
  );
}

/** @param {Geometry} geometry @returns {Rule[]} */
export function rulesOf(geometry) {
  /** @param {(geometry: Geometry, axis: number) => Triple[]} make */
  const both = (make) => [make(geometry, 0), make(geometry, 1)];
  const gradient = foldsBack(geometry) ? "grad_padded_input" : "grad_input";
  const [padded, dilated] = ["padded_grad_output", "dilated_grad_output"];
  return [
    { name: "forward", result: "output", kernel: "weight", image: "padded_input", axes: both(forward) },
    { name: "input", result: gradient, kernel: "rotated_weight", image: padded, axes: both(toInput) },
    { name: "weight", result: "grad_weight", kernel: dilated, image: "padded_input", axes: both(toWeight) },
  ];
}

/** @param {Rule} rule @param {Part} part @param {Place} cell */
export function triplesAt(rule, part, cell) {
  const rows = rule.axes[0].filter((triple) => triple[part] === cell.row);
  const columns = rule.axes[1].filter((triple) => triple[part] === cell.column);
  return rows.flatMap((row) =>
    columns.map((column) => {
      /** @param {Part} name */
      const at = (name) => ({ panel: rule[name], row: row[name], column: column[name] });
      return {
        result: at("result"),
        kernel: at("kernel"),
        image: at("image"),
        real: row.real && column.real,
      };
    }),
  );
}
