"""A network as text: a line for each operation."""

from collections.abc import Sequence

from convviz.features.network.finding import sentence
from convviz.features.network.notes import notes_of
from convviz.features.network.numbers import power
from convviz.features.network.operations import Run

HEAD = ("", "operation", "kind", "shape", "output", "zeros", "gradient", "zeros", "grad_weight / weight")


def table(run: Run) -> str:
    """Return one line for each operation, from the input on: root mean squares, shares of zeros, and the sentence."""
    back, rows = run.backs[0], [HEAD]
    for operation in run.operations:
        stats, weight = back.stats[operation.index], back.weights.get(operation.index)
        rows.append(
            (
                str(operation.index),
                operation.title,
                operation.kind,
                " × ".join(map(str, operation.shape)) or "number",
                power(operation.rms),
                f"{operation.zeros:.0%}",
                "none" if stats is None else power(stats.rms),
                "" if stats is None else f"{stats.zeros:.0%}",
                "" if weight is None or weight.ratio is None else power(weight.ratio),
            )
        )
    return "\n".join([*_aligned(rows), "", sentence(run), *notes_of(run)])


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    return [
        "  ".join(
            text.ljust(width) if column in (1, 2, 3) else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
