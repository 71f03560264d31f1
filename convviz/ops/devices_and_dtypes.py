"""Which devices and number formats there are to compute with."""

import contextlib
import functools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch

from convviz.facts import facts
from convviz.ops.half_precision import is_narrow

DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in facts("settings")["fields"]["dtype"]["words"]}


def available_devices() -> tuple[str, ...]:
    """Return ``"cpu"`` and the accelerator ("cuda", "mps", "xpu"), several with their index."""
    kind, count = _accelerator()
    if count < 2:
        return ("cpu", kind)[: count + 1]
    return ("cpu", *(f"{kind}:{index}" for index in range(count)))


def check_device(device: str | torch.device | None) -> torch.device:
    """Return the device by the name that ``available_devices`` has, or say which there are."""
    offered = available_devices()
    rule = f"device is one of {', '.join(offered)} on this machine"
    try:
        chosen = torch.device("cpu" if device is None else device)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ValueError(f"{rule}: got {device!r}") from error
    name = device_name(chosen)
    if name not in offered:
        kind, count = _accelerator()
        number = f", which has {count} {kind} device{'s' * (count > 1)}" if chosen.type == kind else ""
        raise ValueError(f"{rule}{number}: got {str(device)!r}")
    return torch.device(name)


def device_name(device: torch.device) -> str:
    """Return a device's one name: with its index only where there are several."""
    if device.type == "cpu":
        return "cpu"  # torch takes any index for it, and computes in the same place
    kind, count = _accelerator()
    if device.type == kind and count > 1:
        return f"{kind}:{_current_index() if device.index is None else device.index}"
    return str(device) if device.index else device.type


def _current_index() -> int:
    name = "current_device_index" if hasattr(torch.accelerator, "current_device_index") else "current_device_idx"  # 2.6
    return int(getattr(torch.accelerator, name)())


def _accelerator() -> tuple[str, int]:
    found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    return ("", 0) if found is None else (found.type, torch.accelerator.device_count())


def check_dtype(dtype: str | torch.dtype | None, device: torch.device) -> torch.dtype:
    """Return the number format as torch's dtype."""
    chosen = DTYPES.get(dtype) if isinstance(dtype, str) else torch.float32 if dtype is None else dtype
    if not isinstance(chosen, torch.dtype) or chosen not in DTYPES.values():
        raise ValueError(f"dtype is one of {', '.join(DTYPES)}: got {dtype!r}")
    if chosen is torch.float64 and not has_float64(device):
        raise ValueError(f"the {device.type} device has no float64: got dtype float64; use float32, or the cpu")
    return chosen


def common_dtype(*values: Any) -> torch.dtype:
    """Return the format that narrows none of the values; lists and other formats become float32."""
    given = (str(value.dtype) for value in values if isinstance(value, (torch.Tensor, np.ndarray)))
    names = [name.removeprefix("torch.") for name in given]
    formats = [getattr(torch, name) for name in names if name in (*DTYPES, "float16")]
    widest = functools.reduce(torch.promote_types, formats) if formats else torch.float32
    return widest if widest in DTYPES.values() else torch.float32


def has_float64(device: torch.device) -> bool:
    """Return whether the device has float64: Apple's do not, of Intel's some do not."""
    if device.type == "xpu" and torch.xpu.is_available():
        return bool(getattr(torch.xpu.get_device_properties(device), "has_fp64", True))
    return device.type != "mps"


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether a device, or the machine, has no memory left."""
    words = ("out of memory", "can't allocate memory")  # of MPS and of the CPU, which raise a plain RuntimeError
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or (
        isinstance(error, RuntimeError) and any(word in str(error) for word in words)
    )


def full_precision(device: torch.device) -> contextlib.AbstractContextManager[None]:
    """Return a context without CUDA's default TF32, whose rounding looks like a mistake."""
    if device.type != "cuda":
        return contextlib.nullcontext()
    context: contextlib.AbstractContextManager[None] = torch.backends.cudnn.flags(enabled=True, allow_tf32=False)
    return context


@contextlib.contextmanager
def onednn_off_for(tensors: Iterable[torch.Tensor]) -> Iterator[None]:
    """Switch oneDNN off while numbers of 16 bits are computed on a CPU, also those of autocast.

    For what must run in torch's own words, such as a graph that is shown: ``narrow.widened_on_cpu`` says why. Where
    the words are ours, the numbers are widened instead.
    """
    narrow = any(tensor.device.type == "cpu" and is_narrow(tensor) for tensor in tensors)
    if not narrow and not torch.is_autocast_enabled("cpu"):
        yield
        return
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)  # not torch.backends.mkldnn.flags, which warns of TF32 where there is none
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)
