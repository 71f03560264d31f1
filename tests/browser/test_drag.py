"""Dragging the 1 and given numbers, by mouse, finger and keys; every number is held against autograd."""

import contextlib

import pytest
import torch
import torch.nn.functional as F

from tests.browser.app_page import cell, fresh_page, show_link, wait_painted
from tests.browser.printed_digits import PLACES_OF

PLANES = """() => Object.fromEntries([...document.querySelectorAll(".cv-panel")].map((panel) => [panel.dataset.panel, {
  columns: Number(panel.querySelector(".cv-grid").ariaColCount),
  values: [...panel.querySelectorAll("[data-cell]")].map((cell) => Number(cell.dataset.value)),
}]))"""
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Of each sentence the panel that it names, and why it stayed.
NOTES = """() => [...document.querySelectorAll(".cv-unchanged:not([hidden])")].filter((note) => note.checkVisibility())
  .flatMap((note) => note.textContent.split(" \\u00b7 "))
  .map((each) => [each.split(" ")[0], each.replace(/^\\S+ /, "")])"""
PINNED = """() => [...document.querySelectorAll(".cv-panel")]
  .filter((panel) => panel.querySelector(".cv-ring").getAttribute("visibility") === "visible")
  .map((panel) => panel.dataset.panel)"""
# By band and panel what is framed as a window: [row, column, rows, columns].
FRAMED = """() => Object.fromEntries([...document.querySelectorAll(".cv-equation .cv-read")].flatMap((frame) =>
  [...(frame.getAttribute("d") ?? "").matchAll(/M([0-9.]+) ([0-9.]+)h([0-9.]+)v([0-9.]+)/g)].map((found) => {
    const [x, y, width, height] = found.slice(1).map((part) => Math.round(Number(part) / 40));
    const panel = frame.closest("[data-panel]").dataset.panel;
    return [`${frame.closest(".cv-equation").dataset.equation} ${panel}`, [y, x, height, width]];
  })))"""
TRAY = """() => [...document.querySelectorAll(".cv-tray:not([hidden]) tr")].map((row) =>
  [...row.cells].map((cell) => cell.textContent))"""
# What the tray lies over.
UNDER_TRAY = """() => {
  const edges = (node) => node.getBoundingClientRect();
  const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  return [...document.querySelectorAll(".cv-area, .cv-name, .cv-sign, .cv-says, .cv-transport, .cv-foot")]
    .filter((node) => over(edges(node), edges(document.querySelector(".cv-tray")))).map((node) => node.className);
}"""
PLACES = """() => [...document.querySelectorAll(".cv-area")].map((area) =>
  Object.values(area.getBoundingClientRect().toJSON()).map(Math.round).join())"""


@pytest.fixture(scope="module")
def phone(browser):
    with fresh_page(browser, has_touch=True, is_mobile=True) as page:
        page.fingers = page.context.new_cdp_session(page)
        yield page


@pytest.fixture
def held(phone, exported):
    return lambda: show_link(phone, exported, size=(390, 844))


def follow(page):
    """Return all planes that are shown once the next frame is there, after holding them against autograd."""
    page.evaluate(FRAMES)
    wait_painted(page)
    found = page.evaluate(PLANES)
    planes = {name: torch.tensor(each["values"]).reshape(-1, each["columns"]) for name, each in found.items()}
    x, w = (planes[name][None, None].double().requires_grad_() for name in ("padded_input", "weight"))
    output = F.conv2d(x, w)
    output.backward(planes["grad_output"][None, None].double())
    assert torch.equal(output[0, 0].float(), planes["output"])
    assert torch.equal(x.grad[0, 0].float(), planes["grad_input"])
    assert torch.equal(w.grad[0, 0].float(), planes["grad_weight"])
    return planes


def the_one(page):
    """Return where the 1 stands, after holding every number against autograd."""
    plane = follow(page)["grad_output"]
    assert plane.abs().sum() == 1
    return tuple(plane.nonzero()[0].tolist())


