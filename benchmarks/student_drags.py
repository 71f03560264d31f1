"""What simulated students move: settings, drags of ten moves through them, and what torch's autograd says of each."""

import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from convviz.facts import facts
from convviz.facts.losses import kinds_taken
from convviz.settings.state import Settings
from convviz.settings.tensors import bias_tensor, grad_tensor, input_tensor, target_tensor

MOVES = 10
STEP = 0.1  # of the slider of a kernel's cell
DRAGS = 24
# Relative to the largest number of a tensor: float32 has 24 bits, and a sum here cancels at most a few of them.
TOLERANCE = {"float32": 2e-6, "float64": 1e-14}
# Each with what it has other than the board's base: the first picture, a lesson's size, channels, dilation.
BASES = (
    facts("settings")["first_picture"],
    {"input": {"kind": "digit"}, "digit": 5},
    {
        "spec": {"version": 1, "input_size": [6, 7], "in_channels": 2, "out_channels": 2, "kernel_size": [3, 3]}
        | {"stride": [1, 2], "padding": [[1, 1], [1, 1]], "dilation": [1, 1], "groups": 1}
        | {"padding_mode": "zeros", "batch": 2},
        "input": {"kind": "random"},
        "bias": {"kind": "values", "values": [0.5, -1.5], "shape": [2]},
        "loss": "mean",
    },
    {
        "spec": {"version": 1, "input_size": [9, 9], "in_channels": 1, "out_channels": 1, "kernel_size": [3, 3]}
        | {"stride": [1, 1], "padding": [[0, 0], [0, 0]], "dilation": [2, 2], "groups": 1}
        | {"padding_mode": "zeros", "batch": 1},
        "input": {"kind": "checkerboard"},
        "loss": "sum",
        "dtype": "float64",
    },
)


@dataclass(frozen=True)
class Move:
    """One place of a slider.

    Attributes:
        settings: As the page sends them.
        truth: {name: float64 array}, what autograd says, and ``"loss"``.
        dtype: In which the kernel computes.
    """

    settings: dict
    truth: dict
    dtype: str


def drags(seed):
    """Return lists of ten moves: in each, one number of the kernel goes up or down.

    Args:
        seed: The same drags for the same number.
    """
    chance = random.Random(seed)
    return [_drag(BASES[number % len(BASES)], chance) for number in range(DRAGS)]


def _drag(base, chance):
    shape = Settings.from_dict(base).spec.weight_shape
    values = [chance.randint(-20, 20) / 10 for _ in range(torch.Size(shape).numel())]
    cell, step = chance.randrange(len(values)), chance.choice((-STEP, STEP))
    moves = []
    for _ in range(MOVES):
        values[cell] = round(values[cell] + step, 1)
        weight = {"kind": "values", "values": list(values), "shape": list(shape)}
        moves.append(_move({**base, "weight": weight}))
    return moves


def _move(state):
    settings = Settings.from_dict(state)
    return Move(state, truth_of(settings), settings.dtype)


def truth_of(settings):
    """Return what autograd says through torch's own conv2d in float64, by the names that the kernel sends.

    Args:
        settings: With zeros as its padding mode; what the kernel computes from is rounded to its dtype.
    """
    dtype = getattr(torch, settings.dtype)
    given = {"input": input_tensor(settings), "weight": settings.weight.tensor(), "bias": bias_tensor(settings)}
    given |= {"target": target_tensor(settings), "grad": grad_tensor(settings)}
    given = {name: each.to(dtype).double() for name, each in given.items() if each is not None}
    leaves = {name: given[name].requires_grad_() for name in ("input", "weight", "bias") if name in given}
    spec = settings.spec
    padding = tuple(before for before, _ in spec.padding)
    output = F.conv2d(leaves["input"], leaves["weight"], leaves.get("bias"), spec.stride, padding, spec.dilation)
    loss = {
        "sum": lambda: output.sum(),
        "mean": lambda: output.mean(),
        "half_squared_error": lambda: 0.5 * ((output - given["target"]) ** 2).sum(),
        "weighted_sum": lambda: (given["grad"] * output).sum(),
    }[settings.loss]()
    wanted = {"output": output, **leaves}
    found = dict(zip(wanted, torch.autograd.grad(loss, tuple(wanted.values())), strict=True))
    truth = {**leaves, "output": output, **{f"grad_{name}": each for name, each in found.items()}, "loss": loss}
    truth |= {"target": given["target"]} if kinds_taken(settings.loss, "target") else {}
    return {name: each.detach().numpy().ravel() for name, each in truth.items()}


def wrong(move, numbers, tensors):
    """Return what differs from autograd, or an empty text.

    Args:
        move: Which was asked for.
        numbers: As they came, without the tensors.
        tensors: {name: bytes}.
    """
    kind = np.float64 if move.dtype == "float64" else np.float32
    got = {name: np.frombuffer(data, kind) for name, data in tensors.items()} | {"loss": [numbers["loss"]]}
    if got.keys() != move.truth.keys():
        return f"tensors {sorted(got)} in place of {sorted(move.truth)}"
    for name, truth in move.truth.items():
        if len(got[name]) != len(truth):
            return f"{name}: {len(got[name])} numbers in place of {len(truth)}"
        off = float(np.max(np.abs(got[name] - truth)))
        if not off <= TOLERANCE[move.dtype] * max(1.0, float(np.max(np.abs(truth)))):  # nan is wrong too
            return f"{name} is off by {off:.1e}"
    return ""
