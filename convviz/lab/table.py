"""The article's table, derived from a result."""

import math
import statistics
from dataclasses import dataclass
from typing import Any

from convviz.facts.words import sentences
from convviz.lab.result import Result

say = sentences("race")
# What the article printed of torch's layer and of its own: five epochs on all of MNIST, on its GPU, one layer replaced,
# no seeds. Accuracy in %, seconds, ratio.
ARTICLE = ((99.2, 33.72, 1.0), (99.1, 76.49, 2.27))


@dataclass(frozen=True)
class Row:
    """One entrant, as the article's table has it.

    Attributes:
        layer: its name.
        accuracy: share of the test images that it got right at the end, the mean over the seeds; None before the first
            epoch has ended.
        spread: standard deviation of it over the seeds; None with one seed.
        difference: mean over the seeds of its accuracy less torch's of the same seed; None for torch itself.
        error: standard error of that difference; None with one seed.
        gradient: largest difference of a gradient from torch's at the first step of a run, where all weights are the
            same; None for torch itself, and before that step.
        seconds: of all training steps of a run, the mean over the seeds.
        ratio: median over all steps of its seconds by torch's in the same step.
        memory: bytes, by how much a forward and a backward pass raise what is in use; None where it was not measured.
        backend: of its convolutions, as PyTorch names them; empty where it was not asked.
    """

    layer: str
    accuracy: float | None
    spread: float | None
    difference: float | None
    error: float | None
    gradient: float | None
    seconds: float
    ratio: float
    memory: int | None
    backend: str


def table(result: Result) -> list[Row]:
    """Return a row for each entrant."""
    return [_row(result, name) for name in result["layers"]]


def _row(result: Result, name: str) -> Row:
    runs = [run["entrants"] for run in result["runs"]]
    tested = [run for run in runs if run[name]["predictions"]]
    accuracies = [run[name]["accuracy"][-1] for run in tested]
    pairs = [run[name]["accuracy"][-1] - run["torch"]["accuracy"][-1] for run in tested]
    ratios = [
        mine / torchs
        for run in runs
        for mine, torchs in zip(run[name]["seconds"], run["torch"]["seconds"], strict=True)
        if torchs
    ]
    seconds = [sum(run[name]["seconds"]) for run in tested or runs]
    cost = result["costs"].get(name, {})
    compared = name != "torch"
    gradients = [of_one[0] for run in runs for of_one in run[name].get("gradients", {}).values()]
    return Row(
        layer=name,
        accuracy=statistics.fmean(accuracies) if accuracies else None,
        spread=_deviation(accuracies),
        difference=statistics.fmean(pairs) if pairs and compared else None,
        error=_error(pairs) if compared else None,
        gradient=max(gradients, default=None),
        seconds=statistics.fmean(seconds) if seconds else 0.0,
        ratio=statistics.median(ratios) if ratios else 1.0,
        memory=cost.get("memory"),
        backend=", ".join(_backends(cost)),
    )


def _deviation(numbers: list[float]) -> float | None:
    return statistics.stdev(numbers) if len(numbers) > 1 else None


def _error(pairs: list[float]) -> float | None:
    deviation = _deviation(pairs)
    return None if deviation is None else deviation / math.sqrt(len(pairs))


def _backends(cost: dict[str, Any]) -> list[str]:
    convolutions = [layer for layer in cost.get("layers", []) if layer["layer"].startswith("conv")]
    named = [layer[way] for layer in convolutions for way in ("forward_by", "backward_by")]
    return list(dict.fromkeys(filter(None, named)))  # a pass of other ops has no name


COLUMNS = 8


def headings() -> list[str]:
    return [say(f"table.heading.{at}") for at in range(COLUMNS)]


def cells(result: Result) -> list[tuple[str, ...]]:
    """Return the table as words, a tuple of all columns a row; the article's two rows come last."""
    rows = [_words(row) for row in table(result)]
    for at, (accuracy, seconds, ratio) in enumerate(ARTICLE):
        rows.append((say(f"table.theirs.{at}"), f"{accuracy:.1f} %", "", "", f"{seconds:.2f}", f"{ratio:.2f}×", "", ""))
    return rows


def _words(row: Row) -> tuple[str, ...]:
    accuracy = "" if row.accuracy is None else f"{100 * row.accuracy:.2f}"
    accuracy += "" if row.spread is None else f" ± {100 * row.spread:.2f}"
    difference = "" if row.difference is None else f"{100 * row.difference:+.2f}"
    difference += "" if row.error is None else f" ± {100 * row.error:.2f}"
    memory = "" if row.memory is None else f"{row.memory / 2**20:.1f} MiB"
    return (
        row.layer,
        f"{accuracy} %" if accuracy else "",
        f"{difference} %" if difference else "",
        "" if row.gradient is None else f"{row.gradient:.1e}" if row.gradient else "0",
        f"{row.seconds:.2f}",
        f"{row.ratio:.2f}×",
        memory,
        row.backend,
    )


def text(result: Result) -> str:
    """Return the table for a terminal."""
    rows = [headings(), *cells(result)]
    widths = [max(len(row[column]) for row in rows) for column in range(COLUMNS)]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
