"""Lists inside a sentence, as the language writes them: "a, b and c"."""

from collections.abc import Sequence
from functools import reduce

from convviz.facts.words import sentences

say = sentences("list_separators")


def listed(parts: Sequence[str]) -> str:
    """Return "a, b and c"."""
    return comma(parts) if len(parts) < 2 else say("and", rest=comma(parts[:-1]), last=parts[-1])


def comma(parts: Sequence[str]) -> str:
    """Return "a, b, c"."""
    return reduce(lambda rest, next: say("comma", rest=rest, next=next), parts) if parts else ""


def semicolon(parts: Sequence[str]) -> str:
    """Return "a; b; c", of parts with commas of their own."""
    return reduce(lambda rest, next: say("semicolon", rest=rest, next=next), parts) if parts else ""