def number(page, panel, row, column):
    return follow(page)[panel][row, column].item()


def middle(page, panel, row, column, band=""):
    box = page.locator(f'{band} [data-panel="{panel}"] [data-cell="{row},{column}"]').first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def undo(page, times=1):
    for _ in range(times):
        page.get_by_role("button", name="Undo").click()


def can_undo(page):
    return page.get_by_role("button", name="Undo").get_attribute("aria-disabled") == "false"


@contextlib.contextmanager
def pressed(page, panel, row, column, band=""):
    at = middle(page, panel, row, column, band)
    page.mouse.move(*at)
    page.mouse.down()
    yield at
    page.mouse.up()


def touch(page, kind, *points):
    """Send the page fingers: points are (x, y, id)."""
    fingers = [{"x": x, "y": y, "id": number} for x, y, number in points]
    page.fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})


# -- the 1


def test_the_window_that_the_1_reads_is_framed_and_what_a_pixel_gets_is_kept(opened):
    """At rest the pixel of the conclusion is ringed; its tray has room of its own, and nothing moves in a drag."""
    page = opened()
    page.mouse.move(2, 2)
    page.wait_for_function("(look) => Object.keys(eval(look)()).length === 4", arg=FRAMED)  # once the pointer has left
    read = {"forward padded_input": [1, 1, 3, 3], "weight padded_input": [1, 1, 3, 3]}
    met = {"input padded_grad_output": [2, 2, 3, 3], "input rotated_weight": [1, 1, 1, 1]}
    assert page.evaluate(FRAMED) == {**read, **met}
    assert page.evaluate(PINNED) == ["grad_input"]
    assert page.evaluate(TRAY) == [["", "", ""], ["", "5", ""], ["", "", ""]]
    assert "counting from 0" in page.locator(".cv-tray caption").text_content()
    before, got = page.evaluate(PLACES), {(1, 1): "5"}
    with pressed(page, "grad_output", 1, 1, "[data-equation=input]"):
        for row, column in ((0, 2), (2, 2), (2, 0), (0, 0)):
            page.mouse.move(*middle(page, "grad_output", row, column, "[data-equation=input]"))
            planes = follow(page)
            window = [row, column, 3, 3]
            read = {"forward padded_input": window, "weight padded_input": window}
            met["input rotated_weight"] = [row, column, 1, 1]
            assert page.evaluate(FRAMED) == {**read, **met}
            assert planes["rotated_weight"][row, column] == planes["grad_input"][2, 2], "1 times it is the pixel's"
            assert torch.equal(planes["padded_input"][row : row + 3, column : column + 3], planes["grad_weight"])
            got[row, column] = f"{planes['grad_input'][2, 2]:g}"
            assert page.evaluate(TRAY) == [[got.get((r, c), "") for c in range(3)] for r in range(3)]
            assert page.evaluate(PLACES) == before, "no cell moves below the pointer"
            assert page.evaluate(UNDER_TRAY) == []
    said = page.locator("[data-equation=weight] .cv-aside").text_content()
    assert said.startswith("grad_weight is what the framed window reads")
    colour = "(node) => getComputedStyle(node).stroke"
    frame = page.locator("[data-equation=weight] [data-panel=padded_input] .cv-read")
    name = page.locator("[data-equation=weight] [data-panel=dilated_grad_output] .cv-name")
    assert frame.evaluate(colour) == name.evaluate("(node) => getComputedStyle(node).color"), "in the colour of the 1"
    page.mouse.move(2, 2)
    assert page.evaluate(FRAMED), "the 1 is pinned"
    page.keyboard.press("Escape")
    page.evaluate(FRAMES)
    page.evaluate("document.activeElement.blur()")
    read = {"forward padded_input": [0, 0, 3, 3], "weight padded_input": [0, 0, 3, 3]}
    assert page.evaluate(FRAMED) == {**read, **met}, "and the ringed pixel's window"
    assert page.evaluate(PINNED) == ["grad_input"]
    cell(page, "grad_input", 1, 3).click()
    assert sum(text != "" for row in page.evaluate(TRAY) for text in row) == 1, "another pixel's tray begins anew"
    page = opened("v=3")
    page.mouse.move(2, 2)
    page.wait_for_function("(look) => Object.keys(eval(look)()).length === 4", arg=FRAMED)
    read = {"forward padded_input": [0, 1, 3, 3], "weight padded_input": [0, 1, 3, 3]}
    met["input rotated_weight"] = [0, 1, 1, 1]
    assert page.evaluate(FRAMED) == {**read, **met}, "at first sight"
    assert page.evaluate(TRAY)[0][1] == "8"
    for link in ("v=2&grad=ones", "v=2&weight=box", "v=2&padding=1"):
        page = opened(link)
        page.mouse.move(2, 2)
        assert (page.evaluate(PINNED), page.evaluate(TRAY)) == ([], []), f"{link} has no such conclusion"


