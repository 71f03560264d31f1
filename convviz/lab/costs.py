"""What an entrant costs beside the time of a step: each layer's time both ways, who computes it, and the memory."""

import copy
import os
import statistics
from collections.abc import Callable
from typing import Any

import torch

from convviz.lab.entrant_training import LOSS, Lane, race_failure, timed
from convviz.lab.entrants import REFERENCE
from convviz.lab.network import LAYERS, Network
from convviz.lab.race_error import FAILURES
from convviz.ops.detect_torch_backend import BACKENDS
from convviz.ops.devices_and_dtypes import full_precision
from convviz.ops.record_torch_ops import watch

ROUNDS = 5  # after one that warms up
# Beside the forward ops of BACKENDS, what marks a backend in a backward pass, and what is no convolution of PyTorch's.
BACKWARD_OPS = {"aten::mkldnn_convolution_backward": "Mkldnn", "aten::_slow_conv2d_backward": "Slow2d"}
PRODUCTS = ("aten::mm", "aten::bmm", "aten::addmm", "aten::baddbmm")
CONVOLUTION_BACKWARD = "aten::convolution_backward"


def costs(lanes: dict[str, Lane], images: torch.Tensor, labels: torch.Tensor) -> dict[str, Any]:
    """Measure copies of the networks on ``[N, 1, 28, 28]``; all layers get the inputs that torch's network has there.

    Of each: ``memory`` in bytes or None, and ``layers`` with ``forward`` and ``backward`` in seconds (medians of rounds
    in which all take turns), and PyTorch's backends behind them.
    """
    networks = {name: copy.deepcopy(lane.network) for name, lane in lanes.items()}
    device = images.device
    inputs = _inputs(networks[REFERENCE], images)
    found: dict[str, Any] = {name: {"memory": None, "layers": []} for name in networks}

    def of_each(measure: Callable[[str, Network], Any]) -> dict[str, Any]:
        results = {}
        for name, network in networks.items():
            try:
                with full_precision(device):
                    results[name] = measure(name, network)
            except FAILURES as error:
                raise race_failure(error, name, "measured after the last step") from error
        return results

    for layer in LAYERS:
        first = layer == LAYERS[0]
        passes = of_each(lambda name, network: _Passes(getattr(network, layer), inputs[layer], not first))  # noqa: B023
        rounds = [of_each(lambda name, network: passes[name].times()) for _ in range(1 + ROUNDS)][1:]  # noqa: B023
        for name in networks:
            forward, backward = (statistics.median(times[name][way] for times in rounds) for way in (0, 1))
            forward_by, backward_by = passes[name].backends()
            known = {"layer": layer, "forward": forward, "backward": backward}
            found[name]["layers"].append(known | {"forward_by": forward_by, "backward_by": backward_by})
    for name, memory in of_each(lambda name, network: _memory(network, images, labels)).items():
        found[name]["memory"] = memory
    return found


class _Passes:
    def __init__(self, layer: torch.nn.Module, input: torch.Tensor, wants_input: bool) -> None:
        self.layer, self.input = layer, input.detach().requires_grad_(wants_input)
        self.wanted = [*([self.input] if wants_input else []), *layer.parameters()]
        self.grad_output = torch.ones_like(layer(self.input))

    def forward(self) -> torch.Tensor:
        output: torch.Tensor = self.layer(self.input)
        return output

    def backward(self, output: torch.Tensor) -> torch.Tensor:
        return torch.autograd.grad(output, self.wanted, self.grad_output, allow_unused=True)[0]

    def times(self) -> tuple[float, float]:
        output, forward = timed(self.forward, self.input.device)
        _, backward = timed(lambda: self.backward(output), self.input.device)
        return forward, backward

    def backends(self) -> tuple[str, str]:
        output, forward_ops, _ = watch(self.forward)
        _, backward_ops, _ = watch(lambda: self.backward(output))
        forward = _backend(forward_ops)
        backward = _backend(backward_ops)
        if not backward and CONVOLUTION_BACKWARD in backward_ops:
            backward = forward  # a backend whose backward pass has no op of its own name: it is the forward pass's
        return forward, backward


def _backend(ops: tuple[str, ...]) -> str:
    """Return the backends that ran these ops, or which products where no convolution did; empty without any."""
    by_op = {op: name for name, op in BACKENDS.items() if op} | BACKWARD_OPS
    names = list(dict.fromkeys(by_op[op] for op in ops if op in by_op))
    if names:
        return " + ".join(names)
    if any(op in PRODUCTS for op in ops):
        return "matrix product"
    return "element-wise product" if "aten::mul" in ops else ""


@torch.no_grad()
def _inputs(network: Network, images: torch.Tensor) -> dict[str, torch.Tensor]:
    inputs: dict[str, torch.Tensor] = {}

    def keep(name: str) -> Callable[..., None]:
        return lambda module, arguments: inputs.update({name: arguments[0].clone()})

    hooks = [getattr(network, name).register_forward_pre_hook(keep(name)) for name in LAYERS]
    network(images)
    for hook in hooks:
        hook.remove()
    return inputs


def _memory(network: Network, images: torch.Tensor, labels: torch.Tensor) -> int | None:
    """Return by how many bytes both passes raise what tensors take; None where torch cannot say."""

    def both_passes() -> None:
        network.zero_grad()
        LOSS(network(images), labels).backward()

    both_passes()  # libraries take their own memory the first time
    network.zero_grad()
    if images.device.type == "cuda":
        before = torch.cuda.memory_allocated(images.device)
        torch.cuda.reset_peak_memory_stats(images.device)
        both_passes()
        return torch.cuda.max_memory_allocated(images.device) - before
    return _peak_on_cpu(both_passes) if images.device.type == "cpu" else None


def _peak_on_cpu(action: Callable[[], None]) -> int:
    # Without it torch's profiler writes a line to stderr whenever it starts and stops.
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    with torch.autograd.profiler.profile(profile_memory=True) as profiler:
        action()
    assert profiler.kineto_results is not None
    events = [event for event in profiler.kineto_results.events() if event.name() == "[memory]"]
    now = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        peak = max(peak, now)
    return peak
