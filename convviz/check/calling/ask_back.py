"""What the checker does not know about a function that it could not call, and the smallest statement that says it."""

from __future__ import annotations

from typing import Any

from convviz.check.calling.call_plan import OF_A_CASE
from convviz.check.calling.function_or_class import Subject
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences

say = sentences("calling_student_code")


def question(subject: Subject, is_running: bool, arrays: str) -> str:
    """Return what is not known of a function, with a statement of it that is ready to paste; empty if all is.

    ``arrays``: the kind that it likely takes, which an adapter is given only if it says so.
    ```is_running```: it ran, so that its names are the only thing to ask for.
    """
    names = _placed_names(subject) or ({} if is_running else _sizes(subject))
    called = getattr(subject.fn, "__name__", "fn")
    if names:
        stated = ", ".join(f'"{name}": "{role}"' for name, role in names.items())
        quoted = comma([f"`{name}`" for name in names])
        return say("ask.names", names=quoted, statement=f"names={{{stated}}}", count=len(names))
    if is_running or subject.is_adapter:
        return ""
    kind = "" if arrays == "torch" else f', arrays="{arrays}"'
    given = [each for each in subject.binding.arguments if each.role in OF_A_CASE]
    if subject.style != "function" or len(given) < len(subject.binding.arguments):
        return say("ask.adapter", task=f'"{subject.task.name}"{kind}')
    put = ", ".join(f"{each.name}=case.{each.role}" if each.by_name else f"case.{each.role}" for each in given)
    return say("ask.call", statement=f'convviz.report(lambda case: {called}({put}), "{subject.task.name}"{kind})')


def _sizes(subject: Subject) -> dict[str, str]:
    """Return the names that were taken for a tensor, of which the task has the size alone."""
    given = [each for each in subject.binding.arguments if f"{each.role}_size" in subject.task.arguments]
    return {each.name: f"{each.role}_size" for each in given if f"{each.role}_size" not in subject.binding.roles}


def _placed_names(subject: Subject) -> dict[str, Any]:
    """Return names that say nothing, each with what its place stands for; none if one stands for nothing."""
    binding = subject.binding
    stands = {each.name: each.role for each in binding.arguments if each.role in binding.placed}
    return {name: stands[name] for name in binding.unknown} if set(binding.unknown) <= stands.keys() else {}
