"""The matrix view: its numbers are autograd's from what the board shows; what lights up is found by cutting indices."""

import json
import math

import pytest
import torch
import torch.nn.functional as F

from convviz.app.tabs.matrix import geometry
from convviz.geometry.plane import Plane
from tests.browser.app_page import (
    FOLLOWS_WITHIN_MS,
    cell,
    choose,
    entry_of,
    messages_sent,
    open_tab,
    press_tab,
    read_panel,
    repaint,
    see,
    settle_pane,
    show_band,
    show_plane,
    slide,
    slider_value,
    switch,
)
from tests.browser.scripts import expose
from tests.geometries import EDGE_CASES, random_specs, source_plane, window_cells

pytestmark = pytest.mark.browser

FORWARD, INPUT, WEIGHT, ONE, TRANSPOSE = range(5)


@pytest.fixture
def app(app):
    open_tab(app, "matrix")
    return app


def pane(app):
    return app.locator(".cv-pane-matrix")


def view(app, index):
    """Choose a view and return the names of the matrices that stand in it, by their places."""
    button = pane(app).get_by_role("radio").nth(index)
    button.click()
    assert button.get_attribute("aria-checked") == "true"
    return (
        pane(app)
        .locator("[data-slot]:not([hidden])")
        .evaluate_all("(slots) => Object.fromEntries(slots.map((slot) => [slot.dataset.slot, slot.dataset.matrix]))")
    )


def entry(app, slot, row, column):
    return pane(app).locator(f'[data-slot="{slot}"] [data-cell="{row},{column}"]')


def read(app, slot):
    """Return the numbers of a matrix that has room for them, float64."""
    grid = pane(app).locator(f'[data-slot="{slot}"] svg.cv-grid')
    found = grid.evaluate(
        """(svg) => [Number(svg.getAttribute("aria-rowcount")), Number(svg.getAttribute("aria-colcount")),
            [...svg.querySelectorAll("[data-cell]")].map((cell) => Number(cell.dataset.value))]"""
    )
    rows, columns, values = found
    assert len(values) == rows * columns, f"{slot} has no room for its numbers"
    return torch.tensor(values, dtype=torch.float64).reshape(rows, columns)


def lit(app, where=".cv-pane-matrix"):
    """Return {name: set of lit cells}: of the matrices by their slots, or of the board by its panels."""
    found = app.evaluate(
        """(where) => [...document.querySelectorAll(`${where} .cv-lights`)].map((group) => {
            const map = group.closest("[data-slot], [data-panel]");
            const cells = (group.dataset.lit ?? "").split(" ").filter(Boolean);
            return map.hidden ? null : [map.dataset.slot ?? map.dataset.panel, cells];
        }).filter((found) => found?.[1].length)""",
        where,
    )
    return {name: set(cells) for name, cells in found}


def near(shown, expected):
    """Hold two tensors equal up to the rounding of float32."""
    assert shown.shape == expected.shape
    torch.testing.assert_close(shown, expected.double(), rtol=2e-5, atol=2e-5 * max(1.0, float(expected.abs().max())))


