"""A whole training step of the article's network, its layers computed by each way, beside torch's own layers.

Timed as the operators are. On a CPU the seconds are those of the one thread, not of the clock: what else runs on the
machine takes turns with it, in pieces as long as a step.
"""

import time

import torch

from benchmarks.figures_and_targets import Figure, main
from benchmarks.operators import KEEP_MEMORY, child, in_turn

PART = "a training step of the race, batch of 64, float32, beside torch's layers"
# The most that a way may take on one thread; None where nothing is promised.
WAYS = {"aten": 1.03, "rotate": 1.15, "unfold": 2.2, "Conv2dShift": 1.5, "article": None}
BATCH = 64


def measure(say):
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        place = "1 thread" if device == "cpu" else device
        say(f"training steps, {place}")
        for way, (ratio, own, torchs) in child("benchmarks.training_step", "times_of", device, env=KEEP_MEMORY).items():
            target = WAYS[way] if device == "cpu" else None
            yield Figure(f"step, {place}: {way}", ratio, "×", target, f"{own:.0f} and {torchs:.0f} ms")


def times_of(device):
    """Return {way: (median ratio to torch, median milliseconds, torch's)} of one step."""
    from convviz.lab.entrant_training import Lane
    from convviz.lab.entrants import entrants
    from convviz.lab.settings import RaceSettings

    torch.set_num_threads(1)
    settings = RaceSettings(device=device)
    random = torch.Generator().manual_seed(0)
    images = torch.empty(BATCH, 1, 28, 28).normal_(generator=random).to(device)
    labels = torch.randint(0, 10, (BATCH,), generator=random).to(device)

    def step(lane):
        began = time.process_time()
        _, seconds = lane.step(images, labels, settings.lr)
        return 1000 * (time.process_time() - began if device == "cpu" else seconds)

    lanes = {name: Lane(name, who, settings, seed=0) for name, who in entrants(list(WAYS)).items()}
    return in_turn({name: lambda lane=lane: step(lane) for name, lane in lanes.items()}, "torch")


if __name__ == "__main__":
    main(measure)
