"""What torch runs while something is computed: every op, and which one called it."""

from collections.abc import Callable, Iterator
from typing import Any

import torch

try:
    # Watched with this one, torch 2.13 writes nothing to stderr; its successor writes two lines a run, which a
    # notebook shows in red. It also refuses to run inside the caller's profiler instead of emptying that one.
    from torch.autograd.profiler_legacy import profile as _profile
except ImportError:  # announced for some later torch
    from torch.autograd.profiler import profile as _profile  # type: ignore[assignment]


def watch(action: Callable[[], Any]) -> tuple[Any, tuple[str, ...], tuple[str, ...]]:
    """Return the action's result, every op that it ran once, and the tree of calls."""
    if torch._C._autograd._profiler_enabled():
        raise RuntimeError(
            "which_backend needs torch's profiler, of which only one runs at a time: got a call inside a running one; "
            "call which_backend before or after it"
        )
    with _profile() as profiler:
        result = action()
    events: Any = profiler.function_events
    # By the clock: on an accelerator the backward pass runs in another thread. A caller ends after what it calls.
    events = sorted(events, key=lambda event: (event.time_range.start, -event.time_range.end))
    tree: dict[str, Any] = {}
    for event in events:
        _add_call(tree, event)
    return result, tuple(dict.fromkeys(event.name for event in events)), tuple(_lines(tree))


def _add_call(tree: dict[str, Any], event: Any) -> None:
    """Count a call in the tree {name: [times, what it called]}."""
    callers = []
    while event is not None:
        callers.append(event.name)
        event = event.cpu_parent
    *outer, name = reversed(callers)
    for caller in outer:
        tree = tree[caller][1]
    tree.setdefault(name, [0, {}])[0] += 1


def _lines(tree: dict[str, Any], depth: int = 0) -> Iterator[str]:
    for name, (times, called) in tree.items():
        yield f"{'  ' * depth}{name}" + (f" × {times}" if times > 1 else "")
        yield from _lines(called, depth + 1)
