"""Recording a whole model, beside a forward and backward pass of it, and what the recording keeps."""

import gc
import statistics
import time

from benchmarks.figures_and_targets import Figure, main
from benchmarks.operators import child

PART = "a network recorded: ResNet-18, batch of 4, 64 × 64"
ROUNDS = 7


def measure(say):
    say("recording a ResNet-18")
    plain, recorded, kept, needed = child("benchmarks.network", "times_and_bytes", "cpu")
    detail = f"{recorded:.0f} and {plain:.0f} ms"
    yield Figure("recording, from the second on", recorded / plain, "×", 2, detail)
    extra = 100 * (kept / needed - 1)
    yield Figure(
        "memory beyond outputs and gradients", extra, "%", 10, f"{kept / 2**20:.1f} of {needed / 2**20:.1f} MiB"
    )


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
