"""padding="same": how many rows it puts where, above stride 1 as TensorFlow defines it, and the cases that ask it."""

from __future__ import annotations

from collections.abc import Mapping

from convviz.geometry.spec import ConvSpec, Pair, Sides


def same_padding(spec: ConvSpec) -> Sides:
    """Return the rows and columns that "same" puts before and after an input: ⌈N / s⌉ windows, more at the end."""
    return (sides_of_same(spec, 0, spec.stride[0]), sides_of_same(spec, 1, spec.stride[1]))


def sides_of_same(spec: ConvSpec, axis: int, stride: int) -> Pair:
    """Return what "same" puts before and after one axis with a stride."""
    size = spec.input_size[axis]
    total = max((-(-size // stride) - 1) * stride + spec.effective_kernel[axis] - size, 0)
    return (total // 2, total - total // 2)


def padding_word(spec: ConvSpec) -> str | None:
    """Return the word that stands for a geometry's padding; None where there is none."""
    if not any(map(any, spec.padding)):
        return "valid"
    return "same" if spec.padding == same_padding(spec) else None


def _same(size: Pair, channels: int, out_channels: int, kernel: Pair | int, stride: int = 1) -> ConvSpec:
    loose = ConvSpec(size, channels, out_channels, kernel, stride, 9, batch=2)
    return loose.replace(padding=same_padding(loose))


# For functions that take the padding as a word.
SAME: Mapping[str, ConvSpec] = {
    "same padding, even kernel": _same((6, 5), 2, 3, (4, 2)),
    "same padding, kernel not square": _same((5, 6), 2, 3, (3, 5)),
    "same padding, stride 2": _same((6, 8), 2, 3, 3, 2),
    "same padding, stride 2, odd sizes": _same((7, 5), 3, 2, (4, 2), 2),
    "same padding, stride 2, height odd and width even": _same((7, 8), 2, 3, 3, 2),
    "same padding, stride 3 with a remainder": _same((6, 9), 2, 3, (5, 2), 3),
}
