"""Recording a whole model, beside a forward and backward pass of it, what it keeps, and pointing at its page.

Pointing: from the pointermove to the first painted frame in which the sentence speaks of the new cell, at random cells
of all maps in sight of the exported page. ``--before`` names an older tree whose page is pointed at in turn.
"""

import gc
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figures_and_targets import BEFORE, Figure, main, p95
from benchmarks.operators import child
from benchmarks.time_in_browser import WARM_UP, chromium, step, visit

PART = "a network recorded: ResNet-18, batch of 4, 64 × 64"
ROUNDS = 7
VISITS = 2
CELLS = 40
WITHIN = 10  # pixels from a map's corner: in its first plane
NOW, OLDER = "now", "before"
SENTENCE = {"said": "() => document.querySelector('.cv-network-sentence').textContent"}
MAPS = """() => [...document.querySelectorAll(".cv-network-map")].map((map) => map.getBoundingClientRect())
  .filter((box) => box.width && box.right < innerWidth).map(({ x, y }) => [x, y])"""
EXPORT = """
import sys, torch, torch.nn.functional as F, convviz
from tests.features.network.nets import ResNet18, made, seeded
x, labels = torch.randn(4, 3, 64, 64, generator=seeded()), torch.tensor([7, 1, 0, 3])
network = convviz.network(made(ResNet18), x, lambda y: F.cross_entropy(y, labels), live=False)
convviz.export_network(network, sys.argv[1])
"""


def measure(say):
    say("recording a ResNet-18")
    plain, recorded, kept, needed = child("benchmarks.network", "times_and_bytes", "cpu")
    detail = f"{recorded:.0f} and {plain:.0f} ms"
    yield Figure("recording, from the second on", recorded / plain, "×", 2, detail)
    extra = 100 * (kept / needed - 1)
    yield Figure(
        "memory beyond outputs and gradients", extra, "%", 10, f"{kept / 2**20:.1f} of {needed / 2**20:.1f} MiB"
    )
    say("pointing at a ResNet-18")
    yield from _pointing()


def _pointing():
    """Point at the page of this tree, and of an older one where ``--before`` names it, in turn."""
    trees = {NOW: str(Path(__file__).parents[1])}
    older = os.environ.get(BEFORE)
    if older and Path(older, "convviz/features/network").is_dir():  # it may be from before there were networks
        trees[OLDER] = older
    taken = {name: [] for name in trees}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        pages = {name: Path(folder) / f"{name}.html" for name in trees}
        for name, tree in trees.items():
            environment = {**os.environ, "PYTHONPATH": tree}
            subprocess.run([sys.executable, "-c", EXPORT, str(pages[name])], cwd=tree, env=environment, check=True)
        for turn in range(VISITS):
            for name, page in pages.items():
                taken[name] += _point(browser, page.as_uri(), turn)
    for name, times in taken.items():
        detail = f"median {statistics.median(times):.1f} ms, {len(times)} cells"
        yield Figure(f"{name}: a cell → painted, p95", p95(times), "ms", 50 if name == NOW else None, detail)


def _point(browser, address, seed):
    """Return the milliseconds of each cell."""
    rng = random.Random(seed)
    taken = []
    with visit(browser) as page:
        page.goto(address)
        page.wait_for_selector(".cv-network-bar")
        page.wait_for_timeout(1000)
        boxes = page.evaluate(MAPS)
        last = None
        while len(taken) < WARM_UP + CELLS:
            if (box := rng.choice(boxes)) == last:
                continue
            last = box
            place = [at + WITHIN * rng.random() for at in box]
            taken.append(step(page, SENTENCE, lambda place=place: page.mouse.move(*place))["said"])
    return taken[WARM_UP:]


def times_and_bytes(_):
    """Return the median milliseconds of a pass, and of a recording; bytes kept, and of outputs and gradients."""
    import torch
    import torch.nn.functional as F

    import convviz
    from tests.features.network.nets import ResNet18, made, seeded

    model = made(ResNet18)
    x, labels = torch.randn(4, 3, 64, 64, generator=seeded()), torch.tensor([7, 1, 0, 3])

    def loss(output):
        return F.cross_entropy(output, labels)

    def plain():
        torch.autograd.grad(loss(model(x)), list(model.parameters()))

    took = {plain: [], "recorded": []}
    for _ in range(ROUNDS):
        for name, run in ((plain, plain), ("recorded", lambda: convviz.network(model, x, loss))):
            began = time.perf_counter()
            run()
            took[name].append(1000 * (time.perf_counter() - began))
    times = [statistics.median(each[1:]) for each in took.values()]
    gc.collect()
    network = convviz.network(model, x, loss, live=False)
    weights = [each.gradient for each in network.backs[0].weights.values()]
    tensors = [*(each.output for each in network.operations), *network.gradients, *weights]
    needed = sum(each.numel() * each.element_size() for each in tensors)
    storages = {each.untyped_storage()._cdata: each.untyped_storage().nbytes() for each in tensors}
    return *times, sum(storages.values()), needed


if __name__ == "__main__":
    main(measure)
