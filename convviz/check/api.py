"""check, grade and report: the three ways to ask whether a hand-written backward pass is right."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import torch

from convviz.check.battery import battery, make_case
from convviz.check.calling.names_and_layouts import with_names
from convviz.check.calling.open_student import open_student
from convviz.check.examine import examine
from convviz.check.report import Report
from convviz.check.same_padding import SAME
from convviz.check.scope_that_fits import fitting
from convviz.check.settings_in_scope import Scope, read_scope
from convviz.check.stated_geometries import Stated, sides_of, stated_cases
from convviz.check.tasks import find_task, in_a_row

# A function or a class; a pair (forward, backward); None is "not defined yet".
Checked = Callable[..., Any] | tuple[Callable[..., Any], Callable[..., Any]] | None


def report(
    fn: Checked,
    task: str,
    *,
    cases: str = "all",
    seed: int = 0,
    rtol: float | None = None,
    atol: float = 0.0,
    layout: str | None = None,
    arrays: str | None = None,
    names: Mapping[str, str] | None = None,
    at: Stated | Sequence[Stated] | None = None,
    time_limit: float | None = None,
    forward: Callable[..., Any] | None = None,
    scope: Mapping[str, Any] | str | None = None,
) -> Report:
    """Try a function at every case and say what is wrong with it, where, and why.

    Args:
        fn: a function, a class, or a pair of functions ``(forward, backward)``; None is "not defined yet". A function
            of one argument called ``case`` is your own adapter: it reads ``case.input``, ``case.weight``,
            ``case.stride`` and so on by torch's names, calls whatever you have, and returns the task's results as a
            tuple in torch's order or as a dict by their names. Then nothing is guessed.
        task: what it is to do, one of ``TASKS``.
        cases: ``"all"``; ``"battery"``, the settings alone, without the further questions and the random geometries
            that follow where everything else is right; or ``"public"``, the three that a published test shows.
        seed: of the numbers; the same seed gives the same ones.
        rtol: how far a number may be off as a part of the largest right one; by default 1e-9, in float32 1e-4.
        atol: how far it may be off besides.
        layout: of the arrays, such as ``"NHWC"``; by default found out from the shapes of the results.
        arrays: ``"torch"``, ``"numpy"`` or ``"lists"``; by default found out from the code, for an adapter torch's.
        names: what your own names stand for, ``{"filters": "out_channels", "kern": "weight"}``: those of arguments, of
            attributes, of the keys of a dict and of results.
        at: geometries of your own, at which it is asked in the place of ``cases``: a ConvSpec, a dict such as
            ``{"input": (2, 3, 32, 32), "weight": (8, 3, 5, 5), "stride": 2}``, or several.
        time_limit: seconds that a call may take, 20 by default. The code runs in a process of its own with bounded
            memory where that is safe (not on Windows, not beside a GPU); with a limit that you state the number of its
            processes is bounded as well. ``math.inf`` runs it in this process, without limits, for a debugger.
        forward: a forward pass that makes the cache which ``fn`` reads: the same as the pair ``(forward, fn)``.
        scope: the settings that it is meant for (``read_scope`` has the keys), or ``"all"``: those as well that its own
            assert or NotImplementedError refuses, which otherwise are not asked.

    Raises:
        ValueError: unknown task or choice of cases, unusable seed, tolerance, scope or forward.
    """
    found = find_task(task, fn)
    for name, value in {"rtol": rtol, "atol": atol}.items():
        if value is not None and not (isinstance(value, (int, float)) and 0 <= value < float("inf")):
            raise ValueError(f"{name} is a number of 0 or more: got {value!r}")
    limits = read_scope(scope, found.is_row)
    if forward is not None and ("output" in found.results or not callable(forward)):
        raise ValueError(f"forward is a function, for a task of gradients alone: got {forward!r} for {found.name!r}")
    given = (forward, fn) if forward is not None and callable(fn) else fn
    known = battery(cases, seed, linear=found.name.startswith("linear"), quantised=found.quantised)
    known = in_a_row(known, found) if found.is_row else known
    known = known if at is None else stated_cases(at, found, seed)

    def asked(within: Scope) -> Iterator[Report]:
        """Yield what comes within a scope; and where nothing fits, and none is stated, within one that does."""
        tried = known + within.cases(known, seed)
        told: dict[str, Any] = {"layout": layout, "arrays": arrays, "time_limit": time_limit, "scope": within}
        told["sides"] = "" if at is None else sides_of(at)
        with closing(open_student(given, found, tried, **told)) as student:
            if student.speaks and cases != "public" and at is None:
                tried += [
                    make_case(name, found.fit(spec), seed * 1009 + 900 + n)
                    for n, (name, spec) in enumerate(SAME.items())
                ]
            if cases == "all" and at is None:
                tried += student.further(seed * 1009 + 950)
            first = examine(student, tried, rtol, atol, seed * 1009 + 1000 if cases == "all" and at is None else None)
            if scope is None and at is None and within is limits and not found.name.startswith("linear"):
                for stated, narrower in fitting(student, first):
                    inside = next(asked(narrower))
                    if inside.passed and len(inside.cases) > 1:
                        yield dataclasses.replace(inside, fits=stated)
        yield first

    with with_names(names), _one_thread():
        return next(asked(limits))


def check(
    fn: Checked,
    task: str,
    *,
    cases: str = "public",
    seed: int = 0,
    rtol: float | None = None,
    atol: float = 0.0,
    hint: bool = True,
    layout: str | None = None,
    arrays: str | None = None,
    names: Mapping[str, str] | None = None,
    at: Stated | Sequence[Stated] | None = None,
    time_limit: float | None = None,
    forward: Callable[..., Any] | None = None,
    scope: Mapping[str, Any] | str | None = None,
) -> None:
    """Raise unless a function is right, and return nothing, as graders want it; the arguments are those of ``report``.

    With ``hint=False`` the message does not say what to change.

    Raises:
        CheckFailed: an AssertionError whose message has at most 12 lines: the first failing case, its shapes, the cell
            that is furthest off with both numbers, one hint.
        ValueError: as ``report``.
    """
    given: dict[str, Any] = {"cases": cases, "seed": seed, "rtol": rtol, "atol": atol, "layout": layout}
    given |= {"arrays": arrays, "names": names, "at": at, "time_limit": time_limit}
    report(fn, task, **given, forward=forward, scope=scope).raise_if_failed(hint)


def grade(
    fn: Checked,
    task: str,
    *,
    points: float = 1.0,
    cases: str = "all",
    seed: int = 0,
    layout: str | None = None,
    arrays: str | None = None,
    names: Mapping[str, str] | None = None,
    at: Stated | Sequence[Stated] | None = None,
    time_limit: float | None = None,
    forward: Callable[..., Any] | None = None,
    scope: Mapping[str, Any] | str | None = None,
) -> float:
    """Print feedback to stdout and return the points, the part of the cases that is right; for partial credit.

    ``points`` are for a function that is right in every case; the other arguments are those of ``report``.

    Returns:
        A plain float from 0 to ``points``, rounded to 4 places, as a grader's cell ends with it.

    Raises:
        ValueError: the points are no positive number; as ``report``. Never for a wrong answer.
    """
    if isinstance(points, bool) or not isinstance(points, (int, float)) or not 0 < points < float("inf"):
        raise ValueError(f"points is a number above 0: got {points!r}")
    given: dict[str, Any] = {"cases": cases, "seed": seed, "layout": layout, "arrays": arrays, "time_limit": time_limit}
    found = report(fn, task, **given, names=names, at=at, forward=forward, scope=scope)
    print(found.text())
    return min(round(found.score * points, 4), float(points))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Compute with one thread: more of them wait for each other on a busy machine, for twenty times as long."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
