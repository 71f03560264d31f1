"""The article: every number in a sentence is that of the state beside it, in every language; the file is whole."""

import base64
import gzip
import hashlib
import html
import json
import re
from importlib.resources import files

import pytest
import torch
import torch.nn.functional as F

import convviz.export.article.section_values as section_values
from convviz.cli import main
from convviz.export.article.page import article_bytes
from convviz.export.article.sections import facts_of_sections, sections
from convviz.facts import facts
from convviz.facts.i18n.current_language import languages, use_locale
from convviz.facts.join_lists import listed
from convviz.facts.words import ARGUMENT
from convviz.mistakes.catalogue import catalogue
from convviz.settings.link import from_link
from convviz.settings.tensors import grad_tensor, input_tensor, weight_tensor

SECTIONS = facts_of_sections()
SAID_BY_CODE = {"title", "lead", "noscript", "figure", "now", "app", "still"}
SAID_BY_CODE |= {
    f"doors.{each}" for each in ("title", "code", "code.words", "net", "net.words", "teach", "teach.words", "install")
}
MAX_PACKED_BYTES = 300_000  # bytes, packed


def every_value():
    return [
        pytest.param(value.get("state", section["state"]), value, id=f"{section['id']}.{name}")
        for section in SECTIONS
        for name, value in section["values"].items()
    ]


class Truth:
    """A state's convolution by autograd, and what it reads, by counting."""

    def __init__(self, state):
        settings, notices = from_link(state)
        assert notices == []
        self.spec = settings.spec
        self.input, self.weight = (make(settings).double().requires_grad_() for make in (input_tensor, weight_tensor))
        self.padding, self.stride = self.spec.padding[0][0], self.spec.stride[0]
        self.output = self.forward(self.input, self.weight)
        self.grad_output = grad_tensor(settings).double()
        self.grad_input, self.grad_weight = torch.autograd.grad(
            self.output, (self.input, self.weight), self.grad_output
        )

    def forward(self, x, weight):
        return F.conv2d(x, weight, stride=self.stride, padding=self.padding)

    def windows(self, row, column):
        """Count the outputs of one channel that change with a pixel."""
        x = torch.zeros_like(self.input)
        x[0, 0, row, column] = 1
        return int((self.forward(x, torch.ones_like(self.weight))[0, 0] != 0).sum())

    def weights(self, row, column):
        """Return the weights that a cell of grad_input changes with, from the last to the first."""
        output = self.forward(self.input, self.weight)
        (gradient,) = torch.autograd.grad(output, self.input, self.grad_output, create_graph=True)
        (found,) = torch.autograd.grad(gradient[0, 0, row, column], self.weight)
        return [f"{weight:g}" for weight in self.weight[found != 0].flip(0).tolist()]

    def of(self, kind, given):
        """Return a value as a number, computed without the article's own code."""
        name, *at = given.split()
        row, column = (int(each) for each in at) if len(at) == 2 else (0, 0)
        if kind == "windows":
            return self.windows(int(name), int(at[0]))
        return {
            "cell": lambda: getattr(self, name)[0, 0, row, column].item(),
            "products": lambda: self.windows(row, column) * self.output.shape[1],
            "cells": lambda: getattr(self, name)[0, 0].numel(),
            "extent": lambda: getattr(self, name).shape[-1],
            "channels": lambda: getattr(self, name).shape[1],
            "kernels": lambda: self.weight.shape[0] * self.weight.shape[1],
            "stride": lambda: self.stride,
            "padding": lambda: self.padding if name == "input" else self.weight.shape[-1] - 1 - self.padding,
            "covered": lambda: F.conv_transpose2d(self.grad_output, self.weight, stride=self.stride).shape[-1],
            "remainder": lambda: (self.input.shape[-1] + 2 * self.padding - self.weight.shape[-1]) % self.stride,
            "wrong": lambda: int((self.broken(name) != self.grad_input).sum()),
            "wrong_extent": lambda: self.broken(name).shape[-1],
        }[kind]()

    def broken(self, mistake):
        """Return grad_input with the mistake, written out by hand for the article's geometry."""
        assert self.padding == 0
        spread = torch.zeros(1, 1, *(self.stride * (size - 1) + 1 for size in self.grad_output.shape[2:])).double()
        spread[..., :: self.stride, :: self.stride] = self.grad_output
        rest, reach = self.spec.remainder[0], self.weight.shape[-1] - 1
        rotated, around = self.weight.flip(2, 3), (reach, reach + rest) * 2
        return {
            "I01": lambda: F.conv2d(F.pad(spread, around), self.weight),
            "I07": lambda: F.conv2d(F.pad(self.grad_output, around), rotated),
            "I16": lambda: F.conv2d(F.pad(spread, (0, rest) * 2), rotated),
        }[mistake]().detach()


@pytest.mark.parametrize(("state", "value"), every_value())
def test_each_number_is_that_of_its_state(state, value):
    (kind,) = value.keys() - {"state", "plus"}
    reported = section_values.value_of(state, value)
    if kind == "sum":
        products = [[float(factor) for factor in each.split("·")] for each in reported.split(" + ")]
        panel, row, column = value[kind].split()
        assert sum(one * other for one, other in products) == Truth(state).of("cell", f"{panel} {row} {column}")
    elif kind == "weights":
        assert reported == listed(Truth(state).weights(*map(int, value[kind].split()[1:])))
    else:
        assert float(reported) == Truth(state).of(kind, value[kind]) + value.get("plus", 0)


