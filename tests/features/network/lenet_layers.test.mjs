// Layers of the page's LeNet: gradients against finite differences, and what they do where torch has a rule of its own.
import assert from "node:assert/strict";
import test from "node:test";

import { conv2d, flatten, linear, maxPool2d, relu } from "../../../convviz/features/network/lenet_layers.js";
import { drawer } from "../../js/conv_by_definition.mjs";

const draw = drawer(1);
const countOf = (shape) => shape.reduce((product, size) => product * size, 1);
const some = (shape) => ({
  shape,
  data: Float64Array.from({ length: countOf(shape) }, () => draw([...Array(2001).keys()]) / 1000 - 1),
});
/** No two alike, none near 0: a step crosses no kink. */
const apart = (shape) => ({
  shape,
  data: Float64Array.from({ length: countOf(shape) }, (_, at) => ((at * 37) % 97) / 48.5 - 1),
});
const spec = (more) => ({
  version: 1,
  input_size: [7, 6],
  in_channels: 2,
  out_channels: 3,
  kernel_size: [3, 2],
  stride: [2, 1],
  padding: [
    [1, 1],
    [0, 0],
  ],
  dilation: [1, 1],
  groups: 1,
  padding_mode: "zeros",
  batch: 1,
  ...more,
});
const UNPADDED = {
  padding: [
    [0, 0],
    [0, 0],
  ],
};
const dot = (one, other) => one.data.reduce((sum, value, at) => sum + value * other.data[at], 0);

/** By what each number of a tensor changes in the output, weighted by a gradient. */
function differences(tensor, value) {
  const step = 1e-5;
  return Array.from(tensor.data, (there, at) => {
    const [more, less] = [step, -step].map((by) => {
      tensor.data[at] = there + by;
      return value();
    });
    tensor.data[at] = there;
    return (more - less) / (2 * step);
  });
}

function near(found, expected, what) {
  assert.equal(found.data.length, expected.length, what);
  expected.forEach((number, at) => {
    assert.ok(Math.abs(found.data[at] - number) < 1e-8, `${what} ${at}: ${found.data[at]}, not ${number}`);
  });
}

test("each layer sends back what finite differences find", () => {
  const [weight, bias] = [some([3, 2, 3, 2]), some([3])];
  const cases = {
    conv2d: [conv2d(spec(), weight, bias), [1, 2, 7, 6]],
    max_pool2d: [
      maxPool2d(spec({ ...UNPADDED, out_channels: 2, kernel_size: [3, 3], stride: [2, 1] })),
      [1, 2, 7, 6],
    ],
    relu: [relu([1, 2, 3, 3]), [1, 2, 3, 3]],
    flatten: [flatten([1, 2, 3, 3]), [1, 2, 3, 3]],
    linear: [linear(some([4, 6]), some([4])), [1, 6]],
  };
  for (const [name, [layer, shape]] of Object.entries(cases)) {
    const [input, grad] = [apart(shape), some(layer.shape)];
    const value = () => dot(layer.forward(input), grad);
    assert.deepEqual(layer.forward(input).shape, layer.shape, name);
    assert.deepEqual(layer.backward(grad, input).shape, shape, name);
    near(layer.backward(grad, input), differences(input, value), `${name} input`);
    if (!layer.weight) continue;
    near(layer.toWeight(grad, input), differences(layer.weight, value), `${name} weight`);
    near(layer.toBias(grad), differences(layer.bias, value), `${name} bias`);
  }
});

test("a ReLU passes nothing on where its input is 0, and a pooling gives all to the first of equal cells", () => {
  const input = { shape: [1, 1, 2, 2], data: Float64Array.of(0, 5, 5, -1) };
  const one = { shape: [1, 1, 1, 1], data: Float64Array.of(3) };
  const pool = maxPool2d(
    spec({ ...UNPADDED, input_size: [2, 2], in_channels: 1, out_channels: 1, kernel_size: [2, 2] }),
  );
  assert.deepEqual([...pool.backward(one, input).data], [0, 3, 0, 0]);
  const ones = { shape: input.shape, data: Float64Array.of(1, 1, 1, 1) };
  assert.deepEqual([...relu(input.shape).backward(ones, input).data], [0, 1, 1, 0]);
});
