"""From wrong answers to what is wrong: the catalogue first, then one factor, then the products themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch

from convviz.check.answer import Answer
from convviz.check.battery import Case, make_case
from convviz.check.calling.student import Student
from convviz.check.diagnose import Diagnosis, Seen, diagnose
from convviz.check.provenance import Provenance, provenance, setting_in_words
from convviz.check.ratio import constant_ratio
from convviz.check.reading import readings
from convviz.check.slips import slips
from convviz.check.tasks import Task
from convviz.facts.words import sentences
from convviz.spec import ConvSpec

say = sentences("check")

# One channel and one sample, asymmetric, with every number of its own: what it leaves behind can be read off.
PLANAR = ("grad_input", "grad_weight")  # results whose products lie in a plane
PLANES = (ConvSpec((6, 7), kernel_size=(3, 2)), ConvSpec((7, 6), kernel_size=3, stride=2, padding=1))


def explain(
    task: Task,
    student: Student,
    cases: Sequence[Case],
    answers: Sequence[Answer],
    rights: Sequence[Mapping[str, torch.Tensor]],
) -> Iterator[Diagnosis]:
    """Yield what explains the wrong results of a task, result by result, best first."""
    if found := slips(task, answers, rights):
        yield from found
        return
    for result in task.results:
        of = recipe_of(task, result)
        seen = [
            Seen(
                case, as_convolution(task, result, case, answer.results.get(result)), _right(task, result, case, right)
            )
            for case, answer, right in zip(cases, answers, rights, strict=False)
        ]
        if all(one.got is None or one.is_right for one in seen):
            continue
        found = diagnose(of, seen)
        if not found or found[0].is_partial:
            found += _by_ratio(of, seen) or _by_products(of, task, student, result)
        yield from found


def recipe_of(task: Task, result: str) -> str:
    """Return which gradient's recipe computes a result: a transposed convolution's output is a grad_input."""
    return "grad_input" if task.name == "conv_transpose2d" else result


def as_convolution(task: Task, result: str, case: Case, got: torch.Tensor | None) -> torch.Tensor | None:
    """Return a result in the form that the convolution of the same case has it in."""
    if got is None:
        return None
    if task.name == "conv_transpose2d" and got.dim() == 4 and got.shape[1] == case.spec.in_channels:
        return got - case.transposed_bias.to(got.dtype)[:, None, None]
    if task.name.startswith("linear") and got.dim() == 2:
        return got[:, :, None, None]
    return got


def _right(task: Task, result: str, case: Case, right: Mapping[str, torch.Tensor]) -> torch.Tensor:
    made = as_convolution(task, result, case, right[result])
    assert made is not None  # what is right is there
    return made


def _by_ratio(of: str, seen: Sequence[Seen]) -> list[Diagnosis]:
    ratio = constant_ratio([(one.got, one.right) for one in seen if one.got is not None and not one.is_right])
    if ratio is None:
        return []
    evidence = say("ratio.evidence", result=of, ratio=f"{ratio:.6g}")
    return [Diagnosis("?", of, say("ratio"), evidence, say("ratio.fix"))]


def _by_products(of: str, task: Task, student: Student, result: str) -> list[Diagnosis]:
    """Return a diagnosis that no catalogue has: how the products lie otherwise than they should."""
    if of not in PLANAR:
        return []
    found = None
    for found in products(of, task, student, result):
        said = readings(found)
        if said:
            evidence = say("read", setting=setting_in_words(found.spec), what="; ".join(said))
            return [Diagnosis("?", of, f"{said[0]}.", evidence, "")]
    if found is None or found.unknown:
        return []
    evidence = say("read.single.evidence", setting=setting_in_words(found.spec))
    return [Diagnosis("?", of, say("read.single"), evidence, say("read.single.fix"))]


def products(of: str, task: Task, student: Student, result: str) -> Iterator[Provenance]:
    """Yield the products of a student's gradient at settings of one channel."""
    for number, spec in enumerate(PLANES):
        case = make_case("single ones", spec, 77 + number, task.quantised)
        if student.takes(case):
            continue

        def ask(changed: Case) -> torch.Tensor | None:
            answer = student.answer(changed)
            return as_convolution(task, result, changed, answer.results.get(result))

        found = provenance(of, spec, case, ask)
        if found is not None:
            yield found
