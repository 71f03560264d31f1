"""The LeNet of the page against torch: the same rounded net in float64, every operation, every way to send back."""

import gzip
import json

import pytest
import torch
import torch.nn.functional as F

from convviz.features.network.train_lenet import (
    FILE,
    finding_of,
    layers_of,
    made_of,
    main,
    read_digit,
    read_lenet,
    rounded,
    train,
)
from convviz.lab.digits import Digits
from tests.browser.call_javascript import called

SOURCE = "../features/network/lenet_source.js"
LIMIT = 100_000  # bytes of the file, packed
CLOSE = 1e-9
# Given the file, the image and where to begin → all that the picture gets; numbers as JSON writes them, exact.
RUN = """([lenet, image, froms]) => {
  const source = js["../features/network/lenet_source.js"].createLenetSource(lenet);
  if (typeof image === "number") source.input(image);
  else source.draw(image.ink, image.label);
  const sent = froms.map((from) => source.sent(from));
  return JSON.stringify([source.network, sent], (_, value) => (ArrayBuffer.isView(value) ? [...value] : value));
}"""
OPEN = """([lenet, asked]) => JSON.stringify(asked.map(([image, from, operation, cell]) => {
  const opened = [];
  const source = js["../features/network/lenet_source.js"].createLenetSource(lenet, (...all) => opened.push(all));
  source.input(image);
  source.sent(from);
  source.open(operation, cell);
  const [changes, around] = opened[0];
  const { FIRST_STATE } = js["rules/settings_link.js"];
  const settings = js["rules/settings_and_tensors.js"].replaced(FIRST_STATE, changes);
  const given = js["rules/settings_and_tensors.js"].tensorsOf(settings);
  return [js["numbers/compute.js"].computeStages(settings.spec, settings.loss, given), around, settings.plane];
}), (_, value) => (ArrayBuffer.isView(value) ? [...value] : value))"""


