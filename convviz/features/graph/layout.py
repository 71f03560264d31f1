"""Where the boxes stand: in layers, with few crossings, without Graphviz.

The three steps of Sugiyama: layers by the longest path, order within a layer by the middle of the neighbours, then
places close to the neighbours. An arrow over several layers goes through a bend in each, so that none runs through a
box.
"""

import itertools
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

Arrow = tuple[str, str]  # source, target
Bend = tuple[str, int]  # source, layer: all arrows of one source share a bend
Point = str | Bend

ORDERINGS = 24  # sweeps, down and up in turn; the best order seen is kept
PLACINGS = 24
APART = {2: 1.0, 1: 0.6, 0: 0.2}  # by how many of two neighbours are boxes, in widths of a box with its margin
NEARLY = 0.4  # a crooked piece that is off by less is made straight


@dataclass(frozen=True)
class Arrangement:
    """Places in units of one box with its margin."""

    positions: dict[str, tuple[float, float]]  # the box's middle; y is its layer, 0 at the top
    routes: dict[Arrow, tuple[float, ...]]  # the x at which the arrow passes each layer between the two


def arrange(ids: Sequence[str], arrows: Sequence[Arrow]) -> Arrangement:
    """No id stands before those that use its value."""
    layer = _layers(ids, arrows)
    links = _links(layer, arrows)
    rows = _order(_rows(ids, layer, links), links)
    x = _straighten(rows, links, _place(rows, links))
    left = min(x.values())
    at = {point: round(place - left, 4) for point, place in x.items()}
    return Arrangement(
        {id: (at[id], float(layer[id])) for id in ids},
        {(a, b): tuple(at[a, between] for between in range(layer[a] + 1, layer[b])) for a, b in arrows},
    )


def _layers(ids: Sequence[str], arrows: Sequence[Arrow]) -> dict[str, int]:
    """Put each node just above the first that uses it: a weight stands beside its layer."""
    users = defaultdict(list)
    for source, target in arrows:
        users[source].append(target)
    height: dict[str, int] = {}
    for id in ids:
        height[id] = 1 + max((height[user] for user in users[id]), default=-1)
    return {id: max(height.values()) - height[id] for id in ids}


def _links(layer: dict[str, int], arrows: Sequence[Arrow]) -> list[tuple[Point, Point]]:
    """Cut each arrow into pieces from one layer to the next; shared pieces count once."""
    links: dict[tuple[Point, Point], None] = {}  # a set that keeps its order
    for source, target in arrows:
        bends: list[Point] = [(source, between) for between in range(layer[source] + 1, layer[target])]
        for upper, lower in zip([source, *bends], [*bends, target], strict=True):
            links[upper, lower] = None
    return list(links)


def _rows(ids: Sequence[str], layer: dict[str, int], links: list[tuple[Point, Point]]) -> list[list[Point]]:
    """Return the layers from the top, each in the order in which a walk from the output meets it."""
    above = _neighbours([(lower, upper) for upper, lower in links])
    rows: list[list[Point]] = [[] for _ in range(max(layer.values()) + 1)]
    waiting: list[Point] = [ids[0]]
    seen: set[Point] = set()
    while waiting:
        point = waiting.pop()
        if point not in seen:
            seen.add(point)
            rows[layer[point] if isinstance(point, str) else point[1]].append(point)
            waiting += reversed(above[point])
    return rows


def _neighbours(links: list[tuple[Point, Point]]) -> defaultdict[Point, list[Point]]:
    found = defaultdict(list)
    for one, other in links:
        found[one].append(other)
    return found


def _order(rows: list[list[Point]], links: list[tuple[Point, Point]]) -> list[list[Point]]:
    """Sort each layer by the middle of its neighbours, downwards and upwards in turn."""
    below = _neighbours(links)
    above = _neighbours([(lower, upper) for upper, lower in links])
    best, fewest = rows, crossings(rows, below)
    for sweep in range(ORDERINGS):
        if fewest == 0:
            break
        downwards = sweep % 2 == 0
        rows = _sweep(rows if downwards else rows[::-1], above if downwards else below, mirrored=sweep % 4 > 1)
        rows = rows if downwards else rows[::-1]
        found = crossings(rows, below)
        if found < fewest:
            best, fewest = rows, found
    return best


