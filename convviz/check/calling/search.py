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
from convviz.check.calling.layouts import CONV, LINEAR
from convviz.check.calling.names import role_of
from convviz.check.calling.plan import Plan
from convviz.check.compare import errors, same
from convviz.check.tasks import Task, truth
from convviz.spec import ConvSpec

# Sizes are unequal wherever an order of axes would be hidden. The first keeps the size, so that most wrong functions
# give the right shape under the right layout, and the second is for those that have no argument for padding.
PROBES = (ConvSpec((5, 4), 2, 3, 3, padding=1, batch=2), ConvSpec((6, 4), 3, 4, 2, batch=2))
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

Score = tuple[int, int, float]


@dataclass(eq=False)
class Found:
    """What the search knows: the best plan, how good it is, and what it cost."""

    plan: Plan
    score: Score = (-1, 0, 0.0)
    read: set[str] = field(default_factory=set)
    calls: int = 0
    spec: ConvSpec | None = None

    @classmethod
    def first(cls, subject: Subject, layout: str | None) -> Found:
        """Return the likeliest plan, nothing tried."""
        return cls(next(_plans(subject, layout)))

    @property
    def complete(self) -> bool:
        """Whether every number was right."""
        return self.score[0] == 2


def search(subject: Subject, probes: Sequence[Case], layout: str | None) -> Found:
    """Return how to call a function: the plan that gives what is right, else the right shapes, else fewest wrong ones."""
    found = Found.first(subject, layout)
    for case in _cases(subject.task, probes):
        _try_plans(subject, case, layout, found)
        if found.score[0] > 0:  # numbers of the right shapes: how it is called is known
            break
    _try_pairs(subject, found)
    return found


def _cases(task: Task, probes: Sequence[Case]) -> list[Case]:
    if task.name.startswith("linear"):
        return [make_case("probe", LINEAR_PROBE, 1)]
    own = [make_case("probe", spec, number) for number, spec in enumerate(PROBES)]
    # A function may have a setting built in: then one of the caller's cases may fit it.
    return own + sorted(probes, key=lambda case: case.spec.products)[:2]


def _try_plans(subject: Subject, case: Case, layout: str | None, found: Found) -> None:
    right = truth(subject.task, case)
    fixed: tuple[str, tuple[str, ...]] | None = None
    hopeless: set[tuple[object, ...]] = set()
    queue = list(_plans(subject, layout))
    while queue:
        plan = queue.pop(0)
        if fixed is not None and fixed != (plan.arrays, plan.form):
            continue
        if (plan.arrays, plan.form, plan.pairs, plan.dtype) in hopeless:
            continue
        outcome = ask(subject, plan, case, twice=False)
        found.calls += 1
        score = _score(outcome.answer, right)
        if score > found.score:
            found.plan, found.score, found.read, found.spec = plan, score, set(outcome.read), case.spec
        if found.complete:
            return
        if score[0] > 0:
            fixed = (plan.arrays, plan.form)
        queue = [*cure(plan, outcome.answer), *queue]
        if _is_of_kind(outcome.answer):
            hopeless.add((plan.arrays, plan.form, plan.pairs, plan.dtype))


def _score(answer: Answer, right: Mapping[str, torch.Tensor]) -> Score:
    """Return 2 if all is right, 1 if all shapes are, 0 if it runs; how many shapes and what part of the numbers are."""
    shaped = [name for name, value in answer.results.items() if value.shape == right[name].shape]
    good = 0.0
    for name in shaped:
        largest = float(right[name].abs().max())
        good += float((errors(answer.results[name], right[name]) <= 1e-4 * largest).double().mean())
    ran = answer.kind in ("ok", "changed_input", "keeps_state", "not_finite")
    whole = ran and len(shaped) == len(answer.results) > 0
    exact = whole and all(same(answer.results[name], right[name]) for name in shaped)
    return (2 if exact else 1 if whole else 0 if ran else -1, len(shaped), good)


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
        or ("TypeError" in answer.message and ("argument" in answer.message or "'list'" in answer.message))
        or "NameError" in answer.message
    )


def _plans(subject: Subject, layout: str | None) -> Iterator[Plan]:
    task, roles = subject.task, subject.binding.roles
    linear = task.name.startswith("linear")
    layouts = [
        each
        for each in (LINEAR if linear else CONV)
        if layout == f"{each[0]} {each[1]}" or (layout in (None, each[0]) and not _is_a_mistake(task, *each[:2]))
    ]
    kinds = libraries(subject.fn) if task.kind == "function" else ["torch"]
    forms: tuple[tuple[str, ...], ...] = ((),)
    if "cache" in roles:
        forms = tuple(dict.fromkeys((*_unpacked(subject), *(LINEAR_FORMS if linear else FORMS))))
    sizes = ("full", "plane") if roles & {"input_size", "weight_size"} else ("full",)
    has_kernel = "weight" in roles or "cache" in roles or "weight_size" in roles or "grad_weight" in task.results
    for arrays in kinds:
        for form in forms:
            for size in sizes:
                seen = set()
                for data, kernel, bias in layouts:
                    key = (data, kernel if has_kernel else "", bias if "bias" in roles or form else "")
                    if key not in seen:
                        seen.add(key)
                        yield Plan(arrays, data, kernel, bias, form, sizes=size)


def _is_a_mistake(task: Task, data: str, kernel: str) -> bool:
    """Return whether a layout that nobody stated is likelier a mistake: channels exchanged, or summed over as well."""
    return kernel == "IOHW" or (task.name == "conv2d_bias" and data == "HW")


def _unpacked(subject: Subject) -> list[tuple[str, ...]]:
    """Return what the source says of a cache, where all its names say something."""
    name = next(each.name for each in subject.binding.arguments if each.role == "cache")
    found = []
    for names in unpacked(subject.fn, name):
        roles = tuple(role_of(each, KNOWN) for each in names)
        known = tuple(role for role in roles if role is not None)
        if len(known) == len(names):
            found.append(known)
    return found


def _try_pairs(subject: Subject, found: Found) -> None:
    """Find out whether two numbers may be given for a stride or a padding; only a TypeError says that they may not."""
    roles = subject.binding.roles | set(found.plan.form)
    if found.score[0] < 1 or subject.task.name.startswith("linear") or found.plan.pairs != "any":
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
