"""Why a number is wrong: what the page says of it is what Python's recipes compute, no more and no less.

``CONVVIZ_REASONS=2000`` in the environment asks for as many cells and random wrong numbers as the issue names.
"""

import functools
import itertools
import json
import os
import random

import pytest
import torch

from convviz.check.battery import BATTERY, Case, make_case
from convviz.check.mistakes import catalogue, compute
from convviz.check.worked_sums import products
from convviz.facts import facts
from tests.browser.test_mistaken import fits, known
from tests.geometries import EDGE_CASES, integers, random_specs
from tests.truth import truth

pytestmark = pytest.mark.browser

RESULTS = ("output", "grad_input", "grad_weight", "grad_bias")
COUNT = int(os.environ.get("CONVVIZ_REASONS", "240"))  # of cells, and of wrong numbers
A_CASE = 3  # cells of each result of a geometry
# What the page says of each number in each cell: the numbers that it is given are those of the board.
RUN = """(text) => {
  const { cases, mistakes } = JSON.parse(text);
  const tensor = ({ shape, data }) => ({ shape, data: Float64Array.from(data) });
  return JSON.stringify(cases.map(({ spec, tensors, asked }) => {
    const stages = Object.fromEntries(Object.entries(tensors).map(([name, each]) => [name, tensor(each)]));
    const find = js["numbers/reasons.js"].createReasons(mistakes, { spec, transposed: false }, stages);
    return asked.map(([panel, at, typed]) => find(panel, at, typed));
  }));
}"""


def mistakes():
    """Return the mistakes that concern a result, as the page has them."""
    return [
        {"id": each.id, "of": ", ".join(each.of), "ways": list(each.ways)}
        for each in catalogue().values()
        if each.ways and each.id[0] != "Q"
    ]


def whole_case(spec, seed):
    """Return a case of whole numbers, where much coincides."""
    drawn = make_case("whole", spec, seed)
    names = ("input", "weight", "bias", "grad_output", "transposed_bias")
    tensors = {name: integers(tuple(drawn.tensor(name).shape), seed + n, 3) for n, name in enumerate(names)}
    return Case("whole", spec, **tensors)


def cases():
    specs = [*EDGE_CASES.values(), *random_specs(7, COUNT)]
    random.Random(1).shuffle(specs)
    even = [spec.replace(padding=tuple(min(sides) for sides in spec.padding)) for spec in specs if fits(spec)]
    return [whole_case(spec, number) for number, spec in enumerate([*BATTERY.values(), *even])]


class Ways:
    """What every known way of every mistake makes of one case."""

    def __init__(self, case, seed):
        self.case, self.other = case, make_case("reals", case.spec, seed)
        given = {"input": case.input, "weight": case.weight, "bias": case.bias, "grad": case.grad_output}
        found = truth(case.spec, "weighted_sum", given)
        self.right = {name: found[name].detach() for name in RESULTS}
        self.made = {
            (mistake.id, of): [self.tensor(of, way) for way in mistake.ways if known(way) and self.is_whole(of, way)]
            for mistake in catalogue().values()
            for of in mistake.of
            if mistake.id[0] != "Q" and of in RESULTS
        }

    def tensor(self, of, way):
        return compute(of, way, self.case)

    @functools.cache  # noqa: B019 (the cases live as long as the tests)
    def products(self, of):
        return products(of, self.case)

    def is_whole(self, of, way):
        """Return whether each choice does something in this geometry, seen in numbers that hide nothing."""
        whole = compute(of, way, self.other)
        for step in way:
            try:
                less = compute(of, {name: choice for name, choice in way.items() if name != step}, self.other)
            except RuntimeError:  # a shape without the sum that it goes with
                less = None
            if whole is None or less is None or whole.shape != less.shape:
                continue
            if torch.allclose(whole, less, rtol=1e-9, atol=1e-9):
                return False
        return True

    def numbers(self, of, cell):
        """Return number → the mistakes that give it in a cell, where it is not the right one."""
        right = self.right[of]
        found = {}
        for (id, result), tensors in self.made.items():
            for tensor in tensors if result == of else []:
                number = at(tensor, right.shape, cell)
                if number is not None and abs(number - float(right[cell])) > 1e-6:
                    found.setdefault(number, set()).add(id)
        return found


def at(tensor, shape, cell):
    """Return the number of a cell in a tensor that may have come out in another shape; None where it has none."""
    if tensor is None:
        return None
    if len(shape) == 1:
        if tensor.numel() == 1:
            return float(tensor.reshape(()))
        return float(tensor[cell]) if tensor.shape == shape else None
    if tensor.dim() != 4 or tensor.shape[:2] != shape[:2]:
        return None
    return float(tensor[cell]) if all(i < size for i, size in zip(cell, tensor.shape, strict=True)) else None


def near(one, other):
    return abs(one - other) <= 1e-6 * max(1, abs(other))


def printed(one, other):
    """Return whether a number is another one, to three digits where that is no whole one."""
    return near(one, other) or (other % 1 != 0 and abs(one - other) <= 0.006 * max(1, abs(other)))


def cells_of(draw, shape):
    every = list(itertools.product(*map(range, shape)))
    return draw.sample(every, min(A_CASE, len(every)))


def plain(tensor):
    return {"shape": list(tensor.shape), "data": tensor.flatten().tolist()}


