"""Stepping and stamps: what is added up so far is what torch computes when only so much of grad_output is there."""

import json
import re

import pytest
import torch
import torch.nn.functional as F

from convviz.geometry.plane import Plane
from convviz.ops import by_rotate
from tests.browser.app_page import (
    FOLLOWS_WITHIN_MS,
    assert_page_equals_autograd,
    cell,
    choose,
    messages_sent,
    read_panel,
    repaint,
    slide,
    slider,
    slider_value,
)
from tests.browser.scripts import expose, geometry
from tests.geometries import EDGE_CASES, conv2d_by_definition, random_specs, reals

pytestmark = pytest.mark.browser

SUMS = """([given, gradients, kernels, counts]) => counts.map((count) => {
  const { plane, folded } = stampedSoFar(geometryOf(...given), gradients, kernels, count);
  return [[...plane], [...folded]];
})"""
WALK = """([given, name, view, cells]) => ({
  walk: walkOf(geometryOf(...given), name, view),
  spans: cells.map((cell) => spanOf(geometryOf(...given), name, view, cell)),
})"""
COMPLETED = """([given, rows, columns]) => {
  const at = completedAt(geometryOf(...given));
  return Array.from({ length: rows * columns }, (_, i) => at(Math.floor(i / columns), i % columns));
}"""


@pytest.fixture
def steps(page):
    """Return a page that has the arithmetic of the steps and nothing else."""
    page.goto("about:blank")
    expose(page, "picture/steps.js", "numbers/stamped.js", "rules/spec.js")
    return page


def some_specs(seed, count=40):
    specs = list(random_specs(seed=900 + seed, count=count))
    return specs + list(EDGE_CASES.values()) if seed == 0 else specs


def planes_of_group(spec, plane, g, w):
    """Return grad_output's and weight's planes that reach the shown input channel, as flat lists."""
    per_in, per_out = spec.in_channels // spec.groups, spec.out_channels // spec.groups
    group = plane.in_channel // per_in
    outs = range(group * per_out, (group + 1) * per_out)
    gradients = [g[plane.sample, o].flatten().tolist() for o in outs]
    return gradients, [w[o, plane.in_channel % per_in].flatten().tolist() for o in outs]


def arrived(spec, count):
    """Return 1 for the first cells of grad_output in reading order, 0 for the others, ``[H_out, W_out]``."""
    height, width = spec.output_size
    return (torch.arange(height * width) < count).double().reshape(height, width)


