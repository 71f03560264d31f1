"""The ways of showing the eight tensors that are measured beside each other, each with a server of its own."""

import contextlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from convviz.kernels.provisioner import NAMED, NORMAL
from tests.browser.server import ROOT, voila_server

NOTEBOOKS = Path(__file__).with_name("notebooks")
BEFORE = "CONVVIZ_BEFORE"  # the variable that names a tree of an older convviz; `--before` sets it

# What is measured beside convviz has kernels as Voilà starts them; forked ones are convviz's own.
OWN_KERNELS = {NAMED: NORMAL}

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
        widget: A part of the class name of the widget with the heatmaps.
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

    def server(self, preheat=False):
        """Return the context of a server for this way alone."""
        python = self.root / ".venv" / "bin" / "python"
        python = python if self.root != ROOT and python.exists() else Path(sys.executable)
        env = None if self.picture == APP.picture else OWN_KERNELS
        return voila_server(notebook=self.notebook, env=env, preheat=preheat, root=self.root, python=python)

    def address(self, server):
        """Return where a server of this way shows the state that is measured."""
        return server.url + STATE if self.picture == APP.picture else server.url


def _both(mark):
    """Return the marks of a way that shows torch's numbers only."""
    return {"shown": mark, "torch": mark}


APP = Way(
    "app",
    None,
    ".App",
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
    """Return the app of the older tree that ``--before`` names, whose page computes nothing by itself; else None."""
    root = os.environ.get(BEFORE)
    if not root:
        return None
    drawn = ('.cv-board[data-painted]:not([data-painted=""]) .cv-plot .hm image', 8)
    slider = ".cv-slider input[type=range]"
    return Way(
        "before", None, "Board", drawn, drawn, ".cv-board", _both(PAINTED), slider, READ_CELLS, Path(root).resolve()
    )


def ways():
    """Return all that are measured."""
    return [way for way in (APP, FIGURE_WIDGET, BARE_SVG, before()) if way]


@contextlib.contextmanager
def servers(chosen, preheat=False):
    """Yield {name: server} of several ways."""
    with contextlib.ExitStack() as stack:
        yield {way.name: stack.enter_context(way.server(preheat)) for way in chosen}
