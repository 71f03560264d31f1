"""The ways of showing the eight tensors that are measured beside each other, each with a server of its own."""

import contextlib
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from convviz.serve import SHARE
from tests.browser.server import ROOT, STARTS_WITHIN_S, Server, voila_server, wait_until
from tests.programs import answers, free_port

NOTEBOOKS = Path(__file__).with_name("notebooks")
BEFORE = "CONVVIZ_BEFORE"  # the variable that names a tree of an older convviz; `--before` sets it

READ_CELLS = """(names) => Object.fromEntries(names.map((name) => [name, Array.from(
    document.querySelector(`[data-panel="${name}"]`).querySelectorAll("[data-value]"),
    (cell) => Number(cell.dataset.value),
)]))"""
READ_PLOT = """(names) => Object.fromEntries(document.querySelector(".js-plotly-plot").data.map((trace) => [
    trace.name, Array.from(trace.z, (row) => Array.from(row)).flat(),
]))"""
PAINTED = "(board) => board.dataset.painted || undefined"
STATE = "#v=1"  # of the app: the picture of 8 × 8 that all ways show
COLOURED = ".cv-board .cv-pixels, .cv-board .cv-plot .hm image"


@dataclass(frozen=True)
class Way:
    """A way of showing the tensors.

    Attributes:
        name: Short, for the table.
        notebook: What Voilà serves; None is the app.
        widget: A part of the class name of the widget with the heatmaps, where it is one.
        first: A selector, and how many elements of it stand when the first heatmaps do.
        torch: The same for the first heatmaps of torch's numbers.
        picture: A selector of the element that tells when it was drawn.
        marks: {mark: JavaScript from that element to something that every step changes, undefined while it is not
            there}; ``"shown"`` is of any numbers of the step, ``"torch"`` of torch's.
        slider: A selector of nine sliders.
        read: JavaScript from names to {name: numbers} as the page shows them.
        root: The tree whose convviz serves it.
    """

    name: str
    notebook: Path | None
    widget: str
    first: tuple[str, int]
    torch: tuple[str, int]
    picture: str
    marks: dict[str, str]
    slider: str
    read: str
    root: Path = ROOT

    def server(self):
        """Return the context of a server for this way alone."""
        if self.notebook:
            return _voila(self.notebook)
        python = Path(sys.executable) if self.root == ROOT else self.root / ".venv" / "bin" / "python"
        assert python.exists(), f"{self.root} has no .venv of its own, and ours has our templates: run `make app` there"
        # An older tree that has kernels keeps one started, which would count as a visitor's that never ends.
        older = ["--no-preheat"] if (self.root / "convviz" / "kernels").is_dir() else []
        return voila_server(root=self.root, python=python, arguments=older)

    def address(self, server):
        """Return where a server of this way shows the state that is measured."""
        return server.url if self.notebook else server.url + STATE


@contextlib.contextmanager
def _voila(notebook):
    """Run Voilà's own command on a notebook, in our template; yield a Server that listens."""
    port = free_port()
    command = [sys.executable, "-m", "voila", str(notebook), "--no-browser", f"--port={port}", "--template=convviz"]
    command += ["--MappingKernelManager.cull_interval=1", "--MappingKernelManager.cull_idle_timeout=10"]  # no page left
    env = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "JUPYTER_PATH": str(SHARE)}
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(port), STARTS_WITHIN_S, "Voilà listens")
        yield Server(f"http://127.0.0.1:{port}/", process)
    finally:
        process.terminate()
        process.wait(20)


def _both(mark):
    """Return the marks of a way that shows torch's numbers only."""
    return {"shown": mark, "torch": mark}


APP = Way(
    "app",
    None,
    "",
    (COLOURED, 8),
    ('.cv-board[data-from="torch"][data-painted]:not([data-painted=""]) .cv-plot .hm image', 8),
    ".cv-board",
    {"shown": PAINTED, "torch": '(board) => (board.dataset.from === "torch" && board.dataset.painted) || undefined'},
    ".cv-sliders input[type=range]",
    READ_CELLS,
)
FIGURE_WIDGET = Way(
    "FW",
    NOTEBOOKS / "figurewidget.ipynb",
    "FigureWidget",
    (".js-plotly-plot .hm image", 8),
    (".js-plotly-plot .hm image", 8),
    ".js-plotly-plot",
    _both(
        "(plot) => plot.querySelectorAll('.heatmap-label')[1] && "
        "String(plot.data[1].z[1][1]) + plot.querySelectorAll('.subplot')[1].querySelectorAll('text')[4].textContent"
    ),
    ".noUi-handle",
    READ_PLOT,
)
BARE_SVG = Way(
    "SVG",
    NOTEBOOKS / "bare_svg.ipynb",
    "BareSvg",
    (".bare-svg[data-painted] svg", 8),
    (".bare-svg[data-painted] svg", 8),
    ".bare-svg",
    _both("(root) => root.dataset.painted"),
    ".bare-svg input",
    READ_CELLS,
)


def before():
    """Return the app of the older tree that ``--before`` names; else None."""
    root = os.environ.get(BEFORE)
    return replace(APP, name="before", root=Path(root).resolve()) if root else None


def ways():
    """Return all that are measured."""
    return [way for way in (APP, FIGURE_WIDGET, BARE_SVG, before()) if way]


@contextlib.contextmanager
def servers(chosen):
    """Yield {name: server} of several ways."""
    with contextlib.ExitStack() as stack:
        yield {way.name: stack.enter_context(way.server()) for way in chosen}
