"""Where a result is wrong, and when: which rows, channels and samples, and what the failing cases have in common."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch

from convviz.cases.battery import NOTHING, OTHER, ZEROS, Case
from convviz.check.call_outcome import allowed, errors, same
from convviz.check.diagnosis import Seen
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("check")

_IMAGE = ("sample", "channel", "row", "column")  # of a linear layer the first two
AXES: Mapping[str, tuple[str, ...]] = {
    "output": _IMAGE,
    "grad_input": _IMAGE,
    "grad_weight": ("out", "in", "row", "column"),
    "grad_bias": ("channel",),
}
ONLY = {OTHER: "other", ZEROS: "zeros", NOTHING: "nothing"}
# What a case may have that others lack; the plainest first.
MARKS: Mapping[str, Callable[[ConvSpec], bool]] = {
    "border": lambda spec: spec.padding_mode != "zeros",
    "cell": lambda spec: spec.kernel_size == (1, 1),
    "cells": lambda spec: spec.kernel_size != (1, 1),
    "samples": lambda spec: spec.batch > 2,
    "sample": lambda spec: spec.batch == 1,
    "samples_out": lambda spec: spec.batch == spec.out_channels,
    "rows_out": lambda spec: spec.output_size[0] == spec.out_channels,
    "columns_out": lambda spec: spec.output_size[1] == spec.out_channels,
    "groups": lambda spec: spec.groups > 1,
    "depthwise": lambda spec: spec.groups == spec.in_channels > 1,
    "many_groups": lambda spec: spec.groups > 2,
    "in": lambda spec: spec.in_channels == 1,
    "out": lambda spec: spec.out_channels == 1,
    "dilation": lambda spec: max(spec.dilation) > 1,
    "remainder": lambda spec: any(spec.remainder),
    "stride": lambda spec: max(spec.stride) > 1,
    "no_stride": lambda spec: max(spec.stride) == 1,
    "gap": lambda spec: any(s > k for s, k in zip(spec.stride, spec.kernel_size, strict=True)),
    "padding": lambda spec: any(map(any, spec.padding)),
    "no_padding": lambda spec: not any(map(any, spec.padding)),
    "wide_padding": lambda spec: any(p >= k for (p, _), k in zip(spec.padding, spec.kernel_size, strict=True)),
    "strides": lambda spec: spec.stride[0] != spec.stride[1],
    "paddings": lambda spec: spec.padding[0] != spec.padding[1],
    "pair": lambda spec: spec.stride[0] != spec.stride[1] or spec.padding[0] != spec.padding[1],
    "oblong": lambda spec: spec.kernel_size[0] != spec.kernel_size[1],
    "even": lambda spec: any(size % 2 == 0 for size in spec.kernel_size),
    "large": lambda spec: max(spec.kernel_size) > 3,
    "channels": lambda spec: spec.in_channels != spec.out_channels,
    "same_channels": lambda spec: spec.in_channels == spec.out_channels,
    "square": lambda spec: spec.input_size[0] == spec.input_size[1],
    "not_square": lambda spec: spec.input_size[0] != spec.input_size[1],
    "narrow": lambda spec: 1 in spec.input_size,
    "one": lambda spec: 1 in spec.output_size,
}
BY_CHANCE = ("rows_out", "columns_out")  # sizes that many a case has by chance: said where nothing else is to say
# So many wrong and so many right cases make one mark no chance, and two marks together.
FEW, ENOUGH = 3, 20
SEVERAL, MANY = 5, 40


def mark_of(wrong: Sequence[Case], right: Sequence[Case], sized: Callable[[], str] = str) -> str:
    """Return in a sentence what every failing case has and no other; empty where nothing parts them.

    ``sized`` asks for a size from which on it fails, where no setting parts them exactly.
    """
    right = [case for case in right if case.name != NOTHING]  # where whatever is wrong is right
    if not wrong or len(right) < 2:
        return ""
    if len(wrong) == 1 and wrong[0].name in ONLY:
        return say(f"only.{ONLY[wrong[0].name]}")
    fitting = {name: has for name, has in MARKS.items() if all(has(case.spec) for case in wrong)}
    shared = {name: [has(case.spec) for case in right] for name, has in fitting.items()}
    exact = [name for name, among_right in shared.items() if not any(among_right)]
    # "strides" and "paddings" say more than "pair".
    exact = [name for name in exact if name != "pair" or not {"strides", "paddings"} & set(exact)]
    if "stride" in exact:  # without one there is neither
        exact = [name for name in exact if name not in ("gap", "remainder")]
    exact = [say(f"mark.{name}") for name in [name for name in exact if name not in BY_CHANCE] or exact]
    if not exact and (limit := sized()):
        return limit
    if exact or len(wrong) < FEW or len(right) < ENOUGH:
        both = functools.partial(say, "mark.or")  # which of several it is nobody can tell
        return (
            say("only", which=functools.reduce(lambda one, other: both(one=one, other=other), exact)) if exact else ""
        )
    counts: dict[tuple[str, ...], int] = {(name,): sum(among_right) for name, among_right in shared.items()}
    for pair in itertools.combinations(shared, 2) if len(wrong) >= SEVERAL and len(right) >= MANY else ():
        counts[pair] = sum(a and b for a, b in zip(*(shared[name] for name in pair), strict=True))
    # A gradient of zeros, or of one number, may be right by chance.
    found = min(counts, key=lambda names: (counts[names], len(names)), default=())
    if not found or counts[found] > len(wrong) or (len(found) > 1 and counts[found] * 5 > len(wrong)):
        return ""
    names = [say(f"mark.{name}") for name in found]
    which = names[0] if len(names) == 1 else say("mark.and", one=names[0], other=names[1])
    return say("only" if not counts[found] else "most" if counts[found] * 5 <= len(wrong) else "some", which=which)


def places(result: str, pairs: Sequence[tuple[torch.Tensor, torch.Tensor]], reshapes: bool = True) -> list[str]:
    """Return in sentences in which rows, columns, channels or samples all wrong numbers are; nothing if in all."""
    axes = AXES[result]
    if order := order_of(result, pairs):
        return [say("place.order", result=result, order=order)]
    pairs = [(got, right) for got, right in pairs if got.shape == right.shape and got.dim() <= len(axes)]
    if not pairs:
        return []
    if is_moved(pairs):
        return [say("place.moved" if reshapes else "place.reordered", result=result)]
    wrongs = [errors(got, right) > allowed(got, right, None, 0.0) for got, right in pairs]
    if name := alike(result, pairs):
        return [say("place.alike", axis=say(f"axis.{name}"), result=result)]
    least = min(wrong.dim() for wrong in wrongs)
    said = [sentence for axis, name in enumerate(axes[:least]) for sentence in _along(axis, name, wrongs, result)]
    if all(bool((got[wrong] == 0).all()) for (got, _), wrong in zip(pairs, wrongs, strict=True)):
        said.append(say("place.zero"))
    return said


def remainder_miscounted(of: str, wrong: Sequence[Seen]) -> str:
    """Return in a sentence that a size is that of another remainder; empty where a wrong size is anything else."""
    said = ""
    for one in wrong if of == "grad_input" else ():
        got, spec = one.got, one.case.spec
        if got is None or got.dim() != 4 or got.shape[:2] != one.right.shape[:2]:
            return ""
        for axis, line in enumerate(("row", "column")):
            came, size = got.shape[2 + axis], spec.input_size[axis]
            stride, rest = spec.stride[axis], spec.remainder[axis]
            if not 0 <= came - (size - rest) < stride:
                return ""
            if came != size and not said:
                words = {"count": came, "right": size, "stride": stride, "rest": rest}
                said = say(f"remainder.{line}", case=one.case.name, **words)
    return said


def alike(result: str, pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> str:
    """Return the axis along which a result is the same everywhere, and should not be; empty where there is none."""
    pairs = [(got, right) for got, right in pairs if got.shape == right.shape]
    for axis, name in enumerate(AXES[result][: min((got.dim() for got, _ in pairs), default=0)]):
        several = [(got, right) for got, right in pairs if got.shape[axis] > 1]
        firsts = [[each.narrow(axis, 0, 1).expand_as(each) for each in pair] for pair in several]
        if several and all(
            bool(got.any()) and same(got, first) and not same(right, right_first)
            for (got, right), (first, right_first) in zip(several, firsts, strict=True)
        ):
            return name
    return ""


def order_of(result: str, pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> str:
    """Return the order of axes in which a result comes that is right but for it, ``"N, C, W, H"``; else nothing."""
    names = ("C_out", "C_in", "kH", "kW") if result == "grad_weight" else ("N", "C", "H", "W")
    axes = {right.dim() for _, right in pairs}
    if len(axes) != 1 or axes == {1}:
        return ""
    for order in itertools.permutations(range(axes.pop())):
        if list(order) != sorted(order) and all(same(got, right.permute(order)) for got, right in pairs):
            return ", ".join(names[axis] for axis in order)
    return ""


def is_moved(pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> bool:
    """Return whether in every case all the right numbers are there, in other places; zeros say nothing of a place."""
    return bool(pairs) and all(
        got.numel() == right.numel()
        and 2 * int((right != 0).sum()) > right.numel()
        and same(got.flatten().sort()[0], right.flatten().sort()[0])
        for got, right in pairs
    )


def _along(axis: int, name: str, wrongs: Sequence[torch.Tensor], result: str) -> Iterator[str]:
    """Yield the one sentence that says which indices of an axis are wrong in every case that has several of them."""
    lines = [wrong.movedim(axis, 0).reshape(wrong.shape[axis], -1).any(1) for wrong in wrongs if wrong.shape[axis] > 1]
    if not lines or (name == "sample" and len(lines) < len(wrongs)):  # one sample is the first and the last
        return
    ends: Mapping[str, Callable[[torch.Tensor], bool]] = {
        "first": lambda line: not bool(line[1:].any()),
        "last": lambda line: not bool(line[:-1].any()),
        "not_first": lambda line: not bool(line[0]),
        "not_last": lambda line: not bool(line[-1]),
    }
    for end, holds in ends.items():
        if all(holds(line) for line in lines):
            yield say(f"place.{end}", axis=say(f"axis.{name}"), result=result)
            return
