"""From output to grad_output: the target between them, and how output's size and padding's sides follow."""

import re

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import expect

from convviz.facts.format_numbers import format_number
from convviz.geometry.spec import ConvSpec
from convviz.settings.link import from_link
from convviz.settings.state import Settings
from convviz.settings.tensors import weight_tensor
from tests.browser.app_page import read_panel, repaint
from tests.browser.test_screen_layout import OUTSIDE_THE_WINDOW, OVERLAPS
from tests.geometries import EDGE_CASES, random_specs, reals

SIDES = [("top", 0, 0), ("bottom", 0, 1), ("left", 1, 0), ("right", 1, 1)]
# The link, and what torch calls this loss: grad_output is its derivative, asked of autograd.
WITH_TARGET = {
    "v=2&loss=half_squared_error&target=random": lambda output, target: (
        0.5 * F.mse_loss(output, target, reduction="sum")
    ),
    "v=2&transposed=1&loss=half_squared_error&target=ones": lambda output, target: (
        0.5 * F.mse_loss(output, target, reduction="sum")
    ),
    "v=2&loss=cross_entropy": lambda output, target: F.cross_entropy(output.flatten(1), target.flatten(1)),
}


def number(text):
    return float(text.replace("−", "-"))


def test_output_without_target_is_grad_output(opened):
    for link, loss in WITH_TARGET.items():
        page = opened(link, (1280, 720))
        layer = ("grad_input", "target", "input") if "transposed" in link else ("output", "target", "grad_output")
        output, target, gradient = (read_panel(page, name).double() for name in layer)
        asked = output.clone().requires_grad_()
        (wanted,) = torch.autograd.grad(loss(asked[None, None], target[None, None]), asked)
        torch.testing.assert_close(gradient, wanted, msg=link)
        band = page.locator("[data-equation]").first
        signs = band.locator(".cv-symbol").all_text_contents()
        assert signs[-2:] == ["−", "→"], link
        assert page.evaluate(OUTSIDE_THE_WINDOW) == [], link
        assert page.evaluate(OVERLAPS) == [], link
        page.locator("[data-panel=target] [data-cell='1,1']").first.click()
        line = page.locator(".cv-sum")
        line.locator("xpath=self::*[contains(., 'grad_output')]").wait_for()
        if "cross_entropy" in link:
            share = float(output.flatten().softmax(0).reshape(output.shape)[1, 1])  # the click made it the right one
            said = f"{format_number(round(share, 6))} − 1 = {format_number(share - 1)}."
            expect(line).to_contain_text(f"grad_output[1,1] = share − target = {said}")  # hovering says the one before
        else:
            values = [number(text) for text in line.locator(".cv-factor").all_text_contents()]
            assert values == pytest.approx([float(output[1, 1]), float(target[1, 1])], abs=0.006), link
            assert number(line.locator("output").inner_text()) == pytest.approx(float(wanted[1, 1]), abs=0.006)
            assert "output − target" in line.inner_text()


def test_without_a_target_none_is_drawn_and_the_mean_over_the_samples_is_said(js):
    def items_of(state):
        (seen,) = js.walk(state, numbers=True)
        (equations,) = js("picture/panels.js", "equationsOf", [(state, seen["numbers"])])
        return [item for equation in equations for item in equation["items"]]

    for link in ("v=2", "v=1&loss=mean", "v=2&transposed=1"):
        items = items_of(from_link(link)[0].to_dict())
        assert "output" in [item.get("name") for item in items], link
        assert [item for item in items if item.get("name") == "target" or item.get("symbol") == "−"] == [], link
    settings = Settings(spec=ConvSpec(5, batch=2), loss="cross_entropy")
    notes = [item["note"] for item in items_of(settings.to_dict()) if "symbol" in item]
    at = notes.index("after softmax")
    assert notes[at + 1] == "loss, / 2"


def test_a_number_typed_into_the_target_is_taken_from_output(opened):
    page = opened("v=2&loss=half_squared_error")
    cell = page.locator("[data-panel=target] [data-cell='0,2']")
    cell.click()
    with repaint(page):
        page.keyboard.type("7")
        page.keyboard.press("Enter")
    output, gradient = (read_panel(page, name) for name in ("output", "grad_output"))
    assert float(gradient[0, 2]) == float(output[0, 2]) - 7
    page = opened("v=2&loss=cross_entropy")
    with repaint(page):
        page.locator("[data-panel=target] [data-cell='0,2']").click()  # one cell is the right one: this now
    assert read_panel(page, "target").nonzero().tolist() == [[0, 2]]


