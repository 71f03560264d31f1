"""The ways in which a function may want to be called, the likeliest first."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from convviz.check.calling.binding import KNOWN
from convviz.check.calling.call_plan import Plan
from convviz.check.calling.function_or_class import Subject
from convviz.check.calling.inspect_source import knows_words, libraries, unpacked
from convviz.check.calling.names_and_layouts import CONV, LINEAR, STATED, role_of

FORMS = (
    ("input", "weight", "bias", "params"),
    ("input", "weight", "bias", "stride", "padding"),
    ("input", "weight", "params"),
    ("input", "weight", "stride", "padding"),
    ("input", "weight", "bias"),
    ("input", "weight"),
    ("dict",),
)
LINEAR_FORMS = (("input", "weight", "bias"), ("input", "weight"), ("dict",))


def plans(subject: Subject, layout: str | None) -> Iterator[Plan]:
    """Yield the plans that fit a task and what the code says, the likeliest first; a padding in words comes last."""
    padding = next((each for each in subject.binding.arguments if each.role == "padding"), None)
    if padding is None or not isinstance(padding.default, str):
        yield from _numbered(subject, layout)
    if padding is not None and (isinstance(padding.default, str) or knows_words(subject.codes)):
        yield from (dataclasses.replace(plan, words=True) for plan in _numbered(subject, layout))


def _numbered(subject: Subject, layout: str | None) -> Iterator[Plan]:
    task, roles = subject.task, subject.binding.roles
    linear = task.name.startswith("linear")
    known = LINEAR if linear else CONV + STATED if " " in (layout or "") else CONV
    layouts = [each for each in known if layout in (each[0], f"{each[0]} {each[1]}") or layout is None]
    kinds = libraries(subject.fn) if task.kind == "function" else ["torch"]
    forms: tuple[tuple[str, ...], ...] = ((),)
    if "cache" in roles:
        forms = tuple(_unpacked(subject)) or (LINEAR_FORMS if linear else FORMS)
    sizes = ("full", "plane") if roles & {"input_size", "weight_size"} else ("full",)
    filled = subject.passes is not None and subject.passes.is_filled
    has_kernel = filled or bool(roles & {"weight", "cache", "weight_size"}) or "grad_weight" in task.results
    for arrays in kinds:
        for form in forms:
            for size in sizes:
                seen = set()
                for data, kernel, bias in layouts:
                    if layout is None and task.name == "conv2d_bias" and data != "NCHW":
                        continue  # a sum over other axes is right in another layout: whose it is has to be stated
                    key = (data, kernel if has_kernel else "", bias if "bias" in roles or form else "")
                    if key not in seen:
                        seen.add(key)
                        yield Plan(arrays, data, kernel, bias, form, sizes=size)


def _unpacked(subject: Subject) -> list[tuple[str, ...]]:
    """Return what the source says of a cache, where all its names say something."""
    name = next(each.name for each in subject.binding.arguments if each.role == "cache")
    found = []
    for names in unpacked(subject.fn, name):
        roles = tuple(role_of(each, KNOWN) for each in names)
        usual = FORMS[0][: len(names)]  # what a name does not say, its place does
        filled = tuple(role or place for role, place in zip(roles, usual, strict=False))
        if len(set(filled)) == len(names):
            found.append(filled)
        elif None not in roles:
            found.append(tuple(role for role in roles if role))
    # The p that a stride is read from is no padding.
    return found + [(*form[:-1], "params") for form in found if form[-1] == "padding" and "stride" not in form]
