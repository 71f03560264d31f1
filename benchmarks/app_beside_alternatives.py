"""The app beside the usual FigureWidget, bare SVG and an older app: start, bytes, slider to paint; one run, in turn.

Each way has a server of its own, and a fresh cache, and kernel, a visit. The first visit of each reads files from disk
and counts the bytes; the others are timed, with nothing recording.
"""

import contextlib
import json
import os
import statistics
import struct
import zlib
from dataclasses import dataclass, field

import torch

from benchmarks.alternative_displays import CENTRE, NAMES, SOBEL_X, STEP, planes
from benchmarks.compared_displays import APP, ways
from benchmarks.figures_and_targets import Figure, main, p95
from benchmarks.time_in_browser import STEPS, WARM_UP, arrive, chromium, press, visit
from tests.browser.app_page import weight_slider
from tests.browser.server import wait_until

PART = "the app in the browser, served (FW: one FigureWidget, SVG: bare SVG)"
ROUNDS = int(os.environ.get("CONVVIZ_ROUNDS", "2"))  # one is enough while something is being made quicker


@dataclass
class Taken:
    """What was measured of one way."""

    first: list = field(default_factory=list)  # milliseconds from the navigation to the first heatmap, one a visit
    torch: list = field(default_factory=list)  # the same to the first of torch's numbers
    steps: dict = field(default_factory=lambda: {"shown": [], "torch": []})  # {mark: milliseconds of each step}
    start: list = field(default_factory=list)  # frames until the first heatmap
    stepping: list = field(default_factory=list)  # frames of STEPS steps
    travelled: tuple = (0, 0)  # bytes until the first heatmap is plotly's, and until torch's numbers, compressed

    def sizes(self, kind):
        return [size for size, _, each in self.stepping if each == kind]


class Traffic:
    """The messages of a page, (bytes, bytes compressed, our type), and the bytes of its files."""

    def __init__(self, page, packs):
        """Count from now on; ``packs`` is whether its server packs what goes over websockets, as ours does not."""
        self.packs = packs
        self.frames = []
        self.files = 0
        page.on("websocket", self._follow)
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.loadingFinished", self._note_file)

    def travelled(self):
        return self.files + sum(packed for _, packed, _ in self.frames)

    def _note_file(self, event):
        self.files += event["encodedDataLength"]

    def _follow(self, socket):
        for kind in ("framesent", "framereceived"):
            deflate = zlib.compressobj(6, zlib.DEFLATED, -15)  # permessage-deflate: one window a direction
            socket.on(kind, lambda payload, deflate=deflate: self._note(payload, deflate))

    def _note(self, payload, deflate):
        data = payload.encode() if isinstance(payload, str) else payload
        packed = len(deflate.compress(data)) + len(deflate.flush(zlib.Z_SYNC_FLUSH)) - 4 if self.packs else len(data)
        text = payload
        if data is payload:  # ours has the size of its JSON, in four bytes, and then that; Jupyter's has none
            text = data[4 : 4 + struct.unpack_from("<I", data)[0]] if data[4:5] == b"{" else "{}"
        self.frames.append((len(data), packed, json.loads(text).get("type", "")))


def measure(say):
    chosen = ways()
    taken = {way.name: Taken() for way in chosen}
    with chromium() as browser, contextlib.ExitStack() as stack:
        served = [(way, stack.enter_context(way.server()), taken[way.name]) for way in chosen]
        for way, server, its in served:
            say(f"{way.name}: counting bytes")
            _count(browser, way, server, its)
        for turn in range(ROUNDS):
            for way, server, its in served:
                _time(browser, way, server, its)
                shown, by_torch = (statistics.median(steps[-STEPS:]) for steps in its.steps.values())
                times = f"first {its.first[-1] / 1000:.1f} s, of torch {its.torch[-1] / 1000:.1f} s"
                say(f"{way.name}, round {turn + 1}: {times}, a step {shown:.0f} ms, of torch {by_torch:.0f} ms")
    return [*_starts(taken), *_slides(taken), *_traffic(taken)]


def _count(browser, way, server, taken):
    with visit(browser) as page:
        traffic = Traffic(page, way is not APP)
        arrive(page, way.address(server), (way.first, 1))
        if way is APP:  # plotly is on its way at the first heatmap, and counts
            page.evaluate("() => convvizProbe.first('.cv-plot .hm image', 8)")
        until = traffic.travelled()
        page.evaluate("(selector) => convvizProbe.first(selector, 8)", way.torch)
        taken.travelled = (until, traffic.travelled())
        page.wait_for_timeout(1000)
        if way.root == APP.root:  # of an older app only times are compared
            taken.start = list(traffic.frames)
            _press(page, way, STEPS)
            taken.stepping = traffic.frames[len(taken.start) :]
            _check(page, way)
    _wait_for_end(server)