def ids_in(part):
    """Yield every id of a sentence that a part of a section names."""
    for name, value in part.items():
        if name in ("words", "then", "yes"):
            yield value
        elif name == "paragraphs":
            yield from value
        elif name == "answers":
            for each in value:
                yield from ids_in(each)
        elif name in ("ask", "try"):
            yield from ids_in(value)


def test_every_sentence_is_said_and_every_value_is_in_one():
    words = facts("words/article")
    said = {section["id"]: {f"{section['id']}.title", *ids_in(section)} for section in SECTIONS}
    assert set().union(SAID_BY_CODE, *said.values()) == set(words)
    for section in SECTIONS:
        used = {name for id in said[section["id"]] for name in ARGUMENT.findall(words[id])}
        assert used == set(section["values"]), section["id"]


@pytest.mark.parametrize("tag", languages())
def test_no_sentence_has_a_number_of_its_own_that_the_state_could_belie(tag):
    """What stays is no number of the picture: units and ones, an angle, a place that the state has, a step of 1."""
    harmless = (
        r"180°|rises by 1\b|gradient of 1\b|single 1\b|one 1\b|the 1\b|− 1\b|row 1, column 1|stay 1\b|by 1\b|1 pixel"
    )
    harmless += r"|stride 1\b|Stride 2:|conv2d|增加 1|一个 1|一個 1|那个 1|那個 1|这个 1|這個 1|跟着 1|跟著 1|梯度 1"
    harmless += r"|移动 1|移動 1"
    harmless += r"|[行列] 1、[列欄] 1|步幅为 [12]|步幅為 [12]|只隔 1 |全是 0"
    with use_locale(tag):
        words = facts("words/article").items()
        left = {id: re.findall(r"\d+", re.sub(rf"{harmless}|\{{\w+\}}", "", text)) for id, text in words}
    assert {id: numbers for id, numbers in left.items() if numbers} == {}


def test_the_answers_that_are_right_are_right_and_cells_are_in_their_panels():
    """The right answer is the last word on the question: its number is the state's, and the others differ from it."""
    for section in sections():
        answers = section.get("ask", {}).get("answers", [])
        labels = [each["words"] for each in answers]
        assert len(set(labels)) == len(labels)
        assert sum(bool(each.get("right")) for each in answers) <= 1
        for part in (section, *answers):
            if part.get("cell"):
                panel, row, column = part["cell"].split()
                assert (
                    getattr(Truth(part.get("state", section["state"])), panel)[0, 0, int(row), int(column)] is not None
                )
        for cell in section.get("try", {}).get("cells", []):
            panel, row, column = cell.split()
            corner_or_last = getattr(Truth(section["state"]), panel)[0, 0]
            assert int(row) < corner_or_last.shape[0]
            assert int(column) < corner_or_last.shape[1]


def test_the_code_in_the_article_runs_and_holds_for_its_state():
    (section,) = [each for each in SECTIONS if "code" in each]
    truth = Truth(section["state"])
    names = {}
    exec("\n".join(section["code"]), names)
    assert torch.equal(names["w"].double(), truth.weight)
    assert torch.equal(names["up"].double(), truth.grad_input)


def test_the_mistakes_that_one_can_choose_are_those_that_it_names():
    (section,) = [each for each in SECTIONS if each["id"] == "mistakes"]
    broken = [from_link(answer["state"])[0].broken for answer in section["ask"]["answers"]]
    assert broken == ["I01", "I07", "I16", "I10"]
    assert set(broken) <= set(catalogue())


@pytest.mark.parametrize("tag", languages())
def test_the_file_is_whole_small_and_holds_to_a_strict_policy(tag, tmp_path, capsys):
    path = tmp_path / "article.html"
    assert main(["export", "--article", "--lang", tag, "-o", str(path)]) == 0
    page = path.read_text(encoding="utf-8")
    assert len(gzip.compress(page.encode(), 9)) <= MAX_PACKED_BYTES
    assert f'<html lang="{tag}"' in page
    body = page.partition("<body>")[2].partition('<script type="application/json"')[0]
    assert "{" not in re.sub(r"data-task=\S+", "", body), "an argument that was not filled in"
    assert len(re.findall(r'<figure class="still">', body)) == len(SECTIONS)
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page) == []
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1])
    inline = re.findall(r"<(?:script(?: type=\"module\")?|style)>(.*?)</(?:script|style)>", page, re.DOTALL)
    hashes = {f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in inline}
    assert len(hashes) == 3
    assert set(re.findall(r"'sha256-[^']+'", policy)) == hashes
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_another_language_is_another_text_with_the_same_pictures():
    pages = {tag: article_bytes(lang=tag).decode() for tag in languages()}
    states = {tag: re.findall(r'data-(?:state|band|cell)="[^"]*"', page) for tag, page in pages.items()}
    assert len({json.dumps(each) for each in states.values()}) == 1
    headings = {tag: re.findall(r"<h2>(.*?)</h2>", page) for tag, page in pages.items()}
    assert len({json.dumps(each) for each in headings.values()}) == len(pages)


@pytest.mark.parametrize("given", [["--state", "v=2"], ["--title", "Mine"], ["--svg"], ["--panel", "weight"]])
def test_what_an_article_cannot_take_is_refused(given, tmp_path, capsys):
    assert main(["export", "--article", *given, "-o", str(tmp_path / "article.html")]) == 1
    assert f"--article takes no {given[0]}: " in capsys.readouterr().err
    assert not (tmp_path / "article.html").exists()


def test_a_state_with_a_slip_is_reported():
    with pytest.raises(ValueError, match=r"the article has the state v=2&colour=red: .*colour"):
        section_values.stages_of("v=2&colour=red")
    assert files("convviz.export.article").joinpath("sections.json").is_file()
