"""A call in somebody's check: what its arguments ask for, as a case, and a result as that caller's kind of array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from convviz.cases.battery import Case, make_case
from convviz.cases.tasks import GEOMETRY, Task
from convviz.geometry.spec import ConvSpec
from convviz.ops.pooling import pool_spec

IMAGES = ("input", "grad_output", "output", "grad_input")  # with a batch axis, or without one


class Numbers:
    """The arguments of one call, torch's tensors, NumPy's arrays or lists among them, and what the answer is like."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        images = [given[name] for name in ("grad_output", "input") if name in given]
        self.like = [*images, *(given[name] for name in ("weight",) if name in given)][0]
        self.is_alone = bool(images) and len(np.shape(images[0])) == 3

    def tensor(self, name: str) -> torch.Tensor | None:
        """Return an argument in float64, ``[N, C, H, W]`` if it is of images; None where there is none."""
        value = self.given.get(name)
        if value is None:
            return None
        tensor = value.detach().cpu() if isinstance(value, torch.Tensor) else torch.from_numpy(np.array(value))
        tensor = tensor.double()
        return tensor[None] if self.is_alone and name in IMAGES else tensor

    def size(self, name: str) -> Sequence[int]:
        """Return a shape that is an argument by itself, with its batch axis."""
        sizes = [int(cells) for cells in self.given[name]]
        return [1, *sizes] if len(sizes) == 3 and name == "input_size" else sizes

    def plain(self, name: str) -> Any:
        """Return a part of the geometry as torch takes it; a list or tuple of one stands for both axes."""
        value = self.given.get(name, int(name in ("stride", "dilation", "groups")))
        if isinstance(value, (list, tuple)):
            cells = tuple(int(part) for part in value)
            return cells[0] if len(cells) == 1 else cells
        return value if isinstance(value, str) else int(value)


def case_of(task: Task, numbers: Numbers) -> Case:
    """Return the case that somebody's call asks for.

    Raises:
        ValueError: its shapes are those of no convolution.
    """
    if task.pooling:
        return _pooled(task, numbers)
    given = {name: numbers.tensor(name) for name in ("grad_output", "input", "weight", "bias")}
    if task.name.startswith("linear"):
        given |= {name: None if (it := given[name]) is None else it[..., None, None] for name in list(given)[:3]}
    if task.is_transposed:
        sent, input, bias = (given[name] for name in ("input", "grad_output", "bias"))
        given = {"grad_output": sent, "input": input, "weight": given["weight"], "transposed_bias": bias}
    spec = _spec(task, numbers, given)
    shapes = {
        "input": spec.input_shape, "weight": spec.weight_shape, "bias": (spec.out_channels,),
        "grad_output": spec.output_shape, "transposed_bias": (spec.in_channels,),
    }  # fmt: skip
    none = torch.zeros((), dtype=torch.float64)
    tensors = {name: none.expand(shape) if (it := given.get(name)) is None else it for name, shape in shapes.items()}
    return Case("asked", spec, rule=task.rule, **tensors)  # type: ignore[arg-type]  # five tensors


def _pooled(task: Task, numbers: Numbers) -> Case:
    """Return the case that a call of a pooling asks for; a stride of None is as large as the window."""
    images, given = numbers.tensor("input"), numbers.given
    assert images is not None  # each such task takes it
    kernel, is_ceil = numbers.plain("kernel_size"), bool(given["ceil_mode"])
    stride = kernel if given["stride"] is None else numbers.plain("stride")
    geometry = pool_spec(images.shape, kernel, stride, numbers.plain("padding"), numbers.plain("dilation"), is_ceil)
    spec = geometry.replace(groups=1, batch=images.shape[0])
    case = make_case("asked", spec, 0, task.rule if given.get("count_include_pad", True) else "average inside")
    sent = numbers.tensor("grad_output")
    case = case.with_tensor("input", images)
    return case if sent is None else case.with_tensor("grad_output", sent)


def given_back(result: torch.Tensor, name: str, numbers: Numbers) -> Any:
    """Return a result as the caller's kind of array, in the caller's dtype; None for the gradient of no bias."""
    if name == "grad_bias" and "bias" in numbers.given and numbers.given["bias"] is None:
        return None
    if numbers.is_alone and name in IMAGES and result.dim() == 4:
        result = result[0]
    like = numbers.like
    if isinstance(like, torch.Tensor):
        return result.to(like.device, like.dtype if like.is_floating_point() else result.dtype, copy=True)
    array = result.numpy().copy()
    return array.astype(like.dtype) if isinstance(like, np.ndarray) and like.dtype.kind == "f" else array


def _spec(task: Task, numbers: Numbers, given: Mapping[str, torch.Tensor | None]) -> ConvSpec:
    sent, input, weight = (given.get(name) for name in ("grad_output", "input", "weight"))
    if task.results == ("grad_bias",):
        summed = input if task.is_transposed else sent
        assert summed is not None  # the task has no other argument
        channels = (summed.shape[1], 1) if task.is_transposed else (1, summed.shape[1])
        return ConvSpec(tuple(summed.shape[-2:]), *channels, 1, batch=summed.shape[0])
    kernel = list(weight.shape) if weight is not None else numbers.size("weight_size")
    groups = numbers.plain("groups")
    if task.is_transposed and input is None:  # what comes out is as large as output_padding says
        assert sent is not None  # it is the argument named input
        assert weight is not None
        geometry = {name: numbers.plain(name) for name in (*GEOMETRY[:4], "output_padding")}
        images = list(F.conv_transpose2d(sent.to("meta"), weight.to("meta"), **geometry).shape)
    else:
        images = list(input.shape) if input is not None else list(numbers.size("input_size"))
    geometry = {name: numbers.plain(name) for name in ("stride", "padding", "dilation")}
    geometry |= {"groups": groups, "padding_mode": numbers.given.get("padding_mode", "zeros"), "batch": images[0]}
    return ConvSpec(tuple(images[-2:]), images[1], kernel[0], tuple(kernel[-2:]), **geometry)
