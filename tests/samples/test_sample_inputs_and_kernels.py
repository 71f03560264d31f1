"""What ships to look at: real digits, patterns and named kernels, the same every time."""

import json
import math
from importlib.resources import files

import numpy as np
import pytest
import torch

from convviz.geometry.spec import ConvSpec
from convviz.samples.inputs import PATTERNS, digits, fit, make_input, random_tensor, resize
from convviz.samples.kernels import KERNELS, make_kernel
from convviz.settings.state import Settings
from convviz.settings.tensor_source import Source
from convviz.settings.tensors import weight_tensor

INPUTS = ("digit", *PATTERNS)
SIZES = [(rows, columns) for rows in range(1, 6) for columns in range(1, 6)]

# As textbooks print them, for torch's correlation (a positive Sobel x answers to "brighter on the right").
TEXTBOOK = {
    "identity": [[0, 0, 0], [0, 1, 0], [0, 0, 0]],
    "box": [[1 / 9] * 3] * 3,
    "gaussian": [[1 / 16, 2 / 16, 1 / 16], [2 / 16, 4 / 16, 2 / 16], [1 / 16, 2 / 16, 1 / 16]],
    "sharpen": [[0, -1, 0], [-1, 5, -1], [0, -1, 0]],
    "sobel_x": [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
    "sobel_y": [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
    "laplacian": [[0, 1, 0], [1, -4, 1], [0, 1, 0]],
    "emboss": [[-2, -1, 0], [-1, 1, 1], [0, 1, 2]],
    "off_centre": [[0, 0, 1], [0, 0, 0], [0, 0, 0]],
    "counting": [[1, 2, 3], [4, 5, 6], [7, 8, 9]],
}


# The input that the app opens with: whole numbers from 0 to 4, whose sums can be checked by heart.
WHOLE = [[0, 2, 1, 2, 0], [1, 4, 4, 1, 0], [4, 3, 4, 2, 2], [4, 4, 1, 0, 1], [1, 2, 0, 0, 2]]


def has_negative_zero(tensor):
    return bool(((tensor == 0) & tensor.signbit()).any())


# The digits.


def test_ten_digits_of_8x8_from_paper_to_ink_in_sixteenths():
    images = digits()
    assert images.shape == (10, 8, 8)
    assert images.dtype is torch.float64
    assert float(images.min()) == 0
    assert float(images.max()) == 1
    assert torch.equal(images * 16, (images * 16).round())
    ink = images.flatten(1)
    assert (ink.max(1).values >= 0.9).all(), "every digit has cells that are wholly ink"
    assert all(not torch.equal(ink[a], ink[b]) for a in range(10) for b in range(a)), "ten different images"


def test_digits_are_the_first_of_each_class_in_the_uci_test_set():
    """One row each of 0, 1 and 3, as in the published file."""
    images = (digits() * 16).long()
    assert images[0].tolist()[0] == [0, 0, 5, 13, 9, 1, 0, 0]
    assert images[1].tolist()[7] == [0, 0, 0, 11, 16, 10, 0, 0]
    assert images[3].tolist()[0] == [0, 0, 7, 15, 13, 1, 0, 0]


def test_digits_carry_citation_and_licence():
    data = json.loads(files("convviz.facts").joinpath("data", "digits.json").read_text(encoding="utf-8"))
    assert "Alpaydin" in data["citation"]
    assert "10.24432/C50P49" in data["citation"]
    assert data["licence"] == "CC BY 4.0"


# The kernels.


def test_every_kernel_has_its_textbook_numbers():
    assert set(TEXTBOOK) == {*KERNELS, "counting"}
    for name, numbers in TEXTBOOK.items():
        assert torch.equal(make_kernel(name, (3, 3)), torch.tensor(numbers, dtype=torch.float64)), name


@pytest.mark.parametrize("name", [*KERNELS, "counting"])
def test_kernel_of_every_size(name):
    for size in SIZES:
        kernel = make_kernel(name, size)
        assert kernel.shape == size
        assert kernel.dtype is torch.float64
        assert kernel.isfinite().all(), size
        assert kernel.abs().sum() > 0 or name == "laplacian", f"{size}: nothing to see"
        assert kernel.abs().max() <= 25, f"{size}: too large to read"
        assert not has_negative_zero(kernel), f"{size}: -0 would be shown or exported"


@pytest.mark.parametrize(("name", "total"), [("box", 1), ("gaussian", 1), ("sharpen", 1), ("laplacian", 0)])
def test_what_a_kernel_does_to_a_constant_image_holds_at_every_size(name, total):
    for size in SIZES:
        assert math.isclose(float(make_kernel(name, size).sum()), total, abs_tol=1e-12), size


@pytest.mark.parametrize(("name", "axis"), [("sobel_x", 1), ("sobel_y", 0)])
def test_a_derivative_is_odd_along_its_axis_and_even_along_the_other(name, axis):
    for size in SIZES:
        kernel = make_kernel(name, size)
        assert torch.equal(kernel.flip(1 - axis), kernel), size
        if size[axis] > 1:
            assert torch.equal(kernel.flip(axis), -kernel), size


def test_sobel_y_is_sobel_x_turned():
    for rows, columns in SIZES:
        assert torch.equal(make_kernel("sobel_y", (rows, columns)), make_kernel("sobel_x", (columns, rows)).T)


def test_identity_and_off_centre_hold_a_single_one():
    for rows, columns in SIZES:
        for name, place in (("identity", ((rows - 1) // 2, (columns - 1) // 2)), ("off_centre", (0, columns - 1))):
            kernel = make_kernel(name, (rows, columns))
            assert kernel.nonzero().tolist() == [list(place)]
            assert kernel[place] == 1


def test_counting_counts_in_reading_order():
    for rows, columns in SIZES:
        kernel = make_kernel("counting", (rows, columns))
        assert kernel.flatten().tolist() == list(range(1, rows * columns + 1))


def test_random_kernel_stays_in_the_sliders_reach_in_their_steps():
    for seed in range(200):
        kernel = weight_tensor(Settings(spec=ConvSpec(8, kernel_size=5), weight=Source("random"), seed=seed))
        assert kernel.abs().max() <= 3
        assert torch.allclose(kernel * 10, (kernel * 10).round(), atol=1e-12)
        assert not has_negative_zero(kernel)


# The inputs.

SHAPES = [(1, 1, 1, 1), (1, 1, 8, 8), (2, 4, 8, 8), (1, 3, 1, 7), (2, 1, 5, 2), (1, 2, 64, 64), (1, 4, 3, 40)]


@pytest.mark.parametrize("kind", INPUTS)
def test_input_of_every_shape(kind):
    for shape in SHAPES:
        image = make_input(kind, shape)
        assert (image.shape, image.dtype) == (shape, torch.float64)
        assert image.isfinite().all(), shape
        assert not has_negative_zero(image), shape


@pytest.mark.parametrize("kind", INPUTS)
def test_every_plane_has_an_image_of_its_own(kind):
    planes = make_input(kind, (2, 4, 8, 8)).flatten(0, 1)
    distinct = {tuple(plane.flatten().tolist()) for plane in planes}
    assert len(distinct) == {"checkerboard": 2, "whole": 5}.get(kind, 8)


def test_patterns_are_what_their_names_say():
    assert make_input("delta", (1, 1, 3, 4))[0, 0].nonzero().tolist() == [[1, 2]]
    assert make_input("checkerboard", (1, 1, 2, 3))[0, 0].tolist() == [[1, 0, 1], [0, 1, 0]]
    expected = torch.tensor([[0, 0.1, 0.2], [0.3, 0.4, 0.5]], dtype=torch.float64)
    torch.testing.assert_close(make_input("ramp", (1, 1, 2, 3))[0, 0], expected)
    assert make_input("whole", (1, 1, 5, 5))[0, 0].tolist() == WHOLE
    assert make_input("whole", (1, 1, 3, 2))[0, 0].tolist() == [row[:2] for row in WHOLE[:3]], "a part of the larger"
    following = [[(cell + 1) % 5 for cell in row] for row in WHOLE]
    assert make_input("whole", (1, 2, 5, 5))[0, 1].tolist() == following
    assert torch.equal(make_input("digit", (1, 1, 8, 8), digit=7)[0, 0], digits()[7])
    assert torch.equal(make_input("digit", (1, 2, 8, 8), digit=9)[0, 1], digits()[0]), "after 9 comes 0"


def test_resizing_keeps_the_mean_when_it_shrinks_and_the_range_when_it_grows():
    image = digits()[8]
    assert torch.equal(resize(image, (8, 8)), image), "to the last digit"
    for size in ((4, 4), (2, 8), (1, 1)):
        assert resize(image, size).shape == size
        assert math.isclose(float(resize(image, size).mean()), float(image.mean()))
    for size in ((9, 9), (64, 64), (16, 4), (1, 64)):
        grown = resize(image, size)
        assert grown.shape == size
        assert 0 <= float(grown.min()) <= float(grown.max()) <= 1


def test_fit_crops_and_extends_at_the_end_of_every_axis():
    numbers = torch.arange(1.0, 7).reshape(2, 3)
    assert fit(numbers, (3, 2)).tolist() == [[1, 2], [4, 5], [0, 0]]
    assert torch.equal(fit(numbers, (2, 3)), numbers)
    assert fit(numbers, (2, 3)).data_ptr() != numbers.data_ptr(), "a copy: nobody writes through it"


# Randomness.


def test_seeds_repeat_and_differ():
    assert torch.equal(random_tensor((3, 4), 7), random_tensor((3, 4), 7))
    assert not torch.equal(random_tensor((3, 4), 7), random_tensor((3, 4), 8))


def test_random_numbers_have_one_decimal():
    numbers = random_tensor((100, 100), 1)
    assert not has_negative_zero(numbers)
    assert np.array_equal(numbers.numpy(), np.round(numbers.numpy(), 1)), (
        "printed, they read 0.3, not 0.30000000000000004"
    )
    assert 0.9 < float(numbers.std()) < 1.1


def test_global_random_state_is_left_alone():
    before = torch.get_rng_state()
    random_tensor((2, 2, 5, 5), 3)
    assert torch.equal(torch.get_rng_state(), before)
