"""The tab Your code: a function of the notebook, or a pasted one, checked and diagnosed; on a server, its owner's."""

import dataclasses
import inspect
import json
import linecache
import re
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import torch

from convviz.app.permissions import is_served, runs_code
from convviz.app.stateful_tab import Send, Tab
from convviz.app.to_json import plain
from convviz.cases.tasks import TASKS, Task, forward_of
from convviz.check.api import report
from convviz.check.report import CaseResult, ErrorMap, Report
from convviz.facts.words import sentences
from convviz.ops.stages import Stages
from convviz.sandbox.child_process import Child, Ended, bounds_of
from convviz.settings.state import Settings

say = sentences("features/yours")
say_call = sentences("calling_student_code")
CHOSEN = {"task": "conv2d_backward", "name": "", "code": ""}
CHOICES = tuple(CHOSEN)
SECONDS = 50.0  # for the whole check
SHOWN = 6  # missing and extra products that are named


PASTED = "<your code>"


def _menu(task: Task) -> dict[str, Any]:
    """Return what the menu says of a task: of which operator it is, which part, what it takes and what it gives."""
    group = "binary" if task.quantised else forward_of(task).name
    part = "function" if task.quantised else task.name.removeprefix(group).removeprefix("_") or "forward"
    return {"name": task.name, "group": group, "part": part, "takes": task.arguments, "gives": task.results}


_TASKS = [_menu(task) for task in TASKS.values()]


class YoursTab(Tab):
    """Checks what a person chose or pasted; the last report stays until the next check."""

    name = "yours"

    def __init__(self, send: Send, device: Callable[[], str]) -> None:
        super().__init__(send, device)
        self._chosen: Mapping[str, str] = CHOSEN
        self._found: Mapping[str, Any] = {}

    def data(self) -> dict[str, Any]:
        return _data(self._chosen, self._found)

    def act(self, message: Mapping[str, Any]) -> None:
        """Check what the message names; what cannot be checked is said, and what was typed stays."""
        if not runs_code():
            return  # whatever a page sends: a server runs nobody's code
        self._chosen = _choice(message)
        self._found = _checked(self._chosen)
        self.refresh()


def data(settings: Settings, stages: Stages, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the tab shows, after a check where there are choices: a server keeps no state."""
    chosen = _choice(choices)
    return _data(chosen, _checked(chosen) if choices and runs_code() else {})


def _choice(given: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(given.get(key, first)) for key, first in CHOSEN.items()}


def _data(chosen: Mapping[str, str], found: Mapping[str, Any]) -> dict[str, Any]:
    names = None if is_served() else sorted(_namespace())
    can = {"why_not": "" if runs_code() else say("served"), "tasks": _TASKS, "names": names, "chosen": chosen}
    return {**can, "seconds": SECONDS, "failed": "", "report": None, **found}


def _checked(chosen: Mapping[str, str]) -> dict[str, Any]:
    """Return what comes of a check; pasted code itself is run apart as well."""

    def work(_: bytes) -> bytes:
        try:
            return json.dumps({"report": _plain(report(_function(chosen), chosen["task"]))}).encode()
        except ValueError as error:
            return json.dumps({"failed": str(error)}).encode()

    bounds = bounds_of(None)
    if bounds is None:
        return dict(json.loads(work(b"")))
    child = Child(work, dataclasses.replace(bounds, seconds=SECONDS))
    try:
        return dict(json.loads(child.ask(b"check")))
    except Ended as ended:
        return {"failed": str(ended)}
    finally:
        child.close()


def _namespace() -> dict[str, Callable[..., Any]]:
    shell = _shell()
    known = {} if shell is None else shell.user_ns
    return {
        name: value
        for name, value in known.items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and getattr(value, "__module__", "") == "__main__"
    }


def _shell() -> Any:
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:  # plain Python: there is no notebook
        return None
    return get_ipython()


def _function(chosen: Mapping[str, str]) -> Callable[..., Any]:
    if chosen["code"].strip():
        return _pasted(chosen["code"])
    if not chosen["name"]:
        raise ValueError(say("nothing.pasted" if is_served() else "nothing"))
    found = _namespace().get(chosen["name"])
    if found is None:
        raise ValueError(say("gone", name=chosen["name"]))
    return found


def _pasted(code: str) -> Callable[..., Any]:
    """Run pasted code, and return the last function or class that it defines."""
    import numpy

    names: dict[str, Any] = {"torch": torch, "np": numpy, "numpy": numpy, "F": torch.nn.functional, "nn": torch.nn}
    names["__name__"] = "__main__"
    given = set(names)
    linecache.cache[PASTED] = (len(code), None, code.splitlines(keepends=True), PASTED)  # what was pasted can be read
    try:
        exec(compile(code, PASTED, "exec"), names)
    except (Exception, SystemExit) as error:
        raise ValueError(say("pasted.failed", error=f"{type(error).__name__}: {error}")) from error
    defined = [
        value
        for name, value in names.items()
        if name not in given and callable(value) and not isinstance(value, ModuleType)
        and getattr(value, "__module__", "") == "__main__"
    ]  # fmt: skip
    if not defined:
        raise ValueError(say("nothing.defined"))
    found: Callable[..., Any] = defined[-1]
    return found


def _plain(made: Report) -> dict[str, Any]:
    first = next((case for case in made.cases if not case.passed), None)
    right, count = sum(case.passed for case in made.cases), len(made.cases)
    summary = say("passed", count=count) if made.passed else say("failed", right=right, count=count)
    is_plain = right and made.fits is None  # what could not be called, or fits one scope alone, has its own sentence
    asked_back = [made.question] * bool(made.question)
    shown = None if first is None else {"lines": [*first.message.splitlines(), *asked_back], "line": _line(first)}
    return {
        "passed": made.passed,
        "summary": summary if is_plain else made.summary,
        "first": None if first is None or shown is None else {"case": first.name, **shown},
        "diagnoses": plain(made.diagnoses),
        "map": None if made.error_map is None else _plain_map(made.error_map),
        "cases": [[case.name, case.passed, case.message.partition("\n")[0]] for case in made.cases],
        "not_asked": [[name, reason] for name, reason in made.not_asked.items()],
        "left_out": "; ".join(made.left_out),
        "assumed": "; ".join(made.assumed),
    }


def _line(case: CaseResult) -> int | None:
    """Return the line of the code that a case names, as an exception does; None where it names none."""
    before = say_call("line", line="@").partition("@")[0]
    found = re.search(re.escape(before) + r"(\d+)", case.message)
    return int(found[1]) if found else None


def _plain_map(shown: ErrorMap) -> dict[str, Any]:
    label = f"{shown.result}[{', '.join(map(str, shown.at))}]" if shown.at else shown.result
    made: dict[str, Any] = {
        "label": label,
        "case": shown.case,
        "right": plain(shown.right),
        "received": plain(shown.received),
        "wrong": shown.wrong,
        "products": None,
    }
    if products := shown.products:
        made["products"] = {
            "of": products.of,
            "setting": products.setting,
            "total": products.total,
            "missing": len(products.missing),
            "extra": len(products.extra),
            "shown": {"missing": products.missing[:SHOWN], "extra": products.extra[:SHOWN]},
        }
    return made