def ask(js, made, asked):
    """Return what the page says of (panel, cell, number) for each case."""
    names = ("input", "weight", "bias", "grad_output")
    sent = [
        {
            "spec": ways.case.spec.to_dict(),
            "tensors": {
                **{name: plain(ways.case.tensor(name)) for name in names},
                **{name: plain(tensor) for name, tensor in ways.right.items()},
            },
            "asked": each,
        }
        for ways, each in zip(made, asked, strict=True)
    ]
    return json.loads(js.page.evaluate(RUN, json.dumps({"cases": sent, "mistakes": mistakes()})))


@pytest.fixture(scope="module")
def drawn():
    """Cases with what each mistake makes of them, and cells of each result, as many as are asked for."""
    draw, made, chosen, count = random.Random(3), [], [], 0
    for number, case in enumerate(cases()):
        ways = Ways(case, 1000 + number)
        cells = [(of, cell) for of in RESULTS for cell in cells_of(draw, ways.right[of].shape)]
        made.append(ways)
        chosen.append(cells)
        count += len(cells)
        if count >= COUNT:
            break
    return made, chosen


def test_a_number_is_answered_with_every_mistake_that_gives_it_and_with_no_other(js, drawn):
    made, chosen = drawn
    asked, wanted = [], []
    for ways, cells in zip(made, chosen, strict=True):
        every = [(of, cell, ways.numbers(of, cell)) for of, cell in cells]
        asked.append([(of, cell, number) for of, cell, found in every for number in found])
        wanted.append([found[number] for _, _, found in every for number in found])
    order = facts("reasons")["likeliest"]
    answered, met = 0, set()
    for ways, questions, sets, told in zip(made, asked, wanted, ask(js, made, asked), strict=True):
        for question, ids, reasons in zip(questions, sets, told, strict=True):
            said = [reason["id"] for reason in reasons if reason["why"] == "mistake"]
            exact = {id for id in ids if question[2] == round(question[2])} or ids
            assert set(said) >= exact, (ways.case.spec, question, ids, said)
            for id in set(said) - ids:  # one that prints the same
                numbers = [
                    at(tensor, ways.right[question[0]].shape, question[1]) for tensor in ways.made[id, question[0]]
                ]
                assert any(number is not None and printed(question[2], number) for number in numbers), (question, id)
            assert said == sorted(said, key=order.index), said
            answered += len(said)
            met |= set(said)
    cells = sum(map(len, chosen))
    print(f"{cells} cells, {sum(map(len, asked))} wrong numbers, {answered} mistakes named")
    assert met == set(order), f"{set(order) - met} are met in no cell"


def test_no_reason_is_given_that_is_not_true(js, drawn):
    made, chosen = drawn
    draw = random.Random(6)
    asked = []
    for ways, cells in zip(made, chosen, strict=True):
        questions = []
        for of, cell in cells:
            right = float(ways.right[of][cell])
            number = draw.choice([draw.randint(-12, 12), right + draw.choice([-3, -2, -1, 1, 2, 3]), -right, 2 * right])
            questions.append((of, cell, number + draw.choice([0, 0, 0, 0.5])))
        asked.append(questions)
    kinds = set()
    for ways, questions, told in zip(made, asked, ask(js, made, asked), strict=True):
        for question, reasons in zip(questions, told, strict=True):
            if printed(question[2], float(ways.right[question[0]][question[1]])):
                continue
            for reason in reasons:
                kinds.add(reason["why"])
                assert is_true(ways, *question, reason), (ways.case.spec, question, reason)
    print(f"{sum(map(len, asked))} random numbers; said: {sorted(kinds)}")
    wanted = {"mistake", "unweighted", "count", "sign", "neighbour", "missing", "twice", "flipped"}
    assert kinds >= wanted, wanted - kinds


def is_true(ways, of, cell, typed, reason):
    """Return whether a number is what a reason says, computed from the definition."""
    right, why = ways.right[of], reason["why"]
    terms = ways.products(of)[cell]
    value = float(right[cell])
    if why == "mistake":
        return any(
            number is not None and printed(typed, number) and not near(number, value)
            for number in (at(tensor, right.shape, cell) for tensor in ways.made[reason["id"], of])
        )
    if why == "sign":
        return near(typed, -value)
    if why == "neighbour":
        steps = {"right": (0, 1), "left": (0, -1), "below": (1, 0), "above": (-1, 0)}
        for place in reason["places"]:
            down, across = (sum(steps[name][axis] for name in place.split("_")) for axis in (0, 1))
            if not near(typed, float(right[(*cell[:2], cell[2] + down, cell[3] + across)])):
                return False
        return bool(reason["places"])
    if why.startswith("count"):
        return typed == sum(len(factors) == (1 if of == "grad_bias" else 2) for factors in terms)
    if why == "unweighted":
        names = {"output": ("weight", "input"), "grad_input": ("grad_output", "weight")}
        kept = names.get(of, ("grad_output", "input")).index(reason["added"])
        return near(typed, sum(factors[kept] if len(factors) == 2 else factors[0] for factors in terms))
    times = {"missing": -1, "twice": 1, "flipped": -2}[why]
    texts = {text(factors): torch.tensor(factors).double().prod().item() for factors in terms}
    return all(near(typed, value + times * texts[each]) for each in reason["products"]) and bool(reason["products"])


def text(factors):
    words = [f"{factor:g}".replace("-", "−") for factor in factors]
    return " · ".join(f"({word})" if place and word[0] == "−" else word for place, word in enumerate(words))
