"""A race as a page shows it: plain data, the same for one that runs, one that was recorded, and a page of its own."""

from collections.abc import Iterable
from typing import Any

from convviz.facts.words import sentences
from convviz.lab.curves import PLOTS, POINTS, plots
from convviz.lab.result import Result
from convviz.lab.table import ARTICLE, cells, headings

say = sentences("race")


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
    told = {name: settings[name] for name in ("epochs", "batch_size", "lr", "momentum", "dtype", "device", "replaced")}
    return [
        say("about.made", date=made["date"], machine=machine(result), **versions),
        say("about.data", **{name: data[name] for name in ("name", "train", "test", "checksum")}),
        say("about.settings", seeds=seeds, **told),
    ]


def mistakes(result: Result, most: int | None = None) -> dict[str, Any] | None:
    """Return some digits misclassified at the end of the last epoch; None before the first has ended."""
    tested = [run for run in result["runs"] if run["entrants"]["torch"]["predictions"]][-1:]
    if not tested:
        return None
    labels, images, layers = result["data"]["labels"], result["digits"], []
    for name in result["layers"]:
        found = tested[0]["entrants"][name]["predictions"]
        wrong = [at for at, label in enumerate(labels) if found[at] != label]
        digits = [{"at": at, "label": labels[at], "found": found[at]} for at in wrong if str(at) in images][:most]
        layers.append({"name": name, "count": len(wrong), "digits": digits})
    used = {str(digit["at"]) for layer in layers for digit in layer["digits"]}
    kept = {at: image for at, image in images.items() if at in used}
    return {"seed": tested[0]["seed"], "of": len(labels), "images": kept, "layers": layers}
