"""Accelerators where there is none: a device of our own that computes on the CPU, and a pretended choice of devices.

``register`` gives this process a device ``"standin"``, torch's ``privateuse1`` renamed: its tensors say that they are
there, torch refuses to mix them with those of the CPU, and every op that runs on them goes through ``run``. It holds
for the whole process, so it belongs into one of its own.

``pretend`` makes torch speak of several devices of any kind; what is sent to one of them stays on the CPU.
"""

import threading
from typing import ClassVar

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

NAME = "standin"
OUT_OF_MEMORY = (
    "standin out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 10.00 GiB of which 1.00 GiB is "
    "free. Of the allocated memory 9.00 GiB is allocated by PyTorch.\nSee documentation for Memory Management."
)


class Standin:
    """The device: what ran on it, and where it is to fail."""

    ran: ClassVar[list[str]] = []
    fails_in = 0  # out of memory so many ops from now; 0: it does not


class There(torch.Tensor):
    """A tensor on the device; its numbers are ``here``."""

    @staticmethod
    def __new__(cls, here):
        like = {"strides": here.stride(), "storage_offset": here.storage_offset(), "dtype": here.dtype}
        return torch.Tensor._make_wrapper_subclass(cls, here.shape, device=torch.device(NAME, 0), **like)

    def __init__(self, here):
        self.here = here

    @classmethod
    def __torch_dispatch__(cls, op, types, args=(), kwargs=None):
        return run(op, args, kwargs or {})


def run(op, args, kwargs):
    """Run one op on the CPU's numbers; what comes out is on the device, unless it was asked to leave."""
    Standin.ran.append(op.name())
    # In autograd's own thread torch ends the process when the Python of such a device raises.
    if Standin.fails_in and threading.current_thread() is threading.main_thread():
        Standin.fails_in -= 1
        if not Standin.fails_in:
            raise torch.OutOfMemoryError(OUT_OF_MEMORY)
    given = []

    def bring(value):
        if isinstance(value, torch.Tensor):
            given.append((value.here if isinstance(value, There) else value, value))
            return given[-1][0]
        return torch.device("cpu") if isinstance(value, torch.device) else value

    def send(value):
        if not isinstance(value, torch.Tensor):
            return value
        own = (
            None
            if op.name().startswith("aten::_to_copy")
            else next((out for here, out in given if here is value), None)
        )
        leaves = kwargs.get("device") is not None and torch.device(kwargs["device"]).type == "cpu"
        return own if own is not None else value if leaves else There(value)

    return tree_map(send, op(*tree_map(bring, args), **tree_map(bring, kwargs)))


def register():
    """Give this process the device."""
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    _setup_privateuseone_for_python_backend(NAME)
    library = torch.library.Library("_", "IMPL")
    library.fallback(lambda op, *args, **kwargs: run(op, args, kwargs), "PrivateUse1")
    return library  # the registration lives as long as this


class _OnTheCpu(TorchFunctionMode):
    """Keeps on the CPU what is sent to devices of one kind, and writes down to which."""

    def __init__(self, kind):
        self.kind, self.asked = kind, []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        def stay(value):
            named = isinstance(value, torch.device) or (isinstance(value, str) and value.split(":")[0] == self.kind)
            if named and torch.device(value).type == self.kind and function is not torch.device:
                self.asked.append(str(value))
                return torch.device("cpu")
            return value

        return function(*tree_map(stay, args), **tree_map(stay, kwargs or {}))


def pretend(monkeypatch, kind, count, current=0):
    """Make torch say that there are so many devices of a kind; return the context in which they compute."""
    for name, answer in {
        "is_available": True,
        "current_accelerator": torch.device(kind),
        "device_count": count,
        "current_device_index": current,
    }.items():
        monkeypatch.setattr(torch.accelerator, name, lambda answer=answer: answer)
    return _OnTheCpu(kind)
