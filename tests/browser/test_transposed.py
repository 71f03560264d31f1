"""The transposed convolution on the page: every panel against autograd, the linked cells, and the sums."""

import itertools
import json
import re

import pytest
import torch
import torch.nn.functional as F

from convviz.ops.by_rotate import dilate_grad_output, pad_grad_output, rotate_weight
from tests.browser.app_page import (
    cell,
    read_panel,
    repaint,
    slide,
    slider_value,
    snapshot,
    switch,
    wait_value,
)
from tests.browser.scripts import expose, geometry
from tests.browser.test_links import ALL_LINKS, COPIES, lit, single
from tests.geometries import EDGE_CASES, random_specs, reals

pytestmark = pytest.mark.browser


# -- linked cells, in a page of their own --------------------------------------------------------------------------


def panels(spec, x, w, b, g):
    """Return every panel's plane as a function of the four tensors that a person can change, under its role."""
    whole = F.conv_transpose2d(x, w, b, spec.stride, 0, spec.remainder, 1, spec.dilation)
    (top, bottom), (left, right) = spec.padding
    output = whole[..., top : whole.shape[2] - bottom, left : whole.shape[3] - right]
    to_input, to_weight = torch.autograd.grad(output, (x, w), g, create_graph=True)
    dilated = dilate_grad_output(x, spec.stride)
    return {
        "input": g,
        "padded_input": F.pad(g, (left, right, top, bottom)),
        "weight": w,
        "rotated_weight": rotate_weight(w, 1),
        "bias": b.reshape(1, 1, 1, 1),
        "grad_output": x,
        "dilated_grad_output": dilated,
        "padded_grad_output": pad_grad_output(dilated, spec),
        "grad_input": output,
        "output": to_input,
        "grad_weight": to_weight,
        "grad_bias": g.sum().reshape(1, 1, 1, 1),
    }


def expected_links(spec):
    """Return {panel: size} and {cell: cells that must light up}: those that move together when torch is asked."""
    variables = [
        reals(shape, seed).requires_grad_()
        for seed, shape in enumerate((spec.output_shape, spec.weight_shape, (1,), spec.input_shape))
    ]
    sizes, moved = {}, {}
    for name, plane in panels(spec, *variables).items():
        sizes[name] = list(plane.shape[-2:])
        each_cell = torch.eye(plane.numel(), dtype=plane.dtype).reshape(plane.numel(), *plane.shape)
        slopes = torch.autograd.grad(
            plane, variables, each_cell, retain_graph=True, allow_unused=True, is_grads_batched=True
        )
        for number, slope in enumerate(slopes):
            for at, place in () if slope is None else slope.flatten(1).nonzero().tolist():
                moved.setdefault((number, place), set()).add(f"{name} {at // plane.shape[-1]},{at % plane.shape[-1]}")
    copies = {"input", *COPIES}
    expected = {}
    # The layer's output, its target and what comes back for it stand side by side.
    for row, column in itertools.product(*map(range, sizes["grad_input"])):
        trio = {f"{name} {row},{column}" for name in ("grad_input", "target", "input")}
        trio |= next(
            {other for other in cells if other.split()[0] in copies}
            for cells in moved.values()
            if f"input {row},{column}" in cells
        )
        for name in trio:
            expected.setdefault(name, set()).update(trio - {name})
    for cells in moved.values():
        for name in cells:
            # A number lights up all that moves with it; a result only the numbers that it is made of.
            own = cells if name.split()[0] in copies else {other for other in cells if other.split()[0] in copies}
            expected.setdefault(name, set()).update(own - {name})
    return sizes, expected


def test_lit_cells_are_those_that_move_in_torch(page):
    page.goto("about:blank")
    expose(page, "picture/links.js", "rules/spec.js")
    edges = [spec for spec in EDGE_CASES.values() if spec.padding_mode == "zeros"]
    specs = [single(spec) for spec in (*random_specs(seed=800, count=120, modes=("zeros",)), *edges)]
    sizes, expected = zip(*map(expected_links, specs), strict=True)
    asked = [[geometry(spec, transposed=True), size] for spec, size in zip(specs, sizes, strict=True)]
    for spec, needed, answer in zip(specs, expected, json.loads(page.evaluate(ALL_LINKS, asked)), strict=True):
        for name, found in answer.items():
            real = {other for is_real, other in found if is_real}
            must = needed.get(name, set())
            assert real == must, (json.dumps(spec.to_dict()), name, sorted(must - real), sorted(real - must))


