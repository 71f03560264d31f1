"""One run of a model, forward and backward: every operation, its output, and the gradient that came back to it."""

from collections.abc import Callable
from typing import Any

import torch

from convviz.explanation.run_model import (
    as_arguments,
    call_with_copies,
    check_loss,
    check_parameters,
    loss_value,
    map_tensors,
    undisturbed,
)
from convviz.features.network.backs import made_back
from convviz.features.network.describe_operations import describe
from convviz.features.network.network import Network
from convviz.features.network.refusals import (
    check_can_be_watched,
    check_devices,
    check_has_gradient,
    eager,
    taught,
)
from convviz.features.network.send_back import WayBack
from convviz.features.network.watch_operations import MAX_BYTES, Watch, tensors_in


def record(
    model: torch.nn.Module,
    x: Any,
    loss: Callable[[Any], torch.Tensor] | None = None,
    *,
    live: bool = True,
    sample: int = 0,
    max_bytes: int = MAX_BYTES,
) -> Network:
    """Run a model on a batch and back; see ``convviz.network``. ``live``: it can be sent back from anywhere later."""
    model = getattr(model, "_orig_mod", model)  # torch.compile's wrapper
    check_can_be_watched(model)
    check_loss(loss)
    check_parameters(model)
    check_devices(model, x)
    watch = Watch(model, max_bytes)
    with undisturbed(model), eager(), taught():
        leaves: list[torch.Tensor] = []
        given = map_tensors(x, lambda tensor: _input(tensor, leaves))
        _add_inputs(watch, given, sample)
        with watch:
            output = call_with_copies(model, *as_arguments(given))
            value = None if loss is None else loss_value(output, loss)
        value = loss_value(output, loss) if value is None else value
        check_has_gradient(watch, value, model)
        operations = describe(watch)
        way = WayBack(watch, value, output, leaves)
        start = {"kind": "sum" if loss is None else "loss"}
        came = way.send(value.reshape(()) if value.dim() else value, keep=live)
    idle = [] if not watch.ran else sorted(name for name, each in model.named_modules() if _is_idle(name, each, watch))
    back = made_back(start, operations, *came)
    return Network(
        type(model).__name__,
        watch.keeper.batch or 1,
        watch.keeper.sample,
        operations,
        (back,),
        tuple(idle),
        watch.bytes > max_bytes,
        way if live else None,
    )


def _is_idle(name: str, module: torch.nn.Module, watch: Watch) -> bool:
    """Return whether a layer did not run, and nothing else used its parameters, as attention does those of a part."""
    own = [id(each) for each in module.parameters(recurse=False)]
    return bool(own) and name not in watch.ran and watch.used.isdisjoint(own)


def _input(tensor: torch.Tensor, leaves: list[torch.Tensor]) -> torch.Tensor:
    """Return a copy of an input, which the model may write into, with a leaf of autograd's graph behind it."""
    tensor = tensor.detach()
    if not tensor.is_floating_point():
        return tensor.clone()
    if tensor.is_inference():
        tensor = tensor.clone()
    leaves.append(tensor.requires_grad_())
    return tensor.clone()


def _add_inputs(watch: Watch, given: Any, sample: int) -> None:
    args, kwargs = as_arguments(given)
    many = len(list(tensors_in((args, kwargs)))) > 1
    for name, value in [*((f"[{place}]", each) for place, each in enumerate(args)), *kwargs.items()]:
        for tensor in tensors_in(value):
            if watch.keeper.batch is None and tensor.dim():
                watch.keeper.batch = tensor.shape[0]
                watch.keeper.sample = sample
            made = watch.add("input", tensor)
            made.path = name if many or not name.startswith("[") else ""
    if watch.keeper.batch is not None and not 0 <= watch.keeper.sample < watch.keeper.batch:
        raise ValueError(f"sample is one of 0 to {watch.keeper.batch - 1}: got {sample!r}")
