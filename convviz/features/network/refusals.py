"""What cannot be recorded, each with the rule, what was found and what to do."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import torch

from convviz.facts.words import sentences
from convviz.features.network.watch_operations import Watch, tensors_in

say = sentences("features/network")

QUANTISED = ("torch.ao.nn.quantized", "torch.ao.nn.intrinsic.quantized", "torch.nn.quantized")


def check_can_be_watched(model: Any) -> None:
    """Refuse what is no model of Python with numbers that have gradients."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(say("refuse.no_module", got=type(model).__name__))
    if isinstance(model, torch.jit.ScriptModule):
        raise ValueError(say("refuse.scripted"))
    if isinstance(model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
        raise ValueError(say("refuse.parallel", kind=type(model).__name__))
    for name, module in model.named_modules():
        if type(module).__module__.startswith(QUANTISED):
            raise ValueError(say("refuse.quantised", name=name or type(module).__name__, kind=type(module).__name__))


def check_devices(model: torch.nn.Module, x: Any) -> None:
    """Refuse numbers that are somewhere else than the model, or nowhere, or not there one by one."""
    first = next(model.parameters(), None)
    tensors = list(tensors_in(x if isinstance(x, dict) else [x]))
    if not tensors:
        raise TypeError(say("refuse.no_tensor", got=type(x).__name__))
    for tensor in tensors:
        if tensor.is_meta:
            raise ValueError(say("refuse.meta"))
        if tensor.is_quantized or tensor.layout is not torch.strided:
            raise ValueError(say("refuse.quantised_x" if tensor.is_quantized else "refuse.sparse"))
        if not tensor.numel():
            raise ValueError(say("refuse.empty", shape=list(tensor.shape)))
        if first is not None and tensor.device != first.device and tensor.dim():
            raise ValueError(say("refuse.device", model=first.device, x=tensor.device))


def check_has_gradient(watch: Watch, value: torch.Tensor, model: torch.nn.Module) -> None:
    """Refuse a number that autograd does not know of, and say where it was lost."""
    if value.requires_grad:
        return
    known = [seen for seen in watch.seen if seen.edge is not None]
    if not known:
        raise ValueError(say("refuse.nothing_differentiable"))
    last = known[-1]
    name = ".".join(part for part in (last.path, last.kind) if part)
    raise ValueError(say("refuse.no_gradient", model=type(model).__name__, name=name))


@contextlib.contextmanager
def taught() -> Iterator[None]:
    """Say in other words what torch says of a batch norm that gets one value a channel."""
    try:
        yield
    except ValueError as error:
        if "more than 1 value per channel" not in str(error):
            raise
        size = str(error).partition("input size ")[2]
        raise ValueError(say("refuse.one_value", size=size)) from error


@contextlib.contextmanager
def eager() -> Iterator[None]:
    """Run what torch.compile has wrapped as the Python that it is: only that can be watched."""
    compiles = "torch._dynamo" in sys.modules  # else nothing can be compiled, and asking would load it
    with torch.compiler.set_stance("force_eager") if compiles else contextlib.nullcontext():
        yield
