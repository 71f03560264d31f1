"""Finding out how a function wants to be called, with as few calls of it as will do, on a case as small as will do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from convviz.check.answer import Answer
from convviz.check.battery import Case, make_case
from convviz.check.calling.asking import Subject, ask
from convviz.check.calling.binding import KNOWN, is_function, libraries, unpacked
from convviz.check.calling.layouts import COMMON, CONV, LINEAR, STATED
from convviz.check.calling.names import role_of
from convviz.check.calling.plan import Plan
from convviz.check.compare import errors, same
from convviz.check.tasks import Task, truth
from convviz.spec import ConvSpec

# Sizes are unequal wherever an order of axes would be hidden. The first keeps the size, so that most wrong functions
# give the right shape under the right layout, the second is for those that have no argument for padding, and the third,
# with as many channels in as out, for those that fail wherever channels are exchanged.
PROBES = (
    ConvSpec((5, 4), 2, 3, 3, padding=1, batch=2),
    ConvSpec((6, 4), 3, 4, 2, batch=2),
    ConvSpec((5, 4), 3, 3, 2, padding=1, batch=2),
)
UNEQUAL = ConvSpec((5, 4), 2, 3, 3, (2, 1), (1, 0), batch=2)
LINEAR_PROBE = ConvSpec(1, 5, 4, 1, batch=3)
FORMS = (
    ("input", "weight", "bias", "params"),
    ("input", "weight", "bias", "stride", "padding"),
    ("input", "weight", "params"),
    ("input", "weight", "stride", "padding"),
    ("input", "weight", "bias"),
    ("input", "weight"),
    ("dict",),
)
LINEAR_FORMS = (("input", "weight", "bias"), ("input", "weight"), ("dict",))

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

    @classmethod
    def first(cls, subject: Subject, layout: str | None) -> Found:
        """Return the likeliest plan, nothing tried."""
        return cls(next(_plans(subject, layout)))

    @property
    def complete(self) -> bool:
        """Whether every number of a result that depends on the layout was right."""
        return self.score[0] >= 2

    def note(self, answer: Answer) -> None:
        """Count a call; slow code, and code that takes all there is, is not asked for ever."""
        self.calls += 1
        self.seconds += answer.seconds
        fatal = answer.kind == "crashed" or any(word in answer.message for word in ("exit()", "KeyboardInterrupt"))
        self.over = self.over or fatal or self.calls >= MOST_CALLS or self.seconds > MOST_SECONDS


def search(subjects: Sequence[Subject], probes: Sequence[Case], layout: str | None) -> Found:
    """Return how to call a function: the plan that gives what is right, else the right shapes, else fewest wrong ones.

    Args:
        subjects: the function with each way to bind its arguments.
        probes: the caller's cases.
        layout: that of the data, if it is stated.
    """
    number, calls = _way(subjects, layout) if len(subjects) > 1 else (0, 0)
    found = Found.first(subjects[number], layout)
    found.binding, found.calls = number, calls
    for case in _cases(subjects[number], probes):
        _try_plans(subjects[number], case, layout, found)
        if found.score[0] > 0 or found.over:  # numbers of the right shapes: how it is called is known
            break
    _try_pairs(subjects[number], found)
    return found


def _way(subjects: Sequence[Subject], layout: str | None) -> tuple[int, int]:
    """Return which way of binding the arguments works under one of the likeliest plans, and the calls that it took.

    Another order of them than the task's has to prove itself by its numbers, another number of them by its shapes.
    """
    calls, accepted = 0, 0
    for number, subject in enumerate(subjects):
        linear = subject.task.name.startswith("linear")
        spec = LINEAR_PROBE if linear else PROBES["padding" not in subject.binding.roles]
        case = make_case("probe", spec, 0)
        for plan in list(_plans(subject, layout))[:2]:
            answer = ask(subject, plan, case, twice=False).answer
            calls += 1
            level = _score(answer, truth(subject.task, case))[0] if answer.results else -1
            if level >= 2:
                return number, calls
            if level == 1 and len(subject.binding.arguments) < len(subjects[0].binding.arguments):
                accepted = accepted or number
    return accepted, calls


def _cases(subject: Subject, probes: Sequence[Case]) -> list[Case]:
    if subject.task.name.startswith("linear"):
        return [make_case("probe", LINEAR_PROBE, 1)]
    own = [make_case("probe", spec, number) for number, spec in enumerate(PROBES)]
    told = subject.binding.roles
    if {"stride", "padding"} <= told or told & {"params", "cache"} or "stride" not in subject.task.arguments:
        return own
    # It has a setting built in: then one of the caller's cases may fit it.
    plain = [case for case in probes if case.spec.replace(padding_mode="zeros", dilation=1, groups=1) == case.spec]
    return own + plain


def _try_plans(subject: Subject, case: Case, layout: str | None, found: Found) -> None:
    right = truth(subject.task, case)
    # What ran at one case is how it is called at the next.
    fixed = (found.plan.arrays, found.plan.form) if found.score[0] >= 0 else None
    hopeless: set[tuple[object, ...]] = set()
    queue = list(_plans(subject, layout))
    while queue:
        plan = queue.pop(0)
        if fixed is not None and fixed != (plan.arrays, plan.form):
            continue
        if (plan.arrays, plan.form, plan.pairs, plan.dtype, plan.sizes) in hopeless:
            continue
        outcome = ask(subject, plan, case, twice=False)
        found.note(outcome.answer)
        score = _score(outcome.answer, right)
        if score > found.score and (score[0] > 0 or (plan.data, plan.kernel) in COMMON):
            found.plan, found.score, found.read, found.spec = plan, score, set(outcome.read), case.spec
            found.names = tuple(outcome.answer.results)
        if found.score[0] == 3 or found.over:
            return
        if score[0] == 2:  # what is left open is the shape of a bias
            queue = [each for each in queue if (each.data, each.kernel) == (plan.data, plan.kernel)]
        if score[0] > 0:
            fixed = (plan.arrays, plan.form)
        queue = [*cure(plan, outcome.answer), *queue]
        if _is_of_kind(outcome.answer):
            hopeless.add((plan.arrays, plan.form, plan.pairs, plan.dtype, plan.sizes))


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


def _plans(subject: Subject, layout: str | None) -> Iterator[Plan]:
    task, roles = subject.task, subject.binding.roles
    linear = task.name.startswith("linear")
    known = LINEAR if linear else CONV if layout is None else CONV + STATED
    layouts = [each for each in known if layout in (each[0], f"{each[0]} {each[1]}") or layout is None]
    kinds = libraries(subject.fn) if task.kind == "function" else ["torch"]
    forms: tuple[tuple[str, ...], ...] = ((),)
    if "cache" in roles:
        forms = tuple(_unpacked(subject)) or (LINEAR_FORMS if linear else FORMS)
    sizes = ("full", "plane") if roles & {"input_size", "weight_size"} else ("full",)
    has_kernel = "weight" in roles or "cache" in roles or "weight_size" in roles or "grad_weight" in task.results
    for arrays in kinds:
        for form in forms:
            for size in sizes:
                seen = set()
                for data, kernel, bias in layouts:
                    if layout is None and _is_a_mistake(task, data, arrays):
                        continue
                    key = (data, kernel if has_kernel else "", bias if "bias" in roles or form else "")
                    if key not in seen:
                        seen.add(key)
                        yield Plan(arrays, data, kernel, bias, form, sizes=size)


def _is_a_mistake(task: Task, data: str, arrays: str) -> bool:
    """Return whether a layout that nobody stated is likelier a mistake.

    A sum over the wrong axes is grad_bias of another layout: gy.sum() that of one plane, gy.sum((0, 1)) that of one
    sample with its channels last; and torch's tensors have their channels first.
    """
    return task.name == "conv2d_bias" and (data in ("HW", "HWC") or (arrays == "torch" and data == "NHWC"))


def _unpacked(subject: Subject) -> list[tuple[str, ...]]:
    """Return what the source says of a cache, where all its names say something."""
    name = next(each.name for each in subject.binding.arguments if each.role == "cache")
    found = []
    for names in unpacked(subject.fn, name):
        roles = tuple(role_of(each, KNOWN) for each in names)
        usual = FORMS[0][: len(names)]  # what a name does not say, its place does
        filled = tuple(role or place for role, place in zip(roles, usual, strict=False))
        if len(set(filled)) == len(names):
            found.append(filled)
        elif None not in roles:
            found.append(tuple(role for role in roles if role))
    return found


def _try_pairs(subject: Subject, found: Found) -> None:
    """Find out whether two numbers may be given for a stride or a padding; only a TypeError says that they may not."""
    roles = subject.binding.roles | set(found.plan.form)
    if found.score[0] < 1 or found.over or subject.task.name.startswith("linear") or found.plan.pairs != "any":
        return
    if not roles & {"stride", "padding", "dilation", "params", "kernel_size"} and found.plan.form != ("dict",):
        return
    spec = UNEQUAL if subject.task.kind != "Module" else UNEQUAL.replace(kernel_size=(3, 2))
    if is_function(subject.fn) and not roles & {"stride", "padding"}:
        return
    answer = ask(subject, found.plan, make_case("pairs", spec, 2), twice=False).answer
    found.calls += 1
    words = ("TypeError", "sequence", "inhomogeneous")
    for plan in cure(found.plan, answer):  # a dilation that came as one number, beside a stride of two
        again = ask(subject, plan, make_case("pairs", spec, 2), twice=False).answer
        found.calls += 1
        if plan.pairs == "pair" and "TypeError" not in again.message:
            found.plan = plan
            return
    if answer.kind == "raised" and any(word in answer.message for word in words):
        found.plan = dataclasses.replace(found.plan, pairs="int")
