"""A race as a page shows it: plain data, the same for one that runs, one that was recorded, and a page of its own."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from convviz.facts.words import sentences
from convviz.lab.result import Result, last_test
from convviz.lab.table import ARTICLE, cells, headings

say = sentences("race")
POINTS = 400  # of a curve: more than a plot has pixels for
# What a plot shows: key of an entrant's columns → whether its axis is logarithmic.
PLOTS = {"loss": True, "accuracy": False, "seconds": True, "weights": True, "loss_difference": True}


def shown(result: Result, keys: Iterable[str] = PLOTS, points: int = POINTS, most: int | None = None) -> dict[str, Any]:
    return {
        "made": {"date": result["made"]["date"][:10], "machine": machine(result)},
        "state": result["state"],
        "layers": result["layers"],
        "about": about(result),
        "plots": plots(result, keys, points),
        "table": {"headings": headings(), "rows": cells(result), "theirs": len(ARTICLE), "note": say("table.note")},
        "mistakes": mistakes(result, most),
    }


def machine(result: Result) -> str:
    made = result["made"]
    return say("machine", count=made["threads"], **{name: made[name] for name in ("device", "system", "cores")})


def about(result: Result) -> list[str]:
    made, settings, data = result["made"], result["settings"], result["data"]
    seeds = ", ".join(str(run["seed"]) for run in result["runs"]) or str(settings["seed"])
    versions = {name: made[name] for name in ("convviz", "torch", "python")}
    named = {name: settings[name] for name in ("epochs", "batch_size", "lr", "momentum", "dtype", "device", "replaced")}
    return [
        say("about.made", date=made["date"], machine=machine(result), **versions),
        say("about.data", **{name: data[name] for name in ("name", "train", "test", "checksum")}),
        say("about.settings", seeds=seeds, **named),
    ]


def mistakes(result: Result, most: int | None = None) -> dict[str, Any] | None:
    """Return some digits misclassified at the end of the last epoch; None before the first has ended."""
    run, misclassified = last_test(result)
    if run is None:
        return None
    labels, images, layers = result["data"]["labels"], result["digits"], []
    for name in result["layers"]:
        found, wrong = run["entrants"][name]["predictions"], misclassified[name]
        digits = [{"at": at, "label": labels[at], "found": found[at]} for at in wrong if str(at) in images][:most]
        layers.append({"name": name, "count": len(wrong), "digits": digits})
    used = {str(digit["at"]) for layer in layers for digit in layer["digits"]}
    kept = {at: image for at, image in images.items() if at in used}
    return {"seed": run["seed"], "of": len(labels), "images": kept, "layers": layers}


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
