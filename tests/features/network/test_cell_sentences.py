"""What the page says of cells of random nets, exact or in bytes, against torch: numbers, counts and reasons."""

import contextlib
import functools
import json
import math
import random
import re

import pytest
import torch
from torch import nn

import convviz
from convviz.features.network.page_data import NetworkPage
from tests.browser.call_javascript import called
from tests.features.network.broken_nets import broken_net
from tests.features.network.nets import LeNet, Separable, TwoInputs, UNet, made, seeded
from tests.features.network.random_stacks import stack

NETS = 200
CELLS = 12  # of each
FILES = [f"../features/network/{name}.js" for name in ("cell_sentences", "rule_data", "fields")]
SAY = """(text) => JSON.stringify(JSON.parse(text).map(({ network, cells }) => {
  const { Fields } = js["../features/network/fields.js"];
  const fields = new Fields(network.operations);
  const seen = { network, back: network.backs[0], fields };
  return cells.map(([operation, cell]) => [
    js["../features/network/cell_sentences.js"].cellSentence(seen, operation, cell, fields.receptive(operation, cell)),
    network.operations[operation].sources.length
      ? js["../features/network/rule_data.js"].openedAt(seen, operation, cell).sentences.join(" ") : "",
  ]);
}))"""
NUMBER = r"(?:≈ )?(−?(?:[\d.]+(?:e−?\d+)?|∞|nan))|(0 ± [\d.e−]+)"
NAMED = re.compile(
    r"^\*\*(?P<cell>.*?)\*\* is (?P<value>.*?)(?:, its gradient (?P<gradient>.*?)\.|; no gradient came)( |$)"
)


