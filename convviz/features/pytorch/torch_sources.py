"""Where the ops of a convolution live in PyTorch's source: the map for somebody who wants to read it."""

from collections.abc import Iterable

from convviz.facts import facts
from convviz.facts.words import sentences

say = sentences("features/pytorch")
FACTS = facts("torch_backends")
READ_AT: str = FACTS["version"]  # the torch whose files these are; they move rarely
NATIVE: str = FACTS["folder"]
CHOICE: str = FACTS["choice"]  # the function that chooses the backend, in the file of aten::convolution
_OPS = {f"aten::{op}": file for file, ops in FACTS["files"].items() for op in ops}


def file_of_op(op: str, kind: str = "cpu") -> str:
    file = _OPS.get(op, "")
    return NATIVE + _on(file, kind) if file else str(FACTS["files_of_autograd"].get(op, ""))


def file_of_backend(name: str, kind: str = "cpu") -> str:
    file = (
        "mkldnn/xpu/Conv.cpp"
        if (name, kind) == ("Overrideable", "xpu")
        else FACTS["backends"].get(name, {}).get("file", "")
    )
    return NATIVE + _on(file, kind) if file else ""


def files_of(ops: Iterable[str], forward: str, backward: str, kind: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of what ran and its file: the choice, both passes, then each op that is known."""
    named = [
        (say("file.choice", function=CHOICE), file_of_op("aten::convolution")),
        (say("file.forward", backend=forward), file_of_backend(forward, kind)),
        (say("file.backward", backend=backward), file_of_backend(backward, kind)),
        *((op, file_of_op(op, kind)) for op in dict.fromkeys(ops)),
    ]
    return tuple((what, file) for what, file in named if file)


def _on(file: str, kind: str) -> str:
    return str(FACTS["files_on_cuda"].get(file, file)) if kind == "cuda" else file
