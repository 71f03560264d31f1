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
    """The arguments of one call: tensors in float64, and what the answer has to look like.

    Args:
        given: argument → value, torch's tensors, NumPy's arrays or lists among them.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        arrays = [given[name] for name in ("grad_output", "input", "weight") if name in given]
        self.first = arrays[0]
        images = [given[name] for name in ("grad_output", "input") if name in given]
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


def case_of(task: Task, numbers: Numbers) -> Case:
    """Return the case that somebody's call asks for.

    Raises:
        ValueError: its shapes are those of no convolution.
    """
    sent, input, weight = (numbers.tensor(name) for name in ("grad_output", "input", "weight"))
    if task.name.startswith("linear"):
        sent, input, weight = (_as_cells(tensor) for tensor in (sent, input, weight))
    if task.name == "conv_transpose2d":
        sent, input = input, None
    spec = _spec(task, numbers, sent, input, weight)
    bias = numbers.tensor("bias")
    one = torch.zeros((), dtype=torch.float64)

    def or_zeros(tensor: torch.Tensor | None, *shape: int) -> torch.Tensor:
        return one.expand(shape) if tensor is None else tensor

    is_transposed = task.name == "conv_transpose2d"
    return Case(
        "asked",
        spec,
        or_zeros(input, *spec.input_shape),
        or_zeros(weight, *spec.weight_shape),
        or_zeros(None if is_transposed else bias, spec.out_channels),
        or_zeros(sent, *spec.output_shape),
        or_zeros(bias if is_transposed else None, spec.in_channels),
        task.quantised,
    )


def given_back(result: torch.Tensor, name: str, numbers: Numbers) -> Any:
    """Return a result as the caller's kind of array, in the caller's dtype; None for the gradient of no bias."""
    if name == "grad_bias" and "bias" in numbers.given and numbers.given["bias"] is None:
        return None
    if numbers.is_alone and name in IMAGES and result.dim() == 4:
        result = result[0]
    like = numbers.first
    if isinstance(like, torch.Tensor):
        return result.to(like.device, like.dtype if like.is_floating_point() else result.dtype, copy=True)
    array = result.numpy().copy()
    return array.astype(like.dtype) if isinstance(like, np.ndarray) and like.dtype.kind == "f" else array


def _as_cells(tensor: torch.Tensor | None) -> torch.Tensor | None:
    return None if tensor is None else tensor[..., None, None]


def _spec(
    task: Task,
    numbers: Numbers,
    sent: torch.Tensor | None,
    input: torch.Tensor | None,
    weight: torch.Tensor | None,
) -> ConvSpec:
    given = numbers.given
    if task.name == "conv2d_bias":
        assert sent is not None  # the task has no other argument
        return ConvSpec(tuple(sent.shape[-2:]), 1, sent.shape[1], 1, batch=sent.shape[0])
    kernel = list(weight.shape) if weight is not None else numbers.size("weight_size")
    stride, dilation = given.get("stride", 1), given.get("dilation", 1)
    padding, groups = given.get("padding", 0), given.get("groups", 1)
    if task.name == "conv_transpose2d":
        assert sent is not None  # it is the argument named input
        size = [
            (cells - 1) * step - 2 * around + gap * (taps - 1) + 1 + more
            for cells, step, around, gap, taps, more in zip(
                sent.shape[-2:],
                *(_pair(value) for value in (stride, padding, dilation)),
                kernel[-2:],
                _pair(given["output_padding"]),
                strict=True,
            )
        ]
        images = [sent.shape[0], kernel[1] * groups, *size]
    else:
        images = list(input.shape) if input is not None else list(numbers.size("input_size"))
    return ConvSpec(
        tuple(images[-2:]),
        images[1],
        kernel[0],
        tuple(kernel[-2:]),
        _plain(stride),
        padding if isinstance(padding, str) else _plain(padding),
        _plain(dilation),
        groups,
        given.get("padding_mode", "zeros"),
        images[0],
    )


def _pair(value: Any) -> tuple[int, int]:
    pair = _plain(value)
    return (pair, pair) if isinstance(pair, int) else pair


def _plain(value: Any) -> Any:
    """Return an int or a pair of ints, as torch takes them; a list or tuple of one stands for both."""
    if isinstance(value, (list, tuple)):
        cells = tuple(int(part) for part in value)
        return cells[0] if len(cells) == 1 else cells
    return int(value)
