"""Whatever a student's code does to the process, it is undone; what it writes is kept, and reaches nobody's stderr."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import random
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from convviz.facts.words import sentences

say = sentences("calling")

MOST = 2000  # characters that are kept of what is written
# Where a patch would change what is computed, here or in the student's next call.
_PATCHED: tuple[Any, ...] = (
    torch, F, torch.Tensor, torch.nn, torch.nn.Conv2d, torch.nn.Module, torch.nn.Parameter, torch.nn.grad, torch.autograd,
    torch.autograd.Function, torch.linalg, np, np.linalg, np.random, __import__("builtins"), os, sys, random, warnings,
)  # fmt: skip


class Written(io.StringIO):
    """Keeps the first characters of what is written; the rest is counted as written and is gone."""

    def write(self, text: str, /) -> int:
        """Keep the text, as far as there is room."""
        if self.tell() < 2 * MOST:
            super().write(text[: 2 * MOST])
        return len(text)


class Kept:
    """What a guarded block wrote; whole when the block has ended."""

    def __init__(self) -> None:
        self.printed = ""
        self.interrupted = False


@contextlib.contextmanager
def guarded() -> Iterator[Kept]:
    """Run a student's code: the state of Python, NumPy and torch is afterwards as it was before."""
    kept, text = Kept(), Written()
    with contextlib.ExitStack() as stack:
        caught: list[warnings.WarningMessage] = []
        stack.callback(lambda: _put_together(kept, text, caught))
        stack.enter_context(_files(text))
        stack.enter_context(_state())
        stack.enter_context(_interrupts(kept))
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        stack.enter_context(_random())
        stack.enter_context(_torch())
        stack.enter_context(_patches())
        sys.stdout = sys.stderr = text
        yield kept


def _put_together(kept: Kept, text: Written, caught: list[warnings.WarningMessage]) -> None:
    said = dict.fromkeys(f"{each.category.__name__}: {each.message}" for each in caught)
    kept.printed = "\n".join(part for part in (text.getvalue().rstrip("\n"), *said) if part)[:MOST]


@contextlib.contextmanager
def _files(text: Written) -> Iterator[None]:
    """Catch what is written to the files 1 and 2 themselves, as C code and ``os.write`` do."""
    with tempfile.TemporaryFile() as file:
        saved: list[tuple[int, int]] = []
        try:
            for number in (1, 2):
                _flush()
                saved.append((number, os.dup(number)))
                os.dup2(file.fileno(), number)
        except OSError:  # a process without them, as a service may be: nothing to catch
            pass
        try:
            yield
        finally:
            _flush()
            for number, copy in saved:
                os.dup2(copy, number)
                os.close(copy)
            file.seek(0)
            text.write(file.read(2 * MOST).decode("utf-8", "replace"))


def _flush() -> None:
    for stream in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):  # closed, or None
            stream.flush()  # type: ignore[union-attr]


@contextlib.contextmanager
def _state() -> Iterator[None]:
    """Keep the interpreter's state."""
    streams = sys.stdin, sys.stdout, sys.stderr, sys.displayhook, sys.excepthook
    path, environment, folder = list(sys.path), dict(os.environ), _folder()
    depth, collecting, tracing, profiling = sys.getrecursionlimit(), gc.isenabled(), sys.gettrace(), sys.getprofile()
    modules = sys.path, os.environ
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr, sys.displayhook, sys.excepthook = streams
        sys.path, os.environ = modules
        sys.path[:] = path
        for key in [key for key in os.environ if environment.get(key) != os.environ[key]]:
            del os.environ[key]
        os.environ.update(environment)
        if folder is not None:
            os.chdir(folder)
        sys.setrecursionlimit(depth)
        if sys.gettrace() is not tracing:
            sys.settrace(tracing)
        if sys.getprofile() is not profiling:
            sys.setprofile(profiling)
        (gc.enable if collecting else gc.disable)()


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was removed under us
        return None


@contextlib.contextmanager
def _interrupts(kept: Kept) -> Iterator[None]:
    """Tell a Ctrl-C from a KeyboardInterrupt that code raises; alarms that it sets are off again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _signals()}
    handler = before[signal.SIGINT]

    def noted(number: int, frame: FrameType | None) -> Any:
        kept.interrupted = True
        if callable(handler):
            return handler(number, frame)
        raise KeyboardInterrupt

    if handler is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, noted)
    try:
        yield
    finally:
        if hasattr(signal, "alarm"):
            signal.alarm(0)
        for number, was in before.items():
            if was is not None and signal.getsignal(number) is not was:
                signal.signal(number, was)


def _signals() -> list[signal.Signals]:
    names = ("SIGINT", "SIGTERM", "SIGALRM", "SIGUSR1", "SIGUSR2")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


@contextlib.contextmanager
def _random() -> Iterator[None]:
    python, numpy, torchs = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        torch.set_rng_state(torchs)


@contextlib.contextmanager
def _torch() -> Iterator[None]:
    """Keep torch's and NumPy's switches; the code begins with gradients on, as a cell of a notebook does."""
    grad, dtype, threads = torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads()
    device, strict = torch.get_default_device(), torch.are_deterministic_algorithms_enabled()
    errors, anomaly = np.geterr(), torch.is_anomaly_enabled()
    torch.set_grad_enabled(True)
    try:
        yield
    finally:
        torch.set_grad_enabled(grad)
        if torch.get_default_dtype() != dtype:
            torch.set_default_dtype(dtype)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        if torch.get_default_device() != device:
            torch.set_default_device(None if device == torch.device("cpu") else device)
        if torch.are_deterministic_algorithms_enabled() != strict:
            torch.use_deterministic_algorithms(strict)
        if torch.is_anomaly_enabled() != anomaly:
            torch.autograd.set_detect_anomaly(anomaly)
        np.seterr(**errors)


@contextlib.contextmanager
def _patches() -> Iterator[None]:
    """Put back what was set in a library's place: ``torch.nn.functional.conv2d = mine``."""
    before = [(owner, dict(vars(owner))) for owner in _PATCHED]
    try:
        yield
    finally:
        for owner, names in before:
            now = vars(owner)
            for name, value in names.items():
                if callable(value) and (name not in now or now[name] is not value):
                    with contextlib.suppress(AttributeError, TypeError):
                        setattr(owner, name, value)
