"""Which one wrong index, or wrong factor of a binary weight, explains everything that was read off."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch

from convviz.cases.battery import Case, make_case
from convviz.check.call_outcome import same
from convviz.check.probes.traced_products import MEMBERS, Cell, Product, Provenance, named
from convviz.facts.words import sentences
from convviz.mistakes.grad_weight import FILTER, grad_weight, weight_in_use

say = sentences("check")


def misread(found: Provenance) -> str:
    """Return in a sentence which one index is wrong, if that explains all products; empty otherwise."""
    for at, name in enumerate(MEMBERS[found.of]):
        if found.found.keys() == {each for each in found.right if each[at][0] == each[at][1]}:
            return say("read.diagonal", what=name)
    if found.of == "grad_bias" or found.unknown:
        return ""
    rows, columns = found.spec.stride
    if found.of == "grad_input" and max(found.spec.stride) > 1 and found.found.keys() == _in_blocks(found):
        return say("read.block", rows=rows, columns=columns)
    products = [named(found.of, each) for each in found.found]
    right = {named(found.of, each) for each in found.right}
    spec, names = found.spec, named(found.of, MEMBERS[found.of])
    members = list(zip(*(beside(found, each) for each in products), strict=True))
    for at, name in enumerate(names):
        places = {(own, tuple(wanted)) for own, wanted in members[at]}
        acting = {
            (*each[:at], tuple(there), *each[at + 1 :]) for each, (_, there) in zip(products, members[at], strict=True)
        }
        if acting == right and len(places) == len({own for own, _ in places}) == len({there for _, there in places}):
            cells = ("[{:g},{:g}]".format(*cell) for cell in min(place for place in places if place[0] != place[1]))
            return say("read.permuted", what=name, here=next(cells), there=next(cells))
    if all(_is_backwards(found, products, axis) for axis in (0, 1)):
        return say("read.backwards")
    if any(_table(found, turned) == set(products) for turned in (False, True)):
        return say("read.table")
    sizes = (spec.output_size, spec.kernel_size, spec.padded_size)
    pads = ((0, 0), (0, 0), (spec.padding[0][0], spec.padding[1][0]))
    for name, seen, size, pad in zip(names, members, sizes, pads, strict=True):
        if pitch := _pitch(list(seen), size, pad):
            unpadded = pitch == found.spec.input_size[1] != size[1] and size == found.spec.padded_size
            return say("read.counted.unpadded" if unpadded else "read.counted", what=name, got=pitch, right=size[1])
    return ""


def _in_blocks(found: Provenance) -> set[Product]:
    """Return the products where each number of grad_output fills all cells up to the next one."""
    height, width = found.spec.input_size
    steps = list(itertools.product(*map(range, found.spec.stride)))
    filled = ((o, k, (row + down, column + across)) for o, k, (row, column) in found.right for down, across in steps)
    return {each for each in filled if each[2][0] < height and each[2][1] < width}


def _is_backwards(found: Provenance, products: list[Product], axis: int) -> bool:
    """Return whether cell k acts as cell -k of the kernel, counted round and round."""
    stride, dilation = found.spec.stride[axis], found.spec.dilation[axis]
    lines = [(cell[axis] - stride * o[axis], dilation * k[axis]) for o, k, cell in products]
    least = found.spec.input_size[axis]
    return any(
        len({(at + tap) % around for at, tap in lines}) == 1 < len({(at - tap) % around for at, tap in lines})
        for around in range(least, 2 * least)
    )


def _table(found: Provenance, turned: bool) -> set[Product]:
    """Return the products of which the table [kernel cell, window] is read as [window, kernel cell], or the reverse."""
    sizes = (found.spec.output_size, found.spec.kernel_size)
    windows, cells = (list(itertools.product(range(rows), range(columns))) for rows, columns in sizes)
    read = list(itertools.product(windows, cells))
    written = [(window, cell) for cell, window in itertools.product(cells, windows)]
    taps = {(o, k): i for o, k, i in (named(found.of, each) for each in found.right)}
    pairs = zip(read, written, strict=True) if turned else zip(written, read, strict=True)
    return {(*own, taps[there]) for own, there in pairs if there in taps}


def beside(found: Provenance, product: Product) -> list[tuple[Cell, list[float]]]:
    """Return each cell of (o, k, i), with the one that the other two belong to."""
    spec, (o, k, cell) = found.spec, product
    lines = list(zip(o, k, cell, spec.stride, spec.dilation, (side[0] for side in spec.padding), strict=True))
    return [
        (o, [(at + pad - gap * tap) / step for _, tap, at, step, gap, pad in lines]),
        (k, [(at + pad - step * sent) / gap for sent, _, at, step, gap, pad in lines]),
        (cell, [step * sent + gap * tap - pad for sent, tap, _, step, gap, pad in lines]),
    ]


def _pitch(cells: list[tuple[Cell, list[float]]], size: Cell, pad: Cell) -> int:
    """Return the wrong length of a row by which all cells are counted; 0 where there is none."""
    rows = [(own[0] + pad[0], own[1], there[0] + pad[0], there[1]) for own, there in cells]
    several = len({down for _, _, down, _ in rows}) > 2
    found = max((row * size[1] + column - across) / down if down else 0 for row, column, down, across in rows)
    exact = all(row * size[1] + column == down * found + across for row, column, down, across in rows)
    return int(found) if several and exact and found % 1 == 0 and found != size[1] else 0


def sign_passed(case: Case, ask: Callable[[Case], torch.Tensor | None]) -> list[str]:
    """Return how the gradient of a binary weight differs in its two parts: straight through the sign, and by alpha."""
    sent = [make_case("sent", case.spec, seed).grad_output for seed in range(80, 84)]
    gots = [got for each in sent if (got := ask(case.with_tensor("grad_output", each))) is not None]
    givens = [given for each in sent if (given := grad_weight({}, case.spec, each, case.input)) is not None]
    if {got.shape for got in gots} != {case.weight.shape} or len(gots) < len(sent):
        return []
    weight, passed = case.weight, torch.stack(givens)
    is_scaled, count = case.quantised == "scaled signs", case.weight[0].numel()
    total = (passed * weight.sign()).sum([axis + 1 for axis in FILTER], keepdim=True).expand_as(passed)
    design = torch.stack([passed, total], -1).movedim(0, -2)[..., : 1 + is_scaled]
    seen = torch.stack(gots, -1)[..., None].double()
    parts = torch.linalg.lstsq(design, seen).solution
    if not same(design @ parts, seen):
        return []
    used = weight_in_use({}, case.quantised, weight).abs() * (weight.abs() <= 1)
    said = []
    for name, factor, right in (
        ("through", parts[..., 0, 0], used),
        ("alpha", parts[..., -1, 0], weight.sign() / count),
    ):
        if not same(factor, right) and (is_scaled or name == "through"):
            at = (factor - right).abs().argmax()
            numbers = {"weight": weight, "got": factor, "right": right}
            said.append(
                say(
                    f"read.sign.{name}",
                    **{key: f"{round(float(each.flatten()[at]), 9) + 0.0:.3g}" for key, each in numbers.items()},
                )
            )
    return said
