"""Which devices and number formats there are to compute with."""

from __future__ import annotations

import contextlib

import torch

from convviz.facts import facts

DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in facts("settings")["choices"]["dtype"]}


def available_devices() -> tuple[str, ...]:
    """Return ``"cpu"`` and, where torch finds one, its accelerator ("cuda", "mps", "xpu")."""
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    return ("cpu",) if accelerator is None else ("cpu", accelerator.type)


def check_device(device: str | torch.device | None) -> torch.device:
    """Return the device, or say which ones there are.

    Raises:
        ValueError: torch does not know the device, or it is not on this machine.
    """
    offered = available_devices()
    try:
        chosen = torch.device("cpu" if device is None else device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"device is one of {', '.join(offered)} on this machine: got {device!r}") from error
    if chosen.type not in offered:
        raise ValueError(f"device is one of {', '.join(offered)} on this machine: got {str(device)!r}")
    return chosen


def check_dtype(dtype: str | torch.dtype | None, device: torch.device) -> torch.dtype:
    """Return the number format as torch's dtype.

    Raises:
        ValueError: convviz does not show this format, or the device cannot compute with it.
    """
    chosen = DTYPES.get(dtype) if isinstance(dtype, str) else (dtype or torch.float32)
    if chosen not in DTYPES.values():
        raise ValueError(f"dtype is one of {', '.join(DTYPES)}: got {dtype!r}")
    if chosen is torch.float64 and device.type == "mps":
        raise ValueError("the mps device has no float64: got dtype float64; use float32, or the cpu")
    assert chosen is not None
    return chosen


def full_precision(device: torch.device) -> contextlib.AbstractContextManager[None]:
    """Return a context in which float32 means float32.

    On CUDA a float32 convolution is by default computed in TF32, with 10 bits after the point instead of 23: two
    right ways to compute a gradient then differ by a thousandth, and no comparison could tell that from a mistake.
    """
    if device.type != "cuda":
        return contextlib.nullcontext()
    context: contextlib.AbstractContextManager[None] = torch.backends.cudnn.flags(enabled=True, allow_tf32=False)
    return context
