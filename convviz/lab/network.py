"""The article's network, its layers made by an entrant, and the numbers that all networks of a race start from."""

import math

import torch
import torch.nn.functional as F

from convviz.lab.entrants import ENTRANTS, REFERENCE, Entrant
from convviz.lab.race_error import FAILURES, RaceError, first_line

CLASSES = 10
# The layers that an entrant makes → what it is asked for, and the shape of one sample's output.
CONVOLUTIONS = {"conv1": ((1, 32, 3), (32, 26, 26)), "conv2": ((32, 64, 3), (64, 24, 24))}
LINEARS = {"linear1": ((9216, 256), (256,)), "linear2": ((256, CLASSES), (CLASSES,))}
LAYERS = (*CONVOLUTIONS, *LINEARS)
REPLACED = {"all": LAYERS, "first": ("conv1",)}


class Network(torch.nn.Module):
    """conv1, ReLU, conv2, batch norm, ReLU, max pool 2, flatten, linear1, ReLU, linear2; no dropout.

    ``[N, 1, 28, 28]`` → 32 × 26 × 26 → 64 × 24 × 24 → 64 × 12 × 12 = 9216 → 256 → ``[N, 10]``.
    """

    def __init__(self, entrant: Entrant, replaced: str = "all") -> None:
        super().__init__()
        own, torchs = REPLACED[replaced], ENTRANTS[REFERENCE]
        for name, (sizes, _) in CONVOLUTIONS.items():
            self.add_module(name, (entrant if name in own else torchs).conv2d(*sizes))
        self.norm = torch.nn.BatchNorm2d(CONVOLUTIONS["conv2"][1][0])
        for name, (widths, _) in LINEARS.items():
            self.add_module(name, (entrant if name in own else torchs).linear(*widths))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return the scores ``[N, 10]`` of images ``[N, 1, 28, 28]``."""
        hidden = F.relu(self._at("conv1", images))
        hidden = F.relu(self.norm(self._at("conv2", hidden)))
        hidden = F.max_pool2d(hidden, 2).flatten(1)
        hidden = F.relu(self._at("linear1", hidden))
        return self._at("linear2", hidden)

    def _at(self, name: str, input: torch.Tensor) -> torch.Tensor:
        try:
            output = getattr(self, name)(input)
        except FAILURES as error:
            raise RaceError(f"{name} raised {type(error).__name__}: {first_line(error)}") from error
        expected = (len(input), *(CONVOLUTIONS | LINEARS)[name][1])
        if not isinstance(output, torch.Tensor) or tuple(output.shape) != expected:
            got = list(output.shape) if isinstance(output, torch.Tensor) else type(output).__name__
            raise RaceError(
                f"{name} must return the shape {list(expected)} for the input {list(input.shape)}: got {got}; a "
                "convolution of kernel 3 without padding has 2 rows and 2 columns less than its input"
            )
        return output


def initial_values(seed: int) -> dict[str, torch.Tensor]:
    """Return weights and biases by name, drawn as torch does, ± 1 / √fan_in, from an own generator."""
    random = torch.Generator().manual_seed(seed)
    values = {}
    for name, (sizes, _) in (CONVOLUTIONS | LINEARS).items():
        fan_in, out, *kernel = sizes
        shape = (out, fan_in, *kernel, *kernel)
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        values[f"{name}.weight"] = torch.empty(shape).uniform_(-bound, bound, generator=random)
        values[f"{name}.bias"] = torch.empty(out).uniform_(-bound, bound, generator=random)
    return values


def network(entrant: Entrant, name: str, seed: int, replaced: str = "all") -> Network:
    """Return an entrant's network with a seed's initial values, float32, on the CPU; the global RNG stays."""
    try:
        with torch.random.fork_rng(devices=[]):  # a layer draws numbers when it is made; all are overwritten
            torch.default_generator.manual_seed(seed)
            made = Network(entrant, replaced)
    except FAILURES as error:
        raise RaceError(f"{name}: a layer could not be made, {type(error).__name__}: {first_line(error)}") from error
    there = dict(made.named_parameters())
    with torch.no_grad():
        for parameter, value in initial_values(seed).items():
            if parameter not in there or there[parameter].shape != value.shape:
                got = list(there[parameter].shape) if parameter in there else "none"
                raise ValueError(
                    f"{name}: a layer has the parameters of torch's, so that all start from the same numbers: "
                    f"{parameter} must be of the shape {list(value.shape)}, and there is {got}"
                )
            there[parameter].copy_(value)
    return made
