"""The JSON of a network's picture, its answers, its drawing and its table."""

import base64
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import torch

import convviz
from convviz.facts.words import sentences
from convviz.features.network.page_data import NetworkPage
from tests.features.network.nets import LeNet, ResNet18, made, seeded

say = sentences("features/network")


@pytest.fixture(scope="module")
def lenet():
    return convviz.network(made(LeNet), torch.randn(3, 1, 32, 32, generator=seeded()), sample=1)


def unpack(packed):
    data = np.frombuffer(base64.b64decode(packed["data"]), np.int8).reshape(packed["shape"])
    return torch.from_numpy(data * packed["scale"] / 127)


def test_planes_are_the_samples_own_numbers(lenet):
    data = json.loads(json.dumps(NetworkPage(lenet).data(), allow_nan=False))
    assert (data["model"], data["batch"], data["sample"], data["live"]) == ("LeNet", 3, 1, True)
    assert set(data["finding"]) == {"id", "args"}
    assert say(data["finding"]["id"], **data["finding"]["args"]) == lenet.finding
    assert all(say(each["id"], **each["args"]) for each in data["said"])
    for kind, tensors in (
        (data["planes"], [each.output for each in lenet.operations]),
        (data["backs"][0]["planes"], lenet.gradients),
    ):
        for operation, packed, tensor in zip(lenet.operations, kind, tensors, strict=True):
            truth = tensor[1][packed["channels"]]
            assert len(packed["channels"]) == min(operation.shape[0], 16 if len(operation.shape) > 1 else 1024)
            assert "cells" not in packed
            off, step = (unpack(packed) - truth).abs(), packed["scale"] / 127
        assert off.max() <= step, "a small number is a step away from 0, which is written for 0 alone"
        assert off[truth.abs() > step].max() <= 0.51 * step
        assert torch.equal(unpack(packed) == 0, truth == 0)
    assert list(data["weights"]) == [str(lenet[name].index) for name in ("fc1", "fc2", "fc3")]
    fc3, packed = lenet["fc3"], data["weights"][str(lenet["fc3"].index)]
    assert (unpack(packed)[0] - fc3.weight.tensor).abs().max() <= packed["scale"] / 127
    conv2 = lenet["conv2"]
    weight = data["backs"][0]["weights"][str(conv2.index)]
    assert weight["ratio"] == pytest.approx(lenet.backs[0].weights[conv2.index].ratio)


def test_resnet_is_small_enough_to_send():
    network = convviz.network(made(ResNet18), torch.randn(2, 3, 64, 64, generator=seeded()))
    page = NetworkPage(network)
    data = page.data()
    assert len(json.dumps(data)) < 1_200_000
    size = network.gradients[1][0].abs().amax((1, 2))
    assert data["planes"][1]["channels"] == size.argsort(descending=True)[:16].tolist()
    image = data["planes"][0]
    assert image["cells"] == [64, 64]
    truth = torch.nn.functional.avg_pool2d(network.operations[0].output[0], 2)
    assert (unpack(image) - truth).abs().max() <= image["scale"] / 127 * 0.51
    rule = data["operations"][network["bn1"].index]["rule"]
    conv1 = network["conv1"].output
    assert rule["training"]
    assert rule["mean"] == pytest.approx(conv1.mean((0, 2, 3)).tolist(), rel=1e-3, abs=1e-6)
    assert rule["var"] == pytest.approx(conv1.var((0, 2, 3), correction=0).tolist(), rel=1e-3)
    assert [data["operations"][network[name].index]["opens"] for name in ("conv1", "bn1", "layer1.0.add")] == [
        *("board", "rule", "rule")
    ]


def test_answers_are_exact(lenet):
    page = NetworkPage(lenet)
    conv2 = lenet["conv2"].index
    sent = page.reply({"ask": "back", "from": {"kind": "cell", "operation": conv2, "cell": [3, 9, 0]}})
    truth = lenet.back("conv2", (3, 9, 0))
    assert sent["index"] == 1
    for found, rms in zip(sent["back"]["rms"], truth.rms, strict=True):
        assert found is rms is None or found == pytest.approx(rms, rel=1e-6)
    assert sent["back"]["planes"][-1] is None
    window = page.reply({"ask": "window", "operation": conv2, "cell": [3, 9, 0], "back": 1})["window"]
    assert window["origin"] == [5, 0]
    assert torch.allclose(torch.tensor(window["values"]), lenet["conv2"].output[1, 3, 5:10, :5], rtol=1e-5)
    assert torch.tensor(window["gradients"]).nonzero().tolist() == [[4, 0]]
    more = page.reply({"ask": "channels", "operation": conv2, "channels": [15, 0]})["channels"]
    assert more["planes"]["channels"] == [15, 0]
    assert set(more["backs"]) == {"0", "1"}
    vector = page.reply({"ask": "window", "operation": lenet["fc3"].index, "cell": [9]})["window"]
    assert vector["origin"] == [0, 5]


@pytest.mark.parametrize(
    "ask",
    [
        {},
        {"ask": "open"},
        {"ask": "back"},
        {"ask": "back", "from": {"kind": "loss"}},
        {"ask": "back", "from": {"kind": "cell", "operation": 99, "cell": [0]}},
        {"ask": "back", "from": {"kind": "cell", "operation": 2, "cell": [0, 99, 0]}},
        {"ask": "window", "operation": 2, "cell": [0, 0, 99]},
        {"ask": "window", "operation": 2, "cell": [0, 0, 0], "back": 7},
        {"ask": "window", "operation": "2", "cell": None},
        {"ask": "channels", "operation": 2, "channels": [99]},
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_sentence(lenet, ask):
    refused = NetworkPage(lenet).reply(ask)["refused"]
    assert refused.endswith(".")


def test_nan_and_inf_are_words():
    network = convviz.network(
        torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.ReLU()), torch.full((1, 1, 2, 2), torch.inf)
    )
    data = json.loads(json.dumps(NetworkPage(network).data(), allow_nan=False))
    assert data["operations"][0]["rms"] == "inf"
    assert {"id": "said.not_finite", "args": {}} in data["said"]


def test_the_drawing_and_the_table_name_every_operation(lenet):
    for theme in ("light", "dark"):
        drawing = ET.fromstring(lenet.to_svg(theme))
        names = [each.text for each in drawing.iter("{http://www.w3.org/2000/svg}title")]
        assert len(names) == 1 + len(lenet.operations)
        assert "script" not in lenet.to_svg(theme)
    with pytest.raises(ValueError, match="theme is one of light, dark"):
        lenet.to_svg("blue")
    table = str(lenet)
    assert all(each.label in table for each in lenet.operations)
    assert lenet.finding in table
