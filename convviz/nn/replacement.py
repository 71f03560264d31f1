"""Swapping the layers of a whole model for ours, and back."""

from typing import TypeVar

import torch

from convviz.nn.conv2d import Conv2d
from convviz.nn.conv_transpose2d import ConvTranspose2d
from convviz.nn.linear import Linear
from convviz.ops.methods import check_method

Model = TypeVar("Model", bound=torch.nn.Module)

OURS: dict[type[torch.nn.Module], type[torch.nn.Module]] = {
    torch.nn.Linear: Linear,
    torch.nn.Conv2d: Conv2d,
    torch.nn.ConvTranspose2d: ConvTranspose2d,
}
TORCHS = {ours: torchs for torchs, ours in OURS.items()}


def replace(model: Model, method: str | None = "rotate") -> Model:
    """Swap every Linear, Conv2d and ConvTranspose2d of a model, at any depth, for ours; the model is changed in place.

    Parameters and buffers stay the same objects, so an optimizer that was made before goes on working; hooks, names
    and the training flag stay as well. A layer that is used in two places is swapped in both.

    Left alone are classes that somebody derived from torch's or from ours (among them our quantised layers, torch's
    lazy layers until their first call, and parametrized layers): what they compute is their own. A module that reads
    a layer's weight instead of calling the layer, as torch.nn.MultiheadAttention does, computes what it did before.

    Args:
        model: any module; it may itself be such a layer.
        method: ``"taps"``, ``"unfold"``, ``"rotate"`` or ``"aten"`` for ours, also where the layers are ours
            already; None for torch's.

    Returns:
        The model.

    Raises:
        TypeError: model is no module.
        ValueError: there is no such method; the model is as before.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model must be a torch.nn.Module: got {type(model).__name__}")
    if method is not None:
        check_method(method)
    for module in model.modules():
        _swap(module, method)
    return model


def _swap(module: torch.nn.Module, method: str | None) -> None:
    # Ours add one attribute to torch's and change no other, so the class is all that has to be exchanged, as
    # torch.nn.utils.parametrize does. A new module in the old one's place would have to be handed parameters, hooks,
    # buffers and whatever else hangs on the instance, and every other reference to the old one would be stale.
    if method is None and type(module) in TORCHS:
        module.__class__ = TORCHS[type(module)]
        del module.method
    elif method is not None and (type(module) in OURS or type(module) in TORCHS):
        module.__class__ = OURS.get(type(module), type(module))
        module.method = method  # type: ignore[assignment]  # torch: any attribute is a Tensor or a Module
