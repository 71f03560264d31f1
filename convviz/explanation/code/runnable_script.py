"""A snippet as one file to run: its imports, the tensors, the code, and a line that prints the results."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from convviz.explanation.code.literals import literal
from convviz.explanation.code.read_template import Line
from convviz.explanation.code.snippets import Snippet, joined
from convviz.settings.tensor_display_names import shown_name

MAX_WRITTEN_NUMBERS = 256  # of a tensor that is written out: 16 x 16, which still can be read
GIVEN = ("input", "weight", "bias", "grad_output")
RESULTS = ("output", "grad_input", "grad_weight", "grad_bias")
# As ops.devices_and_dtypes.full_precision does for the board: by default cuDNN rounds float32 to 10 bits after the
# point.
FULL_PRECISION = "torch.backends.cudnn.allow_tf32 = False  # all digits of float32"
STANDARD = ("itertools",)  # modules that Python brings; imported before the others

Lines = list[Line]


@dataclass(frozen=True)
class SnippetFile:
    """A file that runs by itself."""

    text: str
    lines: tuple[tuple[int, tuple[str, ...]], ...]  # of each line that makes or reads stages
    tensors: tuple[int, int]  # the first and the last line of the part that makes the tensors


def snippet_file(snippet: Snippet, tensors: Mapping[str, torch.Tensor] | None = None) -> SnippetFile:
    """Join a snippet's parts, with these numbers written out or tensors drawn at random."""
    imports = [text for text, _ in (*snippet.drawn, *snippet.written) if _is_import(text)]
    code = _without_imports(snippet.written)
    given = _without_imports(snippet.drawn) if tensors is None else _written_out(snippet, tensors)
    results = [name for name in RESULTS if re.search(rf"\b{name}\b", snippet.code)]
    separator: Lines = [("", ())] * (2 if code[0][0].startswith(("class", "def")) else 1)
    head: Lines = [(text, ()) for text in (*_sorted(imports), "")]
    show: Lines = [("", ()), (f'print({", ".join(results)}, sep="\\n\\n")', ())]
    whole = [*head, *given, *separator, *code, *show]
    return SnippetFile(
        joined(whole),
        tuple((number, names) for number, (_, names) in enumerate(whole, 1) if names),
        (len(head) + 1, len(head) + len(given)),
    )


def too_large(tensors: Mapping[str, torch.Tensor]) -> str:
    """Return a sentence on tensors with too many numbers to be written out, or nothing."""
    sizes = [f"{name} has {tensor.numel()}" for name, tensor in tensors.items() if tensor.numel() > MAX_WRITTEN_NUMBERS]
    if not sizes:
        return ""
    return (
        f"Tensors of up to {MAX_WRITTEN_NUMBERS} numbers can be written out in the code: {', '.join(sizes)}. "
        "Choose a smaller input or fewer channels."
    )


def _written_out(snippet: Snippet, tensors: Mapping[str, torch.Tensor]) -> Lines:
    numpy, like = snippet.name == "numpy", tensors["input"]
    rounds = not numpy and like.device.type == "cuda" and like.dtype is torch.float32
    written: Lines = [(FULL_PRECISION, ())] if rounds else []
    for name in (name for name in GIVEN if name in tensors):
        # Transposed, input and grad_output have changed places.
        panels = (shown_name(name, snippet.transposed),)
        written += [(text, panels) for text in literal(name, tensors[name], numpy=numpy)]
    return written


def _is_import(text: str) -> bool:
    return text.startswith(("import ", "from "))


def _without_imports(lines: Sequence[Line]) -> Sequence[Line]:
    first = next(place for place, (text, _) in enumerate(lines) if text and not _is_import(text))
    return lines[first:]


def _sorted(imports: Sequence[str]) -> list[str]:
    once = list(dict.fromkeys(imports))
    own = [text for text in once if text.split()[1] in STANDARD]
    others = [text for text in once if text not in own]
    return [*own, *([""] if own and others else []), *others]
