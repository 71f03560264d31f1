"""The settings that a function is meant for, as a teacher states them: ``{"groups": 1, "stride": [1, 2]}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convviz.check.battery import Case, make_case
from convviz.check.traced_products import setting_in_words
from convviz.geometry.spec import ConvSpec, Pair

NUMBERS = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}  # with the smallest that each may be
SWITCHES = ("square", "odd", "remainder")


@dataclass(frozen=True)
class Scope:
    """What a function is asked."""

    # for stride, padding, dilation and groups those that it is asked, as pairs; what is left out may be any
    numbers: Mapping[str, tuple[Pair, ...]] = field(default_factory=dict)
    square: bool = False  # kernel, stride, padding, dilation and input have one size for both axes
    odd: bool = False  # the kernel's sizes are odd
    remainder: bool = True  # whether a window may leave rows or columns unread
    strict: bool = False  # whether what a function refuses by itself counts as wrong

    def leaves_out(self, spec: ConvSpec) -> str | None:
        """Return the key by which a geometry is outside, None if it is inside."""
        for name, allowed in self.numbers.items():
            if _pair(spec, name) not in allowed:
                return name
        pairs = (spec.kernel_size, spec.stride, spec.padding, spec.dilation, spec.input_size)
        if self.square and any(rows != columns for rows, columns in pairs):
            return "square"
        if self.odd and any(size % 2 == 0 for size in spec.kernel_size):
            return "odd"
        return "remainder" if not self.remainder and any(spec.remainder) else None

    def nearest(self, spec: ConvSpec) -> ConvSpec:
        """Return the geometry inside that is most like this one."""
        if self.leaves_out(spec) is None:
            return spec
        stride, padding, dilation = (self._nearest(spec, name) for name in ("stride", "padding", "dilation"))
        kernel = self._same(spec.kernel_size)
        kernel = (kernel[0] | 1, kernel[1] | 1) if self.odd else kernel
        size = self._same(spec.input_size)
        spans = [d * (k - 1) + 1 - 2 * p for d, k, p in zip(dilation, kernel, padding, strict=True)]
        size = (max(size[0], spans[0], 1), max(size[1], spans[1], 1))
        if not self.remainder:
            first, second = (n + (span - n) % s for n, span, s in zip(size, spans, stride, strict=True))
            size = (first, second)
        groups = self._nearest(spec, "groups")[0]
        into, out = (-(-count // groups) * groups for count in (spec.in_channels, spec.out_channels))
        mode = spec.padding_mode
        return ConvSpec(size, into, out, kernel, stride, padding, dilation, groups, mode, spec.batch)

    def cases(self, cases: Sequence[Case], seed: int) -> list[Case]:
        """Return further cases, inside, in the place of those that are outside."""
        known = [case.spec for case in cases if self.leaves_out(case.spec) is None]
        made: list[Case] = []
        for case in cases:
            try:
                spec = self.nearest(case.spec)
            except ValueError:  # a border that is wider than the input is now
                continue
            if spec not in known:
                known.append(spec)
                name = f"{setting_in_words(spec)} ({len(made) + 1})"
                made.append(make_case(name, spec, seed * 1009 + 500 + len(made), case.quantised))
        return made

    def _nearest(self, spec: ConvSpec, name: str) -> Pair:
        """Return the pair that is allowed and most like a geometry's own."""
        own = _pair(spec, name) or (spec.padding[0][0], spec.padding[1][0])
        allowed = [pair for pair in self.numbers.get(name, (own,)) if not self.square or pair[0] == pair[1]]
        return min(allowed, key=lambda pair: abs(pair[0] - own[0]) + abs(pair[1] - own[1]), default=(own[0], own[0]))

    def _same(self, pair: Pair) -> Pair:
        return (pair[0], pair[0]) if self.square else pair


EVERYTHING = Scope()


def read_scope(scope: Mapping[str, Any] | str | None) -> Scope:
    """Return a scope as it was stated: a dict, ``"all"`` for everything without an excuse, None for everything.

    The keys stride, padding, dilation and groups have a whole number or a list of those allowed, in which the first
    three may have pairs of height and width as well; square, odd and remainder are True or False.

    Raises:
        ValueError: an unknown key, or a value that its key cannot have.
    """
    if scope is None or scope == "all":
        return Scope(strict=True) if scope else EVERYTHING
    if not isinstance(scope, Mapping):
        raise ValueError(f"scope is a dict, or 'all': got {scope!r}")
    for key, value in scope.items():
        if key not in NUMBERS and key not in SWITCHES:
            raise ValueError(f"scope has the keys {', '.join((*NUMBERS, *SWITCHES))}: got {key!r}")
        if key in SWITCHES and not isinstance(value, bool):
            raise ValueError(f"scope[{key!r}] is True or False: got {value!r}")
    numbers = {key: _numbers(key, scope[key]) for key in NUMBERS if key in scope}
    return Scope(numbers, **{key: scope[key] for key in SWITCHES if key in scope})


def _numbers(key: str, value: Any) -> tuple[Pair, ...]:
    several = (value,) if isinstance(value, int) else tuple(value) if isinstance(value, Sequence) else ()
    least = NUMBERS[key]
    pairs = [tuple(each) if isinstance(each, Sequence) and key != "groups" else (each, each) for each in several]
    if not pairs or any(len(p) != 2 or any(type(n) is not int or n < least for n in p) for p in pairs):
        also = "" if key == "groups" else ", or pairs of them"
        raise ValueError(f"scope[{key!r}] is a whole number from {least}, or a list of them{also}: got {value!r}")
    return tuple(pairs)


def _pair(spec: ConvSpec, name: str) -> Pair | None:
    """Return a setting for height and width; None for a padding that differs from side to side."""
    if name == "padding":
        rows, columns = spec.padding
        return (rows[0], columns[0]) if rows[0] == rows[1] and columns[0] == columns[1] else None
    value: int | Pair = getattr(spec, name)
    return value if isinstance(value, tuple) else (value, value)


def with_one_number(spec: ConvSpec, transposed: bool) -> tuple[list[str], ConvSpec] | None:
    """Return which settings differ in height and width, and a geometry in which they do not; None where none does."""
    pairs = {name: _pair(spec, name) for name in ("stride", "padding", "dilation")}
    larger = {name: (max(pair),) * 2 for name, pair in pairs.items() if pair and pair[0] != pair[1]}
    rests = ["output_padding"] * (transposed and spec.remainder[0] != spec.remainder[1])
    if not larger and not rests:
        return None
    # For larger steps of the kernel, for a border, and for more than two windows, which NumPy would give a number each.
    room = max(spec.kernel_size) * max(spec.dilation) + 3 * max(spec.stride)
    other = spec.replace(input_size=[size + room for size in spec.input_size], **larger)
    sizes = [size - rest * transposed for size, rest in zip(other.input_size, other.remainder, strict=True)]
    return [*larger, *rests], other.replace(input_size=sizes)
