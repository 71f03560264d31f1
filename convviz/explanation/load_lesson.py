"""A lesson that is to be played: one of ours, or somebody's own file, which is checked first."""

from typing import Any

from convviz.lessons import FILE, lesson_bundle

SHOWN = 3  # sentences about what is wrong


def readable(name: str) -> dict[str, Any]:
    """Return a lesson, ours or a file, with its sentences, once it holds what it needs."""
    found = lesson_bundle(name)
    if not name.endswith(FILE):
        return found
    from convviz.explanation.check_lesson import problems  # needs the checker's tasks, which no app does

    if wrong := problems(found["lesson"], found["words"]):
        more = f" (and {len(wrong) - SHOWN} more)" if len(wrong) > SHOWN else ""
        raise ValueError(f"{name} is no lesson yet: {' '.join(wrong[:SHOWN])}{more} convviz lesson check lists all")
    return found
