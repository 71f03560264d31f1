"""What a check of somebody's own would let pass: it is handed functions that are wrong, one mistake at a time."""

from __future__ import annotations

import contextlib
import io
import itertools
import mmap
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from convviz.check.audit_report import Addition, Audit, Finding
from convviz.check.battery import Case, battery
from convviz.check.mistakes import Mistake, catalogue
from convviz.check.mutants import STYLES, Slip, differs, make, signature_of
from convviz.check.one_hot_probes import recipe_of
from convviz.check.tasks import Task, find_task, truth
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("audit")

Check = Callable[[Callable[..., Any]], object]


def audit(check_function: Check, task: str, *, style: str = "torch", progress: bool | None = None) -> Audit:
    """Tell which mistakes of the catalogue a check would let pass, and the smallest cases to add.

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
            told = say("progress", at=at, total=len(shown), id=mistake.id, title=mistake.title, of=slip.result)
            print(told, file=sys.stderr, flush=True)
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
    why = _why_refused(check, make(task, style, told=lambda: called.__setitem__(0, 1)))
    if why is not None:
        raise ValueError(say(sentence, why=why, signature=signature_of(task, style)))
    if not called[0]:
        raise ValueError(say("never_called"))


def _why_refused(check: Check, fn: Any) -> str | None:
    with _alike():
        try:
            answer = check(fn)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # pytest.fail and SystemExit are no Exceptions, and refuse
            return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    return say("said_false") if isinstance(answer, bool | np.bool_) and not answer else None


@contextlib.contextmanager
def _alike() -> Iterator[None]:
    """Give every call of a check the same random numbers, and keep what it prints to itself."""
    numbers, arrays = random.getstate(), np.random.get_state()
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.random.fork_rng(devices=[]):
            try:
                yield
            finally:
                random.setstate(numbers)
                np.random.set_state(arrays)


def _cases(task: Task, style: str = "torch") -> list[Case]:
    cases = battery("all", 0, linear=task.name.startswith("linear"), quantised=task.quantised)
    cases = [case for case in cases if "padding_mode" in task.arguments or case.spec.padding_mode == "zeros"]
    return [case for case in cases if style == "torch" or _is_plain(case.spec)]


def _is_plain(spec: ConvSpec) -> bool:
    is_square = spec.stride[0] == spec.stride[1] and spec.padding[0] == spec.padding[1]
    return is_square and spec.dilation == (1, 1) and spec.groups == 1 and spec.padding_mode == "zeros"


def _slips(task: Task, style: str) -> tuple[Slips, Slips]:
    every = [(case, truth(task, case)) for case in _cases(task)]
    reached = {case.name for case in _cases(task, style)}
    shown: Slips = []
    hidden: Slips = []
    for mistake in catalogue().values():
        for result in (name for name in task.results if recipe_of(task, name) in mistake.of):
            for way in mistake.ways:
                slip = Slip(result, way)
                names = {case.name for case, right in every if differs(task, case, slip, right)}
                if names:
                    (shown if names & reached else hidden).append((mistake, slip))
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
