"""The catalogue as a page: made from the facts; each link in it shows its mistake, and a fix what it says."""

import itertools
import re
from pathlib import Path

import torch

from convviz.cases.battery import Case, make_case
from convviz.facts import facts
from convviz.geometry.spec import ConvSpec
from convviz.mistakes.catalogue import catalogue, compute
from convviz.settings.compute import compute as compute_settings
from convviz.settings.link import from_link

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_has_a_card_for_every_mistake():
    letters = re.findall(r"\{mistakes\} (\w)", (DOCS / "mistakes.md").read_text(encoding="utf-8"))
    assert letters == sorted({id[0] for id in catalogue()}, key="IWBFPMAQG".index)


def test_a_link_can_open_the_tab_at_each_mistake_that_it_has():
    gradients = {("grad_input",), ("grad_weight",), ("grad_bias",)}
    there = {mistake.id for mistake in catalogue().values() if mistake.of in gradients and mistake.setting}
    choices = facts("settings")["fields"]["mistake"]["words"]
    assert (choices[0], {*choices[1:]}, len(choices)) == ("", there, 1 + len(there))


def test_every_setting_shows_its_mistake():
    for mistake in catalogue().values():
        if not mistake.setting:
            continue
        settings, notices = from_link(mistake.setting)
        assert notices == [], mistake.id
        stages = compute_settings(settings.replace(dtype="float64"), compare=False)
        bias = torch.ones(settings.spec.out_channels, dtype=torch.float64)
        case = Case("", settings.spec, stages.input, stages.weight, bias, stages.grad_output, bias)
        for of in mistake.of:
            right = compute(of, {}, case)
            for way in mistake.ways:
                wrong = compute(of, way, case)
                same = wrong is not None and wrong.shape == right.shape and torch.allclose(wrong, right)
                assert not same, (mistake.id, of, way, mistake.setting)


def test_the_padding_of_the_forward_pass_and_none_are_right_where_the_fix_of_i16_says_so():
    forward, none = catalogue()["I16"].ways
    for kernel, dilation, padding in itertools.product(range(1, 5), range(1, 4), range(5)):
        case = make_case("", ConvSpec((11, 10), 1, 1, (kernel, 1), 1, (padding, 0), (dilation, 2)), 0)
        right = compute("grad_input", {}, case)
        for way, fits in ((forward, 2 * padding), (none, padding)):
            wrong = compute("grad_input", way, case)
            same = wrong is not None and wrong.shape == right.shape and torch.allclose(wrong, right)
            assert same == (dilation * (kernel - 1) == fits), (way, kernel, dilation, padding)