def _time(browser, way, server, taken):
    with visit(browser) as page:
        first, by_torch = arrive(page, way.address(server), (way.first, 8), (way.torch, 8))
        taken.first.append(first)
        taken.torch.append(by_torch)
        page.wait_for_timeout(1000)
        for step in _press(page, way, WARM_UP + STEPS)[WARM_UP:]:
            for mark, milliseconds in step.items():
                taken.steps[mark].append(milliseconds)
    _wait_for_end(server)


def _press(page, way, count):
    sliders = page.locator(way.slider)
    if one := sliders.count() == 1:  # of the weight whose cell was touched last; older trees have nine
        weight_slider(page, *divmod(CENTRE, 3))
        page.keyboard.press("Escape")  # nothing is pinned
    sliders.nth(0 if one else CENTRE).focus()
    return press(page, way.marks, count=count)


def _check(page, way):
    """Compare what the page shows after STEPS steps with what torch computes: all ways show the same."""
    weight = [*SOBEL_X[:CENTRE], SOBEL_X[CENTRE] + STEP * STEPS, *SOBEL_X[CENTRE + 1 :]]
    shown = page.evaluate(way.read, NAMES)
    for name, plane in planes(weight).items():
        found, wanted = torch.tensor(shown[name], dtype=torch.float32), torch.as_tensor(plane).flatten()
        assert torch.allclose(found, wanted, rtol=1e-5, atol=1e-5), f"{way.name}: {name} is not what torch computes"


def _wait_for_end(server):
    """Wait until the kernel of the last visit, where it had one, is gone and takes no time from the next."""
    wait_until(lambda: not server.kernels(), 150, "the visitor's kernel ends")


def _ratios(name, median, targets, detail):
    """Yield the app's median over that of each other way that was measured."""
    for other, target in targets.items():
        if other in median:
            yield Figure(f"{name} / {other}", median["app"] / median[other], "×", target, detail)
            detail = ""


def _starts(taken):
    for name, kind, targets in (
        ("first heatmap, cold", "first", {"SVG": 0.15, "FW": 0.05}),
        ("first torch numbers, cold", "torch", {"SVG": 1.2, "before": 1}),
    ):
        median = {way: statistics.median(getattr(its, kind)) / 1000 for way, its in taken.items()}
        yield from _ratios(name, median, targets, ", ".join(f"{way} {s:.2f} s" for way, s in median.items()))


def _slides(taken):
    median = {way: statistics.median(its.steps["torch"]) for way, its in taken.items()}
    detail = ", ".join(f"{way} {median[way]:.0f} ms (p95 {p95(its.steps['torch']):.0f})" for way, its in taken.items())
    targets = {"SVG": 1.5, "before": 1, "FW": 0.6}
    yield from _ratios("slider → torch's painted, median", median, targets, detail)
    shown = statistics.median(taken["app"].steps["shown"])
    median = {"app": shown, "SVG": median["SVG"]}
    yield from _ratios("slider → the page's painted, median", median, {"SVG": 1.1}, f"app {shown:.0f} ms")


def _traffic(taken):
    for place, (until, target) in enumerate({"the first heatmap": 0.75, "torch's numbers": 2}.items()):
        size = {way: its.travelled[place] / 1e6 for way, its in taken.items()}
        detail = ", ".join(f"{way} {megabytes:.2f} MB" for way, megabytes in size.items())
        yield Figure(f"all bytes until {until}, compressed", size["app"], "MB", target, detail)
    stepped = {way: its for way, its in taken.items() if its.stepping}
    size = {way: [sum(size for size, *_ in frames) for frames in (i.start, i.stepping)] for way, i in stepped.items()}
    detail = ", ".join(f"{way} {a / 1e6:.2f} MB + {b / STEPS / 1000:.1f} kB a step" for way, (a, b) in size.items())
    yield Figure("bytes over the websocket / FW", sum(size["app"]) / sum(size["FW"]), "×", 0.4, detail)
    sent, got = (taken["app"].sizes(kind) for kind in ("compute", "numbers"))
    yield Figure("messages a step to the picture", len(got) / STEPS, "", 1)
    yield Figure("request to the server, a step", sum(sent) / STEPS, "bytes", 1000, f"largest {max(sent):,}")
    yield Figure("answer of the server, a step", sum(got) / STEPS, "bytes", 6000, f"largest {max(got):,}")


if __name__ == "__main__":
    main(measure)
