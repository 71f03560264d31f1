"""The settings that a function is meant for, as a teacher states them: ``{"groups": 1, "stride": [1, 2]}``."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convviz.cases.battery import Case, make_case
from convviz.cases.setting_in_words import setting_in_words
from convviz.geometry.spec import ConvSpec, Pair

# With the smallest that each may be.
NUMBERS = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1, "kernel_size": 1, "in_channels": 1, "out_channels": 1}
COUNTS = ("groups", "in_channels", "out_channels")  # which have no height and width
SWITCHES = ("square", "odd", "remainder")


@dataclass(frozen=True)
class Scope:
    """What a function is asked."""

    # for each of NUMBERS those that it is asked, as pairs; what is left out may be any
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
        kernel = self._same(self._nearest(spec, "kernel_size"))
        kernel = (kernel[0] | 1, kernel[1] | 1) if self.odd else kernel
        more = [max(d * (k - own), 0) for d, k, own in zip(dilation, kernel, spec.kernel_size, strict=True)]
        size = self._same((spec.input_size[0] + more[0], spec.input_size[1] + more[1]))
        spans = [d * (k - 1) + 1 - 2 * p for d, k, p in zip(dilation, kernel, padding, strict=True)]
        size = (max(size[0], spans[0], 1), max(size[1], spans[1], 1))
        if not self.remainder:
            first, second = (n + (span - n) % s for n, span, s in zip(size, spans, stride, strict=True))
            size = (first, second)
        into, out, groups = self._channels(spec)
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
                made.append(make_case(name, spec, seed * 1009 + 500 + len(made), case.rule))
        return made

    def _channels(self, spec: ConvSpec) -> tuple[int, int, int]:
        """Return the numbers of channels in and out and of groups that are allowed, fit, and are most like a spec's."""
        kinds = {name: [n for n, _ in self.numbers.get(name, ())] for name in COUNTS}
        found: list[tuple[int, ...]] = []
        for groups in kinds["groups"] or (spec.groups, 1):
            near = {name: -(-getattr(spec, name) // groups) * groups for name in COUNTS[1:]}
            found += itertools.product(*(kinds[name] or [near[name]] for name in COUNTS[1:]), [groups])
        own = (spec.in_channels, spec.out_channels, spec.groups)
        fitting = [one for one in found if one[0] % one[2] == 0 == one[1] % one[2]]
        into, out, groups = min(fitting, key=lambda one: sum(abs(a - b) for a, b in zip(one, own, strict=True)))
        return into, out, groups

    def _nearest(self, spec: ConvSpec, name: str) -> Pair:
        """Return the pair that is allowed and most like a geometry's own."""
        own = _pair(spec, name) or (spec.padding[0][0], spec.padding[1][0])
        odd = 1 if self.odd and name == "kernel_size" and name in self.numbers else 0
        known = self.numbers.get(name, (own,))
        allowed = [
            pair for pair in known if not (self.square and pair[0] != pair[1]) and pair[0] & pair[1] & odd == odd
        ]
        return min(allowed, key=lambda pair: abs(pair[0] - own[0]) + abs(pair[1] - own[1]), default=(own[0], own[0]))

    def _same(self, pair: Pair) -> Pair:
        return (pair[0], pair[0]) if self.square else pair


EVERYTHING = Scope()


def read_scope(scope: Mapping[str, Any] | str | None, in_a_row: bool = False) -> Scope:
    """Return a scope as it was stated: a dict, ``"all"`` for everything without an excuse, None for everything.

    The keys stride, padding, dilation, kernel_size, groups, in_channels and out_channels have a whole number or a list
    of those allowed, in which the first four may have pairs of height and width as well; square, odd and remainder are
    True or False. ``in_a_row``: what is asked has a height of 1.

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
    counts = [[n for n, _ in numbers[key]] if key in numbers else [0] for key in COUNTS]
    combined = itertools.product(*counts)
    if "groups" in numbers and all(any(count % groups for count in rest) for groups, *rest in combined):
        raise ValueError(f"scope: in_channels and out_channels are multiples of groups: got {scope!r}")
    if in_a_row:
        flat = {"kernel_size": 1, "padding": 0}
        numbers |= {key: tuple((least, n) for _, n in numbers[key]) for key, least in flat.items() if key in numbers}
        scope = {key: value for key, value in scope.items() if key != "square"}
    return Scope(numbers, **{key: scope[key] for key in SWITCHES if key in scope})


def _numbers(key: str, value: Any) -> tuple[Pair, ...]:
    several = (value,) if isinstance(value, int) else tuple(value) if isinstance(value, Sequence) else ()
    least = NUMBERS[key]
    pairs = [tuple(each) if isinstance(each, Sequence) and key not in COUNTS else (each, each) for each in several]
    if not pairs or any(len(p) != 2 or any(type(n) is not int or n < least for n in p) for p in pairs):
        also = "" if key in COUNTS else ", or pairs of them"
        raise ValueError(f"scope[{key!r}] is a whole number from {least}, or a list of them{also}: got {value!r}")
    return tuple(pairs)


def _pair(spec: ConvSpec, name: str) -> Pair | None:
    """Return a setting for height and width; None for a padding that differs from side to side."""
    if name == "padding":
        rows, columns = spec.padding
        return (rows[0], columns[0]) if rows[0] == rows[1] and columns[0] == columns[1] else None
    value: int | Pair = getattr(spec, name)
    return value if isinstance(value, tuple) else (value, value)


def with_one_number(spec: ConvSpec, has_rest: bool, has_kernel: bool) -> tuple[list[str], list[ConvSpec]]:
    """Return which settings differ in height and width, and geometries in which they do not: some code refuses a few.

    ``has_rest``, ``has_kernel``: whether ``output_padding`` and ``kernel_size`` are settings.
    """
    names = ("stride", "padding", "dilation", *["kernel_size"] * has_kernel)
    pairs = {name: _pair(spec, name) for name in names}
    apart = {name: pair for name, pair in pairs.items() if pair and pair[0] != pair[1]}
    rests = ["output_padding"] * (has_rest and spec.remainder[0] != spec.remainder[1])
    if not apart and not rests:
        return [], []
    # For larger steps of the kernel, for a border, and for more than two windows, which NumPy would give a number each.
    room = max(spec.kernel_size) * max(spec.dilation) + 3 * max(spec.stride)
    made = []
    for chosen in (max, min):
        one = {name: (chosen(pair),) * 2 for name, pair in apart.items()}
        other = spec.replace(input_size=[size + room for size in spec.input_size], **one)
        even = other.replace(input_size=[size - r for size, r in zip(other.input_size, other.remainder, strict=True)])
        made += [even] if has_rest else [other, even]
    return [*apart, *rests], list(dict.fromkeys(made))