@functools.cache
def nets():
    """Return models with their batch: stacks, broken ones, and those that people have."""
    made_nets = []
    for seed in range(NETS // 2):
        model, shape = stack(seed)
        x = torch.randn(2, *shape, generator=seeded(seed), dtype=torch.float64)
        made_nets.append((model.train(seed % 2 == 0), x))
        model, x, _ = broken_net(seed)
        made_nets.append((model, x))
    for model, x in (
        (made(LeNet), torch.randn(1, 1, 32, 32, generator=seeded())),
        (made(UNet), torch.randn(2, 1, 8, 8, generator=seeded())),
        (made(Separable), torch.randn(2, 4, 6, 6, generator=seeded())),
        (made(TwoInputs), (torch.randn(2, 1, 8, 8, generator=seeded()), torch.randn(2, 5, generator=seeded()))),
        *(
            (nn.Sequential(nn.AvgPool2d(3, 2, 1, ceil, include, by), nn.Sigmoid()), torch.randn(1, 1, 8, 8))
            for ceil in (False, True)
            for include in (False, True)
            for by in (None, 4)
        ),
    ):
        made_nets.append((model, x))
    return made_nets


def exact_planes(network, tensors):
    """Return tensors of one sample as lenet_source.js has them."""
    made_planes = []
    for operation, tensor in zip(network.operations, tensors, strict=True):
        own = None if tensor is None else operation.of_sample(tensor, 0)
        channels = [] if own is None else list(range(own.shape[0] if own.dim() else 1))
        plane = None if own is None else {"shape": list(own.shape), "values": own.double().flatten().tolist()}
        made_planes.append(plane and {**plane, "channels": channels})
    return made_planes


def asked(network, seed, exact):
    rng = random.Random(seed)
    data = NetworkPage(network).data()
    if exact:
        data["planes"] = exact_planes(network, [each.output for each in network.operations])
        data["backs"][0]["planes"] = exact_planes(network, network.gradients)
    few = [each for each in network.operations if len(each.shape) <= 3]
    cells = [(each.index, [rng.randrange(size) for size in each.shape]) for each in rng.choices(few, k=CELLS)]
    return {"network": data, "cells": cells}


def number(text):
    found = re.fullmatch(NUMBER, text.strip())
    if found is None:
        return None
    return 0.0 if found[2] else float(found[1].replace("−", "-").replace("∞", "inf"))


def near(got, true, slack=6e-4):
    return got is None or got == pytest.approx(true, rel=0.06, abs=slack)


class Said:
    """One sentence about one cell, and what is said of its opened operation."""

    def __init__(self, network, operation, cell, exact):
        self.network, self.operation, self.cell, self.exact = network, network.operations[operation], tuple(cell), exact
        self.readers = [each for each in network.operations if operation in each.sources]
        self.gradient = network.gradients[operation]

    def close(self, text, true, like):
        """Return whether a number in a text is the true one, as exactly as its tensor was recorded."""
        got = number(text)
        if got is None:
            return text in ("not recorded", "nan or inf") or text.endswith("on average there")
        if not math.isfinite(true):
            return math.isnan(got) or got == true
        if "±" in text:
            return abs(true) <= 1.06 * number(text.partition("± ")[2])
        slack = 0 if self.exact else float(like.abs().nan_to_num(0, 0, 0).max()) / 250
        thousandth = 5.1e-4 if abs(true) > 9e-4 else 0  # three places are written of what is not tiny
        return abs(got - true) <= slack + 0.06 * abs(true) + thousandth + 1e-30

    def at(self, tensor, operation=None, cell=None):
        place = tuple(self.cell if cell is None else cell)
        return float((operation or self.operation).of_sample(tensor, 0)[place])

    def check(self, sentence, opened):
        found = NAMED.match(sentence)
        assert found
        assert self.close(found["value"], self.at(self.operation.output), self.operation.output)
        assert (self.gradient is None) == (found["gradient"] is None)
        self.field(sentence)
        if self.gradient is not None:
            assert self.close(found["gradient"], self.at(self.gradient), self.gradient)
            self.reader(sentence[found.end() :])
        if opened:
            self.rule(opened)

    def field(self, sentence):
        field = self.network.receptive_field(self.operation, self.cell)
        for input in (each for each in self.network.operations if each.kind == "input" and len(each.shape) == 3):
            span = rf"receptive field (?:is|spans) (?:all )?(\d+) × (\d+) pixels of {re.escape(input.label)}"
            text = re.search(span + r"(?:, of which it reads (\d+))?", sentence)
            mask = field.masks.get(input.index)
            if text is None or mask is None or field.stopped:
                continue
            plane = mask.any(0)
            rows, columns = (plane.any(axis).nonzero().flatten() for axis in (1, 0))
            spans = [int(each.max() - each.min()) + 1 for each in (rows, columns)]
            assert [int(text[1]), int(text[2])] == spans
            assert int(text[3] or spans[0] * spans[1]) == int(plane.sum())

    def reader(self, text):
        """Hold what is said of the operation that reads the cell."""
        own = self.at(self.gradient)
        if match := re.search(r"(\d+) operations read it \(", text):
            assert int(match[1]) == len(self.readers)
        if len(self.readers) != 1 or math.isnan(own):
            return
        reader, back = self.readers[0], self.network.gradients[self.readers[0].index]
        mask = self.network.projective_field(self.operation, self.cell).masks.get(reader.index)
        there = [] if mask is None else mask.nonzero().tolist()
        behind = [0.0 if back is None else self.at(back, reader, cell) for cell in there]
        if match := re.search(r"in (\w+) windows? with (\d+) kernels|by (\d+) weights?", text):
            windows = 1 if match[1] in ("one", None) else int(match[1])
            assert windows * int(match[2] or match[3]) == len(there)
        if match := re.search(r"(?:behind it, |comes back: )(.*?)(?:, back unchanged)?\.( |$)", text):
            assert self.close(match[1], behind[0], back)
            assert not self.exact or own == behind[0]
        if "0 comes back" in text:
            assert abs(own) <= (0 if self.exact else float(self.gradient.abs().nan_to_num(0, 0, 0).max()) / 120)
        assert "It is above 0" not in text or self.at(self.operation.output) > 0
        assert "It is not above 0" not in text or self.at(self.operation.output) <= 0
        if match := re.search(r"each of the (\d+) cells of its window gets .* of the gradient (.*?)\. ", text):
            source = self.network.receptive_field(reader, there[0]).masks[self.operation.index]
            assert int(match[1]) == int(source.sum())
            assert self.close(match[2], behind[0], back)
            assert not self.exact or not own or behind[0] / own >= int(match[1]) - 1e-3  # padding has its share, too
        if match := re.search(r"(?:slope here, .*|weight ⁄ √\(var \+ eps\)) = (.*?)\.( |$)", text):
            assert not self.exact or not behind[0] or near(number(match[1]), own / behind[0])

    def rule(self, text):
        """Hold what is said of an opened operation."""
        output = self.at(self.operation.output)
        sources = [self.network.operations[each] for each in self.operation.sources]
        masks = self.network.receptive_field(self.operation, self.cell).masks
        read = [each.of_sample(each.output, 0)[masks[each.index]] for each in sources if each.index in masks]
        if match := re.search(r"These (\d+) are (?:averaged|added up and divided by ([\d.]+)): (.*?)\. ", text):
            assert int(match[1]) == read[0].numel()
            assert self.close(match[3], output, self.operation.output)
            total = float(read[0].sum())
            assert not self.exact or output == pytest.approx(total / float(match[2] or match[1]), rel=1e-4, abs=1e-6)
        if match := re.search(r"^(\d+) numbers, each times its weight, plus the bias: (.*?)\. ", text):
            assert int(match[1]) == read[0].numel()
            assert self.close(match[2], output, self.operation.output)
        if not self.exact:
            return
        if match := re.search(r"^(.*) = (.*?)\. A sum changes", text):
            terms = [number(each) for each in match[1].split(" + ")]
            assert near(sum(terms), output, 2e-3 + 0.06 * sum(map(abs, terms)))
        if match := re.search(r"^\((.*?) − (.*?)\) ⁄ (.*?) · (.*?) \+ (.*?) = (.*?):", text):
            x, mean, deviation, weight, bias, _ = map(number, match.groups())
            size = 2e-3 * (1 + abs(weight / deviation)) + 0.06 * (
                abs(bias) + abs(weight / deviation) * (abs(x) + abs(mean))
            )
            assert near((x - mean) / deviation * weight + bias, output, size)
        if match := re.search(r"Its slope there is .* = (.*?), and", text):
            assert near(number(match[1]), output * (1 - output) if self.operation.kind == "sigmoid" else 1 - output**2)
        if match := re.search(r"(?:at|from) \[(\d+), (\d+)\].*window", text):
            source = sources[0].of_sample(sources[0].output, 0)
            assert float(source[(self.cell[0], int(match[1]), int(match[2]))]) == output == float(read[0].max())


@pytest.fixture(scope="module")
def page(request):
    with called(request, lambda text: text, FILES) as functions:
        yield functions.page


@functools.cache
def recorded():
    made_networks = []
    for model, x in nets():
        with contextlib.suppress(ValueError):  # no gradient leads back
            network = convviz.network(model, x, live=False)
            sizes = [*(each.rms for each in network.operations), *network.backs[0].rms]
            if all(
                not each or not math.isfinite(each) or 1e-30 < each < 1e30 for each in sizes
            ):  # the page has float32
                made_networks.append(network)
    return made_networks


def is_finite(network):
    tensors = [*(each.output for each in network.operations), *network.gradients]
    return all(each is None or torch.isfinite(each).all() for each in tensors)


@pytest.mark.parametrize("exact", [True, False])
def test_what_is_said_of_a_cell_is_so(page, exact):
    cases = [each for each in recorded() if not exact or is_finite(each)]
    questions = [asked(network, seed, exact) for seed, network in enumerate(cases)]
    answers = json.loads(page.evaluate(SAY, json.dumps(questions)))
    seen = set()
    for network, question, said in zip(cases, questions, answers, strict=True):
        for (operation, cell), (sentence, opened) in zip(question["cells"], said, strict=True):
            try:
                Said(network, operation, cell, exact).check(sentence, opened)
            except AssertionError as error:
                raise AssertionError(f"{network}\n{operation}{cell}\n{sentence}\n{opened}") from error
            seen |= {re.sub(r"[^a-zA-Z ]", "", each)[:20] for each in (*sentence.split(". ")[1:], *opened.split(". "))}
    assert len(cases) >= 150
    assert len(seen) > 40, seen
