"""The app beside the usual FigureWidget and beside bare SVG: start, bytes, slider to paint; one run, in turn.

Every way of showing the eight tensors has a server of its own, a fresh kernel and a fresh browser cache a visit. The
first visit of each reads files from disk and counts the bytes; the others are timed, with nothing recording.
"""

import contextlib
import statistics
from dataclasses import dataclass, field
from pathlib import Path

import torch

from benchmarks.chromium import chromium, visit
from benchmarks.reference.scene import NAMES, SOBEL_X, STEP, planes
from benchmarks.report import Figure, main
from benchmarks.traffic import Traffic
from tests.browser.server import voila_server, wait_until

PART = "the app in the browser (FW: one FigureWidget, SVG: bare SVG)"
NOTEBOOKS = Path(__file__).with_name("notebooks")
ROUNDS = 2
STEPS = 30
WARM_UP = 5
SETTLE_MS = 120  # between steps, so that the answers to one do not delay the next
CENTRE = 4  # of the kernel: the number that the slider moves

READ_CELLS = """(names) => Object.fromEntries(names.map((name) => [name, Array.from(
    document.querySelector(`[data-panel="${name}"]`).querySelectorAll("[data-value]"),
    (cell) => Number(cell.dataset.value),
)]))"""
READ_PLOT = """(names) => Object.fromEntries(document.querySelector(".js-plotly-plot").data.map((trace) => [
    trace.name, Array.from(trace.z, (row) => Array.from(row)).flat(),
]))"""


@dataclass(frozen=True)
class Way:
    """A way of showing the tensors.

    Attributes:
        name: Short, for the table.
        notebook: What Voilà serves; None is the app.
        widget: A part of the class name of the widget with the heatmaps.
        first: A selector, and how many elements of it stand when the first heatmaps do.
        picture: A selector of the element that tells when it was drawn.
        shown: JavaScript from that element to something that every step changes.
        slider: A selector of nine sliders.
        read: JavaScript from names to {name: numbers} as the page shows them.
    """

    name: str
    notebook: Path | None
    widget: str
    first: tuple[str, int]
    picture: str
    shown: str
    slider: str
    read: str


WAYS = (
    Way(
        "app",
        None,
        "Board",
        ('.cv-board[data-painted]:not([data-painted=""]) .cv-plot .hm image', 8),
        ".cv-board",
        "(board) => board.dataset.painted",
        ".cv-slider input[type=range]",
        READ_CELLS,
    ),
    Way(
        "FW",
        NOTEBOOKS / "figurewidget.ipynb",
        "FigureWidget",
        (".js-plotly-plot .hm image", 8),
        ".js-plotly-plot",
        "(plot) => plot.querySelectorAll('.heatmap-label')[1] && "
        "String(plot.data[1].z[1][1]) + plot.querySelectorAll('.subplot')[1].querySelectorAll('text')[4].textContent",
        ".noUi-handle",
        READ_PLOT,
    ),
    Way(
        "SVG",
        NOTEBOOKS / "bare_svg.ipynb",
        "BareSvg",
        (".bare-svg[data-painted] svg", 8),
        ".bare-svg",
        "(root) => root.dataset.painted",
        ".bare-svg input",
        READ_CELLS,
    ),
)


@dataclass
class Taken:
    """What was measured of one way.

    Attributes:
        first: Milliseconds from the navigation to the first heatmap, one a visit.
        steps: Milliseconds from the key to the painted frame, one a step.
        start: The frames until the first heatmap.
        stepping: The frames of STEPS steps.
        comm: The id of the widget with the heatmaps.
    """

    first: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    start: list = field(default_factory=list)
    stepping: list = field(default_factory=list)
    comm: str = ""

    def to_picture(self):
        """Return the messages of the steps that the picture got."""
        return [f for f in self.stepping if f.received and f.kind == "comm_msg" and f.comm == self.comm]


def measure(say):
    taken = {way.name: Taken() for way in WAYS}
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(voila_server(notebook=way.notebook)) for way in WAYS]
        browser = stack.enter_context(chromium())
        for way, server in zip(WAYS, servers, strict=True):
            say(f"{way.name}: counting bytes")
            _count(browser, way, server, taken[way.name])
        for turn in range(ROUNDS):
            for way, server in zip(WAYS, servers, strict=True):
                found = taken[way.name]
                _time(browser, way, server, found)
                median = statistics.median(found.steps[-STEPS:])
                say(f"{way.name}, round {turn + 1}: first {found.first[-1] / 1000:.1f} s, a step {median:.0f} ms")
    return list(_figures(**taken))


# -- one visit -------------------------------------------------------------------------------------------------------


def _count(browser, way, server, taken):
    with visit(browser) as page:
        traffic = Traffic(page)
        _open(page, way, server)
        page.wait_for_timeout(1000)
        taken.start = list(traffic.frames)
        taken.comm = _comm(page, way)
        _steps(page, way, STEPS)
        taken.stepping = traffic.frames[len(taken.start) :]
        _check(page, way)
    _wait_for_end(server)


def _time(browser, way, server, taken):
    with visit(browser) as page:
        taken.first.append(_open(page, way, server))
        page.wait_for_timeout(1000)
        taken.steps += _steps(page, way, WARM_UP + STEPS)[WARM_UP:]
    _wait_for_end(server)


