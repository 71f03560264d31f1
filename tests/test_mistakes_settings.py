"""The link of each mistake shows every way of making it; where a fix says when it does not show, it does not."""

import itertools

import torch

from convviz.check.battery import Case, make_case
from convviz.check.mistakes import catalogue, compute
from convviz.settings.compute import compute as compute_settings
from convviz.settings.link import from_link
from convviz.spec import ConvSpec


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
