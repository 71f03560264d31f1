"""What a function of the graph keeps for its backward pass."""

import reprlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from convviz.facts.words import sentences
from convviz.features.graph.walk import Function, forward_class

say = sentences("features/graph")


@dataclass(frozen=True, eq=False)
class Kept:
    """One thing that a function keeps, not copied yet."""

    name: str  # without _saved_; saved_tensors[0] or ctx.k for a custom Function
    content: Any  # a tensor or a plain value; None also when it cannot be read
    note: str = ""  # why it cannot be read, or what is wrong with it
    unreadable: bool = False
    needed: bool = True  # False for what was not saved because no gradient needs it


def kept_by(function: Function) -> tuple[Kept, ...]:
    if forward_class(function) is not None:
        return (*_saved_tensors(function), *_on_ctx(function))
    names = sorted(name for name in dir(function) if name.startswith("_saved_"))
    return tuple(kept for name in names for kept in _read(function, name, name.removeprefix("_saved_")))


def explain_failure(error: Exception) -> str:
    """Return torch's message; the one about freed graphs says what to do."""
    message = str(error)
    if "backward through the graph a second time" in message:
        return say("freed")
    return message if isinstance(error, RuntimeError) else f"{type(error).__name__}: {message}"


def _read(function: Function, attribute: str, name: str) -> Iterator[Kept]:
    try:
        content = getattr(function, attribute)
    except Exception as error:  # the caller's own unpack hooks run here and may raise anything
        yield Kept(name, None, explain_failure(error), unreadable=True)
        return
    if isinstance(content, (tuple, list)) and any(isinstance(entry, torch.Tensor) for entry in content):
        for place, entry in enumerate(content):
            yield _not_needed(f"{name}[{place}]") if entry is None else Kept(f"{name}[{place}]", entry)
    elif isinstance(content, torch.Tensor):
        yield Kept(name, content)
    else:
        # torch shows a tensor that it did not save as None; a setting that is None reads the same, and has no raw twin
        absent = content is None and hasattr(function, attribute.replace("_saved_", "_raw_saved_", 1))
        yield _not_needed(name) if absent else Kept(name, plain(content))


def _not_needed(name: str) -> Kept:
    return Kept(name, None, say("saved.not_needed"), needed=False)


def _saved_tensors(function: Function) -> Iterator[Kept]:
    for kept in _read(function, "saved_tensors", "saved_tensors"):
        if kept.content != () or isinstance(kept.content, torch.Tensor):  # nothing saved is nothing to show
            yield kept


def _on_ctx(function: Function) -> Iterator[Kept]:
    for name, content in sorted(vars(function).items()):
        if isinstance(content, torch.Tensor):
            yield Kept(f"ctx.{name}", content, say("saved.on_ctx"))
        else:
            yield Kept(f"ctx.{name}", plain(content))


def plain(value: Any) -> Any:
    """Return numbers, texts and tuples of them as they are, all else as a short text."""
    if isinstance(value, (tuple, list)):
        return tuple(plain(entry) for entry in value)
    if type(value) is int and value >= 2**63:  # torch hands out a negative axis as an unsigned number
        return value - 2**64
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    short = reprlib.Repr()
    short.maxother = 200  # characters: a whole ConvSpec
    return short.repr(value)
