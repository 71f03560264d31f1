"""max_pool2d and avg_pool2d against torch's autograd and finite differences, in float64."""

import copy
import itertools

import pytest
import torch
import torch.nn.functional as F
from torch.func import jacrev, jvp, vmap

from convviz import avg_pool2d, max_pool2d
from tests.geometries import reals

NAN, INF = float("nan"), float("inf")
SIZES = ((5, 7), (1, 4), (8, 3))
WINDOWS = (1, 2, 3, (3, 2), (2, 4))
STRIDES = (None, 1, (2, 1), 3)
PADDINGS = (0, 1, (0, 1), (1, 2))
ALONE = "every window must read a cell"
# Where a window reads the border alone torch may end the process: it is never asked there.


def geometries(*others):
    """All settings that convviz and torch take, with the call in words."""
    return itertools.product(SIZES, WINDOWS, STRIDES, PADDINGS, (False, True), *others)


def passed_through(function, x, weights):
    x = x.clone().requires_grad_()
    y = function(x)
    (gradient,) = torch.autograd.grad((y * weights[: y.numel()].reshape(y.shape)).sum(), x)
    return y.detach(), gradient


def compared(ours, theirs, x, weights, called):
    """Whether a setting is one, and then that output and gradient are torch's; both must refuse the same."""
    try:
        y, gradient = passed_through(ours, x, weights)
    except ValueError as error:
        if ALONE not in str(error):
            with pytest.raises(RuntimeError):
                theirs(x)
        return False
    right, right_gradient = passed_through(theirs, x, weights)
    assert y.shape == right.shape, (called, y.shape, right.shape)
    assert torch.allclose(y, right, rtol=0, atol=1e-14, equal_nan=True), called
    assert torch.allclose(gradient, right_gradient, rtol=0, atol=1e-14, equal_nan=True), called
    return True


def test_max_pool2d_is_torchs_in_every_setting_with_ties():
    weights, count = reals((400,), 0), 0
    for at, (size, window, stride, padding, ceil, dilation) in enumerate(geometries((1, 2, (3, 1)))):
        x = reals((2, 2, *size), at) - 3 * (at % 3 == 0)  # a border of 0 is no border of −∞ where all are negative
        x = x.round() if at % 2 else x
        rest = (window, stride, padding, dilation, ceil)
        count += compared(
            lambda x, rest=rest: max_pool2d(x, *rest), lambda x, rest=rest: F.max_pool2d(x, *rest), x, weights, rest
        )
    assert count > 400, count


def test_avg_pool2d_is_torchs_in_every_setting():
    weights, count = reals((400,), 0), 0
    for at, (size, window, stride, padding, ceil, counts, divisor) in enumerate(geometries((False, True), (None, -3))):
        x = reals((2, 2, *size), at)
        rest = (window, stride, padding, ceil, counts, divisor)
        count += compared(
            lambda x, rest=rest: avg_pool2d(x, *rest), lambda x, rest=rest: F.avg_pool2d(x, *rest), x, weights, rest
        )
    assert count > 1000, count


CALLS = {
    "max": (lambda x: max_pool2d(x, 3, 2, 1, (1, 2), True), lambda x: F.max_pool2d(x, 3, 2, 1, (1, 2), True)),
    "average": (lambda x: avg_pool2d(x, 3, 2, 1, True, False), lambda x: F.avg_pool2d(x, 3, 2, 1, True, False)),
    "divided by 5": (
        lambda x: avg_pool2d(x, (2, 3), 1, divisor_override=5),
        lambda x: F.avg_pool2d(x, (2, 3), 1, divisor_override=5),
    ),
}
every_call = pytest.mark.parametrize("name", CALLS)


@every_call
def test_finite_differences_agree_with_both_derivatives(name):
    x = reals((2, 2, 6, 5), 3).requires_grad_()
    assert torch.autograd.gradcheck(CALLS[name][0], x)
    assert torch.autograd.gradgradcheck(lambda x: CALLS[name][0](x) ** 3, x)


