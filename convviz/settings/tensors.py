"""The tensors that the settings give."""

from __future__ import annotations

import torch

from convviz.ops.losses import kinds_taken
from convviz.samples.inputs import fit, make_input, random_tensor, resize
from convviz.samples.kernels import make_kernel
from convviz.settings.state import PRESETS, Settings

STREAMS = {"target": 2, "grad": 3}  # of random numbers


def input_tensor(settings: Settings) -> torch.Tensor:
    """Return the input, float64 ``[N, C_in, H, W]``."""
    shape = settings.input_shape
    if settings.input.kind == "values":
        return fit(settings.input.tensor(), shape)
    if settings.input.kind == "image":
        plane = resize(settings.input.tensor(), shape[2:])
        return plane.expand(shape).clone()
    return make_input(settings.input.kind, shape, digit=settings.digit, seed=settings.seed)


def weight_tensor(settings: Settings) -> torch.Tensor:
    """Return the weight, float64 ``[C_out, C_in / groups, kH, kW]``; transposed, C_in comes first."""
    shape = settings.spec.weight_shape
    if settings.weight.kind == "values":
        return fit(settings.weight.tensor(), shape)
    if settings.weight.kind == "random":
        return random_tensor(shape, settings.seed + 1).clamp(-3, 3)
    if settings.weight.kind == "counting":  # every plane one further, so that channels differ
        first_plane = make_kernel("counting", settings.spec.kernel_size)
        return (first_plane + torch.arange(shape[0] * shape[1])[:, None, None]).reshape(shape)
    first = PRESETS.index(settings.weight.kind)
    names = [PRESETS[(first + plane) % len(PRESETS)] for plane in range(shape[0] * shape[1])]
    return torch.stack([make_kernel(name, settings.spec.kernel_size) for name in names]).reshape(shape)


def bias_tensor(settings: Settings) -> torch.Tensor | None:
    """Return the bias, float64 ``[C_out]``, or None."""
    return None if settings.bias is None else fit(settings.bias.tensor(), settings.output_shape[1:2])


def target_tensor(settings: Settings) -> torch.Tensor | None:
    """Return the target, or None for a loss without one."""
    return _output_like(settings, "target") if kinds_taken(settings.loss, "target") else None


def grad_tensor(settings: Settings) -> torch.Tensor | None:
    """Return grad_output as it was set by hand, or None when a loss makes it."""
    return _output_like(settings, "grad") if kinds_taken(settings.loss, "grad") else None


def _output_like(settings: Settings, given: str) -> torch.Tensor:
    source, shape = getattr(settings, given), settings.output_shape
    if source.kind == "values":
        return fit(source.tensor(), shape)
    if source.kind == "random":
        return random_tensor(shape, settings.seed + STREAMS[given])
    filled = torch.full(shape, float(source.kind == "ones"), dtype=torch.float64)
    if source.kind == "one_hot":
        index = source.values or (0, 0, 0, 0)
        n, *cell = (min(int(i), size - 1) for i, size in zip(index, shape, strict=True))
        # Every sample of a batch needs a target of its own; of grad_output one cell alone is asked about.
        samples = range(shape[0]) if given == "target" else [n]
        for sample in samples:
            filled[(sample, *cell)] = 1
    return filled
