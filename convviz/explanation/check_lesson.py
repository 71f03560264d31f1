"""What is wrong with a lesson: each rule that its file breaks in one sentence, its numbers recomputed by torch."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from convviz.cases.tasks import TASKS
from convviz.explanation.lesson_schema import EDITED, FACTS, keys, listed, what_is_misshapen
from convviz.facts.words import ARGUMENT
from convviz.settings.compute import compute
from convviz.settings.link import from_link
from convviz.settings.state import Settings
from convviz.settings.tensor_source import Source
from convviz.settings.tensors import grad_tensor, input_tensor, weight_tensor

READ = dict(zip(EDITED, (("input", input_tensor), ("weight", weight_tensor), ("grad", grad_tensor)), strict=True))
OF_A_TASK, OF_A_CELL = {"row", "column", "value"}, {"row", "column"}  # arguments that the player adds
CLOSE = 1e-6  # what an answer may be off, as rounding is


def problems(lesson: Any, words: Mapping[str, Any] | None = None) -> list[str]:
    """Its sentences are ids in ``words``, or its own."""
    if not isinstance(lesson, Mapping):
        return [f"A lesson is a JSON object with {listed(FACTS['keys']['lesson']['needs'])}: got {lesson!r:.40}."]
    found = [*keys("The lesson", lesson, "lesson")]
    steps = lesson.get("steps")
    if not isinstance(steps, list) or not steps or not all(isinstance(step, Mapping) for step in steps):
        return [*found, f"steps is a list of JSON objects, one a step: got {steps!r:.40}."]
    if not isinstance(lesson.get("base"), str):
        return [*found, 'base is a link, such as "v=2&size=6&stride=2": all steps begin from it.']
    for number, step in enumerate(steps, 1):
        found += (f"Step {number}: {wrong}" for wrong in _step(lesson["base"], step, words))
    if "question" not in steps[-1]:
        found.append(
            "The last step asks for no number: a lesson ends with a question, which hides a cell until its number is "
            "predicted; add question to the last step."
        )
    return [*found, *_end(lesson.get("end"))]


def joined(*links: str) -> str:
    """Return the link with the keys of all; a later one wins."""
    pairs = [pair for link in links for pair in link.split("&") if pair]
    return "&".join({pair.split("=", 1)[0]: pair for pair in pairs}.values())


def after(base: str, step: Mapping[str, Any]) -> Settings:
    link = joined(base, step["state"], *(task["set"] for task in step.get("do", []) if "set" in task))
    settings, _ = from_link(link)
    for task in step.get("do", []):
        if "edit" in task:
            settings = _edited(settings, task["edit"])
    return settings


def number_at(settings: Settings, cell: Mapping[str, Any]) -> float:
    panel, row, column = cell["panel"], cell["row"], cell["column"]
    tensor = getattr(compute(settings.replace(dtype="float64"), compare=False), panel, None)
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"there is no panel {panel!r:.40} in this picture")
    plane = settings.plane.within(settings.spec)
    if tensor.dim() == 1:
        return float(tensor[plane.index("c" if settings.transposed else "o")])
    shown = tensor[plane.of(panel, tensor.shape)]
    if not (0 <= row < shown.shape[0] and 0 <= column < shown.shape[1]):
        size = " × ".join(map(str, shown.shape))
        raise ValueError(f"row {row}, column {column} is not in {panel}, which has {size} cells, counted from 0")
    return float(shown[row, column])


def _edited(settings: Settings, edit: Mapping[str, Any]) -> Settings:
    name, read = READ[edit["panel"]]
    made = read(settings)
    if made is None:
        raise ValueError("grad_output is typed into only where the loss is weighted_sum")
    tensor = made.clone().double()
    at = settings.plane.within(settings.spec).of("input" if name == "input" else edit["panel"], tensor.shape)
    top, left = (side[0] for side in settings.spec.padding) if name == "input" else (0, 0)
    tensor[(*at, edit["row"] - top, edit["column"] - left)] += edit["by"]
    values = tuple(tensor.flatten().tolist())
    return settings.replace(**{name: Source("values", values, tuple(tensor.shape))})


def _step(base: str, step: Mapping[str, Any], words: Mapping[str, Any] | None) -> Iterator[str]:
    if wrong := list(what_is_misshapen(step)):
        yield from wrong
        return
    notices = from_link(joined(base, step["state"]))[1]
    for task in step.get("do", []):
        notices += from_link(joined(base, step["state"], task.get("set", "")))[1]
    for notice in dict.fromkeys(notices):
        yield f"its state cannot be: {notice}"
    if notices:
        return
    try:
        settings = after(base, step)
        for cell in _places(step):
            number_at(from_link(joined(base, step["state"]))[0] if cell.pop("early", False) else settings, cell)
        if question := step.get("question"):
            yield from _answer(question, number_at(settings, question["cell"]))
    except ValueError as error:
        yield f"{error}."
    yield from _sentences(step, words)


def _answer(question: Mapping[str, Any], right: float) -> Iterator[str]:
    answer = question["answer"]
    is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
    if not is_number or abs(answer - right) > CLOSE * max(1, abs(right)):
        yield (
            f"the answer {answer!r:.40} does not hold: torch computes {right:g} there, once all is done that the step "
            "asks for."
        )


def _places(step: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every cell that a step names; early: it is there before anything is done."""
    for cell in [step.get("pin"), *step.get("highlight", [])]:
        if cell:
            yield {**cell, "early": True}
    for task in step.get("do", []):
        yield from (dict(cell) for cell in task.get("mark", []))
        if place := task.get("edit") or task.get("pin"):
            yield {name: place[name] for name in ("panel", "row", "column")}
    for value in step.get("values", {}).values():
        for kind in ("cell", "sum", "terms"):
            if kind in value:
                yield dict(zip(("panel", "row", "column"), value[kind], strict=True))