def test_ties_nan_and_infinite_numbers_go_where_torch_lets_them_go():
    planes = [
        [[1, 1, 1], [1, 1, 1], [1, 1, 1]],
        [[-INF, -INF, -INF], [-INF, -INF, -INF], [-INF, -INF, -INF]],
        [[1, NAN, 3], [NAN, 5, NAN], [7, 8, 9]],
        [[NAN, 2, 3], [4, 5, 6], [INF, 8, INF]],
        [[-INF, 2, INF], [INF, -INF, 0], [0, -0.0, 0]],
    ]
    weights = reals((99,), 1)
    for plane, window, stride, padding in itertools.product(planes, (2, 3), (1, 2), (0, 1)):
        x, rest = torch.tensor([[plane]], dtype=torch.float64), (window, stride, padding)
        for ours, theirs in ((max_pool2d, F.max_pool2d), (avg_pool2d, F.avg_pool2d)):
            called = (ours.__name__, plane, rest)
            assert compared(lambda x: ours(x, *rest), lambda x: theirs(x, *rest), x, weights, called), called  # noqa: B023
    y = reals((1, 1, 4, 4), 5).requires_grad_()
    (gradient,) = torch.autograd.grad(max_pool2d(y, 2), y, torch.full((1, 1, 2, 2), INF, dtype=torch.float64))
    assert sorted(gradient.flatten().tolist()) == [0.0] * 12 + [INF] * 4  # 0 · inf would be nan


@every_call
def test_they_keep_dtype_layout_and_the_form_without_a_batch(name):
    ours, theirs = CALLS[name]
    for dtype, least in ((torch.float32, 1e-6), (torch.bfloat16, 1e-2), (torch.float16, 1e-3)):
        x = reals((2, 3, 6, 7), 4).to(dtype).to(memory_format=torch.channels_last)
        for like in (x, x[0], x[:0]):
            got, right = (passed_through(function, like, torch.ones(999, dtype=dtype)) for function in (ours, theirs))
            for a, b in zip(got, right, strict=True):
                assert (a.dtype, a.shape) == (b.dtype, b.shape)
                assert torch.allclose(a, b, rtol=least, atol=least), dtype
        assert ours(x).is_contiguous(memory_format=torch.channels_last)
    with torch.autocast("cpu", torch.bfloat16):
        assert ours(x.float()).dtype == theirs(x.float()).dtype == torch.float32


@every_call
def test_they_work_inside_vmap_jacrev_and_no_grad_and_change_nothing(name):
    ours, theirs = CALLS[name]
    x = reals((3, 2, 2, 6, 5), 6)
    kept = copy.deepcopy(x)
    assert torch.allclose(vmap(ours)(x), torch.stack([theirs(each) for each in x]), atol=1e-14)
    assert torch.allclose(jacrev(ours)(x[0]), torch.autograd.functional.jacobian(theirs, x[0]), atol=1e-14)
    with torch.no_grad():
        assert ours(x[0].requires_grad_()).grad_fn is None
    assert torch.equal(x, kept)
    with pytest.raises(NotImplementedError, match="reverse mode only"):
        jvp(ours, (kept[0],), (kept[0],))


@every_call
def test_compiled_they_compute_what_they_compute_eagerly(name):
    ours, theirs = CALLS[name]
    compiled = torch.compile(ours, backend="aot_eager", fullgraph=True)
    got, right = (passed_through(function, reals((2, 2, 6, 5), 7), reals((400,), 8)) for function in (compiled, theirs))
    assert all(torch.allclose(a, b, atol=1e-14) for a, b in zip(got, right, strict=True))


X = torch.zeros(1, 1, 4, 4)
REFUSED = {
    "kernel_size is a whole number of 1": lambda: max_pool2d(X, 0),
    "stride is a whole number of 1": lambda: avg_pool2d(X, 2, 0),
    "dilation is a whole number of 1": lambda: max_pool2d(X, 2, dilation=1.5),
    "padding is at most half of kernel_size": lambda: max_pool2d(X, 3, padding=2),
    "the kernel must fit": lambda: avg_pool2d(X, 5),
    ALONE: lambda: max_pool2d(torch.zeros(1, 1, 2, 2), 2, 1, 1, 3),
    "ceil_mode is True or False: got 1": lambda: max_pool2d(X, 2, ceil_mode=1),
    "count_include_pad is True or False": lambda: avg_pool2d(X, 2, count_include_pad=None),
    "divisor_override is a whole number other than 0": lambda: avg_pool2d(X, 2, divisor_override=0),
    "input must be a torch.Tensor": lambda: max_pool2d([[1.0]], 1),
    "which have gradients: got torch.int64": lambda: avg_pool2d(X.long(), 2),
    "input must be .N, C, H, W.": lambda: max_pool2d(X[0, 0], 2),
    "1 or more channels": lambda: max_pool2d(torch.zeros(1, 0, 4, 4), 2),
}


@pytest.mark.parametrize("said", REFUSED)
def test_bad_input_is_refused_in_words(said):
    with pytest.raises((ValueError, TypeError), match=said):
        REFUSED[said]()
