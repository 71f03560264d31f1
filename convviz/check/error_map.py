"""Where the first wrong result is wrong: its plane beside the right one, and the products that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from convviz.check.battery import Case
from convviz.check.call_outcome import Answer
from convviz.check.compare import allowed, errors
from convviz.check.provenance import Product, Provenance, setting_in_words

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Products:
    """The products of one channel plane that differ from the right ones."""

    # ``"grad_input"``, whose products are (cell of grad_output, of the kernel, of the result), or ``"grad_weight"``,
    # whose are (cell of grad_output, of the input, of the result)
    of: str
    setting: str  # in words, such as ``"kernel 3x2, stride 1, padding 0"``
    total: int  # how many a right gradient has there
    missing: tuple[Product, ...]  # products that belong there and are not there
    extra: tuple[Product, ...]  # products that are there and do not belong there


@dataclass(frozen=True)
class ErrorMap:
    """One plane of a wrong result."""

    case: str  # the name of the case
    result: str  # such as ``"grad_input"``
    at: tuple[int, ...]  # the leading indices of the plane, such as sample and channel
    right: Rows  # its rows as they should be
    received: Rows  # its rows as they came; of another size where the shape is wrong
    wrong: tuple[tuple[int, int], ...]  # the cells of it that are wrong, (row, column); empty where the sizes differ
    products: Products | None = None  # which products differ; None where the result is no gradient of input or weight


def error_map(case: Case, answer: Answer, right: Mapping[str, torch.Tensor]) -> ErrorMap | None:
    """Return the plane in which the first wrong result of a case is furthest off; None where there is no plane."""
    for name, value in right.items():
        got = answer.results.get(name)
        if got is None or got.dim() != value.dim() or got.dim() < 1 or not got.numel():
            continue
        off = errors(got, value) if got.shape == value.shape else torch.zeros_like(value)
        limit = allowed(got, value, None, 0.0)
        if got.shape == value.shape and bool((off <= limit).all()):
            continue
        at = tuple(int(axis) for axis in torch.unravel_index(off.argmax(), value.shape))[: max(value.dim() - 2, 0)]
        wrong = tuple((row, column) for row, column in _plane(off, at).gt(limit).nonzero().tolist())
        return ErrorMap(case.name, name, at, _rows(_plane(value, at)), _rows(_plane(got, at)), wrong)
    return None


def _plane(tensor: torch.Tensor, at: Sequence[int]) -> torch.Tensor:
    for index in at:
        tensor = tensor[min(index, tensor.shape[0] - 1)]
    return tensor.reshape(1, -1) if tensor.dim() < 2 else tensor


def _rows(plane: torch.Tensor) -> Rows:
    return tuple(tuple(row) for row in plane.double().tolist())


def differing(found: Provenance) -> Products:
    """Return the products of a gradient that differ from the right ones."""
    setting, missing, extra = setting_in_words(found.spec), tuple(found.missing), tuple(found.extra)
    return Products(found.of, setting, len(found.right), missing, extra)