def _sentences(step: Mapping[str, Any], words: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield where a sentence names what nobody fills in, and which values none names."""
    named: set[str] = set()
    for text, given in said(step):
        for sentence in _forms(text, words):
            missing = set(ARGUMENT.findall(sentence)) - given
            named |= set(ARGUMENT.findall(sentence))
            if missing:
                yield f"“{sentence[:40]}…” names {{{min(missing)}}}, which is not in values: add how it is found."
    if unused := set(step.get("values", {})) - named:
        yield f"no sentence names the value {min(unused)}: leave it out, or say it."


def said(step: Mapping[str, Any]) -> Iterator[tuple[str, set[str]]]:
    """Yield each sentence of a step, or its id, with its possible arguments."""
    values = set(step.get("values", {}))
    yield from ((step[part], values | (OF_A_CELL if "pin" in step else set())) for part in ("title", "words"))
    for task in step.get("do", []):
        yield from ((task[part], values | OF_A_TASK) for part in ("words", "then"))
    if question := step.get("question"):
        yield from ((question[part], values | OF_A_CELL) for part in ("words", "hint", "because"))


def _forms(text: str, words: Mapping[str, Any] | None) -> list[str]:
    if not words:
        return [text]
    return [words[id] for id in (text, f"{text}.touch") if id in words]


def _end(end: Any) -> Iterator[str]:
    if not isinstance(end, Mapping):
        yield f"end is a JSON object with {listed(FACTS['keys']['end']['needs'])}: got {end!r:.40}."
        return
    yield from keys("end", end, "end")
    for each in end.get("next", []):
        for notice in from_link(each.get("link", ""))[1]:
            yield f"end: its link cannot be: {notice}"
    if end.get("exercise", "conv2d") not in TASKS:
        yield f"end: exercise is one of the tasks of convviz.check, {', '.join(TASKS)}: got {end['exercise']!r:.40}."
