"""Forward and backward of conv2d by each method, beside nn.Conv2d: time as a ratio, and peak memory.

Time: in every round each way runs twice, and the second run counts, in a process whose allocator keeps what it has:
otherwise half the time is page faults, for one way or the other as chance has it. Memory: by how much one call in a
process of its own, with the system allocator, raises the high-water mark.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

import convviz
from benchmarks.figures_and_targets import Figure, main
from convviz.lab.textbook_entrant import Article
from tests.browser.server import ROOT

PART = "operators, forward + backward, float32, beside nn.Conv2d"
ROUNDS = 16
WARM_UP = 2
RARE = {"textbook": 6}  # rounds between its runs: it takes ten times as long as everything else
STATUS = Path("/proc/self/status")
# glibc's: give no memory back to the system. Other allocators ignore it.
KEEP_MEMORY = {f"MALLOC_{name}_": str(2**32) for name in ("TRIM_THRESHOLD", "MMAP_THRESHOLD")}
CHILD = (
    "import importlib, json, sys; module, name, *given = json.loads(sys.argv[1]); "
    "print(json.dumps(getattr(importlib.import_module(module), name)(*given)))"
)


def child(module, function, *given, env=None):
    """Call a function of a module in a process of its own; return its result."""
    command = [sys.executable, "-c", CHILD, json.dumps([module, function, *given])]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=os.environ | (env or {})
    )
    return json.loads(done.stdout)


def in_turn(ways, base):
    """Run ways in turn; return {way: (median ratio to the base in the same round, its milliseconds, the base's)}."""
    rounds = []
    for turn in range(WARM_UP + ROUNDS):
        names = [name for name in ways if turn % RARE.get(name, 1) == 0]
        first = turn % len(names)
        rounds.append({name: (ways[name](), ways[name]())[1] for name in (*names[first:], *names[:first])})
    found = {}
    for way in [way for way in ways if way != base]:
        pairs = [(times[way], times[base]) for times in rounds[WARM_UP:] if way in times]
        ratio = statistics.median(own / bases for own, bases in pairs)
        found[way] = (ratio, *(statistics.median(times) for times in zip(*pairs, strict=True)))
    return found


CASES = {  # the shape of the input, out_channels, and nn.Conv2d's other arguments
    "L1×64": ((64, 1, 28, 28), 32, {}),
    "L1×128": ((128, 1, 28, 28), 32, {}),
    "L2×64": ((64, 32, 26, 26), 64, {}),
    "L2×128": ((128, 32, 26, 26), 64, {}),
    "depthwise×64": ((64, 32, 26, 26), 32, {"padding": 1, "groups": 32}),
    "stride 2×64": ((64, 32, 26, 26), 64, {"padding": 1, "stride": 2}),
    "dilation 2×64": ((64, 32, 26, 26), 64, {"padding": 2, "dilation": 2}),
}


def build(shape, out_channels, options, device="cpu"):
    random = torch.Generator(device).manual_seed(0)
    layer = torch.nn.Conv2d(shape[1], out_channels, 3, **options, device=device)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.uniform_(-0.1, 0.1, generator=random)
        grad_output = torch.empty_like(layer(torch.empty(shape, device=device)))
    grad_output.normal_(generator=random)
    input = torch.empty(shape, device=device).normal_(generator=random)
    return layer, input.requires_grad_(), grad_output


def target_of(way, case):
    """Return the most that a way may take on one thread; None where nothing is promised."""
    if way == "unfold":
        return {"L1": 1.0, "L2": 2.3}.get(case[:2])
    if way == "rotate" and case.startswith("stride"):
        return 1.3  # stride × stride convolutions, whose results are laid into each other
    return {"aten": 1.05, "rotate": 1.20}.get(way)


def ways_of(layer, options):
    """Return {way: function of the input} for one layer."""

    def by(method):
        return lambda input: convviz.conv2d(input, layer.weight, layer.bias, **options, method=method)

    ways = {"nn.Conv2d": layer} | {method: by(method) for method in ("aten", "rotate", "unfold")}
    return ways if options else ways | {"textbook": lambda input: Article.apply(input, layer.weight, layer.bias)}


def measure(say):
    places = [("cpu", 1, "1 thread"), ("cpu", 2, "2 threads")]
    for device, threads, place in places + [("cuda", 1, "cuda")] * torch.cuda.is_available():
        for name in CASES:
            say(f"{name}, {place}")
            found = child("benchmarks.operators", "times_of", name, device, threads, env=KEEP_MEMORY)
            for way, (ratio, times, own) in found.items():
                target = target_of(way, name) if place == "1 thread" else None
                yield Figure(f"{name}, {place}: {way}", ratio, "×", target, f"{times:.2f} and {own:.2f} ms")
    if not STATUS.exists():
        say("no peak memory: it is read from /proc")
        return
    for name in ("L1×64", "L2×64"):
        say(f"peak memory, {name}")
        ways = ("nn.Conv2d", "aten", "rotate", "unfold", "textbook")
        own, *peaks = (child("benchmarks.operators", "peak_of_one_call", name, way) for way in ways)
        for way, peak in zip(ways[1:], peaks, strict=True):
            target = 0.8 if way == "unfold" else None
            detail = f"{peak / 2**20:.1f} and {own / 2**20:.1f} MiB"
            yield Figure(f"{name}, peak memory: {way}", peak / own, "×", target, detail)


def times_of(name, device, threads):
    """Return {way: (median ratio to nn.Conv2d, median milliseconds, nn.Conv2d's)} of one layer."""
    torch.set_num_threads(threads)
    layer, input, grad_output = build(*CASES[name], device)
    ways = ways_of(layer, CASES[name][2])
    return in_turn({way: lambda f=f: _run(f, layer, input, grad_output) for way, f in ways.items()}, "nn.Conv2d")


def _run(function, layer, input, grad_output):
    wait = torch.cuda.synchronize if input.is_cuda else lambda: None
    wait()
    start = time.perf_counter()
    torch.autograd.grad(function(input), (input, *layer.parameters()), grad_output)
    wait()
    return 1000 * (time.perf_counter() - start)


def peak_of_one_call(name, way):
    """Return by how many bytes one forward and backward pass raises this process's high-water mark."""
    torch.set_num_threads(1)
    shape, out_channels, _ = CASES[name]
    for batch in (2, shape[0]):  # the small one first: it loads the libraries
        layer, input, grad_output = build((batch, *shape[1:]), out_channels, {})
        function = ways_of(layer, {})[way]
        before = _status("VmRSS")
        _run(function, layer, input, grad_output)
    return _status("VmHWM") - before


def _status(field):
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    main(measure)
