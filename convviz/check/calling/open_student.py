"""Opens a student's function: how it is called is found out by its signature and by trial."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from convviz.cases.battery import Case
from convviz.cases.settings_in_scope import EVERYTHING, Scope
from convviz.cases.tasks import Task, gradients_of
from convviz.check.call_outcome import Answer
from convviz.check.calling.askable import Askable, speaks
from convviz.check.calling.call_plan import OF_A_CASE, Plan, suited
from convviz.check.calling.case_runner import Asker
from convviz.check.calling.find_plan import Found, search
from convviz.check.calling.function_or_class import Subject, subject_of
from convviz.check.calling.inspect_source import is_function, mentions, takes_square_kernels
from convviz.check.calling.likely_plans import stated_of
from convviz.check.calling.student_function import Student
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.sandbox.child_process import bounds_of

say = sentences("calling_student_code")


def open_student(
    fn: Any,
    task: Task,
    probes: Sequence[Case] = (),
    *,
    layout: str | None = None,
    arrays: str | None = None,
    time_limit: float | None = None,
    scope: Scope = EVERYTHING,
    sides: str = "",
) -> Student:
    """Return a student's function together with how it is called, found out by its signature and by trial.

    The arguments are those of ``report``; ``probes`` are its cases, for a function that has a setting built in, and
    ``sides`` is that of ``Stated``, where it is asked nothing else.

    Raises:
        ValueError: there is no such layout, or the time limit is no positive number.
    """
    if task.results == ("output",) and not isinstance(fn, type) and mentions(fn, "apply"):  # it calls Function.apply
        task = dataclasses.replace(task, kind="Function", results=("output", *gradients_of(task)))
    stated, nothing = stated_of(task, layout, arrays, sides), _no_code(fn, task)
    for subject in _bound(fn, task):
        asker = Asker(subject, bounds_of(time_limit))
        found = Found(Plan(), stated) if nothing else search(asker, subject, probes, stated, scope)
        if nothing or found.score[0] >= 0 or (found.ended and subject.binding.counted):
            break
        asker.close()  # a question begins another process
    has_kernel = not (nothing or task.lacks or task.pooling or subject.is_adapter)
    square = has_kernel and takes_square_kernels(subject.codes, found.plan.kernel)
    said = () if nothing else _assumed(subject, found, layout, square)
    task = dataclasses.replace(task, results=subject.task.results)
    specs, names = {suited(case, found.plan.data).spec for case in probes}, {case.name for case in probes}
    askable = Askable(task, subject, found, scope, square, speaks(subject, found), frozenset(specs))
    return Student(task, _results(task.results, subject, found), nothing, askable, asker, frozenset(names), said)


def _bound(fn: Any, task: Task) -> Iterator[Subject]:
    """Yield what is asked, with its arguments bound in one way after the other."""
    subject = subject_of(fn, task)
    yield subject
    if not subject.binding.counted:  # it does not say how many it takes
        for less in range(1, len(subject.binding.arguments)):
            yield subject_of(fn, task, less)


def _no_code(fn: Any, task: Task) -> Answer | None:
    """Return what is answered where there is nothing to call; None where there is."""
    if fn is None:
        return Answer("not_defined", message=say("not_defined"))
    is_layer = isinstance(fn, torch.nn.Module)
    if is_layer if task.kind == "Module" else hasattr(fn, "forward") and not isinstance(fn, type):
        return Answer("wrong_type", message=say("an_object", what=type(fn).__name__))
    if callable(fn) or (isinstance(fn, tuple | list) and len(fn) == 2 and all(map(callable, fn))):
        return None
    return Answer("wrong_type", message=say("not_callable", what=type(fn).__name__))


def _results(whole: tuple[str, ...], subject: Subject, found: Found) -> tuple[str, ...]:
    """Return what it gives: a function that knows no bias has no gradient of one."""
    if len(whole) == 1 or not callable(subject.fn):
        return whole
    if subject.is_adapter and found.score[0] <= 0:
        return whole
    if found.score[0] > 0:
        return tuple(name for name in whole if name != "grad_bias" or name in found.names)
    return whole if subject.has_bias(found.plan) else tuple(name for name in whole if name != "grad_bias")


def _assumed(subject: Subject, found: Found, layout: str | None, square: bool) -> tuple[str, ...]:
    binding, task, plan, style = subject.binding, subject.task, found.plan, subject.style
    others = [each for each in binding.arguments if each.role not in (None, each.name, *binding.placed)]
    layouts = {"data": plan.data, "kernel": plan.kernel}
    kinds = {"Function": "apply" if is_function(subject.fn) else "autograd", "Module": "layer"}
    is_known = found.score[0] > 1 or plan.data in ("NCHW", "HW", "NCW")
    shaped = "stated" if layout is not None else "layout" if is_known else "guessed"
    if task.name.startswith("linear"):
        shaped = "linear"
    elif task.results == ("grad_bias",) and layout is None:
        shaped = "channels"
    if task.pooling and shaped != "stated":
        shaped = "pooled" if is_known else "pooled.guessed"
    # What a layer has is seen in what is made, and remarked.
    no_bias = "bias" in task.arguments and not (subject.is_filled or subject.is_adapter) and not subject.has_bias(plan)
    read = comma([name for name in OF_A_CASE if name in found.read]) if subject.is_adapter else ""
    said: dict[str, Any] = {  # sentence → whether it holds, or its arguments; first what may be wrong, or leaves out
        "unknown": found.score[0] < 0,
        "case": {"names": read} if read else False,
        "placed": {"names": comma(binding.placed)} if binding.placed else False,
        "square": square,
        "zeros": any(each.name == "padding_mode" and each.role is None for each in binding.arguments),
        "float32": plan.dtype == "float32",
        shaped: {"axes": ", ".join(plan.data)} if shaped == "channels" else layouts,
        kinds.get(task.kind, plan.arrays): True,
        "bias": {"shape": ", ".join("C" if letter == "C" else "1" for letter in plan.bias)}
        if plan.bias != "C"
        else False,
        "pair": plan.pairs == "pair",
        "two": {"names": comma(plan.pairs.split())} if plan.pairs not in ("any", "pair") else False,
        "words": plan.words,
        "dict": plan.form == ("dict",),
        "cache": {"names": ", ".join(plan.form)} if plan.form not in ((), ("dict",)) else False,
        "passes": style == "pair",
        "class.pooled" if task.pooling else "class": style == "class",
        "named": {"names": comma([f"{each.name} = {each.role}" for each in others])} if others else False,
    }
    assumed = (say(f"assumed.{id}", **({} if holds is True else holds)) for id, holds in said.items() if holds)
    return (*[say("remark.no_bias")] * no_bias, *assumed)