def expected_of(seen, n, o, c):
    """Return what must stand in the matrices, by autograd from the tensors that the board shows."""
    at, shown = seen.geometry, seen.tensors
    groups, (_, into, out) = at["groups"], at["channels"]
    group = o // (out // groups)
    ins = slice(group * into // groups, (group + 1) * into // groups)
    outs = slice(group * out // groups, (group + 1) * out // groups)
    window = {"kernel_size": at["kernel_size"], "dilation": at["dilation"], "stride": at["stride"]}
    images = shown["padded_input"][n : n + 1, ins].clone().requires_grad_()
    weight = shown["weight"][outs].clone().requires_grad_()
    columns = F.unfold(images, **window)
    columns.retain_grad()
    output = (weight.flatten(1) @ columns[0]).reshape(1, *shown["output"][0, outs].shape)
    assert torch.allclose(output, F.conv2d(images, weight, None, at["stride"], 0, at["dilation"]))
    g = shown["grad_output"][n : n + 1, outs]
    output.backward(g)
    counted = torch.ones_like(images[:, :1]).requires_grad_()
    F.unfold(counted, **window).sum().backward()
    return {
        "weight": weight.detach().flatten(1),
        "columns": columns.detach()[0],
        "output": shown["output"][n, outs].flatten(1),
        "grad_output": g[0].flatten(1),
        "grad_columns": columns.grad[0],
        "image": images.grad[0, c - ins.start],
        "overlap": counted.grad[0, 0],
        "grad_input": shown["grad_input"][n, c],
        "part": weight.grad.flatten(1),
        "grad_weight": shown["grad_weight"][outs].flatten(1),
    }


def assert_views_are_right(app, n=0, o=0, c=0):
    """Hold every number of the first three views against autograd."""
    expected = expected_of(see(app), n, o, c)
    settle_pane(app, "matrix")
    assert view(app, FORWARD) == {"left": "weight", "top": "columns", "result": "output"}
    for slot, name in (("left", "weight"), ("top", "columns"), ("result", "output")):
        near(read(app, slot), expected[name])
    places = view(app, INPUT)
    assert [places[name] for name in ("left", "top", "result")] == ["weight\u1d40", "grad_output", "grad_columns"]
    near(read(app, "left"), expected["weight"].T)
    near(read(app, "top"), expected["grad_output"])
    near(read(app, "result"), expected["grad_columns"])
    near(read(app, "extra0"), expected["overlap"])
    images = {name: read(app, slot) for slot, name in places.items() if slot in ("extra1", "extra2")}
    near(images.pop("grad_input"), expected["grad_input"])
    for image in images.values():
        near(image, expected["image"])
    places = view(app, WEIGHT)
    assert [places[name] for name in ("left", "top")] == ["grad_output", "columns\u1d40"]
    near(read(app, "top"), expected["columns"].T)
    near(read(app, "result"), expected["part"])
    if "extra0" in places:
        near(read(app, "extra0"), expected["grad_weight"])
    else:
        near(expected["part"], expected["grad_weight"])


# -- the numbers -------------------------------------------------------------------------------------------------


def test_the_first_look_and_a_setting_that_changes(app):
    assert_views_are_right(app)
    assert view(app, INPUT)["extra1"] == "col2im(grad_columns)", "the border of zeros is cut off afterwards"
    slide(app, "digit", 7)
    assert_views_are_right(app)
    slide(app, "padding", 0)
    assert_views_are_right(app)
    assert "extra2" not in view(app, INPUT), "without a border col2im is grad_input"
    with repaint(app):
        app.locator('.cv-slider[data-slider="0,1"] input[type=range]').press("ArrowRight")
    assert_views_are_right(app)


def test_groups_samples_a_folded_border_and_dilation(app):
    for name, value in (("kernel_size", 2), ("in_channels", 4), ("out_channels", 4), ("batch", 2), ("dilation", 2)):
        slide(app, name, value)
    choose(app, "groups", "2")
    choose(app, "padding_mode", "reflect")
    switch(app, "bias", True)
    show_plane(app, "o", 3)
    show_plane(app, "c", 3)
    show_plane(app, "n", 1)
    assert_views_are_right(app, n=1, o=3, c=3)
    assert view(app, INPUT)["extra1"] == "grad_padded_input"
    text = pane(app).text_content()
    assert "added to the cell that it copies" in text
    view(app, FORWARD)
    formula = pane(app).text_content().replace(" ", "")  # typeset: its spaces are the signs' own
    assert "output=weight\u00b7columns+bias" in formula


def test_one_matrix_and_its_transpose(app):
    for name, value in (("input_size", 5), ("kernel_size", 2)):
        slide(app, name, value)
    for mode in ("zeros", "circular"):
        choose(app, "padding_mode", mode)
        assert_one_matrix_is_right(app, mode)
    slide(app, "in_channels", 2)
    settle_pane(app, "matrix")
    assert view(app, ONE)["left"] == "share"
    assert "output adds the shares of all channels of the group" in pane(app).text_content()
    assert view(app, TRANSPOSE)["left"] == "grad_input", "there is one output channel"


def assert_one_matrix_is_right(app, mode):
    seen = see(app)
    at, shown = seen.geometry, seen.tensors
    (top, left), size = at["padding"], at["input_size"]
    x = shown["padded_input"][..., top : top + size[0], left : left + size[1]]

    def convolve(x):
        padded = F.pad(x, (left, left, top, top), mode="constant" if mode == "zeros" else mode)
        return F.conv2d(padded, shown["weight"], None, at["stride"], 0, at["dilation"])

    matrix = torch.autograd.functional.jacobian(convolve, x).reshape(shown["output"].numel(), x.numel())
    settle_pane(app, "matrix")
    assert view(app, ONE) == {"left": "output", "top": "input", "result": "T"}
    near(read(app, "result"), matrix)
    near(read(app, "left"), shown["output"].reshape(-1, 1))
    near(read(app, "top"), x.reshape(1, -1))
    assert view(app, TRANSPOSE) == {"left": "grad_input", "top": "grad_output", "result": "T\u1d40"}
    near(read(app, "result"), matrix.T)
    near(read(app, "left"), shown["grad_input"].reshape(-1, 1))
    near(read(app, "top"), shown["grad_output"].reshape(1, -1))


def test_a_transposed_convolution_begins_with_col2im(app):
    switch(app, "transposed convolution", True)
    settle_pane(app, "matrix")
    places = view(app, FORWARD)
    assert [places[name] for name in ("left", "top", "result")] == ["weight\u1d40", "input", "columns"]
    image = read(app, places_of(places)["output"])
    near(image, read_panel(app, "grad_input"))
    near(read(app, "result"), read(app, "left") @ read(app, "top"))
    assert view(app, INPUT) == {"left": "weight", "top": "grad_columns", "result": "grad_input"}
    near(read(app, "result"), read(app, "left") @ read(app, "top"))
    near(read(app, "result"), read_panel(app, "output").reshape(1, -1))
    assert view(app, ONE) == {"left": "output", "top": "input", "result": "T\u1d40"}
    assert view(app, TRANSPOSE) == {"left": "grad_input", "top": "grad_output", "result": "T"}
    assert "exchanged: a row for every cell of grad_input" in pane(app).text_content()


def places_of(places):
    return {matrix: slot for slot, matrix in places.items()}


# -- what is too large -------------------------------------------------------------------------------------------


def test_large_inputs_are_offered_in_parts(app):
    slide(app, "stride", 1)
    slide(app, "input_size", 26)
    settle_pane(app, "matrix")
    view(app, FORWARD)
    shape = pane(app).locator('[data-slot="top"] .cv-shape')
    assert shape.text_content() == "[9, 455 of 676]"
    pager = pane(app).locator(".cv-pager")
    assert pager.text_content().startswith("Windows 0 to 454 of 676.")
    pane(app).locator('[data-slot="top"] .cv-cell').focus()
    app.keyboard.press("Control+Home")
    wait_readout(app, "column 0 is window (0, 0)")
    pager.get_by_role("button", name="Later windows").click()
    pane(app).get_by_text("Windows 455 to 675 of 676.").wait_for(timeout=FOLLOWS_WITHIN_MS)
    assert shape.text_content() == "[9, 221 of 676]"
    pane(app).locator('[data-slot="top"] .cv-cell').focus()
    app.keyboard.press("Control+Home")
    wait_readout(app, "column 0 is window (17, 13)")  # 17 * 26 + 13 = 455
    assert pager.get_by_role("button", name="Later windows").is_disabled()
    view(app, ONE)
    text = pane(app).text_content()
    assert "up to 4096 entries can be drawn: here it would have 676 \u00d7 676" in text
    assert pane(app).locator('[data-slot="result"]').is_hidden()
    slide(app, "input_size", 8)
    settle_pane(app, "matrix")
    assert pane(app).locator('[data-slot="result"] .cv-shape').text_content() == "[64, 64]"


# -- linking -----------------------------------------------------------------------------------------------------


def wait_readout(app, words):
    app.wait_for_function(
        "(words) => document.querySelector('.cv-pane-matrix .cv-readout').textContent.includes(words)",
        arg=words,
        timeout=FOLLOWS_WITHIN_MS,
    )


def test_pointing_at_an_entry_lights_its_cells_without_the_kernel(app):
    sent = messages_sent(app)
    view(app, FORWARD)
    # Row 5 is kernel cell (1, 2), column 7 the window of output (1, 3): stride 2, so padded_input (2 + 1, 6 + 2).
    entry(app, "top", 5, 7).hover()
    wait_readout(
        app, "row 5 is input channel 0, kernel cell (1, 2); column 7 is window (1, 3). It is padded_input (3, 8)"
    )
    assert lit(app, ".cv-board") == {"padded_input": {"3,8"}, "weight": {"1,2"}, "output": {"1,3"}}
    assert lit(app) == {"left": {"0,5"}, "top": {"5,7"}, "result": {"0,7"}}
    entry(app, "result", 0, 7).hover()
    found = lit(app, ".cv-board")
    assert found["output"] == {"1,3"}
    assert found["weight"] == {f"{u},{v}" for u in range(3) for v in range(3) if 6 + v < 9}, "all links of that cell"
    assert lit(app)["top"] == {f"{k},7" for k in range(9)}
    assert lit(app)["left"] == {f"0,{k}" for k in range(9)}
    app.mouse.move(2, 2)
    assert lit(app) == {}
    assert lit(app, ".cv-board") == {}
    assert sent() == 0


def test_pointing_at_the_board_lights_every_column_that_holds_the_cell(app):
    view(app, FORWARD)
    places = F.unfold(torch.arange(100.0).reshape(1, 1, 10, 10), 3, stride=2)[0]
    for row, column in ((4, 4), (1, 6), (0, 3)):
        cell(app, "padded_input", row, column).hover()
        holding = {f"{k},{window}" for k, window in (places == row * 10 + column).nonzero().tolist()}
        assert lit(app)["top"] == holding != set()
    cell(app, "output", 2, 1).hover()
    assert lit(app) == {
        "left": {f"0,{k}" for k in range(9)},
        "top": {f"{k},9" for k in range(9)},
        "result": {"0,9"},
    }
    cell(app, "weight", 2, 0).hover()
    assert lit(app) == {
        "left": {"0,6"},
        "top": {f"6,{window}" for window in range(16)},
        "result": {f"0,{window}" for window in range(16)},
    }
    view(app, INPUT)
    show_band(app, "input")
    cell(app, "grad_input", 3, 3).hover()  # padded (4, 4)
    assert lit(app)["extra0"] == lit(app)["extra1"] == {"4,4"}
    assert lit(app)["extra2"] == {"3,3"}
    assert len(lit(app)["result"]) == read(app, "extra0")[4, 4] == 4
    entry(app, "extra1", 4, 4).hover()
    assert lit(app, ".cv-board")["grad_input"] == {"3,3"}
    entry(app, "extra1", 0, 4).hover()
    assert lit(app, ".cv-board") == {}, "the board has no cell for a gradient that is cut off"
    app.mouse.move(2, 2)
    assert lit(app) == {}


def test_one_matrix_is_linked_both_ways(app):
    for name, value in (("input_size", 5), ("kernel_size", 2)):
        slide(app, name, value)
    settle_pane(app, "matrix")
    view(app, ONE)
    # Stride 2, padding 1: output (1, 2) reads input (1..2, 3..4), the weight's row 0 first.
    entry(app, "result", 1 * 3 + 2, 2 * 5 + 4).hover()
    wait_readout(app, "row 5 is cell (1, 2) of output; column 14 is cell (2, 4) of input. It is weight (1, 1).")
    assert lit(app, ".cv-board") == {"output": {"1,2"}, "weight": {"1,1"}, "padded_input": {"3,5"}}
    entry(app, "top", 0, 14).hover()
    assert "3,5" in lit(app, ".cv-board")["padded_input"], "the cell itself, without the border"
    assert lit(app)["result"] == {"5,14"}
    entry(app, "result", 5, 0).hover()
    wait_readout(app, "Neither depends on the other.")
    assert lit(app, ".cv-board") == {}
    cell(app, "output", 1, 2).hover()
    reads = {1 * 5 + 3, 1 * 5 + 4, 2 * 5 + 3, 2 * 5 + 4}
    assert lit(app)["result"] == {f"5,{i}" for i in reads}
    assert lit(app)["top"] == {f"0,{i}" for i in reads}
    assert lit(app)["left"] == {"5,0"}
    view(app, TRANSPOSE)
    show_band(app, "input")
    cell(app, "grad_input", 2, 4).hover()
    assert lit(app)["result"] == {"14,5"}


def test_keyboard_alone(app):
    pane(app).get_by_role("radio").first.focus()
    app.keyboard.press("ArrowRight")
    assert pane(app).get_by_role("radio", name="To the input").get_attribute("aria-checked") == "true"
    assert app.evaluate("document.activeElement.textContent") == "To the input"
    app.keyboard.press("ArrowLeft")
    app.keyboard.press("Tab")
    where = "document.activeElement.closest('[data-slot]').dataset.slot"
    assert app.evaluate(where) == "left"
    while app.evaluate(where) != "top":
        app.keyboard.press("Tab")
    for _ in range(2):
        app.keyboard.press("ArrowDown")
    wait_readout(app, "columns[2,0]")
    assert lit(app, ".cv-board")["weight"] == {"0,2"}
    said = pane(app).locator(".cv-live").text_content()
    assert said.startswith("columns[2,0] = 0: row 2 is input channel 0, kernel cell (0, 2)")
    assert "a padding zero" in said


def assert_boxes_stay_inside(app):
    """At 360 px what is wide scrolls within its own box."""
    app.set_viewport_size({"width": 360, "height": 800})
    for index in range(5):
        view(app, index)
        app.wait_for_function(
            """() => {
                const right = (box) => box.getBoundingClientRect().right;
                const pane = document.querySelector(".cv-pane-matrix");
                const boxes = [...pane.querySelectorAll(".cv-scroll, .cv-flow > *")];
                return boxes.filter((box) => box.offsetParent).every((box) => right(box) <= right(pane));
            }""",
            timeout=FOLLOWS_WITHIN_MS,
        )


def test_narrow_pages_and_closing(app):
    assert_boxes_stay_inside(app)
    app.set_viewport_size({"width": 1400, "height": 900})
    view(app, FORWARD)
    entry(app, "top", 5, 7).hover()
    assert lit(app, ".cv-board") != {}
    entry_of(app, "matrix").dispatch_event("click")  # the pointer stays where it is
    pane(app).wait_for(state="detached", timeout=FOLLOWS_WITHIN_MS)
    app.mouse.move(2, 2)
    assert lit(app, ".cv-board") == {}
    cell(app, "output", 0, 0).hover()
    slide(app, "stride", slider_value(app, "stride") + 1)
    press_tab(app, "matrix")
    pane(app).wait_for(timeout=FOLLOWS_WITHIN_MS)
    settle_pane(app, "matrix")
    assert_views_are_right(app)
    assert slider_value(app, "stride") == 3


# -- the links by themselves, for many geometries ----------------------------------------------------------------

ALL = """([data, matrices, panels]) => {
  const links = new MatrixLinks(data);
  const upTo = (count) => [...Array(count).keys()];
  const cells = ([rows, columns]) => upTo(rows).flatMap((row) => upTo(columns).map((column) => [row, column]));
  const flat = (found, width) => found.map(({ row, column }) => row * width + column).sort((a, b) => a - b);
  const mapped = (object, make) =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name, make(name, value)]));
  const fromBoard = mapped(panels, (panel, size) => cells(size).map(([row, column]) => {
    const selection = links.ofCell({ panel, row, column });
    return mapped(matrices, (_, shape) => flat(links.entries(shape, selection), shape.size[1]));
  }));
  const parts = { window: "output", kernel: "weight", padded: "padded_input", input: "grad_input" };
  const toBoard = mapped(matrices, (_, shape) => cells(shape.size).map(([row, column]) => {
    const found = links.boardCells(links.ofEntry(shape, row, column), parts);
    return mapped(panels, (panel, size) => flat(found.filter((cell) => cell.panel === panel), size[1]));
  }));
  const within = mapped(matrices, (_, shape) => cells(shape.size).map(([row, column]) => {
    const selection = links.ofEntry(shape, row, column);
    return mapped(matrices, (_, other) => flat(links.entries(other, selection), other.size[1]));
  }));
  return { fromBoard, toBoard, within };
}"""


@pytest.fixture
def links(page):
    page.goto("about:blank")
    expose(page, "tabs/matrix/links.js")
    return lambda data, matrices, panels: page.evaluate(ALL, [data, matrices, panels])


def taps_by_cutting(spec):
    """Return (window, kernel cell, padded cell, input cell or None) of every tap, by cutting numbered images."""
    bare = spec.replace(
        input_size=spec.padded_size, padding=0, padding_mode="zeros", in_channels=1, out_channels=1, groups=1
    )
    padded = window_cells(bare).flatten(2).flatten(0, 1)  # [windows, kernel cells]
    sources = source_plane(spec).flatten()
    outside = math.prod(spec.input_size)
    found = []
    for window, row in enumerate(padded.tolist()):
        for kernel, at in enumerate(row):
            source = int(sources[at])
            found.append((window, kernel, at, None if source == outside else source))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_links_are_those_of_cut_out_indices(links, seed):
    specs = list(random_specs(seed=900 + seed, count=25))
    specs += EDGE_CASES.values() if seed == 0 else []
    checked = 0
    for spec in specs:
        if math.prod((*spec.output_size, *spec.kernel_size)) > 600 or math.prod(spec.padded_size) > 200:
            continue
        assert_links(links, spec)
        checked += 1
    assert checked > 15


def assert_links(links, spec):
    plane = Plane(0, spec.out_channels - 1, spec.in_channels - 1).within(spec)
    per_in, per_out = spec.in_channels // spec.groups, spec.out_channels // spec.groups
    o, c = plane.out_channel % per_out, plane.in_channel % per_in
    group = plane.out_channel // per_out
    windows, cells = math.prod(spec.output_size), math.prod(spec.kernel_size)
    first, inputs = windows // 3, math.prod(spec.input_size)  # as if only the later windows were shown
    data = {
        "geometry": geometry(spec, plane, False),
        "in_channels": [group * per_in + index for index in range(per_in)],
        "out_channels": [group * per_out + index for index in range(per_out)],
        "windows": {"start": first, "end": windows, "step": windows - first, "of": windows},
    }
    matrices = {
        "columns": {"rows": "kernel", "columns": "window", "size": [per_in * cells, windows - first]},
        "weight": {"rows": "out", "columns": "kernel", "size": [per_out, per_in * cells]},
        "output": {"rows": "out", "columns": "window", "size": [per_out, windows - first]},
        "overlap": {"image": "padded", "size": list(spec.padded_size)},
        "grad_input": {"image": "input", "size": list(spec.input_size)},
    }
    if first == 0:  # one matrix is never shown in parts
        matrices["T"] = {"rows": "window", "columns": "input", "pair": True, "size": [windows, inputs]}
    panels = {
        "padded_input": list(spec.padded_size),
        "weight": list(spec.kernel_size),
        "output": list(spec.output_size),
        "grad_input": list(spec.input_size),
    }
    found = links(data, matrices, panels)
    taps = taps_by_cutting(spec)
    part = {"output": 0, "weight": 1, "padded_input": 2, "grad_input": 3}

    def entries(name, tap, outs, ins):
        """Return the entries of a matrix that one tap stands in."""
        window, kernel, at, source = tap
        width = matrices[name]["size"][1]
        shown = [window - first] if window >= first else []
        rows = {"columns": [i * cells + kernel for i in ins], "T": [window] if o in outs and c in ins else []}
        columns = {"columns": shown, "weight": [i * cells + kernel for i in ins], "output": shown}
        columns["T"] = [] if source is None else [source]
        if name == "overlap":
            return [at] if c in ins else []
        if name == "grad_input":
            return [source] if c in ins and source is not None else []
        return [row * width + column for row in rows.get(name, outs) for column in columns[name]]

    everything = (range(per_out), range(per_in))
    for panel, size in panels.items():
        outs = [o] if panel in ("output", "weight") else everything[0]
        ins = everything[1] if panel == "output" else [c]
        for index in range(math.prod(size)):
            own = [tap for tap in taps if tap[part[panel]] == index]
            for name in matrices:
                expected = sorted({entry for tap in own for entry in entries(name, tap, outs, ins)})
                assert found["fromBoard"][panel][index][name] == expected, (
                    json.dumps(spec.to_dict()),
                    panel,
                    index,
                    name,
                )
    behind = [(tap, out, channel) for tap in taps for out in everything[0] for channel in everything[1]]
    standing = {}  # (matrix, entry) → what stands in it
    for each in behind:
        for name in matrices:
            for entry in entries(name, each[0], [each[1]], [each[2]]):
                standing.setdefault((name, entry), []).append(each)
    visible = {
        "output": (True, False),
        "weight": (True, True),
        "padded_input": (False, True),
        "grad_input": (False, True),
    }
    for name in matrices:
        for entry, cells_of_board in enumerate(found["toBoard"][name]):
            triples = standing.get((name, entry), [])
            where = (json.dumps(spec.to_dict()), name, entry)
            for panel, (by_out, by_in) in visible.items():
                shown = {t[part[panel]] for t, out, i in triples if (out == o or not by_out) and (i == c or not by_in)}
                assert cells_of_board[panel] == sorted(shown - {None}), (*where, panel)
            for other in matrices:
                lit = {at for t, out, i in triples for at in entries(other, t, [out], [i])}
                assert found["within"][name][entry][other] == sorted(lit), (*where, other)