def test_of_a_dilated_window_the_cells_are_framed_that_it_reads(opened):
    page = opened("v=2&size=7&kernel=2&dilation=2&stride=3&padding=1&grad=one_hot:0,0,1,1")
    count = "(all) => all.map((frame) => (frame.getAttribute('d').match(/M/g) ?? []).length)"
    page.locator("[data-equation=input] [data-panel=grad_output] [data-cell='1,1']").hover()
    frames = page.locator(":is([data-equation=forward], [data-equation=weight]) [data-panel=padded_input] .cv-read")
    assert frames.evaluate_all(count) == [4, 4]


def test_a_click_that_nobody_pressed_chooses_its_own_cell(opened):
    """As a screen reader makes it, after a drag whose press was another cell's."""
    page = opened()
    with pressed(page, "grad_output", 1, 1, "[data-equation=input]"):
        page.mouse.move(*middle(page, "grad_output", 1, 2, "[data-equation=input]"), steps=4)
    x, y = middle(page, "grad_output", 2, 0, "[data-equation=input]")
    page.locator("[data-equation=input] [data-panel=grad_output] .cv-grid").evaluate(
        "(grid, [clientX, clientY]) => grid.dispatchEvent(new MouseEvent('click', { clientX, clientY }))", [x, y]
    )
    assert the_one(page) == (2, 0)


def test_the_hint_to_drag_the_1_stands_only_where_the_1_is(opened, reader):
    for plane, is_here in {"0,1,0": False, "0,0,0": True}.items():
        reader.goto("about:blank")  # for a visitor who has dragged nothing yet
        page = opened(f"v=2&out_channels=2&plane={plane}")
        assert (page.locator(".cv-drag-hint:visible").count() > 0) == is_here, plane
        assert (page.locator(".cv-question", has_text="Drag the 1.").count() > 0) == is_here, plane


def test_the_1_follows_the_mouse_and_both_gradients_follow_the_1(opened, reader):
    reader.goto("about:blank")  # for a visitor who has dragged nothing yet
    page = opened()
    assert page.locator(".cv-drag-hint:visible").first.inner_text() == "drag the 1"
    for band in ("[data-equation=forward]", "[data-equation=input]"):
        with pressed(page, "grad_output", 1, 1, band):
            for place in [(1, 2), (0, 0)]:
                page.mouse.move(*middle(page, "grad_output", *place, band), steps=4)
                assert the_one(page) == place
                assert page.evaluate(PINNED).count("grad_output") == 2, "it is chosen, in both bands"
            page.mouse.move(1360, 10, steps=4)
            assert the_one(page) == (0, 2), "the nearest cell, outside of the panel"
            page.mouse.move(3, 760, steps=4)
            assert the_one(page) == (2, 0)
        assert the_one(page) == (2, 0), "the end of a drag is no click elsewhere"
        assert page.evaluate("document.activeElement.dataset.cell") == "2,0"
        assert page.locator(".cv-drag-hint:visible").count() == 0, "who has dragged it knows"
        assert page.locator("[data-dragging]").count() == 0
        undo(page)
        assert the_one(page) == (1, 1), "one drag, one step"
        assert not can_undo(page)