def test_the_size_of_the_output_is_worked_out(js):
    specs = [*EDGE_CASES.values(), *random_specs(19, 120)]
    states = [Settings(spec=spec).to_dict() for spec in specs]
    for spec, note in zip(
        specs, js("picture/formulas_and_notes.js", "noteOf", [(state, "forward", "") for state in states]), strict=True
    ):
        sums = re.findall(r"⌊\(([^a-zA-Z]+?)\) / (\d+)⌋ \+ 1 = (\d+)", note)
        assert len(sums) == len({*sums}), note
        found = [int(size) for _, _, size in sums]
        assert (found if len(found) == 2 else found * 2) == list(spec.output_size), (spec, note)
        for written, step, size in sums:
            assert eval(written.replace("−", "-").replace("·", "*")) // int(step) + 1 == int(size), note
        uneven = any(before != after for before, after in spec.padding)
        assert ("N + p − d" in note) == uneven, note


def test_one_side_is_padded_and_the_others_stay(js):
    for spec in [*EDGE_CASES.values(), *random_specs(29, 40)]:
        state = Settings(spec=spec).to_dict()
        for _, axis, side in SIDES:
            ((low, high),) = js("rules/padding.js", "sideRange", [(state["spec"], axis, side)])
            now = spec.padding[axis][side]
            assert low <= now <= high

            def padded(cells, axis=axis, side=side, spec=spec):
                padding = [list(sides) for sides in spec.padding]
                padding[axis][side] = cells
                return spec.replace(padding=padding)

            for cells in {low, high}:
                ((made, notices),) = js("rules/padding.js", "setSide", [(state, axis, side, cells)])
                assert (ConvSpec.from_dict(made["spec"]), notices) == (padded(cells), [])
            if low > 0:
                with pytest.raises(ValueError, match="kernel must fit"):
                    padded(low - 1)
            if now <= high < 4:
                with pytest.raises(ValueError, match="padding_mode"):
                    padded(high + 1)


def test_same_and_valid_pad_as_torch_does(js):
    for spec in [spec for spec in random_specs(39, 60) if spec.stride == (1, 1)] + [ConvSpec(6, kernel_size=(4, 2))]:
        plain = spec.replace(
            padding=0, padding_mode="zeros", input_size=[max(each, 7) for each in spec.effective_kernel]
        )
        x, w = reals(plain.input_shape, 1), reals(plain.weight_shape, 2)
        for name in ("same", "valid"):
            ((made, notices),) = js("rules/padding.js", "namePadding", [(Settings(spec=plain).to_dict(), name)])
            there = Settings.from_dict(made)
            (top, bottom), (left, right) = there.spec.padding
            ours = F.conv2d(F.pad(x, (left, right, top, bottom)), w, dilation=plain.dilation, groups=plain.groups)
            torch.testing.assert_close(ours, F.conv2d(x, w, padding=name, dilation=plain.dilation, groups=plain.groups))
            odd = [cells % 2 for cells in (top + bottom, left + right)]
            assert len(notices) == sum(odd), (plain, notices)
            assert all(("bottom" if odd[0] else "right") in notices[0] for _ in notices[:1])
            same_as_valid = there.spec.padding == ((0, 0), (0, 0))
            assert js("rules/padding.js", "paddingName", [(made,)]) == ["valid" if same_as_valid else name]
    (refused,) = js.tried("rules/padding.js", "namePadding", [(Settings().to_dict(), "same")])
    with pytest.raises(ValueError, match="needs stride 1") as rule:
        ConvSpec(8, stride=2, padding="same")
    assert refused["refused"] == str(rule.value)


def test_the_slider_for_all_sides_says_that_it_evened_them(js):
    settings, _ = from_link("v=2&padding=1,2x0")
    first, seen = js.walk(settings.to_dict(), ["setAxis", "padding", 0, 3])
    assert seen["state"]["spec"]["padding"] == [[3, 3], [3, 3]]
    assert "from 1 + 2 to 3 on both sides" in seen["notice"]
    assert first["state"]["spec"]["padding"] == [[1, 2], [0, 0]]
    settings, _ = from_link("v=2&padding=1,2x2,1&link_axes=1")
    _, seen = js.walk(settings.to_dict(), ["setAxis", "padding", 0, 3])
    assert seen["notice"].count("width") == 1, "no axis is spoken of twice"


def test_turned_conv2d_is_a_true_convolution(js):
    for spec in random_specs(49, 20):
        settings = Settings(spec=spec).replace(weight=from_link("v=2&weight=random")[0].weight)
        before = weight_tensor(settings)
        _, seen, again = js.walk(settings.to_dict(), ["turnKernel"], ["turnKernel"])
        turned = weight_tensor(Settings.from_dict(seen["state"]))
        assert torch.equal(turned, before.flip(-2, -1)), spec
        assert torch.equal(weight_tensor(Settings.from_dict(again["state"])), before)
        assert "cross-correlation" in seen["notice"]


