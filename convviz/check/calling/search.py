"""Finding out how a function wants to be called, with as few calls of it as will do, on a case as small as will do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from convviz.check.answer import Answer
from convviz.check.battery import Case, make_case
from convviz.check.calling.asker import Asker
from convviz.check.calling.layouts import COMMON
from convviz.check.calling.plan import Plan
from convviz.check.calling.plans import plans
from convviz.check.calling.source import is_function
from convviz.check.calling.subject import Subject
from convviz.check.compare import errors, same
from convviz.check.scope import EVERYTHING, Scope
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
    score: Score = (-1, 0, 0.0)
    read: set[str] = field(default_factory=set)
    calls: int = 0
    spec: ConvSpec | None = None
    names: tuple[str, ...] = ()
    binding: int = 0
    seconds: float = 0.0
    over: bool = False
    refused: bool = False
    ended: Answer | None = None
    unsure_of_pairs: bool = False  # whether it refused what would tell if it takes two numbers
    uneven_kernel: bool = False  # whether a layer takes two numbers for its kernel, and one for all else

    @classmethod
    def first(cls, subject: Subject, layout: str | None) -> Found:
        """Return the likeliest plan, nothing tried."""
        return cls(next(plans(subject, layout)))

    @property
    def complete(self) -> bool:
        """Whether every number of a result that depends on the layout was right."""
        return self.score[0] >= 2

    def note(self, answer: Answer) -> None:
        """Count a call; slow code, and code that takes all there is, is not asked for ever."""
        self.calls += 1
        self.seconds += answer.seconds
        if answer.kind in ("timeout", "crashed"):
            self.ended = answer
        fatal = self.ended or any(word in answer.message for word in ("exit()", "KeyboardInterrupt"))
        self.refused = self.refused or answer.kind == "refused"
        self.over = self.over or bool(fatal) or self.calls >= MOST_CALLS or self.seconds > MOST_SECONDS


def search(
    asker: Asker, subjects: Sequence[Subject], probes: Sequence[Case], layout: str | None, scope: Scope = EVERYTHING
) -> Found:
    """Return how to call a function: the plan that gives what is right, else the right shapes, else fewest wrong ones.

    Args:
        asker: puts a case to it.
        subjects: the function with each way to bind its arguments.
        probes: the caller's cases.
        layout: that of the data, if it is stated.
        scope: the geometries that it is meant for.
    """
    number, calls = _way(asker, subjects, layout, scope) if len(subjects) > 1 else (0, 0)
    found = Found.first(subjects[number], layout)
    found.binding, found.calls = number, calls
    for case in _cases(subjects[number], probes, scope, found):
        _try_plans(asker, subjects[number], case, layout, found)
        if found.score[0] > 0 or found.over:  # numbers of the right shapes: how it is called is known
            break
    _try_pairs(asker, subjects[number], found, scope)
    return found


def _way(asker: Asker, subjects: Sequence[Subject], layout: str | None, scope: Scope) -> tuple[int, int]:
    """Return which way of binding the arguments works under one of the likeliest plans, and the calls that it took.

    Another order of them than the task's has to prove itself by its numbers, another number of them by its shapes.
    """
    calls, accepted = 0, 0
    for number, subject in enumerate(subjects):
        linear = subject.task.name.startswith("linear")
        spec = LINEAR_PROBE if linear else PROBES["padding" not in subject.binding.roles]
        case = make_case("probe", scope.nearest(spec), 0)
        for plan in list(plans(subject, layout))[:2]:
            answer = asker.ask(subject, plan, case, twice=False)
            calls += 1
            level = _score(answer, truth(subject.task, case))[0] if answer.results else -1
            if level >= 2:
                return number, calls
            if level == 1 and len(subject.binding.arguments) < len(subjects[0].binding.arguments):
                accepted = accepted or number
    return accepted, calls


def _cases(subject: Subject, probes: Sequence[Case], scope: Scope, found: Found) -> Iterator[Case]:
    """Yield what a function is tried at, as long as it is not known how it is called."""
    if subject.task.name.startswith("linear"):
        yield make_case("probe", LINEAR_PROBE, 1)
        return
    yield from (make_case("probe", scope.nearest(spec), number) for number, spec in enumerate(PROBES))
    told = subject.binding.roles
    takes_all = {"stride", "padding"} <= told or told & {"params", "cache"} or "stride" not in subject.task.arguments
    if takes_all and not found.refused:
        return
    # It has a setting built in, or refuses the probes: then one of the caller's cases may fit it.
    plain = [case for case in probes if case.spec.replace(padding_mode="zeros", dilation=1, groups=1) == case.spec]
    yield from (case for case in plain if scope.leaves_out(case.spec) is None)


def _try_plans(asker: Asker, subject: Subject, case: Case, layout: str | None, found: Found) -> None:
    right = truth(subject.task, case)
    # What ran at one case is how it is called at the next.
    fixed = (found.plan.arrays, found.plan.form) if found.score[0] >= 0 else None
    hopeless: set[tuple[object, ...]] = set()
    queue = list(plans(subject, layout))
    while queue:
        plan = queue.pop(0)
        if fixed is not None and fixed != (plan.arrays, plan.form):
            continue
        if (plan.arrays, plan.form, plan.pairs, plan.dtype, plan.sizes, plan.words) in hopeless:
            continue
        answer = asker.ask(subject, plan, case, twice=False)
        found.note(answer)
        score = _score(answer, right)
        if score > found.score and (score[0] > 0 or (plan.data, plan.kernel) in COMMON):
            found.plan, found.score, found.read, found.spec = plan, score, set(answer.read), case.spec
            found.names = tuple(answer.results)
        if found.score[0] == 3 or found.over:
            return
        if score[0] > 0 and score[1] == len(answer.results):
            # A bias of another shape is no way to other numbers.
            queue = [each for each in queue if (each.data, each.kernel) != (plan.data, plan.kernel)]
        if score[0] == 2:  # what is left open is the shape of a bias
            queue = [each for each in queue if (each.data, each.kernel) == (plan.data, plan.kernel)]
        if score[0] > 0:
            fixed = (plan.arrays, plan.form)
        if answer.kind == "refused":  # for what the case is, whatever kind of array it comes in
            queue = [each for each in queue if each.arrays == plan.arrays]
        queue = [*cure(plan, answer), *queue]
        if _is_of_kind(answer):
            hopeless.add((plan.arrays, plan.form, plan.pairs, plan.dtype, plan.sizes, plan.words))


def _score(answer: Answer, right: Mapping[str, torch.Tensor]) -> Score:
    """Return how well it goes, and how many shapes and what part of the numbers are right.

    3: all is right; 2: a gradient is that depends on every order of axes, so that these are known; 1: all shapes are
    right; 0: it runs; -1: it does not.
    """
    shaped = [name for name, value in answer.results.items() if value.shape == right[name].shape]
    good = 0.0
    for name in shaped:
        largest = float(right[name].abs().max())
        good += float((errors(answer.results[name], right[name]) <= 1e-4 * largest).double().mean())
    ran = answer.kind in ("ok", "changed_input", "keeps_state", "not_finite")
    whole = ran and len(shaped) == len(answer.results) > 0
    exact = [name for name in shaped if same(answer.results[name], right[name])]
    if whole and len(exact) == len(answer.results):
        level = 3
    elif {*exact} - {"grad_bias"}:
        level = 2
    else:
        level = 1 if whole else 0 if ran else -1
    return (level, len(shaped), good)


def cure(plan: Plan, answer: Answer) -> list[Plan]:
    """Return what to try next where the failure says it: two numbers for a stride, float32, a size of the plane."""
    text = answer.message
    if answer.kind != "raised":
        return []
    if plan.pairs == "any" and ("int object" in text or "'int' object" in text or "type int" in text):
        return [dataclasses.replace(plan, pairs="pair")]
    if plan.dtype == "float64" and any(word in text for word in ("Double", "dtype", "torch.float64")):
        return [dataclasses.replace(plan, dtype="float32")]
    return []


def _is_of_kind(answer: Answer) -> bool:
    """Return whether a failure comes of the kind of array, so that another order of axes changes nothing."""
    return answer.kind == "raised" and (
        "AttributeError" in answer.message
        or ("TypeError" in answer.message and ("argument" in answer.message or "list indices" in answer.message))
        or "NameError" in answer.message
    )


def _try_pairs(asker: Asker, subject: Subject, found: Found, scope: Scope) -> None:
    """Find out whether two numbers may be given for a stride or a padding; an exception says that they may not."""
    roles = subject.binding.roles | set(found.plan.form)
    found.unsure_of_pairs = found.refused and found.score[0] < 1
    slow = found.ended or (found.over and found.score[0] < 3)  # a first call may load what it needs for seconds
    if found.score[0] < 1 or slow or subject.task.name.startswith("linear") or found.plan.pairs != "any":
        return
    if not roles & {"stride", "padding", "dilation", "params", "kernel_size"} and found.plan.form != ("dict",):
        return
    if is_function(subject.fn) and not roles & {"stride", "padding"}:
        return

    def asked(plan: Plan, spec: ConvSpec) -> Answer:
        found.calls += 1
        return asker.ask(subject, plan, make_case("pairs", spec, 2), twice=False)

    uneven = UNEQUAL.replace(kernel_size=(3, 2)) if subject.makes_layers else UNEQUAL
    if found.plan.words:
        uneven = uneven.replace(padding=0)
    uneven, even = scope.nearest(uneven), scope.nearest(EQUAL)
    if scope.square:
        return
    answer = asked(found.plan, uneven)
    found.unsure_of_pairs = answer.kind == "refused"
    for plan in cure(found.plan, answer):  # a dilation that came as one number, beside a stride of two
        if plan.pairs == "pair" and "TypeError" not in asked(plan, uneven).message:
            found.plan = plan
            return
    if not answer.failed:
        return
    # An exception that two equal numbers cause as well comes of there being two; another one may be a mistake.
    by_twos = dataclasses.replace(found.plan, pairs="pair")
    words = ("TypeError", "sequence", "inhomogeneous")
    if any(word in answer.message for word in words) or (
        asked(by_twos, even).failed and not asked(found.plan, even).failed
    ):
        found.plan = dataclasses.replace(found.plan, pairs="int")
        tall = scope.nearest(EQUAL.replace(kernel_size=(3, 2)))
        found.uneven_kernel = subject.makes_layers and not asked(found.plan, tall).failed