@pytest.mark.parametrize("seed", range(3))
def test_stamps_equal_the_window_and_autograd_at_each_step(steps, seed):
    for number, spec in enumerate(some_specs(seed)):
        plane = Plane(spec.batch - 1, spec.out_channels - 1, spec.in_channels - 1).within(spec)
        x, w = reals(spec.input_shape, number).requires_grad_(), reals(spec.weight_shape, number + 1)
        g = reals(spec.output_shape, number + 2)
        cells = spec.output_size[0] * spec.output_size[1]
        counts = sorted({*range(min(cells, 4) + 1), cells // 2, cells - 1, cells})
        found = steps.evaluate(SUMS, [geometry(spec, plane), *planes_of_group(spec, plane, g, w), counts])
        output = conv2d_by_definition(x, w, None, spec)
        for count, (summed, folded) in zip(counts, found, strict=True):
            so_far = g * arrived(spec, count)
            to_input = torch.autograd.grad(output, x, so_far, retain_graph=True)[0][plane.sample, plane.in_channel]
            told = torch.tensor(folded, dtype=torch.float64).reshape(to_input.shape)
            assert torch.allclose(told, to_input, atol=1e-12), (json.dumps(spec.to_dict()), count)
            padded = by_rotate.pad_grad_output(by_rotate.dilate_grad_output(so_far, spec.stride), spec)
            window = by_rotate.correlate(padded, by_rotate.rotate_weight(w, spec.groups), spec)
            window = window[plane.sample, plane.in_channel]
            told = torch.tensor(summed, dtype=torch.float64).reshape(window.shape)
            assert torch.allclose(told, window, atol=1e-12), (json.dumps(spec.to_dict()), count)


def test_the_window_stands_where_its_numbers_are(steps):
    """Changing an image outside the framed rectangle leaves the cell as it is; its corners move it."""
    for number, spec in enumerate(random_specs(seed=77, count=40)):
        spec = spec.replace(in_channels=1, out_channels=1, groups=1, batch=1)
        w, g = reals(spec.weight_shape, number) + 9, reals(spec.output_shape, number + 1) + 9  # no zero among them
        p = [side for axis in (1, 0) for side in spec.padding[axis]]
        images = {
            "forward": F.pad(reals(spec.input_shape, 3), p),
            "weight": F.pad(reals(spec.input_shape, 3), p),
            "input": by_rotate.pad_grad_output(by_rotate.dilate_grad_output(g, spec.stride), spec),
        }
        dilated = by_rotate.dilate_grad_output(g, spec.stride)
        rules = {
            "forward": lambda image, spec=spec, w=w: F.conv2d(image, w, None, spec.stride, 0, spec.dilation),
            "input": lambda image, spec=spec, w=w: F.conv2d(image, w.flip(2, 3), None, 1, 0, spec.dilation),
            # The kernel's size says where grad_output may stop: a remainder would be one position more.
            "weight": lambda image, spec=spec, dilated=dilated: F.conv2d(image, dilated, None, spec.dilation, 0)[
                ..., : spec.kernel_size[0], : spec.kernel_size[1]
            ],
        }
        for name, image in images.items():
            image = image.clone().requires_grad_()
            result = rules[name](image)
            height, width = result.shape[-2:]
            cells = [[0, 0], [height - 1, width - 1], [height // 2, width // 3]]
            told = steps.evaluate(WALK, [geometry(spec), name, "window", cells])
            assert told["walk"]["size"] == [height, width], (name, spec)
            for (row, column), span in zip(cells, told["spans"], strict=True):
                read = torch.autograd.grad(result[0, 0, row, column], image, retain_graph=True)[0][0, 0] != 0
                rows, columns = (read.any(1 - axis).nonzero().flatten().tolist() for axis in (0, 1))
                assert (rows[0], columns[0]) == (span["row"], span["column"]), (name, spec)
                assert (rows[-1] - rows[0] + 1, columns[-1] - columns[0] + 1) == (span["rows"], span["columns"]), name


def test_a_folded_cell_is_complete_with_the_last_of_its_copies(steps):
    told = 0
    for spec in random_specs(seed=31, count=60, modes=("reflect", "replicate", "circular")):
        spec = spec.replace(in_channels=1, out_channels=1, groups=1, batch=1)
        height, width = spec.input_size
        places = torch.arange(height * width, dtype=torch.float64).reshape(1, 1, height, width)
        pads = [side for axis in (1, 0) for side in spec.padding[axis]]
        copies = F.pad(places, pads, mode=spec.padding_mode).flatten().tolist()
        last = {int(source): at for at, source in enumerate(copies)}
        found = steps.evaluate(COMPLETED, [geometry(spec), height, width])
        assert found == [last[place] for place in range(height * width)], spec
        told += len(copies) > height * width
    assert told > 20


# -- in the app --------------------------------------------------------------------------------------------------


def bar(app, equation):
    return app.locator(f"[data-equation={equation}] .cv-transport")


def start_stepping(app, equation):
    app.locator(f"[data-equation={equation}] .cv-step[aria-expanded]").click()
    bar(app, equation).wait_for()


def at_step(app, equation):
    """Return (position, count) as the bar writes them."""
    found = re.fullmatch(r"(?:cell|stamp) (\d+) of (\d+)", bar(app, equation).locator(".cv-where").text_content())
    return int(found[1]), int(found[2])


def veiled(app, equation, panel):
    """Return how many cells of a panel lie under the veil, by the area of its path."""
    return app.evaluate(
        """([equation, panel]) => {
            const path = document.querySelector(`[data-equation=${equation}] [data-panel=${panel}] .cv-cover`);
            const runs = (path.getAttribute("d") ?? "").matchAll(/h(-?[0-9.]+)v/g);
            return [...runs].reduce((sum, [, length]) => sum + Number(length) / 40, 0);
        }""",
        [equation, panel],
    )


def frame(app, equation, panel):
    """Return the framed window of a panel as [row, column, rows, columns], or None."""
    return app.evaluate(
        """([equation, panel]) => {
            const rect = document.querySelector(`[data-equation=${equation}] [data-panel=${panel}] .cv-window`);
            return rect.getAttribute("visibility") === "visible" ? rect.dataset.span.split(",").map(Number) : null;
        }""",
        [equation, panel],
    )


def wait_rows(app, panel, rows):
    """Wait until a panel has so many rows."""
    app.locator(f"[data-panel={panel}] svg[aria-rowcount='{rows}']").first.wait_for(timeout=FOLLOWS_WITHIN_MS)


def choose_view(app, view):
    with repaint(app):
        app.locator(f"[data-equation=input] [data-view={view}]").click()


def test_stepping_fills_the_result_in_and_moves_the_window(app):
    sent = messages_sent(app)
    for equation, result, image in (
        ("forward", "output", "padded_input"),
        ("input", "grad_input", "padded_grad_output"),
        ("weight", "grad_weight", "padded_input"),
    ):
        before = read_panel(app, result, equation)
        start_stepping(app, equation)
        position, count = at_step(app, equation)
        assert (position, count) == (1, before.numel())
        assert veiled(app, equation, result) == count - 1
        places = [frame(app, equation, image)]
        for step in range(2, 5):
            app.keyboard.press("ArrowRight")
            assert at_step(app, equation) == (step, count)
            assert veiled(app, equation, result) == count - step
            places.append(frame(app, equation, image))
            row, column = divmod(step - 1, before.shape[1])
            value = app.locator(".cv-sum output").get_attribute("data-value")
            assert float(value) == pytest.approx(float(before[row, column])), "the sum line writes this step"
        assert len({tuple(place) for place in places}) == len(places)
        app.keyboard.press("End")
        assert at_step(app, equation) == (count, count)
        assert veiled(app, equation, result) == 0
        app.keyboard.press("Escape")
        assert bar(app, equation).is_hidden()
        assert frame(app, equation, image) is None
        assert app.locator(".cv-readout").text_content() == "", "nothing is said of a step any more"
        assert app.evaluate("document.activeElement.className") == "cv-step", "the keyboard goes back to the button"
        assert torch.equal(read_panel(app, result, equation), before)
    assert sent() == 0, "all of it is worked out in the page"


def test_one_equation_is_stepped_through_at_a_time_and_each_view_has_its_own_steps(app):
    start_stepping(app, "forward")
    cell(app, "output", 3, 3).hover()
    assert app.locator(".cv-readout").text_content().endswith("row 3, column 3: not computed yet at this step")
    start_stepping(app, "input")
    assert bar(app, "forward").is_hidden()
    assert (veiled(app, "forward", "output"), veiled(app, "input", "grad_input")) == (0, 63)
    choose_view(app, "stamps")
    assert bar(app, "input").is_hidden()
    assert veiled(app, "input", "grad_input") == 0
    start_stepping(app, "input")
    assert at_step(app, "input") == (1, 16)


def masked_gradients(app, counts):
    """Return torch's grad_input for the first so many cells of grad_output, from the numbers on the page."""
    x = torch.zeros(1, 1, 8, 8, dtype=torch.float64, requires_grad=True)
    output = F.conv2d(x, read_panel(app, "weight")[None, None], None, 2, 1)
    g = read_panel(app, "grad_output")
    masks = [(torch.arange(16) < count).double().reshape(4, 4) for count in counts]
    return [torch.autograd.grad(output, x, (g * mask)[None, None], retain_graph=True)[0][0, 0] for mask in masks]


def test_stamps_add_up_on_the_page_to_what_torch_says_at_each_step(app):
    final = read_panel(app, "grad_input")
    choose_view(app, "stamps")
    assert torch.equal(read_panel(app, "grad_input"), final), "the same numbers, told another way"
    expected = masked_gradients(app, range(1, 17))
    sent = messages_sent(app)
    start_stepping(app, "input")
    for count, gradient in enumerate(expected, 1):
        assert at_step(app, "input") == (count, 16)
        assert torch.allclose(read_panel(app, "grad_input"), gradient, atol=1e-6), count
        app.keyboard.press("ArrowRight")
    assert torch.equal(read_panel(app, "grad_input"), final), "the last step shows torch's own numbers"
    assert "stamps:" in app.locator(".cv-sum").text_content()
    assert sent() == 0
    app.keyboard.press("Escape")
    assert torch.equal(read_panel(app, "grad_input"), final)
    choose_view(app, "window")
    assert_page_equals_autograd(app)


def test_stamps_of_several_channels_with_a_border_that_folds(app):
    for name, value in (("in_channels", 2), ("out_channels", 3)):
        with repaint(app):
            slide(app, name, value)
    choose(app, "padding_mode", "reflect")
    choose_view(app, "stamps")
    folded, final = read_panel(app, "grad_input"), read_panel(app, "grad_padded_input")
    start_stepping(app, "input")
    app.keyboard.press("End")
    app.keyboard.press("ArrowLeft")
    partial = read_panel(app, "grad_padded_input")
    # The last stamp is missing: its rows and columns alone differ, and the rest has all channels in it.
    changed = (partial - final).abs() > 1e-5
    assert changed[:6].sum() == 0
    assert changed[:, :6].sum() == 0
    assert changed.any()
    assert torch.allclose(partial[~changed], final[~changed], atol=1e-5)
    app.keyboard.press("ArrowRight")
    assert torch.equal(read_panel(app, "grad_padded_input"), final)
    assert torch.equal(read_panel(app, "grad_input"), folded)


def test_numbers_that_the_page_lacks_are_said_not_invented(app):
    slide(app, "stride", 1)
    with repaint(app):
        slider(app, "input_size").focus()
        for _ in range(12):
            app.keyboard.press("ArrowRight")
    wait_rows(app, "output", 20)
    with repaint(app):
        slide(app, "out_channels", 2)
    choose_view(app, "stamps")
    start_stepping(app, "input")
    assert "the page does not have" in app.locator(".cv-sum").text_content()
    assert veiled(app, "input", "grad_input") == 400
    app.keyboard.press("End")
    assert veiled(app, "input", "grad_input") == 0
    assert app.locator("[data-equation=input] [data-panel=grad_input] .cv-veil *").count() < 8, "no shape a cell"


def test_pairs_run_forwards_in_the_window_and_backwards_in_the_stamps(app):
    """The moment: number the cells of grad_output, and look where the same numbers stand on the kernel."""
    read = """(panel) => [...document.querySelectorAll(`[data-equation=input] [data-panel=${panel}] .cv-badges g`)]
        .map((badge) => [Number(badge.textContent), Number(badge.querySelector("text").getAttribute("x")),
             Number(badge.querySelector("text").getAttribute("y"))]).map(([n, x, y]) => [n, y * 1000 + x])"""

    def order(panel):
        """The numbers of a panel in reading order."""
        return [number for number, _ in sorted(app.evaluate(read, panel), key=lambda badge: badge[1])]

    cell(app, "grad_input", 3, 3).click()
    app.locator(".cv-product").first.wait_for()
    assert order("padded_grad_output") == [1, 2, 3, 4]
    assert order("rotated_weight") == [1, 2, 3, 4]
    choose_view(app, "stamps")
    assert order("grad_output") == [1, 2, 3, 4]
    assert order("weight") == [4, 3, 2, 1]
    told = app.locator("[data-equation=input] .cv-aside").text_content()
    assert "[2,2], [2,0], [0,2], [0,0]: backwards" in told
    assert len(app.locator(".cv-product").all()) == 4, "the pin is where it was, its sum in weight and grad_output"
    factors = app.locator(".cv-product .cv-factor").evaluate_all("all => all.map((one) => one.dataset.panel)")
    assert set(factors) == {"grad_output", "weight"}


def test_a_stamp_lies_on_the_gradient_as_the_kernel_lies_in_its_panel(app):
    """The colours of the weights, cell by cell and not rotated; the part on the padding is dashed in the kernel."""
    read = """(panel) => Object.fromEntries(
        [...document.querySelectorAll(`[data-equation=input] [data-panel=${panel}] .cv-lit`)].flatMap((path) =>
          [...path.getAttribute("d").matchAll(/M([0-9.]+) ([0-9.]+)/g)].map(([, x, y]) =>
            [`${Math.floor(y / 40)},${Math.floor(x / 40)}`, path.style.stroke])))"""
    choose_view(app, "stamps")
    for step in (False, True):
        if step:
            start_stepping(app, "input")
            for _ in range(5):
                app.keyboard.press("ArrowRight")
            app.mouse.move(2, 2)
        else:
            app.locator("[data-equation=input] [data-panel=grad_output] [data-cell='1,1']").hover()
        stamp = app.evaluate(read, "grad_input")
        assert stamp.keys() == {f"{row},{column}" for row in (1, 2, 3) for column in (1, 2, 3)}
        assert len(set(stamp.values())) == 5, "the five different weights of Sobel x"
    kernel = app.evaluate(read, "weight")
    for place, color in stamp.items():
        row, column = (int(part) - 1 for part in place.split(","))
        assert kernel[f"{row},{column}"] == color
    app.keyboard.press("Home")
    kernel = app.locator("[data-equation=input] [data-panel=weight] .cv-lights")
    assert set(kernel.get_attribute("data-lit").split()) == {"1,1", "1,2", "2,1", "2,2"}
    assert len(kernel.get_attribute("data-zero").split()) == 5
    assert "5 of the stamp's 9 cells fall on the padding" in app.locator(".cv-sum").text_content()


def test_play_steps_by_itself_and_stops_at_the_end(app):
    start_stepping(app, "weight")
    bar(app, "weight").locator("select").select_option("16")
    app.keyboard.press("Tab")
    bar(app, "weight").get_by_role("button", name="Play").click()
    bar(app, "weight").get_by_text("cell 9 of 9").wait_for(timeout=FOLLOWS_WITHIN_MS)
    bar(app, "weight").get_by_role("button", name="Play").wait_for()
    assert veiled(app, "weight", "grad_weight") == 0
    bar(app, "weight").get_by_role("button", name="Step back").click()
    assert at_step(app, "weight") == (8, 9)


def test_play_rests_while_the_tab_is_hidden(app):
    start_stepping(app, "forward")
    app.keyboard.press("Space")
    bar(app, "forward").get_by_role("button", name="Pause").wait_for()
    app.evaluate("""() => {
        Object.defineProperty(document, "hidden", { value: true, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }""")
    bar(app, "forward").get_by_role("button", name="Play").wait_for()
    app.evaluate("delete document.hidden")  # the tests after this one see the page again


def test_pause_keeps_the_place_and_a_slider_keeps_the_stepping(app):
    start_stepping(app, "forward")
    for _ in range(4):
        app.keyboard.press("ArrowRight")
    with repaint(app):
        slide(app, "digit", 7)
    assert at_step(app, "forward") == (5, 16)
    assert veiled(app, "forward", "output") == 11
    told = float(app.locator(".cv-sum output").get_attribute("data-value"))
    assert told == pytest.approx(float(read_panel(app, "output")[1, 0])), "the sum has the new numbers"
    with repaint(app):
        slide(app, "stride", 3)  # other steps
    assert bar(app, "forward").is_hidden()
    assert veiled(app, "forward", "output") == 0
    assert frame(app, "forward", "padded_input") is None


def test_a_large_panel_is_stepped_through_with_a_handful_of_shapes(app):
    with repaint(app):
        slider(app, "input_size").focus()
        for _ in range(24):
            app.keyboard.press("ArrowRight")
    wait_rows(app, "grad_input", 32)
    start_stepping(app, "input")
    for _ in range(40):
        app.keyboard.press("ArrowRight")
    assert at_step(app, "input") == (41, 1024)
    assert veiled(app, "input", "grad_input") == 1024 - 41
    assert frame(app, "input", "padded_grad_output") == [1, 8, 3, 3]
    assert app.locator("[data-equation=input] [data-panel=grad_input] .cv-veil *").count() < 8


# What moves: how many, the longest of one transition, what of an element they change, and what lies over the panels.
MOTION = """() => {
  const all = document.getAnimations();
  const changed = all.filter((one) => one.effect.getKeyframes).flatMap((one) => one.effect.getKeyframes())
    .flatMap((frame) => Object.keys(frame)).filter((key) => !/offset|easing|composite/i.test(key));
  return {
    count: all.length, longest: Math.max(0, ...all.map((one) => one.effect.getTiming().duration)),
    changed: [...new Set(changed)].sort(),
    films: document.querySelectorAll(".cv-film").length, flights: document.querySelectorAll(".cv-flights span").length,
  };
}"""
# What begins to move stands at its beginning until it is let go, so that a slow machine sees it as well.
HELD = """() => {
  const { animate } = Element.prototype;
  Element.prototype.animate = function (...given) {
    const animation = animate.apply(this, given);
    animation.pause();
    return animation;
  };
  window.letGo = () => {
    Element.prototype.animate = animate;
    document.getAnimations().forEach((animation) => animation.play());
  };
}"""
STILL = "() => document.getAnimations().length + document.querySelectorAll('.cv-film, .cv-flights').length === 0"


def test_what_is_stepped_through_is_seen_to_be_made_and_the_next_step_ends_it(app):
    """The kernel turns, zeros open, the border grows; then products fly to their sum, over what is already there."""
    app.evaluate(HELD)
    before = {panel: read_panel(app, panel, "input") for panel in ("padded_grad_output", "rotated_weight")}
    start_stepping(app, "input")
    seen = app.evaluate(MOTION)
    assert seen["films"] == 2, "padded_grad_output and rotated_weight"
    assert seen["flights"] == 0
    assert seen["changed"] == ["opacity", "transform"]
    assert 0 < seen["longest"] <= 400
    turning = "[data-equation=input] [data-panel=rotated_weight] .cv-turning"
    assert app.locator(f"{turning} text").count() == 9
    for panel, values in before.items():
        assert torch.equal(read_panel(app, panel, "input"), values), "the numbers are there all the time"
    for _ in range(27):
        app.keyboard.press("ArrowRight")
        seen = app.evaluate(MOTION)
        assert app.locator(turning).count() == 0, "the next step ends what moves"
        assert seen["films"] <= 1, "the cell that fills in"
    row, column = divmod(27, 8)
    terms = app.locator(".cv-product").count()
    assert seen["flights"] == terms == 4, f"the products of [{row},{column}]"
    assert seen["longest"] <= 400
    app.evaluate("letGo()")
    app.wait_for_function(STILL)
    app.evaluate(HELD)
    app.keyboard.press("End")
    assert app.evaluate(MOTION)["count"] == 0, "nothing flies over many steps"
    choose_view(app, "stamps")
    start_stepping(app, "input")
    assert app.evaluate(MOTION)["flights"] == 4, "the stamp's cells that are not on the padding"
    app.keyboard.press("Escape")
    assert app.evaluate(STILL), "nothing of it runs on"
    choose_view(app, "window")
    assert app.evaluate(MOTION)["films"] == 2, "and told as a window, the kernel is seen to turn"
    app.evaluate("letGo()")
    app.wait_for_function(STILL)


def test_reduced_motion_moves_nothing_at_all(app):
    app.emulate_media(reduced_motion="reduce")
    start_stepping(app, "input")
    assert app.evaluate(STILL)
    for _ in range(3):
        app.keyboard.press("ArrowRight")
        assert app.evaluate(STILL)
    bar(app, "input").locator("select").select_option("4")
    bar(app, "input").get_by_role("button", name="Play").click()
    app.wait_for_function("() => document.querySelector('.cv-readout').textContent.includes('cell 6 of 64')")
    assert app.evaluate(STILL)
    assert veiled(app, "input", "grad_input") <= 64 - 6


def number_in(words):
    return float(re.search(r": (\S+)", words)[1].replace("\u2212", "-"))


def test_no_word_outlives_what_it_was_said_of(app):
    readout, told = app.locator(".cv-readout"), lambda: app.locator(".cv-readout").text_content()
    unread = cell(app, "padded_input", 9, 4)
    unread.hover()
    assert "never read" in told()
    with repaint(app):
        slider(app, "stride").press("ArrowLeft")
    assert "never read" not in told(), "stride 1 reads every row"
    with repaint(app):
        slider(app, "padding").press("ArrowLeft")
    assert told() == "", "there is no such cell any more"
    cell(app, "output", 1, 1).hover()
    assert told() != ""
    app.mouse.move(2, 2)
    assert told() == "", "nothing is pointed at any more"
    assert readout.get_attribute("title") == ""
    cell(app, "output", 2, 2).click()
    for act in (
        lambda: slide(app, "digit", 7),
        lambda: app.get_by_role("button", name="Undo").click(),
        lambda: choose(app, "preset", "box"),
    ):
        with repaint(app):
            act()
        there = float(cell(app, "output", 2, 2).get_attribute("data-value"))
        assert number_in(told()) == pytest.approx(there, rel=1e-5)
        assert float(app.locator(".cv-sum output").get_attribute("data-value")) == there
        assert readout.is_hidden(), "the sum says it"
    with repaint(app):
        app.get_by_role("button", name="Reset").click()
    assert (told(), app.locator(".cv-sum output").count()) == ("", 0), "Reset lets go of the cell"
    start_stepping(app, "forward")
    app.keyboard.press("ArrowRight")
    with repaint(app):
        slide(app, "digit", 1)
    there = float(cell(app, "output", 0, 1).get_attribute("data-value"))
    assert number_in(told().split("output", 1)[1]) == pytest.approx(there, rel=1e-5)
    spoken = bar(app, "forward").locator("input").get_attribute("aria-valuetext")
    assert number_in(spoken.split("output", 1)[1]) == pytest.approx(there, rel=1e-5)
    bar(app, "forward").get_by_role("button", name="Close").click()
    assert told() == ""


def test_what_was_copied_is_no_longer_said_of_another_picture(app):
    app.get_by_role("button", name="Share").click()
    app.get_by_role("button", name="Copy link").click()
    outcome = app.locator(".cv-share-outcome")
    app.wait_for_function("document.querySelector('.cv-share-outcome').textContent !== ''")
    with repaint(app):
        slide(app, "digit", 2)
    assert outcome.text_content() == ""
    app.get_by_role("button", name="Share").click()


def test_a_step_is_spoken_when_made_by_hand_only(app):
    live = app.locator(".cv-board p.cv-live")
    start_stepping(app, "forward")
    bar(app, "forward").get_by_role("button", name="Step forward").click()
    assert "cell 2 of 16" in live.text_content()
    bar(app, "forward").locator("select").select_option("4")
    bar(app, "forward").get_by_role("button", name="Play").click()
    app.wait_for_function("() => document.querySelector('.cv-readout').textContent.includes('cell 4 of 16')")
    assert "cell 2 of 16" in live.text_content()


# -- the remainder -----------------------------------------------------------------------------------------------


def test_one_click_sets_the_neighbouring_size_and_back(app):
    app.locator("[data-equation=forward] .cv-symbols-open").click()
    sizes = app.locator(".cv-sizes button")
    assert [button.get_attribute("data-size") for button in sizes.all()] == ["7,7", "8,8", "9,9"]
    assert app.locator(".cv-sizes [aria-pressed=true]").get_attribute("data-size") == "8,8"
    output = read_panel(app, "output").shape
    with repaint(app):
        sizes.first.click()
    assert slider_value(app, "input_size") == 7
    assert read_panel(app, "output").shape == output, "7 shares the output size with 8"
    assert app.locator("[data-panel=padded_input] .cv-band-unread").count() == 0
    assert "nothing is left over" in app.locator("[data-equation=forward] .cv-remainder").text_content()
    assert app.evaluate("document.activeElement.dataset.size") == "7,7", "the keyboard stays where it was"
    with repaint(app):
        app.locator(".cv-sizes [data-size='8,8']").click()
    assert slider_value(app, "input_size") == 8
    with repaint(app):
        app.get_by_role("button", name="Undo").click()
    assert slider_value(app, "input_size") == 7
    assert_page_equals_autograd(app)
