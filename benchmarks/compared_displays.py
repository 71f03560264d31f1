"""The ways of showing the eight tensors that are measured beside each other, each with a server of its own."""

import contextlib
import json
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.figures_and_targets import BEFORE
from benchmarks.time_in_browser import COLOURED, READY, STATE
from convviz.serve import SHARE
from tests.browser.server import ROOT, voila_server

READ_CELLS = """(names) => Object.fromEntries(names.map((name) => [name, Array.from(
    document.querySelector(`[data-panel="${name}"]`).querySelectorAll("[data-value]"),
    (cell) => Number(cell.dataset.value),
)]))"""
READ_PLOT = """(names) => Object.fromEntries(document.querySelector(".js-plotly-plot").data.map((trace) => [
    trace.name, Array.from(trace.z, (row) => Array.from(row)).flat(),
]))"""
VOILA = (  # our template; a kernel ends soon after its page
    "--template=convviz",
    "--MappingKernelManager.cull_interval=1",
    "--MappingKernelManager.cull_idle_timeout=10",
)


@dataclass(frozen=True)
class Way:
    """A way of showing the tensors."""

    name: str
    notebook: str  # the function of `baseline_widgets` that a notebook calls; "" is the app
    first: str  # a selector of the first heatmaps, eight
    torch: str  # the same of torch's numbers
    marks: dict[str, str]  # for `step`: "shown", any numbers of the step, and "torch", torch's
    slider: str  # a selector of nine sliders, or of the chosen weight's
    read: str  # JavaScript from names to {name: numbers} as the page shows them
    root: Path = ROOT  # the tree whose convviz serves it

    @contextlib.contextmanager
    def server(self):
        if self.notebook:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "way.ipynb"
                path.write_text(
                    _notebook(f"from benchmarks.alternative_displays import {self.notebook}\n\n{self.notebook}()")
                )
                env = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "JUPYTER_PATH": str(SHARE)}
                with voila_server(path, env=env, arguments=VOILA) as server:
                    yield server
            return
        python = Path(sys.executable) if self.root == ROOT else self.root / ".venv" / "bin" / "python"
        assert python.exists(), f"{self.root} has no .venv of its own, and ours has our templates: run `make app` there"
        # An older tree that has kernels keeps one started, which would count as a visitor's that never ends.
        older = ["--no-preheat"] if (self.root / "convviz" / "kernels").is_dir() else []
        with voila_server(root=self.root, python=python, arguments=older) as server:
            yield server

    def address(self, server):
        return server.url if self.notebook else server.url + STATE


def _notebook(code):
    cell = {"cell_type": "code", "id": "show", "metadata": {}, "source": code, "outputs": [], "execution_count": None}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


def _from(selector, read):
    """Return JavaScript that reads something off the first element of a selector, once it is there."""
    return f"() => ((it) => it && ({read} || undefined))(document.querySelector({json.dumps(selector)}))"


APP = Way(
    "app",
    "",
    COLOURED,
    f"{READY} .cv-plot .hm image",
    {
        "shown": _from(".cv-board", "it.dataset.painted"),
        "torch": _from(".cv-board", 'it.dataset.from === "torch" && it.dataset.painted'),
    },
    ":is(.cv-set-weight, .cv-sliders) input[type=range]",  # the latter in older trees
    READ_CELLS,
)
FIGURE_WIDGET = Way(
    "FW",
    "figurewidget",
    ".js-plotly-plot .hm image",
    ".js-plotly-plot .hm image",
    dict.fromkeys(
        ("shown", "torch"),  # it shows torch's numbers only
        _from(
            ".js-plotly-plot",
            "it.querySelectorAll('.heatmap-label')[1] && String(it.data[1].z[1][1]) + "
            "it.querySelectorAll('.subplot')[1].querySelectorAll('text')[4].textContent",
        ),
    ),
    ".noUi-handle",
    READ_PLOT,
)
BARE_SVG = Way(
    "SVG",
    "bare_svg",
    ".bare-svg[data-painted] svg",
    ".bare-svg[data-painted] svg",
    dict.fromkeys(("shown", "torch"), _from(".bare-svg", "it.dataset.painted")),
    ".bare-svg input",
    READ_CELLS,
)


def ways():
    """Return all that are measured: with `--before`, the app of an older tree, too."""
    older = os.environ.get(BEFORE)
    return [APP, FIGURE_WIDGET, BARE_SVG, *([replace(APP, name="before", root=Path(older).resolve())] if older else [])]
