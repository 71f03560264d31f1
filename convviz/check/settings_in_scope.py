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

    # for stride, padding, dilation and groups those that it is asked; what is left out may be any
    numbers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    square: bool = False  # kernel, stride, padding, dilation and input have one size for both axes
    odd: bool = False  # the kernel's sizes are odd
    remainder: bool = True  # whether a window may leave rows or columns unread
    strict: bool = False  # whether what a function refuses by itself counts as wrong

    def leaves_out(self, spec: ConvSpec) -> str | None:
        """Return the key by which a geometry is outside, None if it is inside."""
        for name, allowed in self.numbers.items():
            if not set(_values(spec, name)) <= set(allowed):
                return name
        if self.square and any(pair[0] != pair[1] for pair in _pairs(spec)):
            return "square"
        if self.odd and any(size % 2 == 0 for size in spec.kernel_size):
            return "odd"
        return "remainder" if not self.remainder and any(spec.remainder) else None

    def nearest(self, spec: ConvSpec) -> ConvSpec:
        """Return the geometry inside that is most like this one."""
        if self.leaves_out(spec) is None:
            return spec
        stride = self._pair("stride", spec.stride)
        padding = self._pair("padding", (spec.padding[0][0], spec.padding[1][0]))
        dilation = self._pair("dilation", spec.dilation)
        kernel = self._pair("", spec.kernel_size)
        kernel = (kernel[0] | 1, kernel[1] | 1) if self.odd else kernel
        size = self._pair("", spec.input_size)
        spans = [d * (k - 1) + 1 - 2 * p for d, k, p in zip(dilation, kernel, padding, strict=True)]
        size = (max(size[0], spans[0], 1), max(size[1], spans[1], 1))
        if not self.remainder:
            first, second = (n + (span - n) % s for n, span, s in zip(size, spans, stride, strict=True))
            size = (first, second)
        groups = _nearest(spec.groups, self.numbers.get("groups"))
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

    def _pair(self, name: str, pair: Pair) -> Pair:
        first, second = (_nearest(number, self.numbers.get(name)) for number in pair)
        return (first, first) if self.square else (first, second)


EVERYTHING = Scope()


def read_scope(scope: Mapping[str, Any] | str | None) -> Scope:
    """Return a scope as it was stated: a dict, ``"all"`` for everything without an excuse, None for everything.

    The keys stride, padding, dilation and groups have a whole number or a list of those allowed; square, odd and
    remainder are True or False.

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


def _numbers(key: str, value: Any) -> tuple[int, ...]:
    numbers = (value,) if isinstance(value, int) else tuple(value) if isinstance(value, Sequence) else ()
    least = NUMBERS[key]
    if not numbers or any(isinstance(n, bool) or not isinstance(n, int) or n < least for n in numbers):
        raise ValueError(f"scope[{key!r}] is a whole number from {least}, or a list of them: got {value!r}")
    return numbers


def _values(spec: ConvSpec, name: str) -> tuple[int, ...]:
    if name == "padding":
        return (*spec.padding[0], *spec.padding[1])
    value = getattr(spec, name)
    return value if isinstance(value, tuple) else (value,)


def _pairs(spec: ConvSpec) -> tuple[tuple[Any, Any], ...]:
    return (spec.kernel_size, spec.stride, spec.padding, spec.dilation, spec.input_size)


def _nearest(number: int, allowed: tuple[int, ...] | None) -> int:
    return number if allowed is None else min(allowed, key=lambda each: abs(each - number))