def _sweep(rows: list[list[Point]], neighbours: dict[Point, list[Point]], *, mirrored: bool) -> list[list[Point]]:
    """Sort the layers one by one; mirrored, points with one middle swap their sides."""
    done = [rows[0]]
    for row in rows[1:]:
        places = {point: place for place, point in enumerate(done[-1])}

        def middle(point: Point, own: int, places: dict[Point, int] = places) -> float:
            near = [places[other] for other in neighbours[point]]
            return sum(near) / len(near) if near else own

        keys = {point: middle(point, own) for own, point in enumerate(row)}
        done.append(sorted(reversed(row) if mirrored else row, key=keys.__getitem__))
    return done


def crossings(rows: list[list[Point]], below: dict[Point, list[Point]]) -> int:
    """All layers together."""
    total = 0
    for upper, lower in itertools.pairwise(rows):
        places = {point: place for place, point in enumerate(lower)}
        ends: list[int] = []  # of the pieces so far, sorted: those right of a new piece's end cross it
        for point in upper:
            new = sorted(places[other] for other in below[point])
            total += sum(len(ends) - bisect_left(ends, end + 1) for end in new)
            for end in new:
                insort(ends, end)
    return total


def _place(rows: list[list[Point]], links: list[tuple[Point, Point]]) -> dict[Point, float]:
    """Move each layer as close to its neighbours as order and distances allow, up and down in turn."""
    near = _neighbours([pair for upper, lower in links for pair in ((upper, lower), (lower, upper))])
    x: dict[Point, float] = {}
    for row in rows:
        x.update(zip(row, _apart(row, [0.0] * len(row), [1.0] * len(row)), strict=True))
    for placing in range(PLACINGS):
        for row in rows if placing % 2 else rows[::-1]:
            wishes = [_wish(point, near[point], x) for point in row]
            x.update(zip(row, _apart(row, [w for w, _ in wishes], [w for _, w in wishes]), strict=True))
    return x


def _wish(point: Point, near: list[Point], x: dict[Point, float]) -> tuple[float, float]:
    """Return where a point wants to stand and how strongly: between bends a crook is ugliest."""
    weights = [1.0 if isinstance(point, str) or isinstance(other, str) else 8.0 for other in near]
    return sum(w * x[other] for w, other in zip(weights, near, strict=True)) / sum(weights), sum(weights)


def _straighten(rows: list[list[Point]], links: list[tuple[Point, Point]], x: dict[Point, float]) -> dict[Point, float]:
    """Put points that are nearly below what feeds them right below it, where there is room."""
    above = _neighbours([(lower, upper) for upper, lower in links])
    x = dict(x)
    for row in rows:
        for place, point in enumerate(row):
            if len(above[point]) == 1 and abs(x[point] - x[above[point][0]]) < NEARLY:
                wish = x[above[point][0]]
                if place > 0:
                    wish = max(wish, x[row[place - 1]] + _distance(row[place - 1], point))
                if place < len(row) - 1:
                    wish = min(wish, x[row[place + 1]] - _distance(point, row[place + 1]))
                x[point] = wish
    return x


def _distance(one: Point, other: Point) -> float:
    return APART[isinstance(one, str) + isinstance(other, str)]


def _apart(row: list[Point], wishes: list[float], weights: list[float]) -> list[float]:
    """Return the places closest to the wishes that keep order and distances: isotonic regression."""
    offsets = [0.0]
    for one, other in itertools.pairwise(row):
        offsets.append(offsets[-1] + _distance(one, other))
    blocks: list[tuple[float, float, int]] = []  # mean wish, weight, how many points
    for wish, weight, offset in zip(wishes, weights, offsets, strict=True):
        block = (wish - offset, weight, 1)
        while blocks and blocks[-1][0] >= block[0]:
            mean, heavy, many = blocks.pop()
            together = heavy + block[1]
            block = ((mean * heavy + block[0] * block[1]) / together, together, many + block[2])
        blocks.append(block)
    places = [mean for mean, _, many in blocks for _ in range(many)]
    return [place + offset for place, offset in zip(places, offsets, strict=True)]
