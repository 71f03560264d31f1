"""The matrix view: its numbers are autograd's from the board's. tests/js/linked_cells.test.mjs holds what lights up."""

from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

from convviz.settings.compute import compute
from convviz.settings.link import from_link
from tests.browser.app_page import (
    FOLLOWS_WITHIN_MS,
    cell,
    entry_of,
    go_to,
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
    switch,
    weight_slider,
)

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


def computed(link):
    """Return what the board of a link shows, as ``see`` finds it plane by plane."""
    settings = from_link(link)[0]
    result, spec = compute(settings, compare=False), settings.spec
    names = ("padded_input", "weight", "output", "grad_output", "grad_input", "grad_weight")
    tensors = {name: getattr(result, name).double() for name in names}
    channels = (spec.batch, spec.in_channels, spec.out_channels)
    geometry = {name: getattr(spec, name) for name in ("kernel_size", "dilation", "stride", "groups")}
    return SimpleNamespace(tensors=tensors, geometry=geometry | {"channels": channels})


def assert_views_are_right(app, n=0, o=0, c=0, seen=None):
    """Hold every number of the first three views against autograd, by what was seen of the board, or is now."""
    expected = expected_of(seen or see(app), n, o, c)
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
    slide(app, "padding", 0)
    with repaint(app):
        weight_slider(app, 0, 1).press("ArrowRight")
    assert_views_are_right(app)
    assert "extra2" not in view(app, INPUT), "without a border col2im is grad_input"


def test_groups_samples_a_folded_border_and_dilation(app):
    press_tab(app, "matrix")  # closed: it would be drawn anew for each of the planes that are looked at
    link = "v=1&kernel=2&in_channels=4&out_channels=4&batch=2&dilation=2&groups=2&mode=reflect&bias=0.5,-0.5,1,-1"
    go_to(app, link)
    seen = computed(link)  # to look at all of the board's planes takes longer than the whole test
    for axis, index in (("o", 3), ("c", 3), ("n", 1)):
        show_plane(app, axis, index)
    for panel, plane in {"padded_input": (1, 3), "weight": (3, 1), "grad_input": (1, 3)}.items():
        near(read_panel(app, panel), seen.tensors[panel][plane])
    open_tab(app, "matrix")
    assert_views_are_right(app, n=1, o=3, c=3, seen=seen)
    assert view(app, INPUT)["extra1"] == "grad_padded_input"
    text = pane(app).text_content()
    assert "added to the cell that it copies" in text
    view(app, FORWARD)
    formula = pane(app).text_content().replace(" ", "")  # typeset: its spaces are the signs' own
    assert "output=weight\u00b7columns+bias" in formula


def test_one_matrix_and_its_transpose(app):
    for name, value in (("input_size", 5), ("kernel_size", 2)):
        slide(app, name, value)
    assert_one_matrix_is_right(app, "zeros")
    entry(app, "result", 0, 5).hover()
    wait_readout(app, "Neither depends on the other.")
    assert lit(app, ".cv-board") == {}
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
    with repaint(app):
        app.evaluate("location.hash = 'v=1&size=26&stride=1&tab=matrix'")
    settle_pane(app, "matrix")
    view(app, FORWARD)
    shape = pane(app).locator('[data-slot="top"] .cv-shape')
    assert shape.text_content() == "[9, 455 of 676]"
    pager = pane(app).locator(".cv-pager")
    assert pager.text_content().startswith("Windows 0 to 454 of 676.")
    pager.get_by_role("button", name="Later windows").click()
    pane(app).get_by_text("Windows 455 to 675 of 676.").wait_for(timeout=FOLLOWS_WITHIN_MS)
    assert shape.text_content() == "[9, 221 of 676]"
    pane(app).locator('[data-slot="top"] .cv-cell').focus()
    app.keyboard.press("Control+Home")
    wait_readout(app, "column 0 is window (17, 13)")  # 17 * 26 + 13 = 455
    assert pager.get_by_role("button", name="Later windows").is_disabled()
    view(app, ONE)
    assert "at most 4096 entries can be drawn: here it would have 676 \u00d7 676" in pane(app).text_content()
    assert pane(app).locator('[data-slot="result"]').is_hidden()
    slide(app, "input_size", 25)
    settle_pane(app, "matrix")
    assert "625 \u00d7 625" in pane(app).text_content()


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
    app.mouse.move(2, 2)
    assert lit(app) == lit(app, ".cv-board") == {}
    assert sent() == 0


def test_pointing_at_the_board_lights_every_entry_that_holds_the_cell(app):
    view(app, FORWARD)
    cell(app, "weight", 2, 0).hover()
    columns = range(16)
    wanted = {"left": {"0,6"}, "top": {f"6,{each}" for each in columns}, "result": {f"0,{each}" for each in columns}}
    assert lit(app) == wanted
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


def test_narrow_pages_and_closing(app):
    view(app, FORWARD)
    entry(app, "top", 5, 7).hover()
    assert lit(app, ".cv-board") != {}
    entry_of(app, "matrix").dispatch_event("click")  # the pointer stays where it is
    pane(app).wait_for(state="detached", timeout=FOLLOWS_WITHIN_MS)
    app.mouse.move(2, 2)
    assert lit(app, ".cv-board") == {}
    slide(app, "stride", 3)
    press_tab(app, "matrix")
    pane(app).wait_for(timeout=FOLLOWS_WITHIN_MS)
    settle_pane(app, "matrix")
    assert_views_are_right(app)
    app.set_viewport_size({"width": 360, "height": 800})  # what is wide scrolls within its own box
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
