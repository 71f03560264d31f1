"""The app beside the usual FigureWidget, bare SVG and an older app: start, bytes, slider to paint; one run, in turn.

Every way of showing the eight tensors has a server of its own, and a fresh browser cache a visit; a notebook has a
fresh kernel. The
first visit of each reads files from disk and counts the bytes; the others are timed, with nothing recording.
"""

import os
import statistics
from dataclasses import dataclass, field

import torch

from benchmarks.chromium import chromium, visit
from benchmarks.reference.scene import NAMES, SOBEL_X, STEP, planes
from benchmarks.report import Figure, main
from benchmarks.traffic import Traffic
from benchmarks.ways import APP, BEFORE, servers, ways
from tests.browser.server import wait_until

PART = "the app in the browser, served (FW: one FigureWidget, SVG: bare SVG)"
ROUNDS = int(os.environ.get("CONVVIZ_ROUNDS", "2"))  # one is enough while something is being made quicker
STEPS = 30
WARM_UP = 5
SETTLE_MS = 120  # between steps, so that the answers to one do not delay the next
CENTRE = 4  # of the kernel: the number that the slider moves


@dataclass
class Taken:
    """What was measured of one way.

    Attributes:
        first: Milliseconds from the navigation to the first heatmap, one a visit.
        torch: The same to the first of torch's numbers.
        steps: Milliseconds from the key to the painted frame, one a step, by mark.
        start: The frames until the first heatmap.
        stepping: The frames of STEPS steps.
        travelled: Bytes until the first heatmap is plotly's, and until torch's numbers, compressed.
        comm: The id of the widget with the heatmaps; empty where it is the page itself.
    """

    first: list = field(default_factory=list)
    torch: list = field(default_factory=list)
    steps: dict = field(default_factory=lambda: {"shown": [], "torch": []})
    start: list = field(default_factory=list)
    stepping: list = field(default_factory=list)
    travelled: tuple = (0, 0)
    comm: str = ""

    def of_picture(self, received):
        """Return the messages of the steps that the picture got, or sent."""
        kinds = ("comm_msg",) if self.comm else ("compute", "numbers")
        return [f for f in self.stepping if f.received is received and f.kind in kinds and f.comm == self.comm]


def measure(say):
    chosen = ways()
    if len(chosen) == 3:
        say(f"no app from before: --before PATH or {BEFORE} names a tree of it")
    taken = {way.name: Taken() for way in chosen}
    with chromium() as browser, servers(chosen) as served:
        for way in chosen:
            say(f"{way.name}: counting bytes")
            _count(browser, way, served[way.name], taken[way.name])
        for turn in range(ROUNDS):
            for way in chosen:
                _time(browser, way, served[way.name], taken[way.name])
                say(f"{way.name}, round {turn + 1}: {_last(taken[way.name])}")
    return list(_figures(taken))


def _last(taken):
    shown, by_torch = (statistics.median(steps[-STEPS:]) for steps in taken.steps.values())
    times = f"first {taken.first[-1] / 1000:.1f} s, of torch {taken.torch[-1] / 1000:.1f} s"
    return f"{times}, a step {shown:.0f} ms, of torch {by_torch:.0f} ms"


# -- one visit -------------------------------------------------------------------------------------------------------


def _count(browser, way, server, taken):
    with visit(browser) as page:
        traffic = Traffic(page)
        page.goto(way.address(server), wait_until="commit")
        page.evaluate("(selector) => convvizProbe.first(selector, 1)", f"{way.picture} .hm image, {way.first[0]}")
        if way is APP:  # plotly is on its way at the first heatmap, and counts
            page.evaluate("() => convvizProbe.first('.cv-plot .hm image', 8)")
        until = traffic.travelled()
        page.evaluate("([selector, count]) => convvizProbe.first(selector, count)", list(way.torch))
        taken.travelled = (until, traffic.travelled())
        page.wait_for_timeout(1000)
        taken.start = list(traffic.frames)
        if way.root == APP.root:  # of an older app only the times are told
            taken.comm = _comm(page, way) if way.widget else ""
            _steps(page, way, STEPS)
            taken.stepping = traffic.frames[len(taken.start) :]
            _check(page, way)
    wait_for_end(server)


def _time(browser, way, server, taken):
    with visit(browser) as page:
        first, by_torch = _open(page, way, server)
        taken.first.append(first)
        taken.torch.append(by_torch)
        page.wait_for_timeout(1000)
        for step in _steps(page, way, WARM_UP + STEPS)[WARM_UP:]:
            for mark, milliseconds in step.items():
                taken.steps[mark].append(milliseconds)
    wait_for_end(server)


def _open(page, way, server):
    """Return milliseconds until the first heatmap, and until torch's numbers."""
    page.goto(way.address(server), wait_until="commit")
    both = "(all) => Promise.all(all.map(([selector, count]) => convvizProbe.first(selector, count)))"
    return page.evaluate(both, [list(way.first), list(way.torch)])


def _steps(page, way, count):
    """Press the arrow keys on the slider of the kernel's centre; return the milliseconds by mark of each step."""
    page.locator(way.slider).nth(CENTRE).focus()
    marks = ", ".join(f"{name}: {mark}" for name, mark in way.marks.items())
    arm = f"(selector) => convvizProbe.arm(selector, {{ {marks} }})"
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


