"""The settings that a function is tried at: as few and as small as expose every mistake and tell each from each.

Sizes are unequal on purpose, so that a tensor's shape says which axis is which, and the numbers have no symmetry: a
square kernel of ones looks the same however it is turned, and one sample is as good as the sum of the batch.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from dataclasses import dataclass, replace

import torch

from convviz.cases import pooled_geometries
from convviz.cases.pooled_geometries import NEGATIVE, TIES, UNCOUNTED
from convviz.geometry.spec import ConvSpec

QUANTISED = ("signs", "scaled signs")  # the two kinds of binary weights
# The last is an average that does not count the padding's cells; ``Task`` has the first two.
POOLINGS = ("max", "average", "average inside")


class Ruled:
    """What a case and a task are about, where that is no plain convolution."""

    rule: str

    @property
    def quantised(self) -> str:
        """The rule of a layer with binary weights; empty for another."""
        return self.rule if self.rule in QUANTISED else ""

    @property
    def pooling(self) -> str:
        """The rule of a pooling, which has no weight and no bias; empty for another."""
        return self.rule if self.rule in POOLINGS else ""


@dataclass(frozen=True, eq=False)
class Case(Ruled):
    """One setting with its numbers, in float64 on the CPU."""

    name: str  # what a student reads, such as ``"stride 2, padding 1"``
    spec: ConvSpec  # the geometry
    input: torch.Tensor  # ``[N, C_in, H, W]``
    weight: torch.Tensor  # ``[C_out, C_in / groups, kH, kW]``
    bias: torch.Tensor  # ``[C_out]``
    grad_output: torch.Tensor  # ``[N, C_out, H_out, W_out]``; for ``conv_transpose2d`` its input
    transposed_bias: torch.Tensor  # ``[C_in]``, the bias of that ``conv_transpose2d``
    # what it is where it is no plain convolution: one of ``QUANTISED`` or of ``POOLINGS``; empty for a plain one
    rule: str = ""
    way: str = ""  # what is asked beside the setting, one of ``further_questions``; empty where nothing is

    def tensor(self, name: str) -> torch.Tensor:
        """Return one of the tensors by its name."""
        found: torch.Tensor = getattr(self, name)
        return found

    def with_tensor(self, name: str, numbers: torch.Tensor) -> Case:
        """Return the same case with other numbers in one of the tensors."""
        return replace(self, **{name: numbers})  # type: ignore[arg-type]  # the names are those of tensors

    def without_bias(self) -> Case:
        """Return the same case with biases of 0."""
        return replace(self, bias=0 * self.bias, transposed_bias=0 * self.transposed_bias)


OTHER, ZEROS, NOTHING = "other numbers of the same sizes", "zeros among the numbers", "nothing is sent back"
# What students see first, and what a published test has. Each is plain in all but what its name says.
PUBLIC: dict[str, ConvSpec] = {
    "stride 1, no padding": ConvSpec((6, 5), 2, 3, (3, 2), batch=4),
    "stride 1, padding 1": ConvSpec((5, 6), 2, 3, 3, padding=1, batch=2),
    "stride 2, padding 1": ConvSpec((8, 7), 2, 3, 3, 2, 1, batch=3),
}

# Where there are as many channels in as out, what exchanges them gives numbers instead of an exception, so that it can
# be told from what else is wrong; where there are not, its shape or its exception says so.
# mistakes.md §4.3: the first four of these expose the 46 measured ones and tell all pairs of them apart.
BATTERY: dict[str, ConvSpec] = {
    "all different": ConvSpec((10, 8), 4, 6, (3, 2), (3, 2), (2, 1), (2, 1), 2, batch=2),
    "stride 2 with a remainder": ConvSpec((8, 6), 2, 3, 3, 2, 0, batch=2),
    "stride 3 with a remainder, padding 1": ConvSpec((8, 11), 3, 3, 3, 3, 1, batch=2),
    "padding beyond the kernel": ConvSpec((5, 4), 3, 3, 2, 1, 2, batch=2),
    "as many channels in as out": ConvSpec((6, 5), 3, 3, (3, 2), 2, 1, batch=3),
    # Small enough that loops which take a pair the wrong way round stay inside the arrays, and give numbers.
    "height and width apart": ConvSpec((6, 5), 3, 3, 2, (2, 3), (0, 1), (2, 1), batch=2),
    "dilation 2": ConvSpec((8, 6), 3, 3, 3, 2, 1, 2, batch=2),
    "groups": ConvSpec((6, 5), 4, 4, 3, 1, 1, 1, 2, batch=2),
    "reflected border": ConvSpec((5, 6), 2, 3, 3, 1, 1, padding_mode="reflect", batch=2),
    "replicated border": ConvSpec((5, 6), 2, 3, 3, 2, 1, padding_mode="replicate", batch=2),
    "circular border": ConvSpec((5, 6), 3, 3, 3, 1, 1, padding_mode="circular", batch=2),
    # For who takes neither dilation nor groups, or no padding, and for a transposed convolution without output_padding.
    "stride apart in height and width, unpadded": ConvSpec((7, 5), 3, 2, (3, 2), (2, 1), batch=4),
    "height and width apart, undilated": ConvSpec((7, 5), 3, 3, (3, 2), (2, 1), (1, 0), batch=2),
    "stride 2 without a remainder": ConvSpec((7, 9), 2, 3, 3, 2, 1, batch=2),
    # Depthwise, two filters a channel: a path of its own in many frameworks.
    "groups with a remainder": ConvSpec((8, 6), 3, 6, 3, 2, 0, 1, 3, batch=3),
    # For who takes no padding and one size for both axes, and for the shortcuts of a single cell, a square, a few.
    "all square, no padding": ConvSpec((6, 6), 2, 3, 2, batch=2),
    "kernel 1, stride 2, padding 1": ConvSpec((5, 5), 5, 3, 1, 2, 1, batch=6),
    "kernel 1, stride 2": ConvSpec((5, 4), 2, 3, 1, 2, batch=2),  # for who takes no other
    # Where fast paths are: 3 × 3 at stride 1, which a padding of 1 alone makes "same"; and patches side by side.
    "stride 1, padding 2": ConvSpec((6, 5), 3, 2, 3, 1, 2, batch=2),
    "stride as large as the kernel": ConvSpec((6, 4), 2, 3, 2, 2, batch=2),
    # The sizes of a case before it: what is kept from that one, by its sizes, is out of date now.
    OTHER: PUBLIC["stride 2, padding 1"],
    # Zeros are numbers, too: what divides by one, or stops at one, or at a sample of them, gives something else.
    ZEROS: ConvSpec((6, 5), 2, 3, (2, 3), padding=1, batch=3),
    NOTHING: ConvSpec((5, 5), 2, 3, 2, batch=2),
    # For who takes no stride, and F.pad's numbers in the wrong order.
    "stride 1, padding apart in height and width": ConvSpec((5, 4), 2, 3, (3, 2), padding=(2, 1), batch=2),
}
# A linear layer is a convolution of one cell with one cell.
LINEAR: dict[str, ConvSpec] = {
    "3 samples": ConvSpec(1, 5, 4, 1, batch=3),
    "as many features in as out": ConvSpec(1, 4, 4, 1, batch=2),
    "as many samples as outputs": ConvSpec(1, 3, 4, 1, batch=4),
    OTHER: ConvSpec(1, 5, 4, 1, batch=3),
    NOTHING: ConvSpec(1, 3, 2, 1, batch=2),
}


def battery(which: str, seed: int, linear: bool = False, rule: str = "") -> list[Case]:
    """Return the cases: ``"public"`` ones, or with ``"battery"`` and ``"all"`` all; one seed gives the same ones.

    ``linear``: those of a linear layer; ``rule``: that of a layer with binary weights or of a pooling.

    Raises:
        ValueError: there is no such choice, or the seed is no whole number.
    """
    if which not in ("public", "battery", "all"):
        raise ValueError(f"cases is 'public', 'battery' or 'all': got {which!r}")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise ValueError(f"seed is a whole number of 0 or more: got {seed!r}")
    if rule in POOLINGS:
        return _pooled_battery(which, seed, rule)
    specs = LINEAR if linear else PUBLIC if which == "public" else PUBLIC | BATTERY
    return [make_case(name, spec, seed * 1009 + number, rule) for number, (name, spec) in enumerate(specs.items())]


def _pooled_battery(which: str, seed: int, rule: str) -> list[Case]:
    known = pooled_geometries.PUBLIC if which == "public" else {**pooled_geometries.PUBLIC, **pooled_geometries.POOLED}
    specs = {name: spec for name, spec in known.items() if rule == "max" or spec.dilation == (1, 1)}
    if which != "public":
        plain = pooled_geometries.PUBLIC["stride 2, padding 1"]
        specs |= {OTHER: plain, ZEROS: plain.replace(batch=3), NOTHING: plain}
    rules = dict.fromkeys(specs, rule)
    if rule != "max" and which != "public":
        for name in ("stride 2, padding 1", "ceil_mode, padding 1"):
            specs[f"{UNCOUNTED}, {name}"], rules[f"{UNCOUNTED}, {name}"] = specs[name], "average inside"
    return [make_case(name, spec, seed * 1009 + n, rules[name]) for n, (name, spec) in enumerate(specs.items())]


@functools.lru_cache(maxsize=256)  # each second call of a layer asks for it
def beside(spec: ConvSpec) -> ConvSpec:
    """Return a geometry of the same input and kernel with another stride and padding; of the same output if it can."""
    found = []
    for stride, padding in itertools.product((1, 2, 3), (0, 1, 2, 3)):
        with contextlib.suppress(ValueError):  # the kernel does not fit, or a border is wider than the input
            found.append(spec.replace(stride=stride, padding=padding))
    found = [other for other in found if other.stride != spec.stride and other.padding != spec.padding]
    return min(found, key=lambda other: (other.output_size != spec.output_size, other.products), default=spec)


def make_case(name: str, spec: ConvSpec, seed: int, rule: str = "") -> Case:
    """Return a case with normally distributed numbers; the same seed gives the same ones."""
    generator = torch.Generator().manual_seed(seed % 2**63)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    input, weight = draw(*spec.input_shape), draw(*spec.weight_shape)
    if name == ZEROS:  # not among binary weights: the sign of 0 is a convention
        input, weight = input * (input > -0.7), weight if rule in QUANTISED else weight * (weight > 0)
    if name in (TIES, NEGATIVE):
        input = input.round() if name == TIES else -input.abs()
    bias, grad_output, transposed_bias = draw(spec.out_channels), draw(*spec.output_shape), draw(spec.in_channels)
    if name in (ZEROS, NOTHING):
        grad_output = grad_output * (grad_output > 0) * (name == ZEROS)
        grad_output[:-2] = 0
    return Case(name, spec, input, weight, bias, grad_output, transposed_bias, rule)