def test_a_press_on_any_cell_brings_the_1_there_and_a_small_movement_is_a_click(opened):
    page = opened()
    with pressed(page, "grad_output", 0, 0) as (x, y):
        page.mouse.move(x + 5, y)
        assert the_one(page) == (0, 0)
    with pressed(page, "grad_output", 2, 2) as (x, y):
        page.mouse.move(x + 2, y + 2)
        assert the_one(page) == (0, 0), "not moved yet"
    assert the_one(page) == (2, 2), "a click"
    undo(page, 2)
    assert the_one(page) == (1, 1)


def test_a_pinned_pixel_stays_pinned_while_the_1_is_dragged(opened):
    page = opened()
    cell(page, "grad_input", 2, 2).click()
    with pressed(page, "grad_output", 1, 1):
        page.mouse.move(*middle(page, "grad_output", 0, 0), steps=3)
        assert the_one(page) == (0, 0)
    assert page.evaluate(PINNED) == ["grad_input"]


def test_whatever_comes_between_ends_the_drag_and_leaves_nothing_half(opened):
    def escape(page):
        page.keyboard.press("Escape")

    def resize(page):
        page.set_viewport_size({"width": 1280, "height": 720})

    def a_change(page):
        page.locator(".cv-set-padding input").first.press("ArrowRight")

    def taken_back(page):
        page.keyboard.press("Control+z")

    for between, after in ((escape, (1, 2)), (resize, (1, 2)), (a_change, (1, 2)), (taken_back, (1, 1))):
        page = opened()
        with pressed(page, "grad_output", 1, 1):
            page.mouse.move(*middle(page, "grad_output", 1, 2), steps=3)
            assert the_one(page) == (1, 2)
            between(page)
            page.evaluate(FRAMES)
            page.mouse.move(*middle(page, "grad_output", 0, 0), steps=3)
            plane = torch.tensor(page.evaluate(PLANES)["grad_output"]["values"])
            assert plane.sum() == 1, between.__name__
            assert page.locator("[data-dragging]").count() == 0, between.__name__
        columns = page.evaluate(PLANES)["grad_output"]["columns"]
        values = page.evaluate(PLANES)["grad_output"]["values"]
        assert divmod(values.index(1), columns) == after, between.__name__
        assert page.evaluate(PINNED).count("grad_output") == 2, f"{between.__name__} lets go of nothing"


def test_a_lesson_that_starts_during_a_drag_is_not_changed_by_it(opened):
    page = opened()
    with pressed(page, "grad_output", 1, 1):
        page.mouse.move(*middle(page, "grad_output", 1, 2), steps=3)
        assert the_one(page) == (1, 2)
        page.evaluate("location.hash = 'lesson=why_rotated'")
        page.locator(".cv-lesson-count").wait_for()
        wait_painted(page)
        page.mouse.move(*middle(page, "grad_output", 0, 0), steps=3)
        assert the_one(page) == (1, 1), "where the lesson has put it"
    assert the_one(page) == (1, 1)


