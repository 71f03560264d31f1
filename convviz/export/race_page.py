"""A race as one offline page: its table, its curves drawn by plotly, and the digits that somebody mistook."""

import base64
import os
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from convviz.export.page_assets import BOARD, plotly_text, to_json
from convviz.export.svg import png_source
from convviz.file_io import utf8, write
from convviz.lab.page_data import shown
from convviz.lab.result import FINISHED, Result
from convviz.web.bundle import bundle_several
from convviz.web.widget_assets import joined

HERE = files("convviz.export")


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
    return write(Path(path), utf8(race_page(result), "page"), "page")


def race_page(result: Result) -> str:
    content = shown(result)
    curves = bundle_several(BOARD, {"curves": "base/race_curves.js"})
    script = HERE.joinpath("race_curves.js").read_text(encoding="utf-8")
    styles = joined([HERE.joinpath("race_page.css")])
    about = "\n".join(f"<p>{escape(line)}</p>" for line in content["about"])
    state = "" if result["state"] == FINISHED else f'<p class="bad">The race ended early: {escape(result["state"])}</p>'
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
<h1>The race: one network, its layers computed {len(content["layers"])} ways</h1>
{state}{about}
<h2>The table</h2>
{_table(content["table"])}
<h2>The curves</h2>
<noscript><p>The curves need scripts switched on.</p></noscript>
<div id="plots"></div>
{_mistakes(content["mistakes"])}
</main>
<script type="application/json" id="convviz-data">{to_json({"plots": content["plots"]})}</script>
<script type="text/plain" id="convviz-plotly">{plotly_text()}</script>
<script type="module">
{curves}
{script}</script>
</body>
</html>
"""


def _table(table: dict[str, Any]) -> str:
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in table["headings"])
    rows = [
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in table["rows"]
    ]
    note = escape(table["note"], quote=False)
    return f'<div class="wide"><table><tr>{head}</tr>\n{"".join(rows)}</table></div>\n<p class="note">{note}</p>'


def _mistakes(content: dict[str, Any] | None) -> str:
    if content is None or not content["images"]:
        return ""
    rows = []
    for layer in content["layers"]:
        digits = [
            _digit(content["images"][str(digit["at"])], digit["label"], digit["found"]) for digit in layer["digits"]
        ]
        heading = f"<h3>{escape(layer['name'])}: {layer['count']} of {content['of']}</h3>"
        rows.append(f"{heading}<div class='digits'>{''.join(digits)}</div>")
    intro = "<p>Some of them: what it is → what it was taken for.</p>"
    return f"<h2>Digits that were mistaken, seed {content['seed']}</h2>\n{intro}" + "\n".join(rows)


def _digit(pixels: str, label: str, found: str) -> str:
    grey = base64.b64decode(pixels)
    dark = bytes(255 - pixel for pixel in grey for _ in range(3))  # as ink on paper
    source = png_source(28, 28, b"".join(b"\0" + dark[at : at + 84] for at in range(0, len(dark), 84)))
    caption = f"a {label}, taken for a {found}"
    return (
        f'<figure><img src="{source}" width="56" height="56" alt="{caption}">'
        f"<figcaption>{label} → {found}</figcaption></figure>"
    )
