"""Which convolution of a model is meant: by itself, by its dotted name, or because it is the only one."""

import torch

from convviz.explanation.run_model import check_parameters

SHOWN = (torch.nn.Conv2d, torch.nn.ConvTranspose2d)
OTHER_AXES = {
    torch.nn.Conv1d: ", a convolution over one axis",
    torch.nn.Conv3d: ", a convolution over three axes",
    torch.nn.ConvTranspose1d: ", a convolution over one axis",
    torch.nn.ConvTranspose3d: ", a convolution over three axes",
}
MAX_LAYER_NAMES = 12


def find_layer(module: torch.nn.Module, layer: str | torch.nn.Module | None = None) -> tuple[str, torch.nn.Module]:
    """Return the dotted name, empty for the module itself, and the layer that is meant."""
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module must be a torch.nn.Module, a layer or a model: got {type(module).__name__}")
    if isinstance(module, torch.jit.ScriptModule):
        raise ValueError("explain records what a layer of Python does: got a ScriptModule; pass the model it came from")
    name, found = _named(module, layer)
    kind = type(found).__name__
    called = f"layer {name!r}" if name else "module"
    if not isinstance(found, SHOWN):
        what = next((words for other, words in OTHER_AXES.items() if isinstance(found, other)), "")
        raise ValueError(
            f"explain shows nn.Conv2d and nn.ConvTranspose2d: {called} is a {kind}{what}; {_offer(module)}"
        )
    _check_parameters(module, called, found)
    return name, found


def _named(module: torch.nn.Module, layer: str | torch.nn.Module | None) -> tuple[str, torch.nn.Module]:
    modules = dict(module.named_modules(remove_duplicate=False))
    if isinstance(layer, str):
        if layer not in modules:
            raise ValueError(
                f"layer is the name of a layer in {type(module).__name__}: got {layer!r}; {_offer(module)}"
            )
        return layer, modules[layer]
    if isinstance(layer, torch.nn.Module):
        names = [name for name, each in modules.items() if each is layer]
        if not names:
            raise ValueError(
                f"layer must be a part of the module: {type(layer).__name__} is not in {type(module).__name__}; "
                f"{_offer(module)}"
            )
        return names[0], layer
    if layer is not None:
        raise TypeError(f"layer is a dotted name such as 'features.0', or the layer: got {type(layer).__name__}")
    convolutions = _convolutions(module)
    if isinstance(module, SHOWN) or not convolutions:
        return "", module
    if len(convolutions) > 1:
        raise ValueError(
            f"{type(module).__name__} has {len(convolutions)} convolutions, and explain shows one: {_offer(module)}"
        )
    return next(iter(convolutions.items()))


def _convolutions(module: torch.nn.Module) -> dict[str, torch.nn.Module]:
    return {name: each for name, each in module.named_modules() if isinstance(each, SHOWN)}


def _offer(module: torch.nn.Module) -> str:
    names = list(_convolutions(module))
    if not names or names == [""]:
        return "there is none in it" if not names else "pass the module alone"
    more = f" and {len(names) - MAX_LAYER_NAMES} more" if len(names) > MAX_LAYER_NAMES else ""
    return "choose one with layer=" + ", ".join(map(repr, names[:MAX_LAYER_NAMES])) + more


def _check_parameters(module: torch.nn.Module, called: str, found: torch.nn.Module) -> None:
    """Refuse parameters without numbers, and weights of whole numbers."""
    check_parameters(module)
    # Not found.weight: a layer with a parametrization computes it anew, and may move a buffer by that.
    for name, parameter in found.named_parameters():
        if not parameter.is_floating_point():
            rule = "explain shows weights of real floating-point numbers"
            raise ValueError(f"{rule}: {name} of {called} is {parameter.dtype}")
