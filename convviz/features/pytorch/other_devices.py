"""What a call would run on devices that this machine does not have: by torch's rules, for torch cannot be asked.

It was tried: a torch without CUDA that is asked about a tensor on CUDA, one without numbers, answers as if cuDNN were
missing. So the rules stand here once more, for a convolution of this app's sizes and dtypes.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from convviz.facts.words import sentences
from convviz.features.pytorch.asked_call import AskedCall
from convviz.features.pytorch.reasons import reasons
from convviz.features.pytorch.torch_sources import CHOICE, NATIVE, READ_AT, file_of_backend
from convviz.ops.devices_and_dtypes import available_devices

KINDS = ("cuda", "mps", "xpu")
say = sentences("features/pytorch")


@dataclass(frozen=True)
class Elsewhere:
    """What a call would run on a device that is not here, why, and the file of that code."""

    device: str
    backend: str
    why: str
    file: str


def elsewhere(call: AskedCall) -> Iterator[Elsewhere]:
    """Yield what the call would run on each kind of device that is not here."""
    here = {torch.device(device).type for device in available_devices()}
    for kind in KINDS:
        if kind in here:
            continue  # torch itself is asked about it
        if kind == "mps" and call.dtype == "float64":
            yield Elsewhere(kind, "", say("mps.float64"), "")
            continue
        name = would_run(call, kind)
        why = " ".join(reasons(dataclasses.replace(call, device=kind), name))
        yield Elsewhere(kind, name, why, file_of_backend(name, kind))


def note() -> str:
    file = f"{NATIVE}Convolution.cpp"
    return say("elsewhere.note", choice=CHOICE, file=file, read=READ_AT, version=torch.__version__)


def would_run(call: AskedCall, kind: str, *, cudnn: bool = True) -> str:
    """Return the backend of both passes on cuda (with ``cudnn`` for this dtype or not), mps or xpu."""
    spec = call.spec
    if kind == "mps":
        return "MpsTranspose" if call.transposed else "Mps"
    if kind == "xpu":
        return "Overrideable"
    if spec.groups == spec.in_channels > 1 and not call.transposed:
        return "CudaDepthwise2d"  # before cuDNN is thought of; that takes float16 and channels_last only
    if cudnn:  # it refuses an output_padding of the stride or more, which no geometry here has
        return "CudnnTranspose" if call.transposed else "Cudnn"
    if call.transposed:
        return "SlowTranspose2d"
    return "SlowDilated2d" if spec.dilation != (1, 1) else "Slow2d"