def test_keys_carry_the_1_and_else_walk(opened):
    page = opened()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowDown")
    assert the_one(page) == (2, 1), "also before anything has the focus"
    page.locator(".cv-set-stride input").first.focus()
    page.keyboard.press("ArrowLeft")
    assert the_one(page) == (2, 1), "the keys of a slider are its own"
    page = opened()
    focused = "document.activeElement.dataset.cell"
    cell(page, "grad_output", 1, 1).focus()
    page.keyboard.press("ArrowRight")
    assert (the_one(page), page.evaluate(focused)) == ((1, 1), "1,2"), "a walk over the cells moves nothing"
    page.keyboard.press("Shift+ArrowUp")
    assert (the_one(page), page.evaluate(focused)) == ((0, 1), "0,1"), "the focus goes with it"
    assert page.locator(".cv-live").last.text_content() == "The 1 is at row 0, column 1."
    page.keyboard.press("ArrowLeft")
    assert (the_one(page), page.evaluate(focused)) == ((0, 0), "0,0"), "chosen, it goes along"
    page.keyboard.press("ArrowLeft")
    assert the_one(page) == (0, 0), "there is no cell"
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    assert (the_one(page), page.evaluate(focused)) == ((0, 0), "1,0"), "let go"
    page.keyboard.press(" ")
    page.keyboard.press("ArrowDown")
    assert (the_one(page), page.evaluate(focused)) == ((2, 0), "2,0"), "Space brings it, and takes it up"
    words = page.locator(".cv-readout").last.text_content()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.evaluate(FRAMES)
    assert "Shift and an arrow key" in page.locator(".cv-live").last.text_content(), words


def test_a_finger_drags_the_1_and_a_second_one_ends_it(held):
    page = held()
    at = middle(page, "grad_output", 1, 1, "[data-equation=input]")
    there = middle(page, "grad_output", 0, 0, "[data-equation=input]")
    touch(page, "touchStart", (*at, 0))
    touch(page, "touchMove", (at[0], at[1] - 10, 0))
    touch(page, "touchMove", (*there, 0))
    assert the_one(page) == (0, 0)
    assert page.evaluate("scrollY") == 0
    touch(page, "touchStart", (*there, 0), (6, 6, 1))
    touch(page, "touchMove", (*at, 0), (12, 12, 1))
    assert the_one(page) == (0, 0), "the second finger has ended it"
    touch(page, "touchEnd")
    assert the_one(page) == (0, 0)
    touch(page, "touchStart", (*there, 0))
    touch(page, "touchMove", (*at, 0))
    assert the_one(page) == (1, 1)
    touch(page, "touchCancel")
    assert the_one(page) == (1, 1)
    assert page.locator("[data-dragging]").count() == 0
    undo(page)
    assert the_one(page) == (0, 0)
    undo(page)
    assert the_one(page) == (1, 1)
    assert not can_undo(page)


# -- numbers


def test_a_given_number_is_dragged_up_and_down(opened):
    page = opened("v=2&grad=ones")
    assert page.locator(".cv-drag-hint:visible").count() == 0, "there is no single 1"
    before = number(page, "weight", 0, 1)
    with pressed(page, "weight", 0, 1) as (x, y):
        page.mouse.move(x, y - 3)
        assert number(page, "weight", 0, 1) == before, "no drag yet"
        page.mouse.move(x, y - 12, steps=3)
        assert number(page, "weight", 0, 1) == before + 1
        page.keyboard.down("Shift")
        page.mouse.move(x + 300, y, steps=3)
        assert number(page, "weight", 0, 1) == pytest.approx(before + 0.9)
        page.keyboard.up("Shift")
        page.mouse.move(x, y - 700, steps=3)
        assert number(page, "weight", 0, 1) == 9, "as far as one digit"
    assert page.evaluate(PINNED) == [], "the end of a drag is no click"
    undo(page)
    assert number(page, "weight", 0, 1) == before, "one drag, one step"
    assert not can_undo(page)
    with pressed(page, "output", 0, 0) as (x, y):
        page.mouse.move(x, y - 40, steps=3)
        page.evaluate(FRAMES)
    assert not can_undo(page), "what follows from others is not dragged"


