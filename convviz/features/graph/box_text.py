"""What stands in a box, as text: short enough to be read at a glance."""

import math
import unicodedata

from convviz.facts.format_numbers import MINUS, format_number
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.features.graph.nodes_and_edges import Edge, Node, Slot, Snapshot

say = sentences("features/graph")

VJPS = ("vjp.input", "vjp.weight", "vjp.bias")  # of a convolution, in the order of its inputs
VJPS_TRANSPOSED = ("vjp.transposed.input", "vjp.transposed.weight", "vjp.bias")
FEW = 4  # numbers that fit on one line; of more, the range and the mean are shown


def is_rounded(value: float) -> bool:
    """Return whether ``format_number`` leaves digits out, beyond those that float32 does not have."""
    return math.isfinite(value) and not math.isclose(
        float(format_number(value).replace(MINUS, "-")), value, rel_tol=1e-6
    )


def numbers(snapshot: Snapshot) -> str:
    """Write up to four numbers as they are, of more the range and the mean."""
    if snapshot.elements == 0:
        return say("numbers.empty")
    if snapshot.tensor is not None and snapshot.elements <= FEW:
        return comma([_entry(entry) for entry in snapshot.tensor.flatten().tolist()])
    if snapshot.minimum is None or snapshot.mean is None or snapshot.maximum is None:
        return say("numbers.complex" if snapshot.dtype.startswith("complex") else "numbers.no")
    if snapshot.minimum == snapshot.maximum:
        return say("numbers.all", number=format_number(snapshot.minimum))
    if math.isnan(snapshot.minimum):
        return say("numbers.nan")
    found = {name: format_number(getattr(snapshot, name)) for name in ("minimum", "maximum", "mean")}
    return say("numbers.range", **found)


def _entry(entry: complex | float | bool) -> str:
    if isinstance(entry, complex):
        return f"{format_number(entry.real)}{'−' if entry.imag < 0 else '+'}{format_number(abs(entry.imag))}i"
    return str(entry) if isinstance(entry, bool) else format_number(entry)


def shape(snapshot: Snapshot) -> str:
    """``[2, 3] float32``."""
    return f"{list(snapshot.shape) if snapshot.shape else say('scalar')} {snapshot.dtype}"


def box_lines(node: Node) -> tuple[str, str, str]:
    """Shape, value, gradient."""
    if node.kind == "rest":
        return say("rest.line"), "", ""
    shapes = [slot.value or slot.gradient for slot in node.slots]
    known = list(dict.fromkeys(shape(snapshot) for snapshot in shapes if snapshot is not None))
    first = comma(known) or say("shape.unknown")
    if len(node.slots) > 1:
        first = say("line.outputs", count=len(node.slots), shapes=first)
    values = [say("numbers.unknown") if slot.value is None else numbers(slot.value) for slot in node.slots]
    gradients = [gradient_numbers(slot.gradient) for slot in node.slots]
    return (
        first,
        say("line.value", values=_per_slot(node.slots, values)),
        say("line.gradient", values=_per_slot(node.slots, gradients)),
    )


def gradient_numbers(gradient: Snapshot | None) -> str:
    return say("numbers.none") if gradient is None else numbers(gradient)


def factor(edge: Edge, source: Node, target: Node) -> str:
    """A number, or the Jacobian's size."""
    if edge.derivative is not None:
        text = format_number(edge.derivative)
        return f"({text})" if text.startswith("−") else text
    ends = [
        target.slots[0] if len(target.slots) == 1 else None,
        next((slot for slot in source.slots if slot.number == edge.output_slot), None),
    ]
    counts = [(slot.value or slot.gradient) if slot else None for slot in ends]
    if edge.gradient is None or counts[0] is None or counts[1] is None:
        return ""
    return f"J {counts[0].elements}×{counts[1].elements}"


def derivative(edge: Edge, source: Node, target: Node) -> str:
    """Empty if it is unknown."""
    written = factor(edge, source, target)
    if not written or edge.derivative is not None:
        return say("derivative", number=written) if written else ""
    product = ""
    folds = target.spec is not None and target.spec.padding_mode != "zeros" and edge.input_slot == 0
    if target.spec is not None and edge.input_slot < len(VJPS) and not folds:
        product = say((VJPS_TRANSPOSED if target.transposed else VJPS)[edge.input_slot])
    return say("derivative.jacobian", jacobian=written, function=target.label) + (product and f" {product}")


def _per_slot(slots: tuple[Slot, ...], texts: list[str]) -> str:
    if len(slots) == 1:
        return texts[0]
    return " | ".join(f"{slot.number}: {text}" for slot, text in zip(slots, texts, strict=True))


def columns(text: str) -> int:
    """Return how many letters wide a text is: Chinese letters count as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def shortened(text: str, most: int) -> str:
    if columns(text) <= most:
        return text
    while columns(text) >= most:
        text = text[:-1]
    return f"{text}…"


def details(node: Node, paths: str) -> str:
    """Return all that there is to say about a box, a line a thing."""
    lines = [node.label, *box_lines(node), paths]
    for slot in node.slots:
        lines += [slot.value_note, slot.gradient_note]
    for saved in node.saved:
        content = f"{shape(saved.tensor)}: {numbers(saved.tensor)}" if saved.tensor else f"{saved.setting}"
        lines.append(say("line.saved", name=saved.name, content=saved.note or content))
    if node.opens_into:
        lines.append(say("line.opens", stages=" → ".join(node.opens_into)))
    return "\n".join(line for line in [*lines, node.note] if line)
