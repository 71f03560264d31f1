"""The ways in which a function may want to be called, the likeliest first, by its task and by what its code says."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from convviz.cases.tasks import Task
from convviz.check.calling.arrays import KINDS
from convviz.check.calling.binding import known_of
from convviz.check.calling.call_plan import Plan
from convviz.check.calling.function_or_class import Subject
from convviz.check.calling.inspect_source import unpacked
from convviz.check.calling.names_and_layouts import CONV, LINEAR, POOLED, ROW, STATED, role_of

FORMS = (
    ("input", "weight", "bias", "params"),
    ("input", "weight", "bias", "stride", "padding"),
    ("input", "weight", "params"),
    ("input", "weight", "stride", "padding"),
    ("input", "weight", "bias"),
    ("input", "weight"),
    ("dict",),
)
POOLED_FORMS = (
    ("input", "params"),
    ("input", "kernel_size", "stride"),
    ("input", "kernel_size", "stride", "padding"),
    ("input",),
    ("dict",),
)
LINEAR_FORMS = (("input", "weight", "bias"), ("input", "weight"), ("dict",))


class Stated(NamedTuple):
    """What the caller says of a function's arrays; None is found out."""

    layout: str | None = None  # of the data, such as "NHWC", or with the kernel's, "NHWC OHWI"
    arrays: str | None = None  # one of ``arrays.KINDS``
    # how a padding is given where the caller states geometries, a ``Plan.sides``: then it is asked there and nowhere
    # else; empty where the cases are ours
    sides: str = ""

    @property
    def here_alone(self) -> bool:
        """Whether it is asked at the caller's geometries and nowhere else."""
        return bool(self.sides)


def stated_of(task: Task, layout: str | None, arrays: str | None, sides: str) -> Stated:
    """Return what the caller says.

    Raises:
        ValueError: there is no such layout of the task, or no such kind of arrays.
    """
    every = layouts_of(task)
    known, exact = dict.fromkeys(each[0] for each in every), [f"{each[0]} {each[1]}" for each in every]
    if layout is not None and layout not in known and layout not in exact:
        raise ValueError(f"layout is one of {', '.join(known)}, or two words such as {exact[1]!r}: got {layout!r}")
    if arrays is not None and arrays not in KINDS:
        raise ValueError(f"arrays is one of {', '.join(KINDS)}: got {arrays!r}")
    return Stated(layout, arrays, sides)


def layouts_of(task: Task) -> tuple[tuple[str, str, str], ...]:
    """Return the layouts that a task may have, the last of them only where they are stated."""
    if task.pooling:
        return POOLED
    return LINEAR if task.name.startswith("linear") else ROW if task.is_row else CONV + STATED


def plans(subject: Subject, stated: Stated) -> Iterator[Plan]:
    """Yield the plans that fit a task and what the code says, the likeliest first; a padding in words comes last."""
    if subject.is_adapter:
        yield next(_numbered(subject, stated._replace(arrays=stated.arrays or "torch")))
        return
    padding = next((each for each in subject.binding.arguments if each.role == "padding"), None)
    word = padding.default if padding is not None and isinstance(padding.default, str) else ""
    upper = word.isupper() or subject.knows_upper_words_alone
    if not word:
        yield from (dataclasses.replace(plan, upper=upper) for plan in _numbered(subject, stated))
    if padding is not None and (word or subject.knows_words):
        yield from (dataclasses.replace(plan, words=True, upper=upper) for plan in _numbered(subject, stated))


def _numbered(subject: Subject, stated: Stated) -> Iterator[Plan]:
    task, roles, layout = subject.task, subject.binding.roles, stated.layout
    linear = task.name.startswith("linear")
    known = [each for each in layouts_of(task) if each not in STATED or " " in (layout or "")]
    if layout is None and task.results == ("grad_bias",):
        layout = known[0][0]  # a sum over other axes is right in another layout: whose it is has to be stated
    layouts = [each for each in known if layout in (each[0], f"{each[0]} {each[1]}") or layout is None]
    likely = subject.libraries if task.kind == "function" else ["torch"]
    kinds = [stated.arrays] if stated.arrays else likely
    forms: tuple[tuple[str, ...], ...] = ((),)
    if "cache" in roles:
        forms = tuple(_unpacked(subject)) or (LINEAR_FORMS if linear else POOLED_FORMS if task.pooling else FORMS)
    has_kernel = subject.is_filled or bool(roles & {"weight", "cache", "weight_size"}) or "grad_weight" in task.results
    for arrays, form in itertools.product(kinds, forms):
        found: dict[tuple[str, str, str], Plan] = {}
        for data, kernel, bias in layouts:
            key = (data, kernel if has_kernel else "", bias if "bias" in roles or form else "")
            found.setdefault(key, Plan(arrays, data, kernel, bias, form, sides=stated.sides))
        yield from found.values()


def _unpacked(subject: Subject) -> list[tuple[str, ...]]:
    """Return what the source says of a cache, where all its names say something."""
    name = next(each.name for each in subject.binding.arguments if each.role == "cache")
    found = []
    for names in unpacked(subject.fn, name):
        roles = tuple(role_of(each, known_of(subject.task)) for each in names)
        first = (POOLED_FORMS if subject.task.pooling else FORMS)[0]
        usual = first[: len(names)]  # what a name does not say, its place does
        filled = tuple(role or place for role, place in zip(roles, usual, strict=False))
        if len(set(filled)) == len(names):
            found.append(filled)
        elif None not in roles:
            found.append(tuple(role for role in roles if role))
    # The p that a stride is read from is no padding.
    return found + [(*form[:-1], "params") for form in found if form[-1] == "padding" and "stride" not in form]
