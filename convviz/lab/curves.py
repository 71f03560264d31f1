"""The curves of a race, as plain numbers: who draws them chooses the colours."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from convviz.facts.words import sentences
from convviz.lab.result import Result

say = sentences("race")
POINTS = 400  # of a curve: more than a plot has pixels for
# What a plot shows: key of an entrant's columns → whether its axis is logarithmic.
PLOTS = {"loss": True, "accuracy": False, "seconds": True, "weights": True, "loss_difference": True}


def plots(result: Result, keys: Iterable[str] = PLOTS, points: int = POINTS) -> list[dict[str, Any]]:
    """Return the plots of ``PLOTS`` that have a curve by now."""
    made = []
    for key in keys:
        traces = list(_traces(result, key, points))
        if traces:
            words = {part: say(f"plot.{key}.{part}") for part in ("title", "unit")}
            made.append({"key": key, **words, "x": say("plot.x"), "log": PLOTS[key], "traces": traces})
    return made


def _traces(result: Result, key: str, points: int) -> Iterator[dict[str, Any]]:
    for at, name in enumerate(result["layers"]):
        first = True
        for run in result["runs"]:
            values = run["entrants"][name].get(key) or []
            steps = run["epochs"] if key == "accuracy" else range(1, len(values) + 1)
            if not values:
                continue
            chosen = _thinned(len(values), points)
            # To four digits; where a logarithm is of 0 the curve has a gap.
            y = [None if PLOTS[key] and not values[index] else float(f"{values[index]:.4g}") for index in chosen]
            yield {"name": name, "at": at, "first": first, "x": [steps[index] for index in chosen], "y": y}
            first = False


def _thinned(count: int, points: int) -> Sequence[int]:
    if count <= points:
        return range(count)
    return sorted({round(at * (count - 1) / (points - 1)) for at in range(points)})
