"""One entrant on its way: its network, its optimizer, one step at a time, timed, and how far it is from torch."""

import time
from collections.abc import Callable
from typing import Any

import torch

from convviz.lab.digits import normalized
from convviz.lab.entrants import Entrant
from convviz.lab.network import Network, network
from convviz.lab.race_error import RaceError, first_line
from convviz.lab.settings import DTYPES, RaceSettings
from convviz.lab.sgd import SGD
from convviz.ops.devices_and_dtypes import full_precision, is_out_of_memory

LOSS = torch.nn.CrossEntropyLoss()
TEST_BATCH = 250


class Lane:
    """One entrant's network in training."""

    def __init__(self, name: str, entrant: Entrant, settings: RaceSettings, seed: int) -> None:
        """Make the network with the initial values of a seed."""
        self.name = name
        self.device = torch.device(settings.device)
        self.dtype = DTYPES[settings.dtype]
        made = network(entrant, name, seed, settings.replaced)
        self.network = made.to(self.device, self.dtype).train()
        self.optimizer = SGD(self.network.parameters(), settings.lr, settings.momentum)

    def step(self, images: torch.Tensor, labels: torch.Tensor, lr: float) -> tuple[torch.Tensor, float]:
        """Learn from a batch, ``[N, 1, 28, 28]`` and ``[N]``; return loss and seconds, gradients in ``.grad``."""
        self.optimizer.lr = lr

        def whole_step() -> torch.Tensor:
            self.optimizer.zero_grad()
            loss: torch.Tensor = LOSS(self.network(images), labels)
            loss.backward()
            self.optimizer.step()
            return loss.detach()

        with full_precision(self.device):
            loss, seconds = timed(whole_step, self.device)
        for name, parameter in self.network.named_parameters():
            if parameter.grad is None:
                raise RaceError(f"{name} got no gradient; backward must return one for the input, weight and bias")
        return loss, seconds

    @torch.no_grad()
    def predict(self, images: torch.Tensor) -> torch.Tensor:
        """Return the digit ``[N]`` that the network takes each image, ``[N, 28, 28]`` bytes, for."""
        self.network.eval()
        with full_precision(self.device):
            scores = [self.network(normalized(part, self.dtype)) for part in images.split(TEST_BATCH)]
        self.network.train()
        return torch.cat(scores).argmax(1)

    def state(self) -> dict[str, Any]:
        return {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])


def timed(action: Callable[[], torch.Tensor], device: torch.device) -> tuple[torch.Tensor, float]:
    """Return an action's result and seconds: on CUDA between two events of the device."""
    if device.type == "cuda":
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        result = action()
        end.record()
        end.synchronize()
        return result, start.elapsed_time(end) / 1000
    began = time.perf_counter()
    result = action()
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
    return result, time.perf_counter() - began


def race_failure(error: BaseException, name: str, where: str) -> RaceError:
    """Return an error as one sentence that names the layer and the step."""
    if isinstance(error, RaceError):
        return RaceError(f"{name}, {where}: {error}")
    if is_out_of_memory(error):
        return RaceError(f"{name}, {where}: the device has no memory left; take a smaller batch_size, or fewer layers")
    return RaceError(f"{name}, {where}: {type(error).__name__}: {first_line(error)}")


@torch.no_grad()
def drift(own: Network, torchs: Network) -> dict[str, Any]:
    """Return max|w − w of torch| over all ``weights`` that torch has, too, and that of each gradient."""
    reference = dict(torchs.named_parameters())
    pairs = [(name, parameter, reference[name]) for name, parameter in own.named_parameters() if name in reference]
    weights = [(mine - other).abs().max() for _, mine, other in pairs]
    gradients = [(_gradient(mine) - _gradient(other)).abs().max() for _, mine, other in pairs]
    numbers = torch.stack([*weights, *gradients]).tolist()  # one wait for the device, not one a parameter
    return {
        "weights": max(numbers[: len(pairs)]),
        "gradients": {name: number for (name, *_), number in zip(pairs, numbers[len(pairs) :], strict=True)},
    }


def _gradient(parameter: torch.Tensor) -> torch.Tensor:
    assert parameter.grad is not None  # a step sees to it
    return parameter.grad
