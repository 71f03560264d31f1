"""The tensors that the settings give."""

import torch

from convviz.facts import facts
from convviz.facts.loss_inputs import kinds_taken
from convviz.samples.inputs import fit, make_input, random_tensor, resize
from convviz.samples.kernels import make_kernel
from convviz.settings.state import PRESETS, Settings

STREAMS: dict[str, int] = facts("settings")["random_streams"]  # by which the seeds differ


def input_tensor(settings: Settings) -> torch.Tensor:
    """``[N, C_in, H, W]``, float64 as all of these."""
    shape, kind = settings.input_shape, settings.input.kind
    if kind == "image":
        return resize(settings.input.tensor(), shape[2:]).expand(shape).clone()
    own = _own(settings, "input", shape)
    return make_input(kind, shape, digit=settings.digit) if own is None else own


def weight_tensor(settings: Settings) -> torch.Tensor:
    """``[C_out, C_in / groups, kH, kW]``; transposed, C_in comes first."""
    shape, kind, size = settings.spec.weight_shape, settings.weight.kind, settings.spec.kernel_size
    if (own := _own(settings, "weight", shape)) is not None:
        return own.clamp(-3, 3) if kind == "random" else own
    planes = range(shape[0] * shape[1])
    if kind == "counting":  # every plane one further, so that channels differ
        return torch.stack([make_kernel(kind, size) + plane for plane in planes]).reshape(shape)
    first = PRESETS.index(kind)
    return torch.stack([make_kernel(PRESETS[(first + plane) % len(PRESETS)], size) for plane in planes]).reshape(shape)


def _own(settings: Settings, given: str, shape: tuple[int, ...]) -> torch.Tensor | None:
    """Return numbers that were typed, or drawn at random; None where a name makes them."""
    source = getattr(settings, given)
    if source.kind == "values":
        return fit(source.tensor(), shape)
    return random_tensor(shape, settings.seed + STREAMS[given]) if source.kind == "random" else None


def bias_tensor(settings: Settings) -> torch.Tensor | None:
    """``[C_out]``."""
    return None if settings.bias is None else fit(settings.bias.tensor(), settings.output_shape[1:2])


def target_tensor(settings: Settings) -> torch.Tensor | None:
    return _output_like(settings, "target")


def grad_tensor(settings: Settings) -> torch.Tensor | None:
    """Return it as it was set by hand, or None when a loss makes it."""
    return _output_like(settings, "grad")


def _output_like(settings: Settings, given: str) -> torch.Tensor | None:
    if not kinds_taken(settings.loss, given):
        return None
    source, shape = getattr(settings, given), settings.output_shape
    if (own := _own(settings, given, shape)) is not None:
        return own
    filled = torch.full(shape, float(source.kind == "ones"), dtype=torch.float64)
    if source.kind == "one_hot":
        index = source.values or (0, 0, 0, 0)
        n, *cell = (min(int(i), size - 1) for i, size in zip(index, shape, strict=True))
        # Every sample of a batch needs a target of its own; of grad_output one cell alone is asked about.
        samples = range(shape[0]) if given == "target" else [n]
        for sample in samples:
            filled[(sample, *cell)] = 1
    return filled