def wait_for_end(server):
    """Wait until the kernel of the last visit, where it had one, is gone and takes no time from the next."""
    wait_until(lambda: not server.kernels(), 150, "the visitor's kernel ends")


# -- the figures -----------------------------------------------------------------------------------------------------


def _figures(taken):
    yield from _starts(taken)
    yield from _slides(taken)
    yield from _bytes(taken)
    yield from _messages(taken)


def _seconds(taken, kind):
    return {name: statistics.median(getattr(each, kind)) / 1000 for name, each in taken.items()}


def _starts(taken):
    first, by_torch = _seconds(taken, "first"), _seconds(taken, "torch")
    detail = ", ".join(f"{name} {first[name]:.2f} s" for name in taken)
    yield Figure(PART, "first heatmap, cold / SVG", first["app"] / first["SVG"], "×", 0.15, detail)
    yield Figure(PART, "first heatmap, cold / FW", first["app"] / first["FW"], "×", 0.05)
    detail = ", ".join(f"{name} {by_torch[name]:.1f} s" for name in taken)
    yield Figure(PART, "first torch numbers, cold / SVG", by_torch["app"] / by_torch["SVG"], "×", 1.2, detail)
    if "before" in taken:
        ratio = by_torch["app"] / by_torch["before"]
        yield Figure(PART, "first torch numbers / before", ratio, "×", 1)


def _slides(taken):
    median = {name: {mark: statistics.median(ms) for mark, ms in each.steps.items()} for name, each in taken.items()}
    p95 = {name: statistics.quantiles(each.steps["torch"], n=20)[-1] for name, each in taken.items()}
    ours, floor = median["app"], median["SVG"]["torch"]
    detail = ", ".join(f"{name} {median[name]['torch']:.0f} ms (p95 {p95[name]:.0f})" for name in taken)
    yield Figure(PART, "slider → torch's painted, median / SVG", ours["torch"] / floor, "×", 1.5, detail)
    if "before" in taken:
        ratio = ours["torch"] / median["before"]["torch"]
        yield Figure(PART, "slider → torch's painted, median / before", ratio, "×", 1)
    yield Figure(PART, "slider → torch's painted, median / FW", ours["torch"] / median["FW"]["torch"], "×", 0.6)
    detail = f"app {ours['shown']:.0f} ms"
    yield Figure(PART, "slider → the page's painted, median / SVG", ours["shown"] / floor, "×", 1.1, detail)


def _bytes(taken):
    until, all_of_it = (count / 1e6 for count in taken["app"].travelled)
    detail = ", ".join(f"{name} {taken[name].travelled[0] / 1e6:.2f} MB" for name in taken)
    yield Figure(PART, "all bytes until the first heatmap, compressed", until, "MB", 0.75, detail)
    detail = ", ".join(f"{name} {taken[name].travelled[1] / 1e6:.2f} MB" for name in taken)
    yield Figure(PART, "all bytes until torch's numbers, compressed", all_of_it, "MB", 2, detail)
    stepped = {name: each for name, each in taken.items() if each.stepping}
    for measure, name, target in (
        ("size", "bytes over the websocket / FW", 0.4),
        ("packed", "the same, deflated", None),
    ):
        size = {
            way: [sum(getattr(frame, measure) for frame in frames) for frames in (each.start, each.stepping)]
            for way, each in stepped.items()
        }
        words = [
            f"{way} {start / 1e6:.2f} MB + {steps / STEPS / 1000:.1f} kB a step" for way, (start, steps) in size.items()
        ]
        yield Figure(PART, name, sum(size["app"]) / sum(size["FW"]), "×", target, ", ".join(words))


def _messages(taken):
    stepped = {name: each for name, each in taken.items() if each.stepping}
    app = stepped["app"]
    sent, got = ([frame.size for frame in app.of_picture(received)] for received in (False, True))
    detail = ", ".join(f"{name} {len(each.of_picture(True)) / STEPS:.1f}" for name, each in stepped.items())
    yield Figure(PART, "messages a step to the picture", len(got) / STEPS, "", 1, detail)
    detail = f"largest {max(sent):,}"
    yield Figure(PART, "request to the server, a step", sum(sent) / STEPS, "bytes", 1000, detail)
    others = ", ".join(
        f"{name} {sum(f.size for f in stepped[name].of_picture(True)) / STEPS:,.0f}" for name in ("FW", "SVG")
    )
    detail = f"largest {max(got):,}; {others}"
    yield Figure(PART, "answer of the server, a step", sum(got) / STEPS, "bytes", 6000, detail)
    detail = "; ".join(f"{name} {_kinds(each.stepping)}" for name, each in stepped.items())
    yield Figure(PART, "all messages a step, both ways", len(app.stepping) / STEPS, "", None, detail)


def _kinds(frames):
    """Return the messages a step by their kind, such as "4 comm_msg"."""
    kinds = dict.fromkeys(frame.kind for frame in frames)
    counts = {kind: sum(frame.kind == kind for frame in frames) / STEPS for kind in kinds}
    return ", ".join(f"{count:.1f} {kind}" for kind, count in counts.items())


if __name__ == "__main__":
    main(measure)
