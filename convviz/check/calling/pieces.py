"""A function that knows no batch, or no channels either, is asked for one sample, one plane, after another."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from convviz.check.battery import Case

SINGLE = ("CHW", "HWC", "C")
SUMMED = ("grad_weight", "grad_bias")


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a case, and where what comes of it belongs."""

    case: Case
    sample: int = 0
    out: int = 0
    into: int = 0
    within: int = 0


def pieces(case: Case, layout: str) -> Iterator[Piece]:
    """Yield the cases that a function of this layout can be asked."""
    if layout in SINGLE:
        for sample in range(case.spec.batch):
            yield Piece(_sample(case, sample), sample)
    elif layout == "HW":
        for sample in range(case.spec.batch):
            yield from _planes(case, sample)
    else:
        yield Piece(case)


def _sample(case: Case, n: int) -> Case:
    one = slice(n, n + 1)
    spec = case.spec.replace(batch=1)
    return dataclasses.replace(case, spec=spec, input=case.input[one], grad_output=case.grad_output[one])


def _planes(case: Case, n: int) -> Iterator[Piece]:
    spec = case.spec
    inputs, outputs = spec.in_channels // spec.groups, spec.out_channels // spec.groups
    plain = spec.replace(batch=1, in_channels=1, out_channels=1, groups=1)
    for out in range(spec.out_channels):
        for within in range(inputs):
            into = out // outputs * inputs + within
            part = Case(
                case.name,
                plain,
                case.input[n : n + 1, into : into + 1],
                case.weight[out : out + 1, within : within + 1],
                case.bias[out : out + 1] * (within == 0),  # it is added once, not for each plane of the sum
                case.grad_output[n : n + 1, out : out + 1],
                case.transposed_bias[into : into + 1] * (out % outputs == 0),
            )
            yield Piece(part, n, out, into, within)


def together(
    parts: Sequence[tuple[Piece, Mapping[str, torch.Tensor]]], layout: str, transposed: bool
) -> dict[str, torch.Tensor]:
    """Return the results of the whole case from those of its pieces; the first one's where they do not fit."""
    if len(parts) == 1 and layout != "HW":
        return dict(parts[0][1])
    found = {}
    for name in parts[0][1]:
        gathered: dict[tuple[int, int], torch.Tensor] = {}
        for piece, results in parts:
            place = _place(name, piece, layout, transposed)
            if place is not None and name in results:
                had = gathered.get(place)
                fits = had is not None and had.shape == results[name].shape
                gathered[place] = had + results[name] if had is not None and fits else results[name]
        found[name] = _joined(name, gathered)
    return found


def _place(name: str, piece: Piece, layout: str, transposed: bool) -> tuple[int, int] | None:
    if layout != "HW":
        return (0, 0) if name in SUMMED else (piece.sample, 0)
    if name == "grad_bias":
        return (0, piece.out) if piece.within == 0 else None
    if name == "grad_weight":
        return (piece.out, piece.within)
    return (piece.sample, piece.into if name == "grad_input" or transposed else piece.out)


def _joined(name: str, gathered: Mapping[tuple[int, int], torch.Tensor]) -> torch.Tensor:
    places = sorted(gathered)
    first = gathered[places[0]]
    if any(gathered[place].shape != first.shape for place in places) or (len(places) > 1 and first.dim() == 0):
        return first
    rows = [place[0] for place in places]
    width = rows.count(rows[0])
    if name == "grad_bias":
        return torch.cat([gathered[place].reshape(-1) for place in places])
    lines = [
        torch.cat([gathered[place] for place in places[at : at + width]], 1) for at in range(0, len(places), width)
    ]
    return torch.cat(lines, 0) if first.dim() > 1 else first
