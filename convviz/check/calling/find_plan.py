"""Finding out how a function wants to be called, with as few calls of it as will do, on a case as small as will do."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from convviz.cases.battery import Case, make_case
from convviz.cases.settings_in_scope import EVERYTHING, Scope
from convviz.cases.tasks import truth
from convviz.check.call_outcome import Answer, errors, same
from convviz.check.calling.call_plan import PAIRS, Plan, suited
from convviz.check.calling.case_runner import Asker
from convviz.check.calling.function_or_class import Subject
from convviz.check.calling.inspect_source import makes_float32
from convviz.check.calling.likely_plans import Stated, plans
from convviz.check.calling.names_and_layouts import COMMON
from convviz.geometry.spec import ConvSpec

# Sizes are unequal wherever an order of axes would be hidden. The first keeps the size, so that most wrong functions
# give the right shape under the right layout, the second is for those that have no argument for padding, and the third,
# with as many channels in as out, for those that fail wherever channels are exchanged.
PROBES = (
    ConvSpec((5, 4), 2, 3, 3, padding=1, batch=2),
    ConvSpec((6, 4), 3, 4, 2, batch=2),
    ConvSpec((5, 4), 3, 3, 2, padding=1, batch=2),
)
# Whose stride is nowhere said has one as large as the window.
POOLED_PROBES = (ConvSpec((6, 4), 3, 3, 2, 2, batch=2), *(PROBES[at] for at in (1, 0, 2)))
LINEAR_PROBE = ConvSpec(1, 5, 4, 1, batch=3)
MAX_CALLS = 200
MAX_SECONDS = 3.0

Score = tuple[int, int, float]


@dataclass(eq=False)
class Found:
    """What the search knows: the best plan, how good it is, and what it cost."""

    plan: Plan
    stated: Stated
    score: Score = (-1, 0, 0.0)
    read: set[str] = field(default_factory=set)
    calls: int = 0
    spec: ConvSpec | None = None
    names: tuple[str, ...] = ()
    seconds: float = 0.0
    over: bool = False
    refused: bool = False
    ended: Answer | None = None

    def note(self, answer: Answer) -> None:
        """Count a call; slow code, and code that takes all there is, is not asked for ever."""
        self.calls += 1
        self.seconds += answer.seconds
        if answer.kind in ("timeout", "crashed"):
            self.ended = answer
        fatal = self.ended or answer.error in ("SystemExit", "KeyboardInterrupt")
        self.refused = self.refused or answer.kind == "refused"
        self.over = self.over or bool(fatal) or self.calls >= MAX_CALLS or self.seconds > MAX_SECONDS


def search(asker: Asker, subject: Subject, probes: Sequence[Case], stated: Stated, scope: Scope = EVERYTHING) -> Found:
    """Return how to call a function: the plan that gives what is right, else the right shapes, else fewest wrong ones.

    ``probes`` are the caller's cases.
    """
    found = Found(next(plans(subject, stated)), stated)
    for case in _cases(subject, probes, scope, found):
        _try_plans(asker, subject, case, found)
        if found.over or found.score[0] > 0:  # numbers of the right shapes: how it is called is known
            break
    return found


def _cases(subject: Subject, probes: Sequence[Case], scope: Scope, found: Found) -> Iterator[Case]:
    """Yield what a function is tried at, as long as it is not known how it is called."""
    if found.stated.here_alone:
        yield from sorted(probes, key=lambda case: case.spec.products)
        return
    if subject.task.name.startswith("linear"):
        yield make_case("probe", LINEAR_PROBE, 1)
        return
    passed = subject.binding.roles
    # Whose padding is nowhere said is tried without one first: it may have one built in, or be wrong at any.
    is_padded = "padding" not in subject.task.arguments or passed & {"padding", "params", "cache"}
    first, second, third = PROBES
    ordered = POOLED_PROBES if subject.task.pooling else PROBES if is_padded else (second, first, third)
    for number, spec in enumerate(ordered):
        yield make_case("probe", scope.nearest(subject.task.fit(spec)), number, subject.task.rule)
    takes_all = {"stride", "padding"} <= passed | found.read or passed & {"params", "cache"}
    if (takes_all or "stride" not in subject.task.arguments) and not found.refused:
        return
    # It has a setting built in, or refuses the probes: then one of the caller's cases may fit it, such as a border.
    plain = [case for case in probes if case.spec.replace(dilation=1, groups=1) == case.spec]
    has_border = found.refused and "padding_mode" in passed | found.read
    plain = [case for case in plain if has_border or case.spec.padding_mode == "zeros"]
    plain.sort(key=lambda case: (case.spec.padding_mode == "zeros", case.spec.products))
    yield from (case for case in plain if scope.leaves_out(case.spec) is None)


def _try_plans(asker: Asker, subject: Subject, case: Case, found: Found) -> None:
    """Try one kind of call after the other, each in all orders of axes, up to one that gives the right shapes."""
    known = found.plan if found.score[0] >= 0 else None  # what ran at one case is how it is called at the next
    cured: dict[str, Any] = {}
    unfit: set[str] = set()  # kinds of arrays that something in the code does not take
    for _, orders in itertools.groupby(plans(subject, found.stated), _kind):
        for plan in orders:
            if known is not None and (plan.arrays, plan.form) != (known.arrays, known.form):
                continue
            part = suited(case, plan.data)
            plan, answer = _asked(asker, subject, dataclasses.replace(plan, **cured), part, found)
            cured = {"pairs": plan.pairs, "dtype": plan.dtype}
            right = truth(subject.task, part)
            score = _score(answer, right)
            is_rounded = 0 < score[0] < 3 and score[2] == len(right)  # right but for last digits
            if is_rounded and makes_float32(subject.codes):
                plan, answer = _asked(asker, subject, dataclasses.replace(plan, dtype="float32"), part, found)
                score = _score(answer, right)
            if score > found.score and (score[0] > 0 or (plan.data, plan.kernel) in COMMON):
                found.plan, found.score, found.read, found.spec = plan, score, set(answer.read), case.spec
                found.names = tuple(answer.results)
            elif found.score[0] < 0:
                found.read |= answer.read
            if found.over or score[0] == 3:
                return
            unfit |= {plan.arrays} if answer.error == "TypeError" else set()
            if answer.kind == "refused" and plan.arrays not in unfit:  # the case, whatever it comes in
                known = known or plan
            uncounted = answer.error == "TypeError" and not subject.binding.counted  # of how many arguments there are
            if uncounted or answer.error in ("AttributeError", "NameError"):
                break  # of the kind of array: another order of axes changes nothing
        if found.score[0] > 0:
            return


def _kind(plan: Plan) -> tuple[Any, ...]:
    return plan.arrays, plan.form, plan.words


def _asked(asker: Asker, subject: Subject, plan: Plan, case: Case, found: Found) -> tuple[Plan, Answer]:
    """Return what comes of a plan, or of the first that cures its failure."""
    answer = asker.ask(plan, case, twice=False)
    found.note(answer)
    for other in cure(subject, plan, answer) if not found.over else ():
        cured, again = _asked(asker, subject, other, case, found)
        if not again.failed:
            return cured, again
    return plan, answer


def _score(answer: Answer, right: Mapping[str, torch.Tensor]) -> Score:
    """Return how well it goes, and how many shapes and what part of the numbers are right.

    3: all is right; 2: a gradient is that depends on every order of axes, so that these are known; 1: all shapes are
    right; 0: it runs; -1: it does not.
    """
    shaped = {name: value for name, value in answer.results.items() if value.shape == right[name].shape}
    close = (errors(value, right[name]) <= 1e-4 * right[name].abs().max() for name, value in shaped.items())
    good = sum(float(each.double().mean()) for each in close)
    ran = answer.kind in ("ok", "changed_input", "keeps_state", "not_finite")
    whole = ran and len(shaped) == len(answer.results) > 0 and right.keys() - {"grad_bias"} <= shaped.keys()
    exact = {name for name, value in shaped.items() if same(value, right[name])}
    if whole and len(exact) == len(answer.results):
        level = 3
    else:
        level = 2 if exact - {"grad_bias"} else 1 if whole else 0 if ran else -1
    # Where shapes alone are right, a few numbers in another layout are so by chance.
    return (level, len(shaped), round(good, 1) if level == 1 else good)


def cure(subject: Subject, plan: Plan, answer: Answer) -> list[Plan]:
    """Return what to try next where the type of a failure allows it: two numbers for a setting, or float32."""
    if answer.kind == "raised" and plan.pairs == "any" and answer.error in ("TypeError", "ValueError"):
        twos = _twos(subject) if answer.error == "TypeError" else []
        several = [*twos, *["kernel_size"] * subject.makes_layers]
        return [dataclasses.replace(plan, pairs=pairs) for pairs in several]
    if answer.kind == "raised" and plan.dtype == "float64" and answer.error == "RuntimeError":
        return [dataclasses.replace(plan, dtype="float32")]
    return []


def _twos(subject: Subject) -> list[str]:
    """Return which settings code may want two numbers for: those whose default has two, all, or one of several."""
    arguments = (subject.makes if subject.style == "Module" else subject.binding).arguments
    passed = {each.role: each.default for each in arguments if each.role in PAIRS}
    stated = " ".join(name for name, default in passed.items() if isinstance(default, tuple | list))
    single = [name for name in passed if name != stated] if len(passed) > 1 else []
    return [*[stated] * bool(stated), "pair", *single]