def test_drawing_takes_one_step_of_undo_and_a_click_still_pins(opened):
    page = opened("v=2")
    before = read_panel(page, "padded_input", "forward")
    page.locator(".cv-more-controls > summary").click()
    number, box = page.locator(".cv-set-draw input[type=text]"), page.locator(".cv-set-draw input[type=checkbox]")
    number.fill("x")
    assert number.get_attribute("aria-invalid") == "true"
    box.click()
    assert not box.is_checked(), "without a number nothing is drawn"
    number.fill("9")
    box.press("Space")
    area = page.locator("[data-equation=forward] [data-panel=padded_input] svg.cv-grid").bounding_box()

    def at(row, column):
        return area["x"] + (column + 0.5) * area["width"] / 5, area["y"] + (row + 0.5) * area["height"] / 5

    page.mouse.move(*at(0, 0))
    with repaint(page):
        page.mouse.down()
    with repaint(page):
        page.mouse.move(*at(3, 3))  # a quick hand: the cells between are drawn, too
    page.mouse.move(area["x"] - 40, area["y"])  # outside nothing is drawn
    with repaint(page):
        page.mouse.move(*at(4, 0))
    page.keyboard.press("Escape")  # in the middle of a stroke
    assert not box.is_checked()
    page.mouse.move(*at(4, 2))
    page.mouse.up()
    drawn = before.clone()
    for place in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 0)]:
        drawn[place] = 9
    assert torch.equal(read_panel(page, "padded_input", "forward"), drawn)
    assert page.locator(".cv-sum output, .cv-sum code").count() == 0, "nothing is pinned"
    with repaint(page):
        page.locator(".cv-tools button").first.click()
    assert torch.equal(read_panel(page, "padded_input", "forward"), before)
    assert page.locator(".cv-tools button").first.get_attribute("aria-disabled") == "true"
    page.mouse.click(*at(2, 2))
    page.locator(".cv-sum", has_text="windows read this pixel").wait_for()
    assert torch.equal(read_panel(page, "padded_input", "forward"), before)


def test_a_stroke_is_one_step_however_long_it_takes(js):
    def stroke(row, number):
        cells = [[row, 0], [row, 1]]
        return ["send", {"type": "paint", "panel": "padded_input", "cells": cells, "value": 2.5, "stroke": number}]

    start = from_link("v=2&padding=1")[0]
    steps = [stroke(1, "a"), ["wait", 60_000], stroke(2, "a"), stroke(3, "b"), ["undo"], ["undo"]]
    *_, both, one, none = js.walk(start.to_dict(), *steps)
    columns = [seen["state"]["input"]["values"][::5] for seen in (both, one)]
    assert columns == [[2.5, 2.5, 2.5, 4, 1], [2.5, 2.5, 4, 4, 1]], "cells of the border stay what they are"
    assert none["state"] == start.to_dict()


def test_one_menu_says_what_is_sent_back(opened):
    page = opened("v=2")
    menu = page.locator("[data-equation=forward] .cv-sent-back select")
    assert menu.input_value() == "single"
    for what in ("half_squared_error", "cross_entropy", "mean", "sum", "ones"):
        with repaint(page):
            menu.select_option(what)
        assert menu.input_value() == what
        assert page.locator(".cv-notice").inner_text() == "", what
        shown, output = (read_panel(page, name, "forward") for name in ("grad_output", "output"))
        sent = {
            "half_squared_error": output,  # its target is zeros
            "mean": torch.full_like(output, 1 / output.numel()),
        }.get(what, torch.ones_like(output))
        if what == "cross_entropy":
            sent = output.flatten().softmax(0).reshape(output.shape) - read_panel(page, "target", "forward")
        assert torch.allclose(shown, sent, atol=1e-6), what
    with repaint(page):
        page.get_by_role("button", name="Undo").click()
    assert menu.input_value() == "sum", "one step"
    with repaint(page):
        page.evaluate("location.hash = 'v=2&grad=random'")
    assert menu.evaluate("(menu) => menu.selectedOptions[0].text") == "set by hand"


def test_the_legend_of_colours_is_there_whichever_band_has_the_room(opened):
    page = opened("v=2")
    for number in (1, 2, 3):
        page.keyboard.press(str(number))
        assert page.locator(".cv-foot .cv-scale").is_visible(), f"band {number}"
        page.keyboard.press("Escape")


def test_words_of_help_are_those_of_the_layer(opened):
    page = opened("v=2&stride=2&padding=1")
    words = page.locator(".cv-set-padding [data-help]").first
    assert words.get_attribute("data-help") == "help.padding"
    page.locator(".cv-more-controls > summary").click()
    with repaint(page):
        page.locator(".cv-set-transposed input").press("Space")
    assert words.get_attribute("data-help") == "help.layer.padding"
    helps = page.evaluate("[...document.querySelectorAll('.cv-key [data-help]')].map((word) => word.dataset.help)")
    assert {"key.layer.inserted", "key.layer.remainder", "key.layer.unread"} <= set(helps)