def test_keys_change_the_number_in_the_focus(opened):
    page = opened()
    before = number(page, "padded_input", 1, 1)
    cell(page, "padded_input", 1, 1).focus()
    page.keyboard.press("Alt+ArrowUp")
    assert number(page, "padded_input", 1, 1) == before + 1
    page.keyboard.press("Alt+Shift+ArrowDown")
    assert number(page, "padded_input", 1, 1) == pytest.approx(before + 0.9)
    assert page.locator(".cv-live").last.text_content().endswith(f"row 1, column 1: {before + 0.9:.1f}")
    undo(page)
    assert number(page, "padded_input", 1, 1) == before, "quick presses are one step"
    page.keyboard.press("Escape")
    cell(page, "padded_input", 1, 1).focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.cell") == "0,1", "alone they walk, but in the kernel"
    assert number(page, "padded_input", 1, 1) == before


SLIDERS = """() => [...document.querySelectorAll("[data-panel=weight]")].map((panel) => ({
  roles: [...panel.querySelectorAll("[role=row] > [role=gridcell] > [role=slider]")].map((one) =>
    [one.getAttribute("aria-label"), one.getAttribute("aria-valuenow"), one.getAttribute("aria-valuetext")]),
  drawn: [...panel.querySelectorAll(".cv-slides path")].map((path) =>
    path.getAttribute("d").split("M").length - 1),
}))"""


def test_each_weight_is_a_slider_that_is_seen_and_the_long_one_follows_it(opened):
    page = opened()
    chosen = page.locator(".cv-which")
    for panel in page.evaluate(SLIDERS):
        assert panel["roles"] == [
            [f"weight, row {index // 3}, column {index % 3}", str(index + 1), str(index + 1)] for index in range(9)
        ]
        assert panel["drawn"] == [9, 9, 0, 9], "track, fill, no zero, handle"
    cell(page, "weight", 0, 2).focus()
    focused = "document.activeElement.dataset.cell"
    for key, place, value in (
        ("ArrowUp", "0,2", 4),
        ("Shift+ArrowDown", "0,2", 3.9),
        ("Shift+ArrowUp", "0,2", 4),
        ("ArrowRight", "1,0", 4),  # from row to row
        ("PageUp", "1,0", 7),
        ("PageDown", "1,0", 4),
        ("End", "1,0", 9),
        ("Home", "1,0", -9),
        ("ArrowLeft", "0,2", 4),
    ):
        page.keyboard.press(key)
        page.evaluate(FRAMES)
        assert page.evaluate(focused) == place, key
        shown = cell(page, "weight", *place.split(","))
        assert float(shown.get_attribute("aria-valuenow")) == pytest.approx(value), key
    assert follow(page)["weight"].tolist() == [[1, 2, 4], [-9, 5, 6], [7, 8, 9]]
    assert chosen.inner_text() == "weight[1,0]", "the one that changed last"
    assert page.locator(".cv-set-weight input").evaluate("(range) => Number(range.value)") == -9
    assert [panel["drawn"] for panel in page.evaluate(SLIDERS)] == [[9] * 4] * 2, "zeros, since one is negative"
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "2,2", "and no further than the last"
    page.keyboard.press("Enter")
    page.locator(".cv-editor").fill("-1,5")
    page.keyboard.press("Enter")
    assert number(page, "weight", 2, 2) == -1.5
    assert chosen.inner_text() == "weight[2,2]"
    assert cell(page, "weight", 2, 2).get_attribute("aria-valuetext") == "\u22121.5"
    for panel, place in (("rotated_weight", "0,1"), ("grad_weight", "2,1"), ("weight", "2,2")):
        cell(page, panel, *place.split(",")).click()
        assert chosen.inner_text() == ("weight[2,1]" if panel != "weight" else "weight[2,2]"), panel
    page.locator(".cv-set-weight").hover()
    lit = page.locator("[data-panel=weight] .cv-lights").first
    assert lit.get_attribute("data-lit") == "2,2", "pointing at the long one lights its cell"


