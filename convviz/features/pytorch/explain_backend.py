"""Which of torch's backends a setting uses, why, and what would change it."""

import dataclasses
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from convviz.explanation.border import padded_apart
from convviz.facts.words import sentences
from convviz.features.pytorch.asked_call import AskedCall
from convviz.features.pytorch.other_devices import Elsewhere, elsewhere
from convviz.features.pytorch.reasons import nnpack_on, onednn_on, reasons
from convviz.features.pytorch.torch_sources import files_of
from convviz.ops.detect_torch_backend import Backend
from convviz.ops.devices_and_dtypes import DTYPES, available_devices, has_float64

say = sentences("features/pytorch")


@dataclass(frozen=True)
class Change:
    """A setting that differs in one thing."""

    what: str
    forward: str
    backward: str


@dataclass(frozen=True)
class BackendStory:
    """What torch does for one setting."""

    call: str
    border: str  # a sentence on padding that is no part of the call, or nothing
    backend: Backend
    why: tuple[str, ...]
    changes: tuple[Change, ...]  # empty where torch cannot be asked
    machine: tuple[tuple[str, str], ...]  # (name, value) of what the choice depends on besides the setting
    elsewhere: tuple[Elsewhere, ...]  # by torch's rules, on devices that are not here
    files: tuple[tuple[str, str], ...]  # (what ran, the file of PyTorch's source that holds it)


def backend_story(call: AskedCall) -> BackendStory:
    """Run the call of one setting, and ask torch about its neighbours."""
    backend = call.watch()
    return BackendStory(
        call=call.text,
        border=call.border,
        backend=backend,
        why=reasons(call, backend.forward),
        changes=tuple(_changes(call)),
        machine=tuple(_machine(call.device)),
        elsewhere=tuple(elsewhere(call)),
        files=files_of((*backend.forward_ops, *backend.backward_ops), backend.forward, backend.backward, call.kind),
    )


def _changes(call: AskedCall) -> Iterator[Change]:
    for what, changed in (*_other_geometries(call), *_other_tensors(call)):
        if found := changed.ask():
            yield Change(what, *found)
    if call.kind == "cpu":
        yield from _without_libraries(call)


def _other_geometries(call: AskedCall) -> Iterator[tuple[str, AskedCall]]:
    spec = call.spec
    batch = 2 if spec.batch == 1 else 1
    dilation = 2 if spec.dilation == (1, 1) else 1
    kernel = 5 if min(spec.kernel_size) <= 3 else 3
    channels = max(spec.in_channels, spec.out_channels, 2)
    apart = {"in_channels": channels, "out_channels": channels, "groups": channels}
    grouped: tuple[str, dict[str, int]] = (say("change.one_group"), {"groups": 1})
    if spec.groups == 1:
        grouped = (say("change.groups", channels=channels, groups=channels), apart)
    for what, changes in (
        (say("samples", count=batch), {"batch": batch}),
        (say("change.dilation", dilation=dilation), {"dilation": dilation}),
        grouped,
        (say("change.kernel", height=kernel, width=kernel), {"kernel_size": kernel}),
    ):
        try:
            yield what, dataclasses.replace(call, spec=spec.replace(**changes))
        except ValueError:
            continue  # such a kernel does not fit into this input
    if spec.padding_mode == "zeros" and not padded_apart(spec):
        name = "conv2d" if call.transposed else "conv_transpose2d"
        yield say("change.transposed", operator=name), dataclasses.replace(call, transposed=not call.transposed)


def _other_tensors(call: AskedCall) -> Iterator[tuple[str, AskedCall]]:
    for dtype in DTYPES:
        if dtype != call.dtype and _can(dtype, call.device):
            yield dtype, dataclasses.replace(call, dtype=dtype)
    kinds = {call.kind}
    for device in available_devices():
        other = dataclasses.replace(call, device=device)
        if other.kind not in kinds and _can(call.dtype, device):  # of several devices of a kind each answers the same
            yield say("change.device", device=device), other
        kinds.add(other.kind)


def _can(dtype: str, device: str) -> bool:
    return dtype != "float64" or has_float64(torch.device(device))


def _without_libraries(call: AskedCall) -> Iterator[Change]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # to turn a switch is announced once as about to change another one
        if onednn_on():
            with torch.backends.mkldnn.flags(enabled=False):
                found = call.ask()
            if found:
                yield Change(say("change.onednn"), *found)
            if found and found[0] == "NnpackSpatial":
                with torch.backends.mkldnn.flags(enabled=False), torch.backends.nnpack.flags(enabled=False):
                    found = call.ask()
                if found:
                    yield Change(say("change.nnpack"), *found)


def _machine(device: str) -> Iterator[tuple[str, str]]:
    yield "torch", str(torch.__version__)
    kind = torch.device(device).type
    if kind == "cpu":
        yield say("machine.device"), f"cpu ({torch.backends.cpu.get_cpu_capability()})"
        yield "oneDNN (torch.backends.mkldnn)", _switch(onednn_on())
        yield "NNPACK (torch.backends.nnpack)", _switch(nnpack_on())
        yield say("machine.threads", function="torch.get_num_threads"), str(torch.get_num_threads())
    elif kind == "cuda":
        yield say("machine.device"), f"{device} ({torch.cuda.get_device_name(device)})"
        yield "cuDNN (torch.backends.cudnn)", f"{torch.backends.cudnn.version()}"
    else:
        yield say("machine.device"), device


def _switch(on: bool) -> str:
    return say("machine.on" if on else "machine.off")
