"""What the code is written for, and how its numbers are spelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from convviz.geometry.spec import ConvSpec, Pair, Sides
from convviz.settings.state import Settings


@dataclass(frozen=True)
class Setting:
    """One setting of the app, in torch's words; a transposed convolution reads the geometry the other way."""

    spec: ConvSpec
    bias: bool = True
    dtype: str = "float32"
    device: str = "cpu"
    transposed: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Self:
        bias = settings.bias is not None
        return cls(settings.spec, bias, settings.dtype, settings.device, settings.transposed)

    @property
    def in_per_group(self) -> int:
        return self.spec.in_channels // self.spec.groups

    @property
    def out_per_group(self) -> int:
        return self.spec.out_channels // self.spec.groups

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each tensor that the code is given."""
        ends = (self.spec.input_shape, self.spec.output_shape)
        given, output = ends[::-1] if self.transposed else ends
        bias = {"bias": output[1:2]} if self.bias else {}
        return {"input": given, "weight": self.spec.weight_shape, **bias, "grad_output": output}


def numbers(values: Sequence[int]) -> str:
    """Return ``2, 3, 4``: the arguments of a reshape."""
    return ", ".join(map(str, values))


def short(pair: Pair) -> str:
    """Return ``3`` where one number says it for both axes, else ``(3, 2)``."""
    return str(pair[0]) if pair[0] == pair[1] else f"({numbers(pair)})"


def options(stride: Pair = (1, 1), padding: Pair = (0, 0), dilation: Pair = (1, 1), groups: int = 1) -> list[str]:
    """Return the keyword arguments of a convolution, without torch's defaults."""
    pairs = [("stride", stride, (1, 1)), ("padding", padding, (0, 0)), ("dilation", dilation, (1, 1))]
    given = [f"{name}={short(pair)}" for name, pair, default in pairs if pair != default]
    return given + ([f"groups={groups}"] if groups > 1 else [])


def times(factor: int, name: str) -> str:
    """Return ``2 * y``, and plainly ``y`` for the factor 1."""
    return name if factor == 1 else f"{factor} * {name}"


def section(sides: Sides, size: Pair) -> str:
    """Return the slices ``1:6, :4`` that take ((top, bottom), (left, right)) away."""
    axes = []
    for (before, after), length in zip(sides, size, strict=True):
        axes.append(f"{before or ''}:{length - after if after else ''}")
    return ", ".join(axes)


def rows_and_columns(pair: Pair) -> str:
    """Return ``1 row and 2 columns``, leaving out what there is none of."""
    words = [f"{count} {word}{'s' * (count > 1)}" for count, word in zip(pair, ("row", "column"), strict=True) if count]
    return " and ".join(words)