# -- in the app ----------------------------------------------------------------------------------------------------


@pytest.fixture
def app(app):
    switch(app, "transposed convolution", True)
    assert app.locator(".cv-board").get_attribute("data-from") == "torch"
    assert app.locator(".cv-truth").text_content().startswith("torch, cpu, float32: equals autograd")
    return app


def test_one_click_chooses_another_output_of_the_same_input(app):
    told = app.locator("[data-equation=input] .cv-remainder")
    assert "output_padding=1 chooses 8 × 8. It keeps 1 row and 1 column" in told.text_content()
    assert app.locator("[data-equation=forward] .cv-remainder").is_hidden()
    sizes = told.locator("button")
    assert sizes.all_text_contents() == ["output_padding 0output 7 × 7", "output_padding 1output 8 × 8"]
    app.locator("[data-equation=input] .cv-symbols-open").click()
    assert told.get_by_role("group").get_attribute("aria-label") == "Values of output_padding"
    before = read_panel(app, "grad_input")
    with repaint(app):
        sizes.first.click()
    after = read_panel(app, "grad_input")
    assert after.shape == (7, 7)
    assert torch.equal(after, before[:7, :7]), "only the last row and column depend on it"
    assert slider_value(app, "output_padding") == 0
    assert slider_value(app, "input_size") == 4
    assert "It adds nothing" in told.text_content()
    assert app.evaluate("document.activeElement.dataset.size") == "7,7", "the keyboard stays where it was"
    with repaint(app):
        app.get_by_role("button", name="Undo", exact=True).click()
    assert read_panel(app, "grad_input").shape == (8, 8)


def test_switching_back_keeps_the_size_that_the_sliders_had_no_room_for(app):
    """The layer's input of 2 is less than the convolution's slider allows with a kernel of 5: nobody moved it."""
    with repaint(app):
        app.get_by_role("checkbox", name="transposed convolution").press("Space")
    for name, value in (("stride", 1), ("padding", 0), ("kernel_size", 5), ("input_size", 6)):
        slide(app, name, value)
    for _ in range(2):
        with repaint(app):
            app.get_by_role("checkbox", name="transposed convolution").press("Space")
    slide(app, "digit", 4)  # behind it come the answers of the sliders, if any
    assert [slider_value(app, "input_size", axis) for axis in (0, 1)] == [6, 6]
    assert read_panel(app, "padded_input").shape == (6, 6)
    app.get_by_role("button", name="Undo").click()


def test_pointing_at_the_input_lights_its_stamp_in_the_output(app):
    cell(app, "padded_grad_output", 3, 5).hover()  # padding 1 before, stride 2: the input's cell [1, 2]
    found = lit(app)
    assert found["grad_input"] == {f"{r},{c}" for r in (1, 2, 3) for c in (3, 4, 5)}
    assert found["dilated_grad_output"] == {"2,4"}
    assert found["grad_weight"] == {f"{r},{c}" for r in range(3) for c in range(3)}
    assert "output" not in found, "the page calls it grad_input: it does not follow from the input"
    label = app.locator(".cv-readout").text_content()
    assert re.match(r"padded_input, row 3, column 5", label), label


def test_typing_into_the_input_and_into_grad_output(app):
    place = cell(app, "padded_grad_output", 1, 1)
    place.focus()
    for panel, at in (("padded_grad_output", (1, 1)), ("input", (7, 7))):
        cell(app, panel, *at).focus()
        app.keyboard.type("5")
        with repaint(app):
            app.keyboard.press("Enter")
        wait_value(app, panel, *at, 5)
    assert snapshot(app)["menus"]["loss"] == "set by hand"
