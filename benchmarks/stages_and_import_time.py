"""How long `stages` takes at 8×8 and 3×3, and how much `import convviz` adds to `import torch`."""

import statistics
import subprocess
import sys
import time

import torch

from benchmarks.alternative_displays import SOBEL_X, compute
from benchmarks.figures_and_targets import Figure, main
from tests.browser.server import ROOT

PART = "stages and import"
CALLS, WARM_UP = 1000, 200
IMPORTS = 7
IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def measure(say):
    say(f"stages, {CALLS} calls each way")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    taken = {False: [], True: []}
    for _ in range(WARM_UP + CALLS):
        for compare, times in taken.items():  # in turn, so that what else runs here hits both
            start = time.perf_counter()
            compute(SOBEL_X, compare=compare)
            times.append(1000 * (time.perf_counter() - start))
    torch.set_num_threads(threads)
    for (compare, times), target in zip(taken.items(), (1.5, 3), strict=True):
        name = f"stages, {'with' if compare else 'without'} the comparison with autograd"
        yield Figure(name, statistics.median(times[WARM_UP:]), "ms", target)
    say(f"import, {IMPORTS} times each")
    taken = {"torch": [], "convviz": []}
    for _ in range(IMPORTS + 1):
        for module, times in taken.items():
            command = [sys.executable, "-c", IMPORT.format(module)]
            times.append(float(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout))
    base, ours = (statistics.median(times[1:]) for times in taken.values())  # the first read files from disk
    yield Figure("import convviz / import torch", ours / base, "×", 1.15, f"{ours:.2f} s and {base:.2f} s")


if __name__ == "__main__":
    main(measure)