@pytest.fixture(scope="module")
def data():
    return json.loads(FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(request):
    with called(request, lambda text: text, [SOURCE]) as functions:
        yield functions.page


@pytest.fixture(scope="module")
def net(data):
    return read_lenet(data)


def outputs_of(net, image):
    """Return what each operation makes of an image, the image in front, so that each can be asked for its gradient."""
    made = [image.clone().requires_grad_()]
    for layer in net:
        made.append(layer(made[-1]))
    return made


def gradients_of(net, image, label, start):
    """Return the outputs, and the gradient at each and of each weight, by autograd: None where nothing comes."""
    made = outputs_of(net, image)
    if start["kind"] == "loss":
        value = F.cross_entropy(made[-1], torch.tensor([label]))
    else:
        value = made[start["operation"]][0][tuple(start["cell"])]
    weights = [getattr(layer, "weight", None) for layer in net]
    wanted = [*made, *(each for each in weights if each is not None)]
    found = list(torch.autograd.grad(value, wanted, allow_unused=True))
    at_outputs = found[: len(made)]
    of_weights = iter(found[len(made) :])
    return made, at_outputs, [None, *(None if each is None else next(of_weights) for each in weights)]


def numbers(plane, like):
    assert plane["shape"] == list(like.shape[1:])
    assert plane["channels"] == list(range(like.shape[1]))
    return torch.tensor(plane["values"], dtype=torch.float64).reshape(like.shape)


def compare(net, image, label, network, backs):
    """Compare all that the page says of an image with torch → the largest difference of a number.

    What is exact in float64 is the same to the bit: all before the scores, and what a 1 at a cell sends back.
    """
    far = []
    for back in backs:
        made, gradients, of_weights = gradients_of(net, image, label, back["from"])
        if back is backs[0]:
            there = [numbers(*both) for both in zip(network["planes"], made, strict=True)]
            assert all(torch.equal(*both) for both in zip(there[:-1], made[:-1], strict=True))
            far.append((there[-1] - made[-1]).abs().max())
            weighted = [str(at) for at, layer in enumerate(net, start=1) if hasattr(layer, "weight")]
            assert list(back["weights"]) == weighted
            for operation, each in zip(network["operations"], made, strict=True):
                assert operation["shape"] == list(each.shape[1:])
                assert operation["rms"] == pytest.approx(each.pow(2).mean().sqrt().item(), rel=1e-12)
                assert operation["zeros"] == pytest.approx((each == 0).double().mean().item(), abs=1e-12)
        last = back["from"].get("operation", len(made) - 1)
        for at, (plane, each) in enumerate(zip(back["planes"], gradients, strict=True)):
            assert (plane is None) == (at > last) == (back["rms"][at] is None) == (back["zeros"][at] is None)
            if plane is None:
                continue
            far.append((numbers(plane, each) - each).abs().max())
            assert far[-1] == 0 or back["from"]["kind"] == "loss"
            assert back["rms"][at] == pytest.approx(each.pow(2).mean().sqrt().item(), rel=1e-9, abs=1e-12)
            assert back["zeros"][at] == pytest.approx((each == 0).double().mean().item(), abs=1e-12)
        for at, found in back["weights"].items():
            each, weight = of_weights[int(at)], net[int(at) - 1].weight
            if each is None:
                assert found == {"ratio": None, "norm": None}
                continue
            assert found["norm"] == pytest.approx(each.norm().item(), rel=1e-9, abs=1e-12)
            assert found["ratio"] == pytest.approx((each.norm() / weight.norm()).item(), rel=1e-9, abs=1e-12)
    return max(each.item() for each in far)


def all_starts(network):
    """Return the loss and the ten scores."""
    last = network["operations"][-1]
    return [{"kind": "loss"}, *({"kind": "cell", "operation": last["index"], "cell": [j]} for j in range(10))]


def random_starts(network, count, seed):
    """Return cells of any operation, the input among them."""
    random = torch.Generator().manual_seed(seed)
    draw = lambda size: int(torch.randint(size, (), generator=random))  # noqa: E731
    made = []
    for _ in range(count):
        operation = network["operations"][draw(len(network["operations"]))]
        made.append(
            {"kind": "cell", "operation": operation["index"], "cell": [draw(size) for size in operation["shape"]]}
        )
    return made


def run(page, data, image, froms):
    return json.loads(page.evaluate(RUN, [data, image, froms]))


@pytest.mark.parametrize("index", range(4))
def test_a_digit_and_its_eleven_gradients_are_those_of_torch(page, data, net, index):
    network, _ = run(page, data, index, [])
    digit = data["digits"][index]
    network, backs = run(page, data, index, all_starts(network))
    image = read_digit(digit)
    assert compare(net, image, digit["label"], network, backs) < CLOSE
    assert network["backs"] == [backs[0]], "what is there at first is what the loss sends back"
    scores = net(image)
    assert network["loss"] == pytest.approx(F.cross_entropy(scores, torch.tensor([digit["label"]])).item(), rel=1e-12)
    assert (network["label"], network["read"]) == (digit["label"], int(scores.argmax()))
    assert network["read"] == digit["read"]


def test_a_one_at_any_cell_sends_back_what_torch_does(page, data, net):
    network, _ = run(page, data, 2, [])
    starts = random_starts(network, 50, seed=0)
    network, backs = run(page, data, 2, starts)
    assert compare(net, read_digit(data["digits"][2]), 0, network, backs) < CLOSE


def test_ties_in_a_pooling_and_noise_are_as_torch_has_them(page, data, net):
    random = torch.Generator().manual_seed(0)
    flat = torch.zeros(1, 1, 28, 28, dtype=torch.float64)
    flat[..., 9:20, 9:20] = 1  # the same number at many neighbours: in a pooling the first gets it all
    noise = torch.randint(129, (1, 1, 28, 28), generator=random) / 128.0
    noise = noise.double()
    for image in (flat, torch.zeros_like(flat), noise):
        given = {"ink": image.flatten().tolist(), "label": 4}
        network, _ = run(page, data, given, [])
        network, backs = run(page, data, given, [*all_starts(network), *random_starts(network, 5, seed=1)])
        assert compare(net, image, 4, network, backs) < CLOSE
    planes = outputs_of(net, flat)
    windows = F.unfold(planes[2].transpose(0, 1), 2, stride=2)
    assert ((windows == windows.amax(1, keepdim=True)).sum(1) > 1).logical_and(windows.amax(1) > 0).any(), "none tied"


def test_the_board_gets_the_numbers_of_the_place(page, data, net):
    """Its output is the net's; the pixel in the middle has its whole gradient from the channels that are shown."""
    digit = data["digits"][3]
    image, label = read_digit(digit), digit["label"]
    asked = [
        (1, [3, 14, 9]),
        (1, [0, 0, 0]),
        (1, [5, 27, 1]),
        (4, [2, 5, 5]),
        (4, [11, 0, 9]),
        (4, [15, 9, 3]),
    ]
    start = {"kind": "loss"}
    answers = json.loads(page.evaluate(OPEN, [data, [[3, start, *each] for each in asked]]))
    made, gradients, _ = gradients_of(net, image, label, start)
    for (operation, cell), (stages, around, plane) in zip(asked, answers, strict=True):
        rows, columns, outs = around["rows"], around["columns"], around["out_channels"]
        assert rows[0] <= cell[1] < rows[1]
        assert columns[0] <= cell[2] < columns[1]
        assert outs[0] + plane["out_channel"] == cell[0]
        window = (0, slice(*outs), slice(*rows), slice(*columns))

        def shown(name, stages=stages):
            return torch.tensor(stages[name]["data"], dtype=torch.float64).reshape(stages[name]["shape"])[0]

        assert torch.allclose(shown("output"), made[operation][window], rtol=0, atol=CLOSE)
        assert torch.allclose(shown("grad_output"), gradients[operation][window], rtol=0, atol=CLOSE)
        first = [around["input_rows"][0], around["input_columns"][0]]
        reads = (0, slice(*around["in_channels"]), slice(*around["input_rows"]), slice(*around["input_columns"]))
        assert torch.equal(shown("input"), made[operation - 1][reads])
        if cell == [3, 14, 9]:  # far from the edges, and all six channels are shown
            assert (rows, columns, first) == ([12, 17], [7, 12], [10, 5])
            whole = gradients[0][0, 0, 14, 9].item()
            assert shown("grad_input")[0, 4, 4].item() == pytest.approx(whole, abs=CLOSE)
            assert whole != 0


def test_what_can_be_sent(page, data):
    asked = [
        [{"kind": "loss"}, True],
        [{"kind": "sum"}, False],
        [{"kind": "cell", "operation": 4, "cell": [15, 9, 9]}, True],
        [{"kind": "cell", "operation": 4, "cell": [15, 9, 10]}, False],
        [{"kind": "cell", "operation": 12, "cell": [9]}, True],
        [{"kind": "cell", "operation": 12, "cell": [9, 0, 0]}, False],
        [{"kind": "cell", "operation": 13, "cell": [0]}, False],
    ]
    reported = page.evaluate(
        """([lenet, froms]) => {
          const source = js["../features/network/lenet_source.js"].createLenetSource(lenet);
          return froms.map((from) => source.canSend(from));
        }""",
        [data, [start for start, _ in asked]],
    )
    assert reported == [expected for _, expected in asked]


def test_the_lens_reads_the_numbers_around_a_cell(page, data, net):
    asked = [[1, [5, 0, 27]], [4, [15, 5, 5]], [12, [3]], [0, [0, 14, 14]]]
    text = """([lenet, asked]) => {
      const source = js["../features/network/lenet_source.js"].createLenetSource(lenet);
      const back = source.sent({ kind: "cell", operation: 4, cell: [2, 3, 4] });
      source.sent({ kind: "loss" }); // the lens learns whose gradients
      return JSON.stringify(asked.map((each) => source.around(...each, back)));
    }"""
    start = {"kind": "cell", "operation": 4, "cell": [2, 3, 4]}
    made, gradients, _ = gradients_of(net, read_digit(data["digits"][0]), 0, start)
    for (operation, cell), found in zip(asked, json.loads(page.evaluate(text, [data, asked])), strict=True):
        channel, row, column = cell if len(cell) == 3 else (*cell, 0, 0)
        assert found["origin"] == [row - 2, column - 2]
        for name, tensor in (("values", made[operation]), ("gradients", gradients[operation])):
            plane = (
                None if tensor is None else tensor[0, channel].reshape(-1, tensor.shape[-1] if len(cell) == 3 else 1)
            )
            around = F.pad(torch.full((1, 1), torch.nan) if plane is None else plane, (2, 2, 2, 2), value=torch.nan)
            if plane is not None:
                around = around[row : row + 5, column : column + 5]
            expected = [[None if number != number else number for number in line] for line in around.tolist()]
            assert found[name] == expected


def test_the_file_is_small_and_says_what_it_holds(data, net):
    assert len(gzip.compress(FILE.read_bytes(), 9)) <= LIMIT
    assert "MNIST" in data["source"]
    assert "CC BY-SA 3.0" in data["licence"]
    assert rounded(net) == data["weights"], "they are rounded already, as fine as they can be"
    assert layers_of(net) == data["layers"]
    read = [int(net(read_digit(digit)).argmax()) for digit in data["digits"]]
    assert read == [digit["read"] for digit in data["digits"]]
    rights = [digit["label"] == digit["read"] for digit in data["digits"]]
    assert rights == [True, True, False, False]
    for digit in data["digits"]:
        assert digit["finding"] == finding_of(net, read_digit(digit), digit["label"])
        for name, channels in data["dead"].items():
            made = outputs_of(net, read_digit(digit))[1 + [each for each, _ in net.named_children()].index(name)]
            assert not made[0, channels].any()


def test_a_parameter_is_rounded_to_the_finest_step_that_eight_bits_hold():
    net = read_lenet({"weights": rounded(train(given_digits(10), epochs=0))})
    values = net.state_dict()
    values["conv1.bias"] = torch.tensor([127.4, -0.6, 0.4, 0, 1, -63]) / 64
    found = rounded(made_of(values))
    assert found["conv1.bias"]["per_one"] == 64
    again = read_lenet({"weights": found})
    assert again.conv1.bias.mul(64).tolist() == [127, -1, 0, 0, 1, -63]
    assert torch.equal(again.fc1.weight, net.fc1.weight), "what is rounded stays"


def given_digits(count):
    random = torch.Generator().manual_seed(3)
    images = torch.randint(256, (count, 28, 28), generator=random, dtype=torch.uint8)
    labels = torch.arange(count, dtype=torch.uint8) % 10
    return Digits("noise", "", images, labels, images, labels)


def test_training_repeats_itself_and_leaves_the_random_numbers_of_torch():
    before = torch.random.get_rng_state()
    one, other = (train(given_digits(60), seed=1, epochs=1) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))
    assert torch.equal(before, torch.random.get_rng_state())
    another = train(given_digits(60), seed=2, epochs=1)
    assert not torch.equal(one.conv1.weight, another.conv1.weight)


def test_the_command_says_why_there_are_no_digits(monkeypatch, capsys):
    def missing(**_):
        raise ImportError("the digits are not installed")

    monkeypatch.setattr("convviz.features.network.train_lenet.digits", missing)
    assert main([]) == 2
    assert "the digits are not installed" in capsys.readouterr().err
