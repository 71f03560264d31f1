"""Holds the page of the app against autograd."""

import pytest
import torch
import torch.nn.functional as F

from tests.browser.app_page.expected_by_autograd import LOSSES, autograd_of_page
from tests.browser.app_page.read_page import see

# What rounding explains, relative to the largest number of the tensor: sums of at most a few thousand terms.
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "bfloat16": 3e-2}


def assert_page_equals_autograd(page):
    """Hold every panel of the page, over all planes, against autograd; return what was seen."""
    seen = see(page)
    expected = autograd_of_page(page, seen)
    assert set(seen.tensors) == set(expected), f"panels: {sorted(seen.tensors)}"
    for name, tensor in expected.items():
        _assert_near(name, seen.tensors[name], tensor, seen.dtype)
    at, shown = seen.geometry, seen.tensors
    read = F.conv2d(shown["padded_grad_output"], shown["rotated_weight"], None, 1, 0, at["dilation"], at["groups"])
    name = "grad_input" if at["mode"] == "zeros" else "grad_padded_input"
    _assert_near(f"{name}, read as the equation says it,", read, shown[name], seen.dtype)
    if chosen := seen.shot["weight"]:  # beside its slider, in as many digits as a cell prints
        weight = cell_of_shot(seen.shot, "weight", chosen["place"])
        assert chosen["value"] == pytest.approx(weight, rel=5e-3, abs=6e-3), (chosen, weight)
    _assert_lines(seen)
    return seen


def cell_of_shot(shot, name, place):
    """Return the value of a numbered cell in a snapshot."""
    panels = [panel for section in shot["equations"] for panel in section["panels"]]
    return next(panel["cells"][place] for panel in panels if panel["name"] == name)


def _assert_near(name, shown, expected, dtype):
    assert shown.shape == expected.shape, f"{name}: {list(shown.shape)} instead of {list(expected.shape)}"
    most = TOLERANCE[dtype] * max(1.0, float(expected.abs().max()))
    difference = (shown - expected).abs()
    place = [int(i) for i in torch.unravel_index(difference.argmax(), difference.shape)]
    assert float(difference.max()) <= most, f"{name}{place}: differs by {float(difference.max())}"


def _assert_lines(seen):
    """The line of truth, and the loss with its value."""
    shown, shot = seen.tensors, seen.shot
    assert shot["truth_ok"] == "true", shot["truth"]
    reported = f"torch, {shot['menus']['device']}, {seen.dtype}: equals autograd"
    assert shot["truth"].startswith(reported), shot["truth"]
    assert shot["from"] == "torch", "no number on the page is the page's own"
    loss = {
        "sum": shown["output"].sum(),
        "mean": shown["output"].mean(),
        "half_squared_error": 0.5 * (shown["grad_output"] ** 2).sum(),
        "weighted_sum": (shown["grad_output"] * shown["output"]).sum(),
        "cross_entropy": F.cross_entropy(
            shown["output"].flatten(1),
            shown["grad_output"].flatten(1).argmin(1),  # below 0 at the target alone
        ),
    }[LOSSES[shot["menus"]["loss"]]]
    written = float(shot["loss"].rsplit(" = ", 1)[1].replace("\N{MINUS SIGN}", "-"))
    # Six digits are written; it is added up anew here, from numbers in the dtype.
    rel, near = (0.05, 0.5) if seen.dtype == "bfloat16" else (1e-4, 1e-4)
    assert written == pytest.approx(float(loss), rel=rel, abs=near), shot["loss"]
