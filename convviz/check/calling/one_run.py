"""What one run of a student's function is made of: its case, what it is given, what came, and how it differs."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from convviz.cases.battery import Case
from convviz.check.calling.binding import Binding
from convviz.check.calling.call_plan import Given, Plan
from convviz.check.calling.function_or_class import Subject
from convviz.check.calling.inspect_source import is_function
from convviz.check.calling.random_numbers import RandomNumbers
from convviz.check.calling.results import only, take_apart

# Named here, so that NumPy loads its part before a child becomes a user who may not read it.
DRAWS = (torch.rand, np.random.rand, lambda count: random.random())

# On a busy machine a call waits for others, which says nothing of its code: who waits for longer waits for itself.
BUSY, WAITS = 20, 0.25  # times its own seconds, and seconds


@dataclass(frozen=True)
class Again:
    """How a call is made otherwise than the first one."""

    # what comes before it, or into it: another "image", one of another "size", other "weights", another "layer", a
    # pass "back" before this one; "grads" stay as they are, and so does what that "left" of its weights
    disturbed: tuple[str, ...] = ()
    turned: bool = False  # whether its arrays lie in memory in another order
    draws: bool = False  # whether random numbers are others
    only: str = ""  # the one tensor whose gradient is asked for; empty for all


class Run:
    """One run of a function over a case, as far as it went."""

    def __init__(
        self, subject: Subject, plan: Plan, case: Case, numbers: RandomNumbers, again: Again | None = None
    ) -> None:
        self.subject, self.plan, self.case, self.again = subject, plan, case, again or Again()
        self.numbers = numbers  # that were there before it, and are there after it
        self.given = Given(subject.task, plan, case, self.again.turned)
        self.found: dict[str, torch.Tensor] = {}  # what came, as far as it went
        self.returned: Any = None  # what the function returned, unchanged
        self.seconds = 0.0
        self.is_unlearned = False  # whether a bias that is no parameter is added
        self.moved: dict[str, float | None] = {}  # which of an object's weights are others afterwards
        self.is_biased = subject.has_bias(plan)  # whether a bias goes in

    def take(self, returned: Any, *names: str) -> None:
        """Add the results that came, by their names."""
        optional = () if self.is_biased or len(names) == 1 else ("grad_bias",)
        task = only(self.subject.task, *names)
        self.found.update(take_apart(returned, task, self.plan, optional, self.given.remarks))

    def go(self, code: Any, given: Given, binding: Binding, layer: Any = None) -> Any:
        """Return what comes of a function, or of a method of what was made, for what its binding takes."""
        placed, named = given.arguments(binding)
        call = getattr(layer, code) if isinstance(code, str) else code.apply if is_function(code) else code
        return self.timed(call, *placed, **named)

    def timed(self, call: Callable[..., Any], *placed: Any, **named: Any) -> Any:
        """Return what a piece of the student's code gives, and count its seconds."""
        begin, spent = time.perf_counter(), time.process_time()
        for draw in DRAWS if self.again.draws and call is not self.subject.maker else ():
            draw(1)
        try:
            return call(*placed, **named)
        finally:
            waited, own = time.perf_counter() - begin, time.process_time() - spent
            self.seconds += waited if waited > max(BUSY * own, WAITS) else own
