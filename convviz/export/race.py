"""A race as one offline page: its table, its curves drawn by plotly, and the digits that somebody mistook."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from convviz.export.file import write
from convviz.export.parts import plotly_text, to_json
from convviz.lab.result import FINISHED, Result
from convviz.lab.table import HEADINGS, cells

POINTS = 400  # of a curve: more than a plot has pixels for
# Okabe and Ito's colours, which all kinds of colour blindness tell apart; torch has the ink's.
COLORS = ("#16191d", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#e69f00", "#7a5195", "#5a626d")
# What a plot shows: key of an entrant's columns → title, unit, whether its axis is logarithmic.
PLOTS = {
    "loss": ("Loss", "cross-entropy", True),
    "accuracy": ("Accuracy on the test images, after each epoch", "share", False),
    "seconds": ("Time of a training step", "seconds", True),
    "weights": ("Distance from torch's weights, max|Δw|", "max|Δw|", True),
    "loss_difference": ("Distance from torch's loss, |Δloss|", "|Δloss|", True),
}


def export_race(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write one self-contained HTML page about a race; it asks nobody for anything.

    Args:
        result: from ``convviz.lab.race`` or ``convviz.lab.read``.
        path: of the file; a file that is there is replaced once the new one is whole.

    Returns:
        The path that was written.

    Raises:
        OSError: the file cannot be written.
    """
    return write(Path(path), race_page(result).encode("utf-8"), "page")


def race_page(result: Result) -> str:
    """Return the page that ``export_race`` writes."""
    script = files("convviz.export").joinpath("race.js").read_text(encoding="utf-8")
    styles = files("convviz.export").joinpath("race.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The race</title>
<style>
{styles}</style>
</head>
<body>
<main>
<h1>The race: one network, its layers computed {len(result["layers"])} ways</h1>
{_about(result)}
<h2>The table</h2>
{_table(result)}
<h2>The curves</h2>
<noscript><p>The curves need scripts switched on.</p></noscript>
<div id="plots"></div>
{_mistakes(result)}
</main>
<script type="application/json" id="convviz-data">{to_json({"plots": list(_plots(result))})}</script>
<script type="text/plain" id="convviz-plotly">{plotly_text()}</script>
<script type="module">
{script}</script>
</body>
</html>
"""


def _about(result: Result) -> str:
    made, settings, data = result["made"], result["settings"], result["data"]
    seeds = ", ".join(str(run["seed"]) for run in result["runs"])
    lines = (
        f"{made['date']}; {made['device']}, {made['system']}, {made['cores']} cores, {made['threads']} threads; "
        f"convviz {made['convviz']}, torch {made['torch']}, Python {made['python']}",
        f"{data['name']}: {data['train']} images to learn from, {data['test']} to be tested on; "
        f"SHA-256 {data['checksum']}",
        f"{settings['epochs']} epochs, batches of {settings['batch_size']}, SGD with lr {settings['lr']} and momentum "
        f"{settings['momentum']}, {settings['dtype']} on {settings['device']}, seeds {seeds}; layers replaced: "
        f"{settings['replaced']}. All start from the same values and learn from the same batches in the same order.",
    )
    state = "" if result["state"] == FINISHED else f'<p class="bad">The race ended early: {escape(result["state"])}</p>'
    return state + "\n".join(f"<p>{escape(line)}</p>" for line in lines)


def _table(result: Result) -> str:
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in HEADINGS)
    rows = [
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in cells(result)
    ]
    told = (
        "Accuracy: mean and standard deviation over the seeds. Difference: mean and standard error of what each seed's "
        "accuracy is away from torch's. Seconds: all training steps of a run. Ratio: median over the steps, each by "
        "torch's own. Memory: what a forward and a backward pass add. The last two rows are what the article printed: "
        "another machine, all of MNIST, and no seeds."
    )
    return f'<div class="wide"><table><tr>{head}</tr>\n{"".join(rows)}</table></div>\n<p class="note">{told}</p>'


def _plots(result: Result) -> Iterator[dict[str, Any]]:
    for key, (title, unit, log) in PLOTS.items():
        traces = list(_traces(result, key))
        if traces:
            yield {"title": title, "unit": unit, "log": log, "traces": traces}


def _traces(result: Result, key: str) -> Iterator[dict[str, Any]]:
    """Yield a curve for each entrant and run; one entry of the legend stands for all runs of an entrant."""
    for at, name in enumerate(result["layers"]):
        named = False
        for run in result["runs"]:
            values = run["entrants"][name].get(key) or []
            steps = run["epochs"] if key == "accuracy" else list(range(1, len(values) + 1))
            if not values:
                continue
            chosen = _thinned(len(values))
            yield {
                "x": [steps[index] for index in chosen],
                # A logarithm of 0 is nowhere: where there is no difference the curve has a gap.
                "y": [values[index] or None if PLOTS[key][2] else values[index] for index in chosen],
                "name": name,
                "legendgroup": name,
                "showlegend": not named,
                "mode": "lines+markers" if key == "accuracy" else "lines",
                "line": {"color": COLORS[at % len(COLORS)], "width": 1.5},
            }
            named = True


def _thinned(count: int) -> Sequence[int]:
    if count <= POINTS:
        return range(count)
    return sorted({round(at * (count - 1) / (POINTS - 1)) for at in range(POINTS)})


def _mistakes(result: Result) -> str:
    labels, images = result["data"]["labels"], result["digits"]
    tested = [run for run in result["runs"] if run["entrants"]["torch"]["predictions"]][-1:]
    if not tested or not images:
        return ""
    rows = []
    for name in result["layers"]:
        found = tested[0]["entrants"][name]["predictions"]
        wrong = [int(at) for at in images if found[int(at)] != labels[int(at)]]
        count = sum(one != other for one, other in zip(found, labels, strict=True))
        pictures = "".join(_digit(images[str(at)], labels[at], found[at]) for at in wrong)
        rows.append(f"<h3>{escape(name)}: {count} of {len(labels)}</h3><div class='digits'>{pictures}</div>")
    seed = tested[0]["seed"]
    return (
        f"<h2>Digits that were mistaken, seed {seed}</h2>\n<p>Some of them: what it is → what it was taken for.</p>"
        + ("\n".join(rows))
    )


def _digit(pixels: str, label: str, found: str) -> str:
    image = np.frombuffer(base64.b64decode(pixels), np.uint8).reshape(28, 28)
    file = io.BytesIO()
    Image.fromarray(255 - image).save(file, "PNG")
    source = base64.b64encode(file.getvalue()).decode()
    told = f"a {label}, taken for a {found}"
    return (
        f'<figure><img src="data:image/png;base64,{source}" width="56" height="56" alt="{told}">'
        f"<figcaption>{label} → {found}</figcaption></figure>"
    )
