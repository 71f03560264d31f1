"""What a user may write, for mypy and pyright: the types of what people call; what ends in "# WRONG" is refused.

It is read by the checkers and never run: see ``browser/test_installed_package.py``.
"""

from pathlib import Path
from typing import assert_type

import torch

import convviz
from convviz.check import BackendReport

x, w = torch.randn(2, 3, 8, 8), torch.randn(4, 3, 3, 3)
spec = convviz.ConvSpec((8, 8), in_channels=3, out_channels=4, stride=2)
assert_type(spec.output_size, tuple[int, int])
assert_type(convviz.conv2d(x, w, stride=2, method="taps"), torch.Tensor)
assert_type(convviz.conv_transpose2d(x, w.transpose(0, 1)), torch.Tensor)
assert_type(convviz.conv2d_input((2, 3, 8, 8), w, x), torch.Tensor)
assert_type(convviz.conv2d_weight(x, (4, 3, 3, 3), x), torch.Tensor)
assert_type(convviz.conv2d_bias(x), torch.Tensor)
assert_type(convviz.linear(x, w), torch.Tensor)
assert_type(convviz.max_pool2d(x, 2, ceil_mode=True), torch.Tensor)
assert_type(convviz.avg_pool2d(x, 2, divisor_override=3), torch.Tensor)
convviz.conv2d(x, w, stride="2")  # WRONG
convviz.conv2d(x, w, strides=2)  # WRONG
convviz.conv2d([1.0], w)  # WRONG

result = convviz.stages(spec, x, w, loss="sum")
assert_type(result, convviz.Stages)
assert_type(result.grad_input, torch.Tensor)
assert_type(result.grad_bias, torch.Tensor | None)
print(result.grad_inputs)  # WRONG
convviz.stages((8, 8), x, w)  # WRONG


def conv2d_weight(input: torch.Tensor, weight_size: torch.Size, grad_output: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError


convviz.check(conv2d_weight, "conv2d_weight")
convviz.check(conv2d_weight, "conv2d_weight", points=3)  # WRONG
convviz.check(conv2d_weight)  # WRONG
assert_type(convviz.grade(conv2d_weight, "conv2d_weight", points=4), float)
report = convviz.report(conv2d_weight, "conv2d_weight", cases="all", time_limit=10)
assert_type(report.passed, bool)
assert_type(convviz.check.backend(torch.nn.functional.conv2d), BackendReport)
assert_type(convviz.exercise(["I10"], seed=7), convviz.Exercise)

layer = convviz.nn.Conv2d(3, 4, 3, stride=2, method="aten")
assert_type(layer.stride, tuple[int, ...])
assert_type(layer.forward(x), torch.Tensor)
convviz.nn.Conv2dShift(3, 4, 3, 2, 1, variant="PS", exponent_range=(-14, 0), bias=False)
convviz.nn.BinaryConv2d(3, 4, 3, 2, ste="clip")
convviz.nn.XNORConv2d(3, 4, 3, scaled=False, padding_mode="reflect")
convviz.nn.Conv2dShift(3, 4, 3, "same")  # WRONG
convviz.nn.BinaryConv2d(3, 4, 3, 1, 0, 1, 1, True, "mirror")  # WRONG
convviz.nn.XNORConv2d(3, 4, 3, scale=False)  # WRONG

assert_type(convviz.graph(x.sum()).nodes[0].label, str)
app = convviz.App(spec, input=x, weight=w)
assert_type(app.grad_input, torch.Tensor)
assert_type(app.link(), str)
app.stride = 2
app.stride = (2, 1)
app.stride = "2"  # WRONG
app.grad_input = x  # WRONG
assert_type(convviz.explain(layer, x), convviz.App)
assert_type(convviz.export_html(app.state(), "page.html"), Path)
assert_type(convviz.lab.RaceSettings().lr, float)
convviz.lab.race(["taps"], epoch=1)  # WRONG
convviz.conv3d(x, w)  # WRONG
