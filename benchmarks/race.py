"""A whole training step of the article's network, its layers computed by each way, beside torch's own layers.

In every round each way takes the same step, forward, backward and SGD, twice, and the second one counts; the figure is
the median over the rounds of (this way / torch in the same round), in a process whose allocator keeps what it has, as
in ``benchmarks.operators``. On a CPU the seconds are those of the one thread, not of the clock: what else runs on the
machine takes turns with it, in pieces as long as a step.
"""

import json
import os
import statistics
import subprocess
import sys
import time

from benchmarks.operators import KEEP_MEMORY
from benchmarks.report import Figure, main
from tests.browser.server import ROOT

PART = "a training step of the race, batch of 64, float32, beside torch's layers"
# The most that a way may take on one thread; None where nothing is promised.
WAYS = {"aten": 1.03, "rotate": 1.15, "unfold": 2.2, "Conv2dShift": 1.5, "article": None}
BATCH = 64
ROUNDS = 16
WARM_UP = 2


def measure(say):
    import torch

    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        place = "1 thread" if device == "cpu" else device
        say(f"training steps, {place}")
        command = [sys.executable, "-m", "benchmarks.race", "--times", device]
        env = os.environ | KEEP_MEMORY
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=env)
        for way, (ratio, own, torchs) in json.loads(done.stdout).items():
            target = WAYS[way] if device == "cpu" else None
            yield Figure(PART, f"step, {place}: {way}", ratio, "×", target, f"{own:.0f} and {torchs:.0f} ms")


def times_of(device):
    """Return {way: (median ratio to torch, median milliseconds, torch's)} of one step."""
    import torch

    from convviz.lab.entrants import entrants
    from convviz.lab.lane import Lane
    from convviz.lab.settings import RaceSettings

    torch.set_num_threads(1)
    settings = RaceSettings(device=device)
    lanes = {name: Lane(name, who, settings, seed=0) for name, who in entrants(list(WAYS)).items()}
    random = torch.Generator().manual_seed(0)
    images = torch.empty(BATCH, 1, 28, 28).normal_(generator=random).to(device)
    labels = torch.randint(0, 10, (BATCH,), generator=random).to(device)
    rounds = []
    for turn in range(WARM_UP + ROUNDS):
        names = list(lanes)
        first = turn % len(names)
        order = (*names[first:], *names[:first])
        rounds.append({name: 1000 * _seconds(lanes[name], images, labels, settings.lr) for name in order})
    rounds = rounds[WARM_UP:]
    torchs = statistics.median(times["torch"] for times in rounds)
    return {
        way: (
            statistics.median(times[way] / times["torch"] for times in rounds),
            statistics.median(times[way] for times in rounds),
            torchs,
        )
        for way in WAYS
    }


def _seconds(lane, images, labels, lr):
    lane.step(images, labels, lr)
    began = time.process_time()
    _, seconds = lane.step(images, labels, lr)
    return time.process_time() - began if images.device.type == "cpu" else seconds


if __name__ == "__main__":
    if sys.argv[1:2] == ["--times"]:
        print(json.dumps(times_of(sys.argv[2])))
    else:
        main(measure)
