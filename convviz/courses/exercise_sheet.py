"""An exercise, and its sheet: headings, sentences, tables and sums, as blocks for all forms (``sheet_forms.py``)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from convviz.cases.battery import Case
from convviz.check.probes.linearity import made_of
from convviz.courses.audit import geometry
from convviz.courses.sheet_forms import FORMS, Block
from convviz.courses.sums_by_hand import cell_name, number_text, reasons, worked
from convviz.facts.join_lists import semicolon
from convviz.facts.words import sentences
from convviz.mistakes.catalogue import Mistake

say = sentences("exercise")
say_reasons = sentences("wrong_number_reasons")


@dataclass(frozen=True, eq=False)
class Wrong:
    """What a mistake makes of a result."""

    mistake: Mistake  # of the catalogue
    result: str  # the name of the result that it spoils
    got: torch.Tensor  # what comes out, in the first of the mistake's ways


@dataclass(frozen=True, eq=False)
class Exercise:
    """A setting with whole numbers, what is asked, what is right, and what each mistake would give."""

    case: Case  #: geometry and numbers
    asked: tuple[str, ...]  #: names of the results to compute
    right: dict[str, torch.Tensor]  #: each of them, by autograd
    wrong: tuple[Wrong, ...]  #: one for every mistake that was chosen
    seed: int  #: of the numbers
    tried: int  #: how many settings were looked at, the plainest first: none before this one shows all mistakes
    in_every_way: bool  #: whether it shows each mistake in every way of making it, not only in the first

    def text(self, form: str = "md", solutions: bool = True) -> str:
        """Return the sheet as ``"md"``, ``"html"`` (a whole page) or ``"ipynb"``, with its solutions or without.

        Raises:
            ValueError: there is no such form.
        """
        if form not in FORMS:
            raise ValueError(say("form", known=", ".join(map(repr, FORMS)), form=repr(form)))
        return FORMS[form](list(blocks(self, solutions)))

    def _repr_markdown_(self) -> str:
        return self.text()


def blocks(exercise: Exercise, solutions: bool = True) -> Iterator[Block]:
    """Yield what stands on a sheet, from top to bottom."""
    case = exercise.case
    spec = case.spec
    yield Block("h1", say("title"))
    yield Block("h2", say("given"))
    yield Block("p", say("geometry", geometry=geometry(spec), output=list(spec.output_shape)))
    for name in _given(exercise):
        yield from tables(name, case.tensor(name))
    if "output" in exercise.asked:
        yield Block("p", say("forward", bias=", ".join(number_text(float(one)) for one in case.bias)))
    if exercise.asked != ("output",):
        yield Block("p", say("sent"))
    yield Block("h2", say("asked"))
    for name in exercise.asked:
        yield Block("p", say("compute", result=name, shape=list(exercise.right[name].shape)))
    yield Block("h2", say("code"))
    yield Block("code", _code(exercise))
    if not solutions:
        return
    yield Block("h2", say("solutions"))
    for name in exercise.asked:
        yield from tables(name, exercise.right[name])
        yield Block("lines", rows=tuple((line,) for line in worked(name, case, exercise.right[name])))
    yield Block("h2", say("wrong"))
    for wrong in exercise.wrong:
        yield from _wrong(exercise, wrong)
    yield Block("h2", say_reasons("sheet"))
    yield Block("p", say_reasons("sheet.about"))
    for name in exercise.asked:
        yield _answers(name, case, exercise.right[name])
    proof = "proof" if exercise.in_every_way else "proof.first"
    yield Block("p", say(proof, seed=exercise.seed, tried=exercise.tried))


def tables(name: str, tensor: torch.Tensor, right: torch.Tensor | None = None) -> Iterator[Block]:
    """Yield a tensor plane by plane; cells that are other than the right ones are marked."""
    if tensor.dim() < 2:
        tensor = tensor.reshape(1, -1)
        right = None if right is None else right.reshape(1, -1)
    *leading, height, width = tensor.shape
    off = torch.zeros(tensor.shape, dtype=torch.bool)
    if right is not None and right.shape == tensor.shape:
        off = (tensor - right).abs() > 1e-9
    for place in itertools.product(*map(range, leading)):
        title = name if all(axis == 1 for axis in leading) else f"{name}[{','.join(map(str, place))}]"
        plane, marks = tensor[place], off[place]
        rows = tuple(tuple(number_text(float(cell)) for cell in row) for row in plane)
        marked = frozenset((i, j) for i in range(height) for j in range(width) if marks[i, j])
        yield Block("plane", title, rows, marked)


def _given(exercise: Exercise) -> list[str]:
    used = {name for result in exercise.asked for name in made_of(result)}
    return [name for name in ("input", "weight", "grad_output") if name in used]


def _code(exercise: Exercise) -> str:
    names = [*_given(exercise), *(["bias"] if "output" in exercise.asked else [])]
    lines = ["import torch", ""]
    for name in names:
        digits = exercise.case.tensor(name).long().tolist()
        lines.append(f"{name} = torch.tensor({digits}, dtype=torch.float64)")
    lines += ["", f"input_size = {list(exercise.case.spec.input_shape)}"] if "grad_input" in exercise.asked else []
    return "\n".join(lines)


def _answers(name: str, case: Case, right: torch.Tensor) -> Block:
    head = tuple(say_reasons(f"sheet.{column}") for column in ("cell", "number", "if"))
    rows = [
        (cell_name(name, one.cell, right.shape), one.number, semicolon(one.clauses))
        for one in reasons(name, case, right)
    ]
    return Block("words", rows=(head, *rows))


def _wrong(exercise: Exercise, wrong: Wrong) -> Iterator[Block]:
    right = exercise.right[wrong.result]
    yield Block("h3", say("wrong.title", id=wrong.mistake.id, title=wrong.mistake.title))
    shapes = {"result": wrong.result, "got": list(wrong.got.shape), "right": list(right.shape)}
    if not wrong.got.numel():
        yield Block("p", say("wrong.empty", **shapes))
    elif wrong.got.shape != right.shape:
        yield Block("p", say("wrong.shape", **shapes))
    else:
        count = int(((wrong.got - right).abs() > 1e-9).sum())
        yield Block("p", say("wrong.values", result=wrong.result, count=count, total=right.numel()))
    if wrong.got.numel():
        yield from tables(wrong.result, wrong.got, right)
    yield Block("p", say("wrong.fix", fix=wrong.mistake.fix))
