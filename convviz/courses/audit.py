"""What a check of somebody's own would let pass: it is handed functions that are wrong, one mistake at a time."""

from __future__ import annotations

import contextlib
import io
import itertools
import mmap
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from convviz.cases.battery import Case, battery
from convviz.cases.pooled_geometries import is_ceil
from convviz.cases.tasks import PLANAR, Task, find_task, truth
from convviz.check.as_convolution import recipe_of
from convviz.check.calling.random_numbers import random_kept
from convviz.check.one_thread import one_thread
from convviz.courses.audit_functions import STYLES, Slip, differs, make, signature_of
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec
from convviz.mistakes.catalogue import Mistake, catalogue

say = sentences("audit")

Check = Callable[[Callable[..., Any]], object]


@dataclass(frozen=True)
class Finding:
    """A mistake, and in how many of its ways a check lets it pass."""

    id: str  # its id in the catalogue
    of: tuple[str, ...]  # the results that it spoils
    title: str  # what is wrong, in plain words
    passed: int  # ways of making it that the check does not see
    ways: int  # ways of making it that can be seen in this task


@dataclass(frozen=True)
class Addition:
    """A case to add to a check."""

    name: str  # of the case in our battery
    spec: ConvSpec  # its geometry; the numbers are any without symmetry
    exposes: tuple[str, ...]  # ids of the missed mistakes that show in it


@dataclass(frozen=True)
class Audit:
    """What came of an audit."""

    task: str  #: the name of the task
    style: str  #: how the functions were to be called
    caught: tuple[Finding, ...]  #: mistakes that the check refuses in every way of making them
    missed: tuple[Finding, ...]  #: mistakes that would pass, in one way at least
    beyond: tuple[Finding, ...]  #: mistakes that no call of this style can show, such as a dilation where there is none
    add: tuple[Addition, ...]  #: the fewest cases, and of those the smallest, that would expose all that was missed

    def text(self) -> str:
        """Return what passes, and what to add, as plain lines."""
        caught, missed = len(self.caught), len(self.missed)
        lines = [say("summary", task=self.task, caught=caught, total=caught + missed, missed=missed)]
        if self.missed:
            lines += ["", say("pass")]
            for found in self.missed:
                details = asdict(found) | {"of": ", ".join(found.of)}
                lines.append(f"  {say('mistake' if found.passed == found.ways else 'mistake.some', **details)}")
            lines += ["", say("add", count=len(self.add))]
            for one in self.add:
                spec = one.spec
                shapes = {"input": spec.input_shape, "weight": spec.weight_shape, "window": spec.kernel_size}
                sizes = {name: " × ".join(map(str, shape)) for name, shape in shapes.items()}
                id = "case.pooled" if find_task(self.task).pooling else "case"
                lines.append(f"  {say(id, name=one.name, geometry=geometry(one.spec), **sizes)}")
                lines.append(f"    {say('exposes', ids=', '.join(one.exposes))}")
        if self.beyond:
            lines += ["", say("beyond", ids=", ".join(found.id for found in self.beyond))]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        plain = asdict(self)
        plain["add"] = [{**asdict(one), "spec": one.spec.to_dict()} for one in self.add]
        return plain

    def _repr_html_(self) -> str:
        return f"<pre style='white-space:pre-wrap'>{escape(self.text())}</pre>"


def geometry(spec: ConvSpec) -> str:
    """Return stride and padding, and what else is not torch's default, as arguments."""
    pairs = {"stride": spec.stride, "padding": (spec.padding[0][0], spec.padding[1][0]), "dilation": spec.dilation}
    said = {name: str(pair[0] if pair[0] == pair[1] else pair) for name, pair in pairs.items()}
    said |= {"groups": str(spec.groups), "padding_mode": repr(spec.padding_mode)}
    plain = {"dilation": "1", "groups": "1", "padding_mode": "'zeros'", "ceil_mode": "False"}
    said["ceil_mode"] = str(is_ceil(spec))
    return ", ".join(f"{name}={value}" for name, value in said.items() if plain.get(name) != value)


