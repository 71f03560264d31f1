"""check, grade and report: the three ways to ask whether a hand-written backward pass is right."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple, TypedDict, Unpack

from convviz.cases.battery import Case, battery, make_case
from convviz.cases.same_padding import SAME
from convviz.cases.settings_in_scope import Scope, read_scope
from convviz.cases.stated_geometries import Stated, sides_of, stated_cases
from convviz.cases.tasks import TASKS, Task, find_task, in_a_row
from convviz.check.calling.names_and_layouts import with_names
from convviz.check.calling.open_student import open_student
from convviz.check.one_thread import one_thread
from convviz.check.report import Report
from convviz.check.run.examine import examine
from convviz.check.run.scope_that_fits import fitting
from convviz.facts.words import sentences

say = sentences("check")

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
    if forward is not None and ("output" in found.results or not callable(forward)):
        raise ValueError(f"forward is a function, for a task of gradients alone: got {forward!r} for {found.name!r}")
    given = (forward, fn) if forward is not None and callable(fn) else fn
    known = battery(cases, seed, linear=found.name.startswith("linear"), rule=found.rule)
    known = in_a_row(known, found) if found.is_row else known
    known = known if at is None else stated_cases(at, found, seed)
    call_options: dict[str, Any] = {"layout": layout, "arrays": arrays, "time_limit": time_limit}
    call_options["sides"] = "" if at is None else sides_of(at)
    how = _How("here" if at is not None else cases, seed, rtol, atol, is_searched=scope is None and at is None)
    with with_names(names), one_thread():
        said = next(_asked(given, found, known, read_scope(scope, found.is_row), call_options, how))
    name = getattr(fn, "__name__", "")
    if said.passed or name not in TASKS or name == found.name:
        return said
    return dataclasses.replace(said, question=say("other_task", name=name))


class _How(NamedTuple):
    """How a function is asked within a scope."""

    cases: str  # as they are chosen, or "here" where they are stated
    seed: int
    rtol: float | None
    atol: float
    is_searched: bool  # whether a scope is looked for where nothing fits


def _asked(
    fn: Checked, task: Task, known: list[Case], scope: Scope, call_options: Mapping[str, Any], how: _How
) -> Iterator[Report]:
    """Yield what comes within a scope; first, where nothing fits and a scope is looked for, what comes in that one."""
    seed = how.seed * 1009
    tried = known + scope.cases(known, how.seed)
    with closing(open_student(fn, task, tried, scope=scope, **call_options)) as student:
        if student.speaks and how.cases in ("all", "battery"):
            tried += [make_case(name, task.fit(spec), seed + 900 + n) for n, (name, spec) in enumerate(SAME.items())]
        if how.cases == "all":
            tried += student.further(seed + 950)
        found = examine(student, tried, how.rtol, how.atol, seed + 1000 if how.cases == "all" else None)
        if how.is_searched and not task.name.startswith("linear"):
            for stated, narrower in fitting(student, found):
                inside = next(_asked(fn, task, known, narrower, call_options, how._replace(is_searched=False)))
                if inside.passed and len(inside.cases) > 1:
                    yield dataclasses.replace(inside, fits=stated)
    yield found


class Options(TypedDict, total=False):
    """What ``report`` takes beside a function and a task; the same of ``check`` and ``grade``."""

    cases: str
    seed: int
    rtol: float | None
    atol: float
    layout: str | None
    arrays: str | None
    names: Mapping[str, str] | None
    at: Stated | Sequence[Stated] | None
    time_limit: float | None
    forward: Callable[..., Any] | None
    scope: Mapping[str, Any] | str | None


def check(fn: Checked, task: str, *, hint: bool = True, **options: Unpack[Options]) -> None:
    """Raise unless a function is right, and return nothing, as graders want it; the arguments are those of ``report``.

    With ``hint=False`` the message does not say what to change.

    Raises:
        CheckFailed: an AssertionError whose message has at most 12 lines: the first failing case, its shapes, the cell
            that is furthest off with both numbers, one hint.
        ValueError: as ``report``.
    """
    report(fn, task, **options).raise_if_failed(hint)


def grade(fn: Checked, task: str, *, points: float = 1.0, **options: Unpack[Options]) -> float:
    """Print feedback to stdout and return the points, the part of the cases that is right; for partial credit.

    ``points`` are for a function that is right in every case; the other arguments are those of ``report``.

    Returns:
        A plain float from 0 to ``points``, rounded to 4 places, as a grader's cell ends with it.

    Raises:
        ValueError: the points are no positive number; as ``report``. Never for a wrong answer.
    """
    if isinstance(points, bool) or not isinstance(points, (int, float)) or not 0 < points < float("inf"):
        raise ValueError(f"points is a number above 0: got {points!r}")
    found = report(fn, task, **options)
    print(found.text())
    return min(round(found.score * points, 4), float(points))