def _open(page, way, server):
    page.goto(server.url, wait_until="commit")
    return page.evaluate("([selector, count]) => convvizProbe.first(selector, count)", list(way.first))


def _steps(page, way, count):
    """Press the arrow keys on the slider of the kernel's centre; return the milliseconds of each step."""
    page.locator(way.slider).nth(CENTRE).focus()
    arm = f"(selector) => convvizProbe.arm(selector, {way.shown})"
    taken = []
    for step in range(count):
        page.evaluate(arm, way.picture)
        page.keyboard.press("ArrowRight" if step < STEPS else "ArrowLeft")  # 30 steps of 0.1: to the slider's end
        taken.append(page.evaluate("() => convvizProbe.done"))
        page.wait_for_timeout(SETTLE_MS)
    return taken


def _comm(page, way):
    """Return the comm id of the widget with the heatmaps."""
    found = page.evaluate(
        """async (name) => {
            const manager = await window.jupyterapp.widgetManagerPromise.promise;
            const models = await Promise.all(Object.values(manager._models));
            return models.filter((model) => model.get("_anywidget_id")?.includes(name)).map((model) => model.model_id);
        }""",
        way.widget,
    )
    assert len(found) == 1, f"{way.name}: {len(found)} widgets are a {way.widget}"
    return found[0]


def _check(page, way):
    """Hold what the page shows after STEPS steps against what torch computes: all ways show the same."""
    weight = [*SOBEL_X[:CENTRE], SOBEL_X[CENTRE] + STEP * STEPS, *SOBEL_X[CENTRE + 1 :]]
    shown = page.evaluate(way.read, list(NAMES))
    for name, plane in planes(weight).items():
        expected = torch.as_tensor(plane).flatten()
        found = torch.tensor(shown[name], dtype=torch.float32)
        torch.testing.assert_close(
            found, expected, rtol=1e-5, atol=1e-5, msg=f"{way.name} shows another {name} than torch computes"
        )


def _wait_for_end(server):
    """Wait until the kernel of the last visit is gone and takes no time from the next."""
    wait_until(lambda: not server.kernels(), what="the visitor's kernel ends")


# -- the figures -----------------------------------------------------------------------------------------------------


def _figures(app, FW, SVG):
    ways = {"app": app, "FW": FW, "SVG": SVG}
    steps = {name: statistics.median(taken.steps) for name, taken in ways.items()}
    p95 = {name: statistics.quantiles(taken.steps, n=20)[-1] for name, taken in ways.items()}
    detail = ", ".join(f"{name} {steps[name]:.0f} ms (p95 {p95[name]:.0f})" for name in ways)
    yield Figure(PART, "slider → painted, median / FW", steps["app"] / steps["FW"], "×", 0.6, detail)
    yield Figure(PART, "slider → painted, median / SVG", steps["app"] / steps["SVG"], "×", 1.5)
    first = {name: statistics.median(taken.first) / 1000 for name, taken in ways.items()}
    detail = ", ".join(f"{name} {first[name]:.1f} s" for name in ways)
    yield Figure(PART, "first heatmap, cold / FW", first["app"] / first["FW"], "×", 0.7, detail)
    yield from _bytes(ways)
    own = [frame.size for frame in app.to_picture()]
    detail = ", ".join(f"{name} {len(taken.to_picture()) / STEPS:.1f}" for name, taken in ways.items())
    yield Figure(PART, "messages a step to the picture", len(own) / STEPS, "", 1, detail)
    others = ", ".join(f"{name} {sum(f.size for f in ways[name].to_picture()) / STEPS:,.0f}" for name in ("FW", "SVG"))
    yield Figure(
        PART, "bytes a step to the picture", sum(own) / STEPS, "bytes", 6000, f"largest {max(own):,}; {others}"
    )
    detail = "; ".join(f"{name} {_kinds(taken.stepping)}" for name, taken in ways.items())
    yield Figure(PART, "all messages a step, both ways", len(app.stepping) / STEPS, "", None, detail)


def _bytes(ways):
    """Yield the bytes until the first heatmap and of STEPS steps, as they are and as they travel."""
    for measure, name, target in (
        ("size", "bytes over the websocket / FW", 0.4),
        ("packed", "the same, deflated", None),
    ):
        size = {
            way: [sum(getattr(frame, measure) for frame in frames) for frames in (taken.start, taken.stepping)]
            for way, taken in ways.items()
        }
        words = [
            f"{way} {start / 1e6:.2f} MB + {steps / STEPS / 1000:.1f} kB a step" for way, (start, steps) in size.items()
        ]
        yield Figure(PART, name, sum(size["app"]) / sum(size["FW"]), "×", target, ", ".join(words))


def _kinds(frames):
    """Return the messages a step by their kind, such as "4 comm_msg"."""
    kinds = dict.fromkeys(frame.kind for frame in frames)
    counts = {kind: sum(frame.kind == kind for frame in frames) / STEPS for kind in kinds}
    return ", ".join(f"{count:.1f} {kind}" for kind, count in counts.items())


if __name__ == "__main__":
    main(measure)