@one_thread()
def audit(check_function: Check, task: str, *, style: str = "torch", progress: bool | None = None) -> Audit:
    """Find which mistakes of the catalogue a check would let pass, and the smallest cases to add.

    Args:
        check_function: the check. It gets one argument, the function to check, and refuses it by raising, or by
            returning False.
        task: what the function is to do, one of ``TASKS``.
        style: how the check calls it: ``"torch"``, by the task's arguments with torch's defaults, tensors or NumPy's
            arrays; or ``"cs231n"``, ``fn(dout, (x, w, b, {"stride": s, "pad": p}))`` for ``conv2d_backward``.
        progress: whether a line on stderr says which mistake is tried; by default where that is a terminal.

    Raises:
        ValueError: unknown task or style; the check refuses a right function, or never calls the one that it is given.
    """
    found = find_task(task)
    if found.is_row:
        raise ValueError(f"an audit is of tasks with two axes, or of a linear layer, as {[*PLANAR]}: got {task!r}")
    if style not in STYLES:
        raise ValueError(say("style", known=", ".join(map(repr, STYLES)), style=repr(style)))
    if style == "cs231n" and task != "conv2d_backward":
        raise ValueError(say("style.task", task=repr(task)))
    if not callable(check_function):
        raise ValueError(say("no_function", got=type(check_function).__name__))
    _trust(check_function, found, style, "refuses_right")
    shown, hidden = _slips(found, style)
    passed = []
    for at, (mistake, slip) in enumerate(shown, 1):
        if sys.stderr.isatty() if progress is None else progress:
            progress_line = say("progress", at=at, total=len(shown), id=mistake.id, title=mistake.title, of=slip.result)
            print(progress_line, file=sys.stderr, flush=True)
        if _why_refused(check_function, make(found, style, slip)) is None:
            passed.append((mistake, slip))
    _trust(check_function, found, style, "refuses_right.late")
    findings = _findings(shown, passed)
    return Audit(
        task,
        style,
        tuple(one for one in findings if not one.passed),
        tuple(one for one in findings if one.passed),
        tuple(one for one in _findings(hidden, hidden) if one.id not in {mistake.id for mistake, _ in shown}),
        _additions(found, style, passed),
    )


Slips = list[tuple[Mistake, Slip]]


def _trust(check: Check, task: Task, style: str, sentence: str) -> None:
    """Hand a check what is right: one that refuses it says nothing by refusing what is wrong."""
    called = mmap.mmap(-1, 1)  # memory that a process which the check forks shares
    why = _why_refused(check, make(task, style, on_call=lambda: called.__setitem__(0, 1)))
    if why is not None:
        raise ValueError(say(sentence, why=why, signature=signature_of(task, style)))
    if not called[0]:
        raise ValueError(say("never_called"))


def _why_refused(check: Check, fn: Any) -> str | None:
    """Return why a check refuses a function, None if it does not; every call has the same random numbers."""
    nowhere = io.StringIO()
    outputs = contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere)
    with outputs[0], outputs[1], warnings.catch_warnings(action="ignore"), random_kept():
        try:
            answer = check(fn)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # pytest.fail and SystemExit are no Exceptions, and refuse
            return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    return say("said_false") if isinstance(answer, bool | np.bool_) and not answer else None


def _cases(task: Task, style: str = "torch") -> list[Case]:
    cases = battery("all", 0, linear=task.name.startswith("linear"), rule=task.rule)
    cases = [case for case in cases if "padding_mode" in task.arguments or case.spec.padding_mode == "zeros"]
    plainest = {"dilation": 1, "groups": 1, "padding_mode": "zeros"}
    plain = [case for case in cases if case.spec.replace(**plainest) == case.spec]
    square = [case for case in plain if case.spec.stride[0] == case.spec.stride[1] and len(set(case.spec.padding)) == 1]
    return cases if style == "torch" else square


def _slips(task: Task, style: str) -> tuple[Slips, Slips]:
    reached = {case.name for case in _cases(task, style)}
    # Of one that shows in several cases the first is enough: those that the check reaches, the largest first.
    cases = sorted(_cases(task), key=lambda case: (case.name not in reached, -case.spec.products))
    every = [(case, truth(task, case)) for case in cases]
    shown: Slips = []
    hidden: Slips = []
    for mistake in (each for each in catalogue().values() if each.is_of(task.rule)):
        for result in (name for name in task.results if recipe_of(task, name) in mistake.of):
            for way in mistake.ways:
                slip = Slip(result, way)
                name = next((case.name for case, right in every if differs(task, case, slip, right)), None)
                if name is not None:
                    (shown if name in reached else hidden).append((mistake, slip))
    return shown, hidden


def _findings(shown: Slips, passed: Slips) -> list[Finding]:
    findings = []
    for mistake in {mistake.id: mistake for mistake, _ in shown}.values():
        ways = [slip.result for other, slip in shown if other.id == mistake.id]
        unseen = [slip.result for other, slip in passed if other.id == mistake.id]
        of = tuple(dict.fromkeys(unseen or ways))
        findings.append(Finding(mistake.id, of, mistake.title, len(unseen), len(ways)))
    return findings


def _additions(task: Task, style: str, passed: Slips) -> tuple[Addition, ...]:
    """Return the fewest cases that expose what passed, and of as few the smallest: there are 13, so all are tried."""
    exposed: dict[Case, frozenset[int]] = {}
    for case in sorted(_cases(task, style), key=lambda case: case.spec.products):
        right = truth(task, case)
        exposed[case] = frozenset(i for i, (_, slip) in enumerate(passed) if differs(task, case, slip, right))
    for count in range(len(exposed) + 1):
        fitting = [
            chosen
            for chosen in itertools.combinations(exposed, count)
            if len(frozenset[int]().union(*map(exposed.__getitem__, chosen))) == len(passed)
        ]
        if fitting:
            best = min(fitting, key=lambda chosen: sum(case.spec.products for case in chosen))
            ids = {case: tuple(dict.fromkeys(passed[i][0].id for i in sorted(exposed[case]))) for case in best}
            return tuple(Addition(case.name, case.spec, ids[case]) for case in best)
    return ()  # not reached: what passed shows in a case, or it would not have been tried
