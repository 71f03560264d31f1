"""Geometries of poolings: those that they are asked at, and the nearest one to any convolution's.

A pooling's ConvSpec has as many channels in as out and one group, which no pooling reads; its padding is wider after
the input than before it where ``ceil_mode`` adds a window, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F

from convviz.geometry.spec import ConvSpec
from convviz.ops.pooling import pool_spec

TIES, NEGATIVE = "equal numbers in a window", "padding 1, all numbers negative"
UNCOUNTED = "count_include_pad=False"  # begins the names of an average's cases that do not count the padding


def _pooled(size: Any, kernel: Any, stride: Any, padding: Any = 0, dilation: Any = 1, ceil: bool = False) -> ConvSpec:
    spec = pool_spec((1, 3, *size), kernel, stride, padding, dilation, ceil)
    return spec.replace(groups=1, batch=2)


PUBLIC: Mapping[str, ConvSpec] = {
    "stride as large as the window": _pooled((6, 4), 2, 2),
    "overlapping windows": _pooled((7, 6), 3, 1),
    "stride 2, padding 1": _pooled((8, 7), 3, 2, 1),
}
POOLED: Mapping[str, ConvSpec] = {
    TIES: _pooled((5, 6), 3, 2),
    NEGATIVE: _pooled((5, 6), 3, 2, 1),
    "stride as large as the window, height and width apart": _pooled((7, 6), (3, 2), (3, 2)),
    "height and width apart": _pooled((7, 8), (3, 2), (2, 1), (1, 0)),
    "window and stride apart, no padding": _pooled((6, 7), (2, 3), (3, 2)),
    "stride and padding apart": _pooled((7, 6), 3, (1, 2), (1, 0)),
    "dilation 2, padding 1": _pooled((8, 7), 3, 1, 1, 2),
    "dilation apart, stride 2": _pooled((9, 7), 2, 2, 0, (3, 2)),
    "ceil_mode": _pooled((6, 8), 3, 2, 0, 1, True),
    "ceil_mode, padding 1": _pooled((8, 6), 3, 2, 1, 1, True),
    # Along the height its last window would start in the padding, and is left out.
    "ceil_mode, a window left out": _pooled((4, 6), (2, 3), (3, 2), 1, 1, True),
    "stride larger than the window": _pooled((8, 7), 2, 3),
    "window 1, stride 2": _pooled((5, 4), 1, 2),
    "one window, the whole plane": _pooled((4, 3), (4, 3), 1),
    "all square": _pooled((6, 6), 2, 1),
}


def is_ceil(spec: ConvSpec) -> bool:
    """Return whether ``ceil_mode`` adds a window to a pooling."""
    return any(before != after for before, after in spec.padding)


def pooled_output(rule: str, spec: ConvSpec, input: torch.Tensor) -> torch.Tensor:
    """Return the right output, by torch; the rule is one of ``battery.POOLINGS``."""
    geometry = (spec.kernel_size, spec.stride, [before for before, _ in spec.padding])
    if rule == "max":
        return F.max_pool2d(input, *geometry, spec.dilation, is_ceil(spec))
    return F.avg_pool2d(input, *geometry, is_ceil(spec), rule == "average")


def fit_pooling(spec: ConvSpec, is_average: bool) -> ConvSpec:
    """Return the nearest geometry that a pooling has, which an average knows no dilation of.

    Raises:
        ValueError: there is none.
    """
    padding = [min(before, kernel // 2) for (before, _), kernel in zip(spec.padding, spec.kernel_size, strict=True)]
    shape = (1, spec.in_channels, *spec.input_size)
    dilations = [(1, 1)] if is_average else [spec.dilation, (1, 1)]
    for dilation in dilations:
        try:
            found = pool_spec(shape, spec.kernel_size, spec.stride, padding, dilation, is_ceil(spec))
        except ValueError:
            if dilation == dilations[-1]:
                raise
            continue
        return found.replace(groups=1, batch=spec.batch)
    raise AssertionError("the last one is returned, or raises")
