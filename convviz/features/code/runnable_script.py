"""A snippet as one file to run: its imports, the tensors, the code, and a line that prints the results."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

import torch

from convviz.explanation.snippet_setting import numbers
from convviz.features.code.read_template import INDENT, WIDTH, Line
from convviz.features.code.snippets import Snippet, joined
from convviz.settings.tensor_display_names import shown_name

MAX_WRITTEN_NUMBERS = 256  # of a tensor that is written out: 16 x 16, which still can be read
MAX_DIGITS = 17  # tell any two numbers of float64 apart
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


def literal(name: str, tensor: torch.Tensor, *, numpy: bool = False) -> list[str]:
    """Return ``name = torch.tensor([...]).reshape(...)``, or NumPy's, a row a line."""
    if numpy and tensor.dtype is torch.bfloat16:
        tensor = tensor.float()
    make, end = _call(tensor, numpy)
    shape = f".reshape({numbers(tensor.shape)})" if tensor.dim() > 1 else ""
    move = "" if numpy or tensor.device.type == "cpu" else f'.to("{tensor.device}")'
    end = f"{end}{shape}{move}"
    texts, across = exact(tensor), tensor.shape[-1]
    one_line = f"{name} = {make}([{', '.join(texts)}]{end}"
    if len(one_line) <= WIDTH:
        return [one_line]
    margin = " " * INDENT
    rows = [", ".join(texts[start : start + across]) + "," for start in range(0, len(texts), across)]
    written = [line for row in rows for line in wrap(row, WIDTH, initial_indent=margin, subsequent_indent=margin)]
    return [f"{name} = {make}([", *written, f"]{end}"]


def exact(tensor: torch.Tensor) -> list[str]:
    """Return every number as the shortest Python code that reads back as the same."""
    given = tensor.detach().cpu().flatten()
    values: list[float] = given.double().tolist()
    found = ["" if math.isfinite(value) else f'float("{value}")' for value in values]
    for digits in range(1, MAX_DIGITS + 1):
        texts = [f"{value:.{digits}g}" for value in values]
        same = (torch.tensor([float(text) for text in texts], dtype=torch.float64).to(given.dtype) == given).tolist()
        found = [old or (repr(float(text)) if ok else "") for old, text, ok in zip(found, texts, same, strict=True)]
        if all(found):
            break
    return found


def _call(tensor: torch.Tensor, numpy: bool) -> tuple[str, str]:
    dtype = str(tensor.dtype).removeprefix("torch.")
    if numpy:
        return "np.array", f', dtype="{dtype}")'
    return "torch.tensor", ")" if dtype == "float32" else f", dtype=torch.{dtype})"
