"""Running somebody's model so that it is left as it was: what every recording of a run needs."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.parameter import UninitializedParameter
from torch.nn.utils import parametrize

from convviz.ops.devices_and_dtypes import onednn_off_for


@contextlib.contextmanager
def undisturbed(module: torch.nn.Module) -> Iterator[None]:
    """Let autograd work in here, and put torch's random numbers back where they were."""
    devices = {tensor.device.index for tensor in module.parameters() if tensor.device.type == "cuda"}
    # Autograd cannot be asked inside inference_mode, which may be the caller's.
    with (
        torch.inference_mode(False),
        torch.enable_grad(),
        torch.random.fork_rng(sorted(devices)),
        onednn_off_for(module.parameters()),
    ):
        yield


def call_with_copies(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a model with copies of its buffers: a batch norm in training would move its running statistics.

    Copies also of parameters made in inference mode, with which autograd does not work.
    """
    own = {each: buffer.clone() for each, buffer in module.named_buffers()}
    own |= {each: parameter.clone() for each, parameter in module.named_parameters() if parameter.is_inference()}
    with parametrize.cached():  # a weight that is computed is the same wherever it is read
        return torch.func.functional_call(module, own, args, kwargs)


def arguments(x: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return what a model is called with: copies, because it may write into what it gets."""
    return as_arguments(map_tensors(x, lambda tensor: tensor.detach().clone()))


def as_arguments(x: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return positional and named arguments: a tuple has the first, a dict the second, all else is one argument."""
    if isinstance(x, tuple):
        return x, {}
    return ((), x) if isinstance(x, dict) else ((x,), {})


def map_tensors(x: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """Return x with each tensor of its tuples, lists and dicts changed."""
    if isinstance(x, torch.Tensor):
        return change(x)
    if isinstance(x, (tuple, list)) and type(x) in (tuple, list):
        return type(x)(map_tensors(each, change) for each in x)
    return {name: map_tensors(value, change) for name, value in x.items()} if isinstance(x, dict) else x


def check_loss(loss: Callable[[Any], torch.Tensor] | None) -> None:
    if loss is not None and not callable(loss):
        raise TypeError(f"loss is a function from the model's output to a number: got {type(loss).__name__}")


def loss_value(output: Any, loss: Callable[[Any], torch.Tensor] | None) -> torch.Tensor:
    """Return the number to differentiate: the sum of the output, or what a loss makes of it."""
    if loss is None and not isinstance(output, torch.Tensor):
        raise ValueError(
            f"the sum of the output needs a tensor: the model returns a {type(output).__name__}; say which number "
            "counts, such as loss=lambda output: output[0].sum()"
        )
    value = output.sum() if loss is None else loss(output)
    if not isinstance(value, torch.Tensor) or value.numel() != 1:
        got = f"shape {list(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__
        raise ValueError(f"loss returns one number, a tensor with one entry: got {got}; for example output.sum()")
    if value.is_complex() or not value.is_floating_point():
        raise ValueError(f"loss must be a real floating-point number to have a gradient: got dtype {value.dtype}")
    return value


def check_parameters(module: torch.nn.Module) -> None:
    """Refuse what cannot be run, before torch does so in words of its own."""
    for name, parameter in module.named_parameters():
        if isinstance(parameter, UninitializedParameter):
            raise ValueError(
                f"{name} has no numbers yet, because its layer is lazy: call the model once before explain"
            )
        if parameter.is_meta:
            raise ValueError(f"{name} is on the meta device, which has shapes but no numbers: load the weights first")
