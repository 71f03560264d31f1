"""The sections with their sentences, and their parts as HTML: the picture, the question, the task."""

import functools
import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

from convviz.export.article.section_values import cell_name, number, stages_of, sum_of, values_of
from convviz.export.draw_panels_and_equations import draw_equation, scene
from convviz.export.primitives import LOOKS
from convviz.export.still_picture import words_of
from convviz.export.svg import svg
from convviz.export.teacher_text import inline_html as plain_html
from convviz.facts.format_numbers import format_number
from convviz.facts.i18n.current_language import each_language
from convviz.facts.join_lists import listed
from convviz.facts.words import sentences
from convviz.settings.link import from_link
from convviz.views.panels import Equation, equations
from convviz.views.scales import ends

say = sentences("article")
Section = Mapping[str, Any]


def inline_html(text: str) -> str:
    """Return a sentence as HTML, in which no line ends between a size and its other side."""
    return plain_html(text).replace(" × ", "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}")


@functools.cache
def facts_of_sections() -> tuple[Section, ...]:
    text = files("convviz.export.article").joinpath("sections.json").read_text(encoding="utf-8")
    return tuple(json.loads(text)["sections"])


@each_language
def sections() -> tuple[Section, ...]:
    """Return the sections in the language that is spoken here, with their numbers filled in."""
    return tuple(map(_section_with_words, facts_of_sections()))


def _section_with_words(facts: Section) -> Section:
    values = values_of(facts)

    def with_words(part: Any) -> Any:
        ids = {name: say(part[name], **values) for name in ("words", "then", "yes") if name in part}
        return {**part, **ids}

    section = {
        "cell": "",
        **facts,
        "title": say(f"{facts['id']}.title"),
        "paragraphs": [say(id, **values) for id in facts["paragraphs"]],
    }
    if "try" in facts:
        section["try"] = with_words(facts["try"])
    if "ask" in facts:
        section["ask"] = {**with_words(facts["ask"]), "answers": [with_words(each) for each in facts["ask"]["answers"]]}
    shown = [panel.label for panel in _equation(facts).panels]
    return {**section, "said": say("now", panels=listed(shown))}


def _equation(section: Section) -> Equation:
    settings, _ = from_link(section["state"])
    rows = equations(stages_of(section["state"]), settings.plane, settings.input_view)
    return next(row for row in rows if row.name == section["band"])


def _drawn(section: Section) -> str:
    equation, look = _equation(section), LOOKS["light"]
    end = ends(stages_of(section["state"]), from_link(section["state"])[0].scale)
    return svg(scene(draw_equation(equation, end, look), look, words_of(equation), edge=1), alone=False)


def still_of(section: Section) -> str:
    """Return a section's picture as it is on paper and without scripts, with the sum of its cell."""
    cell, stages = section["cell"], stages_of(section["state"])
    caption = ""
    if cell:
        value = format_number(number(stages, cell))
        words = say("still", cell=cell_name(cell), sum=sum_of(stages, cell), value=value)
        caption = f"<figcaption>{escape(words)}</figcaption>"
    return f'<figure class="still">{_drawn(section)}{caption}</figure>'


def figure_of(section: Section) -> str:
    """Return the picture that follows the reader, as it is at first; until it lives it shows its still."""
    marks = " ".join(f'{name}="{escape(section[name])}"' for name in ("state", "band", "cell"))
    return f"<convviz-board {marks}>{_drawn(section)}</convviz-board>"


def question_of(section: Section) -> str:
    """Return a question with its answers, each of which opens by itself, also without scripts."""
    if "ask" not in section:
        return ""
    ask, name = section["ask"], section["id"]
    answers = "".join(_answer(each, name) for each in ask["answers"])
    words = f'<p id="ask-{name}">{inline_html(ask["words"])}</p>'
    return f'<div class="ask" role="group" aria-labelledby="ask-{name}">{words}{answers}</div>'


def _answer(answer: Section, name: str) -> str:
    marks = "".join(f' data-{key}="{escape(answer[key])}"' for key in ("state", "cell") if key in answer)
    right = " data-right" if answer.get("right") else ""
    summary, then = inline_html(answer["words"]), inline_html(answer["then"])
    return f'<details name="ask-{name}"{marks}{right}><summary>{summary}</summary><p>{then}</p></details>'


def task_of(section: Section) -> str:
    """Return what there is to try, and what is said once the picture has noticed it."""
    if "try" not in section:
        return ""
    task = section["try"]
    noticed = json.dumps({key: task[key] for key in ("differs", "panel", "cells") if key in task})
    words, yes = inline_html(task["words"]), inline_html(task["yes"])
    return f'<div class="try" data-task="{escape(noticed)}"><p>{words}</p><p data-yes hidden>{yes}</p></div>'
