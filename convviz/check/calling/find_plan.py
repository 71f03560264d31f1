"""Finding out how a function wants to be called, with as few calls of it as will do, on a case as small as will do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from convviz.check.battery import Case, make_case
from convviz.check.call_outcome import Answer, errors, same
from convviz.check.calling.call_plan import PAIRS, Plan
from convviz.check.calling.case_runner import Asker
from convviz.check.calling.function_or_class import Subject
from convviz.check.calling.inspect_source import is_function
from convviz.check.calling.likely_plans import Stated, plans
from convviz.check.calling.names_and_layouts import COMMON
from convviz.check.settings_in_scope import EVERYTHING, Scope
from convviz.check.tasks import truth
from convviz.geometry.spec import ConvSpec

# Sizes are unequal wherever an order of axes would be hidden. The first keeps the size, so that most wrong functions
# give the right shape under the right layout, the second is for those that have no argument for padding, and the third,
# with as many channels in as out, for those that fail wherever channels are exchanged.
PROBES = (
    ConvSpec((5, 4), 2, 3, 3, padding=1, batch=2),
    ConvSpec((6, 4), 3, 4, 2, batch=2),
    ConvSpec((5, 4), 3, 3, 2, padding=1, batch=2),
)
UNEQUAL = ConvSpec((5, 4), 2, 3, 3, (2, 1), (1, 0), batch=2)
EQUAL = UNEQUAL.replace(stride=2, padding=1)
LINEAR_PROBE = ConvSpec(1, 5, 4, 1, batch=3)
MOST_CALLS = 200
MOST_SECONDS = 3.0

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
    unsure_of_pairs: bool = False  # whether it refused what would tell if it takes two numbers
    uneven_kernel: bool = False  # whether a layer takes two numbers for its kernel, and one for all else

    def note(self, answer: Answer) -> None:
        """Count a call; slow code, and code that takes all there is, is not asked for ever."""
        self.calls += 1
        self.seconds += answer.seconds
        if answer.kind in ("timeout", "crashed"):
            self.ended = answer
        fatal = self.ended or answer.error in ("SystemExit", "KeyboardInterrupt")
        self.refused = self.refused or answer.kind == "refused"
        self.over = self.over or bool(fatal) or self.calls >= MOST_CALLS or self.seconds > MOST_SECONDS


def search(asker: Asker, subject: Subject, probes: Sequence[Case], stated: Stated, scope: Scope = EVERYTHING) -> Found:
    """Return how to call a function: the plan that gives what is right, else the right shapes, else fewest wrong ones.

    ``probes`` are the caller's cases.
    """
    found = Found(next(plans(subject, stated)), stated)
    told = subject.binding.roles | set(found.plan.form)
    is_open = "padding" in subject.task.arguments and not told & {"padding", "params", "cache", "dict", "case"}
    for case in _cases(subject, probes, scope, found):
        _try_plans(asker, subject, case, stated, found)
        is_open = is_open or (subject.is_adapter and "padding" not in found.read)
        part = found.score[0] == 1 or (found.score[0] == 2 and found.score[1] < len(found.names))
        unsure = is_open and part and found.spec is not None and any(map(any, found.spec.padding))
        if found.over or (found.score[0] > 0 and not unsure):  # numbers of the right shapes: how it is called is known
            break
        if unsure:  # where no padding gives right numbers, it is meant to have none
            is_open, found.score = False, (*found.score[:2], found.score[2] - 0.1)
    _try_pairs(asker, subject, found, scope)
    return found


def _cases(subject: Subject, probes: Sequence[Case], scope: Scope, found: Found) -> Iterator[Case]:
    """Yield what a function is tried at, as long as it is not known how it is called."""
    if found.stated.here_alone:
        yield from sorted(probes, key=lambda case: case.spec.products)
        return
    if subject.task.name.startswith("linear"):
        yield make_case("probe", LINEAR_PROBE, 1)
        return
    yield from (make_case("probe", scope.nearest(subject.task.fit(spec)), number) for number, spec in enumerate(PROBES))
    told = subject.binding.roles
    takes_all = {"stride", "padding"} <= told | found.read or told & {"params", "cache"}
    if (takes_all or "stride" not in subject.task.arguments) and not found.refused:
        return
    # It has a setting built in, or refuses the probes: then one of the caller's cases may fit it.
    plain = [case for case in probes if case.spec.replace(padding_mode="zeros", dilation=1, groups=1) == case.spec]
    plain.sort(key=lambda case: case.spec.products)
    yield from (case for case in plain if scope.leaves_out(case.spec) is None)


def _try_plans(asker: Asker, subject: Subject, case: Case, stated: Stated, found: Found) -> None:
    right = truth(subject.task, case)
    queue, known = list(plans(subject, stated)), set[Plan]()
    if found.score[0] >= 0:  # what ran at one case is how it is called at the next
        queue = _alike(queue, found.plan, "arrays", "form")
    while queue and not found.over:
        plan = queue.pop(0)
        answer = asker.ask(plan, case, twice=False)
        found.note(answer)
        score = _score(answer, right)
        if score > found.score and (score[0] > 0 or (plan.data, plan.kernel) in COMMON):
            found.plan, found.score, found.read, found.spec = plan, score, set(answer.read), case.spec
            found.names = tuple(answer.results)
        if score[0] == 3:
            return
        same_axes = _alike(queue, plan, "data", "kernel")
        if score[0] == 2:  # what is left open is the shape of a bias
            queue = same_axes
        elif score[0] > 0 and score[1] == len(answer.results):  # a bias of another shape is no way to other numbers
            queue = [each for each in queue if each not in same_axes]
        if score[0] > 0:
            queue = _alike(queue, plan, "arrays", "form")
        if answer.kind == "refused" and plan.pairs == "any":  # for what the case is, whatever kind of array it comes in
            queue = _alike(queue, plan, "arrays")
        # A failure that comes of the kind of array: another order of axes changes nothing.
        uncounted = answer.error == "TypeError" and not subject.binding.counted  # of how many arguments there are
        if uncounted or answer.error in ("AttributeError", "NameError"):
            hopeless = _alike(queue, plan, "arrays", "form", "pairs", "dtype", "sizes", "words")
            queue = [each for each in queue if each not in hopeless]
        known.add(plan)
        queue = [*(each for each in cure(subject, plan, answer) if each not in known), *queue]


def _alike(queue: Sequence[Plan], plan: Plan, *names: str) -> list[Plan]:
    return [each for each in queue if all(getattr(each, name) == getattr(plan, name) for name in names)]


def _score(answer: Answer, right: Mapping[str, torch.Tensor]) -> Score:
    """Return how well it goes, and how many shapes and what part of the numbers are right.

    3: all is right; 2: a gradient is that depends on every order of axes, so that these are known; 1: all shapes are
    right; 0: it runs; -1: it does not.
    """
    shaped = {name: value for name, value in answer.results.items() if value.shape == right[name].shape}
    close = (errors(value, right[name]) <= 1e-4 * right[name].abs().max() for name, value in shaped.items())
    good = sum(float(each.double().mean()) for each in close)
    ran = answer.kind in ("ok", "changed_input", "keeps_state", "not_finite")
    whole = ran and len(shaped) == len(answer.results) > 0
    exact = {name for name, value in shaped.items() if same(value, right[name])}
    if whole and len(exact) == len(answer.results):
        level = 3
    else:
        level = 2 if exact - {"grad_bias"} else 1 if whole else 0 if ran else -1
    # Where shapes alone are right, a few numbers in another layout are so by chance.
    return (level, len(shaped), round(good, 1) if level == 1 else good)


def cure(subject: Subject, plan: Plan, answer: Answer) -> list[Plan]:
    """Return what to try next where the type of a failure allows it: two numbers for a setting, or float32."""
    if answer.kind == "raised" and plan.pairs == "any" and answer.error == "TypeError":
        several = ("pair", "kernel_size") if subject.makes_layers else ("pair",)
        return [dataclasses.replace(plan, pairs=pairs) for pairs in several]
    if answer.kind == "raised" and plan.dtype == "float64" and answer.error == "RuntimeError":
        return [dataclasses.replace(plan, dtype="float32")]
    return []


def _try_pairs(asker: Asker, subject: Subject, found: Found, scope: Scope) -> None:
    """Find out whether two numbers may be given for a stride or a padding; an exception says that they may not."""
    roles = {*subject.binding.roles, *found.plan.form}
    found.unsure_of_pairs = found.refused and found.score[0] < 1
    slow = subject.task.is_row or (
        found.stated.here_alone or found.ended or (found.over and found.score[0] < 3)
    )  # a first call may load what it needs for seconds
    settings = {"stride", "padding"} if is_function(subject.fn) else {*PAIRS, "params", "dict"}
    roles |= found.read if subject.is_adapter else set()
    if found.score[0] < 1 or slow or found.plan.pairs != "any" or scope.square or not roles & settings:
        return

    def asked(plan: Plan, spec: ConvSpec) -> Answer:
        found.calls += 1
        return asker.ask(plan, make_case("pairs", scope.nearest(spec), 2), twice=False)

    uneven = UNEQUAL.replace(kernel_size=(3, 2)) if subject.makes_layers else UNEQUAL
    uneven = uneven if "stride" in roles else uneven.replace(stride=1, dilation=(2, 1))
    words = {"padding": 0 if "stride" in roles else "same"} if found.plan.words else {}
    uneven = uneven.replace(**words)
    answer = asked(found.plan, uneven)
    found.unsure_of_pairs = answer.kind == "refused"
    if not answer.failed:
        return
    # An exception that two equal numbers cause as well comes of there being two; another one may be a mistake.
    by_twos = dataclasses.replace(found.plan, pairs="pair")
    if not asked(by_twos, EQUAL).failed:
        if answer.error == "TypeError":  # a dilation that came as one number, beside a stride of two
            found.plan = by_twos
    elif answer.error == "TypeError" or not asked(found.plan, EQUAL).failed:
        found.plan = dataclasses.replace(found.plan, pairs="int")
        found.uneven_kernel = subject.makes_layers and not asked(found.plan, EQUAL.replace(kernel_size=(3, 2))).failed
