"""Forward and backward of conv2d by each method, beside nn.Conv2d: time as a ratio, and peak memory.

Time: in every round each way runs twice, and the second run counts; the figure is the median over the rounds of (this
way / nn.Conv2d in the same round), in a process whose allocator keeps what it has: otherwise half the time is page
faults, for one way or the other as chance has it. Memory: one call in a process of its own, with the system allocator,
by how much it raises the high-water mark; the tensors that it starts from are not counted.
"""

import json
import os
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
# glibc's: give no memory back to the system. Other allocators ignore it.
KEEP_MEMORY = {f"MALLOC_{name}_": str(2**32) for name in ("TRIM_THRESHOLD", "MMAP_THRESHOLD")}
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
    if way == "unfold":
        return {"L1": 1.0, "L2": 2.3}.get(case[:2])
    if way == "rotate" and case.startswith("stride"):
        return 1.3  # stride × stride convolutions, whose results are laid into each other
    return {"aten": 1.05, "rotate": 1.20}.get(way)


def ways_of(layer, options):
    """Return {way: function of the input} for one layer."""
    import convviz
    from convviz.lab.article import Article

    def by(method):
        def way(input):
            return convviz.conv2d(input, layer.weight, layer.bias, **options, method=method)

        return way

    ways = {"nn.Conv2d": layer} | {method: by(method) for method in ("aten", "rotate", "unfold")}
    return ways if options else ways | {"textbook": lambda input: Article.apply(input, layer.weight, layer.bias)}


def measure(say):
    import torch

    devices = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
    return [*(figure for device in devices for figure in _times(device, say)), *_memory(say)]


def _times(device, say):
    for threads in (1, 2) if device == "cpu" else (1,):
        place = f"{threads} thread{'s' * (threads > 1)}" if device == "cpu" else device
        for name in CASES:
            say(f"{name}, {place}")
            for way, (ratio, times, own) in _child(["--times", name, device, str(threads)], KEEP_MEMORY).items():
                target = target_of(way, name) if place == "1 thread" else None
                yield Figure(PART, f"{name}, {place}: {way}", ratio, "×", target, f"{times:.2f} and {own:.2f} ms")


def times_of(name, device, threads):
    """Return {way: (median ratio to nn.Conv2d, median milliseconds, nn.Conv2d's)} of one layer."""
    import torch

    torch.set_num_threads(threads)
    layer, input, grad_output = CASES[name].build(device)
    ways = ways_of(layer, dict(CASES[name].options))
    rounds = []
    for turn in range(WARM_UP + ROUNDS):
        here = {way: f for way, f in ways.items() if way != "textbook" or turn % TEXTBOOK_EVERY == 0}
        rounds.append({way: _second_run(f, layer, input, grad_output) for way, f in here.items()})
    found = {}
    for way in [way for way in ways if way != "nn.Conv2d"]:
        pairs = [(times[way], times["nn.Conv2d"]) for times in rounds[WARM_UP:] if way in times]
        ratio = statistics.median(mine / own for mine, own in pairs)
        found[way] = (ratio, *(statistics.median(times) for times in zip(*pairs, strict=True)))
    return found


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
        peaks = {way: _child(["--peak", name, way]) for way in ("nn.Conv2d", *WAYS)}
        own = peaks.pop("nn.Conv2d")
        for way, peak in peaks.items():
            target = 0.8 if way == "unfold" else None
            detail = f"{peak / 2**20:.1f} and {own / 2**20:.1f} MiB"
            yield Figure(PART, f"{name}, peak memory: {way}", peak / own, "×", target, detail)


def _child(arguments, env=None):
    """Run this file in a process of its own and return what it found."""
    command = [sys.executable, "-m", "benchmarks.operators", *arguments]
    env = os.environ | (env or {})
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=env).stdout)


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
    elif sys.argv[1:2] == ["--times"]:
        print(json.dumps(times_of(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        main(measure)
