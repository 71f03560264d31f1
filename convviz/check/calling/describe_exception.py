"""What a student's code threw, in a sentence: its kind, its text, and the line of the student's code."""

from __future__ import annotations

import contextlib
import linecache
import re
import traceback
from types import TracebackType
from typing import Any

from convviz.cases.tasks import GRADIENTS
from convviz.check.calling.arrays import NotNumbers
from convviz.check.calling.inspect_source import code_of
from convviz.check.calling.names_and_layouts import role_of
from convviz.facts.words import sentences
from convviz.sandbox.child_process import NoDebugger

say = sentences("calling_student_code")

LONGEST = 300
_LIBRARIES = ("/torch/", "/numpy/", "/convviz/check/calling/", "/contextlib.py", "<frozen ", "<__array_function__")


def failure(error: BaseException, fn: Any) -> tuple[str, str]:
    """Return the kind and the sentence of what was thrown."""
    if isinstance(error, NotNumbers | NoDebugger):
        return "wrong_type", str(error)
    text, where = "", line_of(error.__traceback__, fn)
    with contextlib.suppress(BaseException):  # its __str__ is the student's as well
        text = "\n".join(str(error).strip().splitlines()[:3])[:LONGEST]
    if isinstance(error, MemoryError) or "t allocate memory" in text or "not enough memory" in text:
        return "crashed", say("memory", where=where)
    plain = {SystemExit: "exit", KeyboardInterrupt: "interrupt", RecursionError: "recursion"}
    for type_, id in plain.items():
        if isinstance(error, type_):
            return "raised", say(id, where=where)
    said = say("raised", type=type(error).__name__, text=f": {text}" if text else "", where=where)
    return "refused" if _is_refusal(error) else "raised", said


def _is_refusal(error: BaseException) -> bool:
    """Return whether the student's own code says that it is not made for this; no check of what it computed does."""
    if not isinstance(error, AssertionError | NotImplementedError):
        return False
    file, line = [(frame.f_code.co_filename, number) for frame, number in traceback.walk_tb(error.__traceback__)][-1]
    words = re.findall(r"\w+", linecache.getline(file, line))
    return not _of_a_library(file) and not any(role_of(word, ("output", *GRADIENTS)) for word in words)


def _of_a_library(file: str) -> bool:
    return any(part in file.replace("\\", "/") for part in _LIBRARIES)


def line_of(trace: TracebackType | None, fn: Any) -> str:
    """Return where in the student's code it happened, such as ``" (line 7: x = 1 / 0)"``; empty if nowhere there."""
    own = getattr(getattr(code_of(fn), "__code__", None), "co_filename", None)
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(trace)]
    mine = [place for place in frames if place[0] == own and "/convviz/check/calling/" not in place[0]]
    others = [place for place in frames if not _of_a_library(place[0])]
    found = mine or others
    if not found:
        return ""
    file, line = found[-1]
    text = linecache.getline(file, line).strip()[:100]
    return say("line_with_code", line=line, code=text) if text else say("line", line=line)
