"""A forward and a backward pass of one's own, called one after the other, and the gradients gathered."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from convviz.check.battery import Case
from convviz.check.calling.arrays import NotNumbers
from convviz.check.calling.layer import fill, is_within
from convviz.check.calling.names import role_of
from convviz.check.calling.plan import Given
from convviz.check.calling.results import as_keys, is_array, take_apart
from convviz.check.calling.subject import Passes, Subject
from convviz.check.tasks import GRADIENTS, Task
from convviz.facts.words import sentences

say = sentences("calling")

Timed = Callable[..., Any]


def run_passes(
    subject: Subject, given: Given, case: Case, timed: Timed, found: dict[str, torch.Tensor]
) -> tuple[bool, Any]:
    """Fill in the output and the gradients; return whether there was a bias, and what came back as it was."""
    passes, plan = subject.passes, given.plan
    assert passes is not None  # who calls this has looked
    layer, biased = _made(passes, given, case, timed) if passes.maker else (None, False)
    biased = biased or subject.has_bias(plan)
    placed, named = given.arguments(passes.goes)
    output, kept = _apart(timed(_of(layer, passes.forward), *placed, **named))
    found.update(take_apart(output, _only(subject.task, "output"), plan))
    if passes.backward is None:
        return biased, output
    if given.again and layer is None:
        _between(passes, given, case, timed)
    if kept is None and "cache" in passes.returns.roles:
        raise NotNumbers(say("no_cache"))
    given.hold("cache", kept)
    placed, named = given.arguments(passes.returns)
    returned = timed(_of(layer, passes.backward), *placed, **named)
    names = tuple(name for name in subject.task.results if name != "output")
    optional = () if biased or len(names) == 1 else ("grad_bias",)
    if layer is not None:
        returned = _gathered(returned, layer, names, optional)
    if len(names) == 1 and isinstance(returned, tuple) and len(returned) == len(GRADIENTS):
        returned = returned[GRADIENTS.index(names[0])]
    found.update(take_apart(returned, _only(subject.task, *names), plan, optional, given.remarks))
    return biased, (output, returned)


def _of(layer: Any, code: Any) -> Any:
    return getattr(layer, code) if isinstance(code, str) else code


def _only(task: Task, *names: str) -> Task:
    return dataclasses.replace(task, results=names)


def _made(passes: Passes, given: Given, case: Case, timed: Timed) -> tuple[Any, bool]:
    """Return what the class makes with the case's weights, and whether it has a bias.

    Asked a second time, it goes forward with another image first, so that what it keeps of an earlier one shows.
    """
    making = Given(passes.layer, given.plan, case) if passes.layer.kind == "Module" else given
    placed, named = making.arguments(passes.makes)
    layer = timed(passes.maker, *placed, **named)
    biased = fill(layer, case, given.plan) if passes.is_filled else False
    if given.again:
        other = Given(given.task, given.plan, dataclasses.replace(case, input=1 - case.input.flip(2, 3) / 2))
        placed, named = other.arguments(passes.goes)
        timed(_of(layer, passes.forward), *placed, **named)
    return layer, biased


def _between(passes: Passes, given: Given, case: Case, timed: Timed) -> None:
    """Go forward with another image before going back: what is kept elsewhere than in the cache is then another."""
    other = Given(given.task, given.plan, dataclasses.replace(case, input=1 - case.input.flip(2, 3) / 2))
    placed, named = other.arguments(passes.goes)
    with contextlib.suppress(Exception):  # whatever it thinks of that image is not asked here
        timed(passes.forward, *placed, **named)


def _apart(returned: Any) -> tuple[Any, Any]:
    """Return the output and what a forward pass keeps beside it: ``out, cache``."""
    if isinstance(returned, tuple) and len(returned) > 1 and is_array(returned[0]):
        return returned[0], returned[1] if len(returned) == 2 else returned[1:]
    return returned, None


def _gathered(returned: Any, layer: Any, names: tuple[str, ...], optional: tuple[str, ...]) -> Any:
    """Return the gradients; those that backward does not return are looked for among the attributes."""
    if isinstance(as_keys(returned), Mapping) or (isinstance(returned, tuple | list) and not _is_nested(returned)):
        return returned
    kept = dict(_kept(layer, names))
    first = "grad_input" if "grad_input" in names else next((name for name in names if name not in kept), None)
    if returned is not None and first is not None:
        kept[first] = returned
    missing = [name for name in names if name not in kept and name not in optional]
    if missing:
        raise NotNumbers(say("no_attribute", missing=", ".join(missing)))
    return {name: kept[name] for name in names if name in kept}


def _is_nested(value: Any) -> bool:
    """Return whether this is an array as a list of lists of numbers, and no row of gradients."""
    depth = 0
    while isinstance(value, list) and value:
        value, depth = value[0], depth + 1
    return depth > 1 and isinstance(value, int | float) and depth in (2, 3, 4)


def _kept(layer: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the gradients among an object's attributes: ``dW``, ``grads["W"]``, ``W.grad``."""
    for name, value in vars(layer).items():
        role = role_of(name, names)
        if role and value is not None:
            yield role, value
        plain = role_of(name, ("weight", "bias"))
        if plain and f"grad_{plain}" in names and getattr(value, "grad", None) is not None:
            yield f"grad_{plain}", value.grad
        if isinstance(value, Mapping):
            yield from _in_dict(name, value, names)
        elif isinstance(value, list | tuple) and name.strip("_").lower().startswith("grad") and role is None:
            yield from zip((each for each in names if each != "grad_input"), value, strict=False)
        elif is_within(value, layer):
            yield from _kept(value, names)


def _in_dict(name: str, held: Mapping[Any, Any], names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for key, value in held.items():
        role = role_of(str(key), names)
        plain = role_of(str(key), ("weight", "bias", "input")) if "grad" in name.lower() else None
        role = role or (f"grad_{plain}" if plain else None)
        if role in names and value is not None:
            yield role, value
