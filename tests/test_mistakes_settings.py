"""The link of each mistake opens a setting that shows it, in every way of making it."""

import torch

from convviz.check.battery import Case
from convviz.check.mistakes import catalogue, compute
from convviz.settings.compute import compute as compute_settings
from convviz.settings.link import from_link


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
