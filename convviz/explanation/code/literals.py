"""A tensor's own numbers as code, with no more digits than its format has."""

import math
from textwrap import wrap

import torch

from convviz.explanation.code.read_template import INDENT, WIDTH
from convviz.explanation.code.snippet_setting import numbers

MAX_DIGITS = 17  # tell any two numbers of float64 apart


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