def test_a_slider_has_room_beside_its_number_or_is_a_line_at_the_edge_or_is_left_out(opened):
    """Never at the cost of a number."""
    overlap = (
        f"() => {{ const placesOf = {PLACES_OF};"
        + """
      const panels = [...document.querySelectorAll("[data-panel=weight]")].filter((one) => one.checkVisibility());
      return panels.map((panel) => {
        const [printed, knobs] = [panel.querySelectorAll(".cv-printed text"), panel.querySelector(".cv-slide-knob")];
        const unit = panel.querySelector(".cv-cell").getBoundingClientRect();
        const found = [...knobs.getAttribute("d").matchAll(/M([-\\d.]+) [-\\d.]+h([-\\d.]+)/g)]
          .map(([, x, wide]) => (((Number(x) % 40) + Number(wide)) / 40) * unit.width);
        const texts = [...printed].flatMap(placesOf).map(({ box }) => box);
        const left = texts.map((box) => (box.left - unit.left) % unit.width);
        const [, y, tall] = knobs.getAttribute("d").match(/M[-\\d.]+ ([-\\d.]+)h[-\\d.]+v([-\\d.]+)/).map(Number);
        const middle = texts.map((box) => ((box.top + box.bottom) / 2 - unit.top) % unit.height);
        const letters = printed[0] && parseFloat(getComputedStyle(printed[0]).fontSize) * printed[0].getScreenCTM().d;
        const below = Math.max(...middle) + 0.37 * letters - ((y % 40) / 40) * unit.height; // of what digits are high
        const lies = tall < 3; // along the lower edge
        const beside = Math.max(...found) - Math.min(...left);
        return { numbers: texts.length, handles: found.length, into: lies ? below : beside };
      }); }"""
    )
    for link, size, cells in (
        ("v=2", (1366, 768), 9),
        ("v=2", (390, 844), 9),
        ("v=2&kernel=7&size=12", (1366, 768), 49),
        ("v=2&kernel=1x4&size=9", (1280, 720), 4),
        ("v=2&weight=sobel_x", (390, 844), 9),
        ("v=2&weight=gaussian", (1366, 768), 9),
    ):
        found = opened(link, size=size).evaluate(overlap)
        assert found, (link, size)
        for panel in found:
            assert panel["handles"] == panel["numbers"], (link, size, panel)
            assert panel["numbers"] in (0, cells), (link, size, panel)
            assert panel["numbers"] == 0 or panel["into"] < 1.5, (link, size, panel)


def test_a_finger_drags_a_number_and_the_page_stays(held):
    page = held()
    at = middle(page, "weight", 1, 1, "[data-equation=input]")
    before = number(page, "weight", 1, 1)
    touch(page, "touchStart", (*at, 0))
    for y in (6, 12, 18, 25):
        touch(page, "touchMove", (at[0], at[1] - y, 0))
    assert number(page, "weight", 1, 1) == before + 2
    assert page.locator(".cv-pulled").inner_text() == str(int(before + 2)), "above the finger"
    touch(page, "touchEnd")
    assert page.locator(".cv-pulled").count() == 0
    assert page.evaluate("scrollY") == 0
    assert number(page, "weight", 1, 1) == before + 2
    undo(page)
    assert number(page, "weight", 1, 1) == before


def test_the_first_lesson_takes_a_drag_for_its_answer(opened):
    page = opened("lesson=why_rotated")
    page.locator(".cv-lesson-count").wait_for()
    assert "Drag its cell up" in page.locator(".cv-lesson").first.inner_text()
    with pressed(page, "padded_input", 1, 3) as (x, y):
        page.mouse.move(x, y - 12, steps=4)
        page.evaluate(FRAMES)
    page.locator(".cv-lesson-done p", has_text="A gradient is the answer").first.wait_for()


# -- what changed, and what did not


