"""Fields against brute force: each input cell is made huge, and what moves has it in its field."""

import random

import pytest
import torch
from torch import nn

import convviz
from tests.features.network.nets import UNet, made, seeded
from tests.features.network.random_stacks import Call, functions, stack

HUGE = 1e30  # beside it no maximum stays where it was
STACKS = 500


def moved(model, shape):
    """Return a network whose first sample is plain, and of each operation what moves with each input cell."""
    plain = torch.empty(shape, dtype=torch.float64).uniform_(0.5, 1.5, generator=seeded())
    batch = plain.repeat(plain.numel() + 1, 1, 1, 1)
    for place in range(plain.numel()):
        batch[place + 1].view(-1)[place] = HUGE
    network = convviz.network(model, batch, lambda y: y[0].sum(), live=False)
    outputs = [each.output for each in network.operations[:-2]]  # without the loss
    # Sums of different samples may be rounded differently.
    return network, [(each[1:] - each[:1]).abs() > 1e-6 * each[:1].abs() for each in outputs]


def check(model, shape, seed):
    network, moves = moved(model, shape)
    rng = random.Random(seed)
    for index in [len(moves) - 1, *rng.choices(range(len(moves)), k=2)]:
        operation = network.operations[index]
        cell = [rng.randrange(size) for size in operation.shape]
        field = network.receptive_field(index, cell)
        assert not field.stopped, (model, operation, operation.reads)
        found = field.masks.get(0, torch.zeros(shape, dtype=torch.bool))
        assert torch.equal(found.reshape(-1), moves[index][(slice(None), *cell)]), (model, operation, cell)
    for _ in range(2):
        cell = [rng.randrange(size) for size in shape]
        place = (cell[0] * shape[1] + cell[1]) * shape[2] + cell[2]
        field = network.projective_field(0, cell)
        for index, move in enumerate(moves):
            found = field.masks.get(index, torch.zeros(move.shape[1:], dtype=torch.bool))
            assert torch.equal(found, move[place]), (model, network.operations[index], cell)


@pytest.mark.parametrize("part", range(5))
def test_fields_are_what_moves(part):
    for seed in range(part, STACKS, 5):
        check(*stack(seed), seed)


def test_fields_through_each_function():
    for name, function in functions(2, 1, (4, 6, 5)).items():
        check(nn.Sequential(Call(function, name), nn.ReLU()), (4, 6, 5), 0)


def test_gradients_of_a_cell_lie_in_its_field():
    exact = 0
    for seed in range(60):
        model, shape = stack(seed)
        x = torch.empty(1, *shape, dtype=torch.float64).uniform_(0.5, 1.5, generator=seeded())
        network = convviz.network(model, x)
        operation = network.operations[-1]
        cell = [size // 2 for size in operation.shape]
        field, back = network.receptive_field(operation, cell), network.back(operation, cell)
        picks = any("max" in each.kind for each in network.operations)
        exact += not picks
        for index, mask in field.masks.items():
            gradient = back.gradients[index]
            reached = torch.zeros_like(mask) if gradient is None else gradient[0] != 0
            assert not (reached & ~mask).any(), (model, network.operations[index], network.operations[index].reads)
            written_over = gradient is None and index > 0
            assert picks or written_over or torch.equal(reached, mask), (model, network.operations[index])
    assert exact > 10


def test_a_mask_shows_its_holes_and_its_skips():
    model = nn.Sequential(nn.Conv2d(1, 1, 3, dilation=3), nn.Conv2d(1, 1, 3))
    field = convviz.network(model, torch.ones(1, 1, 11, 11)).receptive_field("1", (0, 1, 1))
    rows = field.masks[0][0].any(1).nonzero().flatten().tolist()
    assert rows == list(range(1, 10))
    assert field.masks[1][0].sum() == 9
    hollow = convviz.network(model[0], torch.ones(1, 1, 8, 8)).receptive_field(1, (0, 0, 0))
    assert hollow.masks[0][0].nonzero().tolist() == [[r, c] for r in (0, 3, 6) for c in (0, 3, 6)]
    unet = convviz.network(made(UNet), torch.rand(1, 1, 16, 16, generator=seeded()))
    narrow = unet.receptive_field("down1", (0, 8, 8)).masks[0].sum()
    assert narrow == 9 < unet.receptive_field("out", (0, 8, 8)).masks[0].sum() < 256


def test_an_unknown_operation_stops_a_field_and_says_so():
    class Sorted(nn.Module):
        def forward(self, x):
            return torch.relu(torch.cumsum(torch.relu(x), 2))

    network = convviz.network(Sorted(), torch.randn(2, 1, 3, 3, generator=seeded()))
    field = network.receptive_field(3, (0, 0, 0))
    assert [network.operations[each].kind for each in field.stopped] == ["cumsum"]
    assert set(field.masks) == {3, 2}
    assert set(network.projective_field(0, (0, 0, 0)).masks) == {0, 1}


def test_a_cell_that_is_not_there_is_refused():
    network = convviz.network(nn.Conv2d(1, 2, 3), torch.ones(1, 1, 5, 5))
    with pytest.raises(ValueError, match=r"shape \[2, 3, 3\]: got \[2, 0, 0\]"):
        network.receptive_field(1, (2, 0, 0))
    with pytest.raises(ValueError, match=r"got \[0, 0\]"):
        network.projective_field(1, (0, 0))
    with pytest.raises(ValueError, match="'input'"):
        network.receptive_field("inptu", (0, 0, 0))
