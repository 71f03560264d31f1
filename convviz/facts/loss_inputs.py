"""Which losses are given a target, or a grad_output set by hand, and which kinds of it each takes."""

from convviz.facts import facts

TAKES: dict[str, dict[str, list[str]]] = facts("settings")["loss_takes"]
GIVEN = ("target", "grad")  # what a loss may be given beside the output


def kinds_taken(loss: str, given: str) -> list[str]:
    """Return which kinds of ``"target"``, or of ``"grad"``, a loss can be given."""
    return TAKES.get(loss, {}).get(given, [])


def losses_with(given: str, of_kind: str | None = None) -> list[str]:
    """Return the losses that take a ``"target"``, or a ``"grad"``, as the menu has them."""
    kinds = {loss: kinds_taken(loss, given) for loss in facts("settings")["fields"]["loss"]["words"]}
    return [loss for loss, offered in kinds.items() if offered and of_kind in (None, *offered)]