def test_what_did_not_change_says_why_and_covers_no_cell(opened):
    for size in ((1280, 720), (390, 844)):
        page = opened(size=size)
        if size[0] > 1000:
            cell(page, "grad_output", 0, 1).click()
            page.evaluate(FRAMES)
            assert page.evaluate(NOTES) == [["output", "unchanged: made of input and weight"]]
        cell(page, "weight", 1, 1).focus()
        page.keyboard.press("ArrowUp")
        page.evaluate(FRAMES)
        reported = dict(page.evaluate(NOTES))
        assert set(reported.values()) <= {
            "unchanged: you choose what is sent back",
            "unchanged: made of input and grad_output",
        }, size
        assert size[0] < 1000 or "grad_weight" in reported, size
    page.wait_for_function(f"({NOTES})().length === 0")
    cell(page, "weight", 1, 1).focus()


def test_what_changed_is_washed_for_a_moment_unless_motion_is_reduced(opened):
    page = opened()
    page.emulate_media(reduced_motion="no-preference")
    # Moves that follow each other within 300 ms are one, which is seen as it is: the link was the last.
    page.wait_for_function("(then) => performance.now() > then", arg=page.evaluate("performance.now() + 300"))
    page.wait_for_function("!document.querySelector('.cv-wash, .cv-board .cv-area > .cv-pixels')")
    washed = """() => [...document.querySelectorAll(".cv-wash")].map((wash) => [
      wash.closest("[data-panel]").dataset.panel,
      wash.querySelector("path").getAttribute("d").split("M").length - 1])"""
    page.evaluate(
        """(washed) => {
          window.washed = [];
          new MutationObserver(() => window.washed.push(...eval(washed)()))
            .observe(document.querySelector(".cv-equations"), { childList: true, subtree: true });
        }""",
        washed,
    )
    cell(page, "grad_output", 1, 2).click()
    page.wait_for_function("window.washed.length > 0")
    counts = dict(page.evaluate("window.washed"))
    assert set(counts) == {"grad_output", "dilated_grad_output", "padded_grad_output", "grad_input", "grad_weight"}
    assert counts["grad_output"] == 2
    page.wait_for_function("document.querySelectorAll('.cv-wash').length === 0")
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("window.washed.length = 0")
    cell(page, "grad_output", 0, 0).click()
    assert the_one(page) == (0, 0)
    assert page.evaluate("window.washed") == []


def test_a_finger_that_scrolls_the_page_by_a_slider_leaves_its_number(held):
    page = held()
    for name in ("kernel_size", "stride", "padding", "weight"):
        slider = page.locator(f".cv-set-{name} input[type=range]").first
        before, box = slider.input_value(), slider.bounding_box()
        x, y = box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2
        touch(page, "touchStart", (x, y, 1))
        for by in range(10, 80, 10):
            touch(page, "touchMove", (x, y - by, 1))
        touch(page, "touchEnd")
        page.evaluate(FRAMES)
        assert slider.input_value() == before, name
    assert page.evaluate("scrollY") > 0


def test_a_drag_of_a_slider_is_one_step_however_slow_and_the_next_another(opened):
    page = opened()
    page.evaluate("() => { let at = performance.now(); performance.now = () => (at += 2000); }")  # two seconds a move
    slider = page.locator(".cv-app .cv-set-weight input[type=range]")
    seen = [page.evaluate(PLANES)["weight"]["values"]]
    for goal in (0.8, 0.3):
        box = slider.bounding_box()
        y = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] / 2, y)
        page.mouse.down()
        for share in (0.5, 0.55, goal):
            page.mouse.move(box["x"] + box["width"] * share, y)
        page.mouse.up()
        seen.append(page.evaluate(PLANES)["weight"]["values"])
    assert len(set(map(tuple, seen))) == 3
    for before in seen[1::-1]:
        undo(page)
        assert page.evaluate(PLANES)["weight"]["values"] == before
    assert not can_undo(page)
    page.evaluate("delete performance.now")
