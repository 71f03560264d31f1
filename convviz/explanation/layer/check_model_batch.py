"""What a model is run on: its batch, checked and copied."""

from typing import Any

import torch


def check_batch(layer: torch.nn.Module, x: Any) -> None:
    """Refuse a batch that the layer cannot take, before torch does so in words of its own."""
    if isinstance(x, (tuple, dict)):
        return
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"x is a batch as a tensor, [N, C_in, H, W]: got {type(x).__name__}; use torch.as_tensor")
    weight, channels = next(layer.parameters()), layer.in_channels
    if x.is_meta:
        raise ValueError("x is on the meta device, which has shapes but no numbers: pass a batch with numbers")
    if x.dim() not in (3, 4) or x.shape[-3] != channels:
        raise ValueError(
            f"x must be [N, {channels}, H, W], the layer's in_channels in second place: got {list(x.shape)}"
        )
    if x.dtype != weight.dtype and not torch.is_autocast_enabled(x.device.type):
        raise ValueError(f"x must have the weight's dtype, {weight.dtype}: got {x.dtype}; convert it with x.to(...)")
    if x.device != weight.device:
        raise ValueError(f"x must be on the weight's device, {weight.device}: got {x.device}; move one of them")


def arguments(x: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return what a model is called with: copies, because it may write into what it gets."""
    x = _copied(x)
    if isinstance(x, tuple):
        return x, {}
    return ((), x) if isinstance(x, dict) else ((x,), {})


def _copied(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return x.detach().clone()
    if isinstance(x, (tuple, list)) and type(x) in (tuple, list):
        return type(x)(map(_copied, x))
    return {name: _copied(value) for name, value in x.items()} if isinstance(x, dict) else x
