"""How long `stages` takes at 8×8 and 3×3, and how much `import convviz` adds to `import torch`."""

import statistics
import subprocess
import sys
import time

from benchmarks.report import Figure, main
from tests.browser.server import ROOT

PART = "stages and import"
CALLS = 1000
IMPORTS = 7
IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def measure(say):
    say(f"stages, {CALLS} calls each way")
    return [*_stages(), *_imports(say)]


def _stages():
    import torch

    from benchmarks.reference.scene import SOBEL_X, compute

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    taken = {False: [], True: []}
    try:
        for call in range(CALLS + CALLS // 5):
            for compare, times in taken.items():  # in turn, so that what else runs here hits both
                start = time.perf_counter()
                compute(SOBEL_X, compare=compare)
                if call >= CALLS // 5:
                    times.append(1000 * (time.perf_counter() - start))
    finally:
        torch.set_num_threads(threads)
    for compare, target in ((False, 1.5), (True, 3)):
        name = f"stages, {'with' if compare else 'without'} the comparison with autograd"
        yield Figure(PART, name, statistics.median(taken[compare]), "ms", target, f"p95 {_p95(taken[compare]):.2f} ms")


def _imports(say):
    taken = {"torch": [], "convviz": []}
    for turn in range(IMPORTS + 1):
        say(f"import, {turn + 1} of {IMPORTS + 1}")
        for module, times in taken.items():
            command = [sys.executable, "-c", IMPORT.format(module)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
            if turn:  # the first reads the files from disk
                times.append(float(done.stdout))
    torch, convviz = (statistics.median(times) for times in taken.values())
    detail = f"{convviz:.2f} s and {torch:.2f} s"
    yield Figure(PART, "import convviz / import torch", convviz / torch, "×", 1.15, detail)


def _p95(values):
    return statistics.quantiles(values, n=20)[-1]


if __name__ == "__main__":
    main(measure)
