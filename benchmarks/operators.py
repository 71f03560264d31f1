"""Forward and backward of conv2d by each method, beside nn.Conv2d: time as a ratio, and peak memory.

Time: in every round each way runs twice, and the second run counts, so that the memory it needs is there already;
the figure is the median over the rounds of (this way / nn.Conv2d in the same round). Memory: one call in a process of
its own, by how much it raises the process's high-water mark; the tensors that it starts from are not counted.
"""

import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import Figure, main
from tests.browser.server import ROOT

PART = "operators, forward + backward, float32, beside nn.Conv2d"
ROUNDS = 16
WARM_UP = 2
TEXTBOOK_EVERY = 6  # rounds: it takes ten times as long as everything else
STATUS = Path("/proc/self/status")
WAYS = ("aten", "rotate", "unfold", "textbook")


@dataclass(frozen=True)
class Case:
    """One layer: the shape of its input, and nn.Conv2d's arguments."""

    shape: tuple[int, int, int, int]
    out_channels: int
    options: tuple[tuple[str, int], ...] = ()

    def build(self, device):
        """Return nn.Conv2d, its input and a grad_output, the same ones every time."""
        import torch

        random = torch.Generator(device).manual_seed(0)
        layer = torch.nn.Conv2d(self.shape[1], self.out_channels, 3, **dict(self.options), device=device)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.uniform_(-0.1, 0.1, generator=random)
            grad_output = torch.empty_like(layer(torch.empty(self.shape, device=device)))
        grad_output.normal_(generator=random)
        input = torch.empty(self.shape, device=device).normal_(generator=random)
        return layer, input.requires_grad_(), grad_output


CASES = {
    "L1×64": Case((64, 1, 28, 28), 32),
    "L1×128": Case((128, 1, 28, 28), 32),
    "L2×64": Case((64, 32, 26, 26), 64),
    "L2×128": Case((128, 32, 26, 26), 64),
    "depthwise×64": Case((64, 32, 26, 26), 32, (("padding", 1), ("groups", 32))),
    "stride 2×64": Case((64, 32, 26, 26), 64, (("padding", 1), ("stride", 2))),
    "dilation 2×64": Case((64, 32, 26, 26), 64, (("padding", 2), ("dilation", 2))),
}


def target_of(way, case):
    """Return the most that a way may take on one thread; None where nothing is promised."""
    lenet = case.startswith("L")
    if way == "aten":
        return 1.05
    if way == "rotate":
        return 1.20 if lenet else None  # inserted zeros and grouped grad_weight are slow by nature: see the docs
    if way == "unfold":
        return {"L1": 1.0, "L2": 2.3}.get(case[:2])
    return None


def ways_of(layer, options):
    """Return {way: function of the input} for one layer."""
    import convviz
    from benchmarks.reference.textbook import Textbook

    def by(method):
        def way(input):
            return convviz.conv2d(input, layer.weight, layer.bias, **options, method=method)

        return way

    ways = {"nn.Conv2d": layer} | {method: by(method) for method in ("aten", "rotate", "unfold")}
    return ways if options else ways | {"textbook": lambda input: Textbook.apply(input, layer.weight, layer.bias)}


def measure(say):
    import torch

    figures, before = [], torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            place = f"{threads} thread{'s' * (threads > 1)}"
            figures += _times("cpu", place, say, promised=threads == 1)
    finally:
        torch.set_num_threads(before)
    if torch.cuda.is_available():
        figures += _times("cuda", torch.cuda.get_device_name(), say, promised=False)
    return [*figures, *_memory(say)]


def _times(device, place, say, promised):
    for name, case in CASES.items():
        say(f"{name}, {place}")
        layer, input, grad_output = case.build(device)
        ways = ways_of(layer, dict(case.options))
        rounds = []
        for turn in range(WARM_UP + ROUNDS):
            here = {way: f for way, f in ways.items() if way != "textbook" or turn % TEXTBOOK_EVERY == 0}
            rounds.append({way: _second_run(f, layer, input, grad_output) for way, f in here.items()})
        for way in ways:
            if way == "nn.Conv2d":
                continue
            pairs = [(found[way], found["nn.Conv2d"]) for found in rounds[WARM_UP:] if way in found]
            ratio = statistics.median(mine / own for mine, own in pairs)
            detail = " and ".join(f"{statistics.median(times):.2f} ms" for times in zip(*pairs, strict=True))
            target = target_of(way, name) if promised else None
            yield Figure(PART, f"{name}, {place}: {way}", ratio, "×", target, detail)


def _second_run(function, layer, input, grad_output):
    _run(function, layer, input, grad_output)
    return _run(function, layer, input, grad_output)


def _run(function, layer, input, grad_output):
    import torch

    wait = torch.cuda.synchronize if input.is_cuda else lambda: None
    wait()
    start = time.perf_counter()
    torch.autograd.grad(function(input), (input, *layer.parameters()), grad_output)
    wait()
    return 1000 * (time.perf_counter() - start)


def _memory(say):
    if not STATUS.exists():
        say("peak memory is left out: it is read from /proc, which this system does not have")
        return
    for name in ("L1×64", "L2×64"):
        say(f"peak memory, {name}")
        peaks = {way: _peak(name, way) for way in ("nn.Conv2d", *WAYS)}
        own = peaks.pop("nn.Conv2d")
        for way, peak in peaks.items():
            target = 0.8 if way == "unfold" else None
            detail = f"{peak / 2**20:.1f} and {own / 2**20:.1f} MiB"
            yield Figure(PART, f"{name}, peak memory: {way}", peak / own, "×", target, detail)


def _peak(name, way):
    command = [sys.executable, "-m", "benchmarks.operators", "--peak", name, way]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return json.loads(done.stdout)


def peak_of_one_call(name, way):
    """Return by how many bytes one forward and backward pass raises this process's high-water mark."""
    import torch

    torch.set_num_threads(1)
    small = Case((2, *CASES[name].shape[1:]), CASES[name].out_channels)
    for case in (small, CASES[name]):  # the small one first: it loads the libraries
        layer, input, grad_output = case.build("cpu")
        function = ways_of(layer, {})[way]
        before = _status("VmRSS")
        _run(function, layer, input, grad_output)
    return _status("VmHWM") - before


def _status(field):
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        print(json.dumps(peak_of_one_call(*sys.argv[2:])))
    else:
        main(measure)
