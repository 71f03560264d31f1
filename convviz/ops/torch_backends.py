"""What torch's convolution backends are, and what their names do not say."""

from convviz.facts import facts
from convviz.facts.words import sentences

say = sentences("backend")

# Name, as in torch's enum → the op that only this backend runs forward; what it is stands in facts/words/backend.json.
BACKENDS: dict[str, str | None] = {name: row.get("op") for name, row in facts("torch_backends")["backends"].items()}
BACKWARD_OF = {"NnpackSpatial": "SlowDilated2d"}  # every other one has a backward pass of its own


def notes() -> tuple[str, ...]:
    """Return what the names do not say: of the backward pass, and of old code's finput."""
    return tuple(say(f"note.{at}") for at in range(5))


def described(name: str) -> str:
    """Return what a backend is, in a sentence."""
    return say(f"is.{name}" if name in BACKENDS else "is.unknown")
