"""What a caller asks of a function: the geometry and the numbers read from its arguments, and answers of their kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from convviz.check.battery import Case
from convviz.check.tasks import Task
from convviz.geometry.spec import ConvSpec

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

    def pair(self, name: str) -> tuple[int, int]:
        """Return the same as two numbers."""
        value = self.plain(name)
        return (value, value) if isinstance(value, int) else value


def case_of(task: Task, numbers: Numbers) -> Case:
    """Return the case that somebody's call asks for.

    Raises:
        ValueError: its shapes are those of no convolution.
    """
    given = {name: numbers.tensor(name) for name in ("grad_output", "input", "weight", "bias")}
    if task.name.startswith("linear"):
        given |= {name: None if (it := given[name]) is None else it[..., None, None] for name in list(given)[:3]}
    if task.name == "conv_transpose2d":
        given = {"grad_output": given["input"], "weight": given["weight"], "transposed_bias": given["bias"]}
    spec = _spec(task, numbers, given)
    shapes = {
        "input": spec.input_shape, "weight": spec.weight_shape, "bias": (spec.out_channels,),
        "grad_output": spec.output_shape, "transposed_bias": (spec.in_channels,),
    }  # fmt: skip
    none = torch.zeros((), dtype=torch.float64)
    tensors = {name: none.expand(shape) if (it := given.get(name)) is None else it for name, shape in shapes.items()}
    return Case("asked", spec, quantised=task.quantised, **tensors)


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
    if task.name == "conv2d_bias":
        assert sent is not None  # the task has no other argument
        return ConvSpec(tuple(sent.shape[-2:]), 1, sent.shape[1], 1, batch=sent.shape[0])
    kernel = list(weight.shape) if weight is not None else numbers.size("weight_size")
    groups = numbers.plain("groups")
    if task.name == "conv_transpose2d":
        assert sent is not None  # it is the argument named input
        axes = map(numbers.pair, ("stride", "padding", "dilation", "output_padding"))
        size = [
            (cells - 1) * step - 2 * around + gap * (taps - 1) + 1 + more
            for cells, taps, step, around, gap, more in zip(sent.shape[-2:], kernel[-2:], *axes, strict=True)
        ]
        images = [sent.shape[0], kernel[1] * groups, *size]
    else:
        images = list(input.shape) if input is not None else list(numbers.size("input_size"))
    geometry = {name: numbers.plain(name) for name in ("stride", "padding", "dilation")}
    geometry |= {"groups": groups, "padding_mode": numbers.given.get("padding_mode", "zeros"), "batch": images[0]}
    return ConvSpec(tuple(images[-2:]), images[1], kernel[0], tuple(kernel[-2:]), **geometry)
