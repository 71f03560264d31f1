"""Which cells a cell depends on, and which depend on it, through a whole network: as masks, with their holes.

What a cell can read by the operations' geometry, not what it does read for one input: a ReLU that is 0 today counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from convviz.features.network.axis_reads import axis_matrices
from convviz.features.network.operations import Operation

RESHAPED = ("reshape", "permute")


@dataclass(frozen=True, eq=False)
class Field:
    """The cells of each operation's output, of one sample, that belong to a field."""

    operation: int
    cell: tuple[int, ...]
    masks: dict[int, torch.Tensor]  # by operation, boolean, of the output's shape; where none is, no cell belongs to it
    stopped: tuple[int, ...]  # operations through which the field cannot be followed: it is at least this


def receptive_field(operations: Sequence[Operation], index: int, cell: Sequence[int]) -> Field:
    """Return the cells that a cell of one operation's output reads, back to the input."""
    masks, stopped = {index: _one(operations[index], cell)}, []
    for operation in reversed(operations[: index + 1]):
        mask = masks.get(operation.index)
        if mask is None or not operation.sources:
            continue
        if operation.reads["how"] == "unknown":
            stopped.append(operation.index)
            continue
        for place, number in enumerate(operation.sources):
            read = _back(operation, place, operations[number].shape, mask)
            masks[number] = masks[number] | read if number in masks else read
    return Field(index, tuple(cell), masks, tuple(reversed(stopped)))


def projective_field(operations: Sequence[Operation], index: int, cell: Sequence[int]) -> Field:
    """Return the cells that read a cell of one operation's output, on to the end."""
    masks, stopped = {index: _one(operations[index], cell)}, []
    for operation in operations[index + 1 :]:
        places = [place for place, number in enumerate(operation.sources) if number in masks]
        if places and operation.reads["how"] == "unknown":
            stopped.append(operation.index)
            continue
        for place in places:
            number = operation.sources[place]
            reached = _on(operation, place, operations[number].shape, masks[number])
            masks[operation.index] = masks[operation.index] | reached if operation.index in masks else reached
    return Field(index, tuple(cell), masks, tuple(stopped))


def _one(operation: Operation, cell: Sequence[int]) -> torch.Tensor:
    """Return a mask with one cell."""
    cell, shape = tuple(cell), operation.shape
    if len(cell) != len(shape) or not all(0 <= at < size for at, size in zip(cell, shape, strict=False)):
        raise ValueError(
            f"cell is an index into the output of {operation.label} for one sample, of shape {list(shape)}: got "
            f"{list(cell)}"
        )
    mask = torch.zeros(shape, dtype=torch.bool)
    mask[cell] = True
    return mask


def _back(operation: Operation, place: int, source: Sequence[int], mask: torch.Tensor) -> torch.Tensor:
    reads = operation.reads
    if reads["how"] == "reshape":
        return mask.reshape(tuple(source))
    if reads["how"] == "permute":
        return mask.permute(_inverse(reads["order"]))
    lined_up, out = _lined_up(operation, source)
    matrices = axis_matrices(reads, place, lined_up, out) or []
    found = mask.reshape(out)
    for axis, matrix in enumerate(matrices):
        if matrix is not None:
            found = _through(found, matrix.T, axis)
    return found.reshape(tuple(source)) > 0


def _on(operation: Operation, place: int, source: Sequence[int], mask: torch.Tensor) -> torch.Tensor:
    reads = operation.reads
    if reads["how"] == "reshape":
        return mask.reshape(operation.shape)
    if reads["how"] == "permute":
        return mask.permute(reads["order"])
    lined_up, out = _lined_up(operation, source)
    found = mask.reshape(lined_up)
    for axis, matrix in enumerate(axis_matrices(reads, place, lined_up, out) or []):
        if matrix is not None:
            found = _through(found, matrix, axis)
    return found.reshape(operation.shape) > 0


def _lined_up(operation: Operation, source: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the shapes of a source and of the output with the same number of axes."""
    lined_up, out = list(source), list(operation.reads.get("taken", operation.shape))
    for axis in operation.reads.get("drop", ()):
        out.insert(axis, 1)
    return [1] * (len(out) - len(lined_up)) + lined_up, out


def _through(mask: torch.Tensor, matrix: torch.Tensor, axis: int) -> torch.Tensor:
    """Return where along one axis a mask leads; ``matrix`` ``[to, from]``."""
    if matrix.stride() == (0, 0):  # each reads all of the axis
        shape = [matrix.shape[0] if at == axis else size for at, size in enumerate(mask.shape)]
        return mask.any(axis, keepdim=True).expand(shape)
    found: torch.Tensor = torch.tensordot(mask.float(), matrix, dims=([axis], [1]))
    return found.movedim(-1, axis) > 0


def _inverse(order: Sequence[int]) -> list[int]:
    return [order.index(axis) for axis in range(len(order))]
