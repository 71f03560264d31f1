"""Python for one setting, to copy: the same convolution and its gradients, written in six ways.

Each snippet is complete: with its preamble, which draws the tensors, it runs in an empty notebook that has torch (or
NumPy) and nothing else. It holds the steps that this setting needs and no others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from convviz.explanation.code import (
    aten,
    definition,
    function,
    numpy_only,
    rotate,
    transposed,
    transposed_function,
    transposed_numpy,
    transposed_unfold,
    unfold,
)
from convviz.explanation.code.setting import Setting
from convviz.explanation.code.shared import numpy_preamble, preamble
from convviz.explanation.code.steps import Step, write
from convviz.ops.device import check_dtype
from convviz.spec import ConvSpec

WAYS: dict[str, tuple[str, Callable[[Setting], list[Step]]]] = {
    "definition": ("The definition: every product, three sums", definition.steps),
    "unfold": ("Unfold: windows as columns, a matrix product", unfold.steps),
    "rotate": ("Rotate: both gradients are convolutions", rotate.steps),
    "aten": ("aten: PyTorch's own operator", aten.steps),
    "function": ("A complete autograd.Function, with gradcheck", function.steps),
    "numpy": ("NumPy: no torch at all", numpy_only.steps),
}
WAYS_TRANSPOSED: dict[str, tuple[str, Callable[[Setting], list[Step]]]] = {
    "definition": ("The definition: every product, three sums", transposed.definition_steps),
    "unfold": ("Unfold: a matrix product, its columns folded", transposed_unfold.steps),
    "rotate": ("Rotate: the output, too, is a convolution", transposed.rotate_steps),
    "aten": ("aten: PyTorch's own operator, transposed", transposed.aten_steps),
    "function": ("A complete autograd.Function, with gradcheck", transposed_function.steps),
    "numpy": ("NumPy: no torch at all", transposed_numpy.steps),
}


@dataclass(frozen=True)
class Snippet:
    """Code for one setting, in one way.

    Attributes:
        name: ``"definition"``, ``"unfold"``, ``"rotate"``, ``"aten"``, ``"function"`` or ``"numpy"``.
        title: what it is, in words.
        preamble: code that draws ``input``, ``weight``, ``bias`` and ``grad_output`` at random.
        code: code that takes these and computes ``output``, ``grad_input``, ``grad_weight`` and ``grad_bias``.
        lines: for every line of ``code`` that makes or reads stages: its number, from 1, and their names.
        transposed: whether it is a transposed convolution; the stages then have the names that they have in the
            convolution that is read the other way.
    """

    name: str
    title: str
    preamble: str
    code: str
    lines: tuple[tuple[int, tuple[str, ...]], ...]
    transposed: bool = False


def snippets(
    spec: ConvSpec, *, bias: bool = True, dtype: str = "float32", device: str = "cpu", transposed: bool = False
) -> tuple[Snippet, ...]:
    """Write the code for one setting.

    Args:
        spec: the geometry.
        bias: whether there is a bias.
        dtype: ``"float32"``, ``"float64"`` or ``"bfloat16"``.
        device: where the tensors are to be; it need not be on this machine.
        transposed: write conv_transpose2d, whose output is what spec calls its input.

    Raises:
        ValueError: torch does not know the device, convviz or the device does not know the dtype, or a transposed
            convolution is to have another padding than zeros.
    """
    try:
        where = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"device is a name that torch knows, such as cpu, cuda or mps: got {device!r}") from error
    check_dtype(dtype, where)
    if transposed and spec.padding_mode != "zeros":
        raise ValueError(
            "a transposed convolution has padding_mode='zeros' only, as in torch: got "
            f"padding_mode={spec.padding_mode!r}; use 'zeros'"
        )
    setting = Setting(spec, bias, dtype, str(where), transposed)
    return tuple(_snippet(name, setting) for name in (WAYS_TRANSPOSED if transposed else WAYS))


def _snippet(name: str, setting: Setting) -> Snippet:
    title, steps = (WAYS_TRANSPOSED if setting.transposed else WAYS)[name]
    before, _ = write((numpy_preamble if name == "numpy" else preamble)(setting))
    code, lines = write(steps(setting))
    return Snippet(name, title, before, code, lines, setting.transposed)
