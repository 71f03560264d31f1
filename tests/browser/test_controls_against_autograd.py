"""The app in Voilà: every control moves, and each number on the page equals what autograd makes of what it shows."""

import io
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from PIL import Image

from tests.browser.app_page import (
    assert_page_equals_autograd,
    cell,
    choose,
    messages_sent,
    open_app,
    painted,
    panels_of,
    read_panel,
    repaint,
    same_state,
    show_band,
    shown_plane,
    slide,
    slider_value,
    snapshot,
    switch,
    used,
    visiting,
    wait_aligned,
    wait_notice,
    wait_painted,
    wait_value,
    weight_slider,
)
from tests.browser.server import wait_until

# Slider → where it is moved, and stays while the next one moves.
STOPS = {"input_size": 9, "kernel_size": 4, "stride": 1, "padding": 3, "dilation": 2, "digit": 6}
STOPS |= {"in_channels": 2, "out_channels": 2, "batch": 2}
MENUS = {
    "padding_mode": ["reflect", "replicate", "circular", "zeros"],
    "input": ["delta", "ramp", "checkerboard", "random"],
    "loss": ["sum", "mean", "cross-entropy", "½ squared error"],
    "target": ["ones", "random", "one-hot"],
    "dtype": ["float64", "bfloat16"],
    "scale": ["one a panel", "one an equation"],
    "kernel": ["random", "identity", "Gaussian", "off-centre delta"],
}


# -- the first look ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def in_colours(browser, server):
    with visiting(browser, server, plotly=True) as page:
        yield page


@pytest.fixture
def heatmaps(in_colours, server):
    """The app with heatmaps."""
    yield from used(in_colours, server)


def test_first_look_is_right_and_asks_nobody_outside(app):
    seen = assert_page_equals_autograd(app)
    assert seen.geometry["stride"] == [2, 2]
    assert seen.tensors["weight"].flatten().tolist() == [-1, 0, 1, -2, 0, 2, -1, 0, 1]
    assert [section["name"] for section in seen.shot["equations"]] == ["forward", "input", "weight"]
    assert app.locator("[data-panel=padded_input] .cv-band-unread").count() > 0, "the remainder is hatched"
    assert "Remainder" in app.locator("[data-equation=forward] .cv-remainder").text_content()
    assert "slider" in app.locator(".cv-sentence").text_content()


# -- every control -----------------------------------------------------------------------------------------------


def test_every_slider_by_keyboard(app):
    for name, stop in STOPS.items():
        slide(app, name, stop)
        assert_page_equals_autograd(app)


def test_every_menu(app):
    for name, entries in MENUS.items():
        for entry in entries:
            choose(app, name, entry)
            seen = assert_page_equals_autograd(app)
            if entry == "cross-entropy":
                assert app.locator(".cv-set-target option").all_inner_texts() == ["one-hot"]
            assert app.locator(".cv-set-target").is_visible() == (entry not in ("sum", "mean"))
            assert ("grad_padded_input" in seen.tensors) == (name == "padding_mode" and entry != "zeros")
    assert int((seen.tensors["weight"] != 0).sum()) == 1
    assert not torch.equal(seen.tensors["weight"], seen.tensors["rotated_weight"]), "off the centre one sees it turn"
    choose(app, "loss", "set by hand")
    choose(app, "grad_output", "one-hot")
    cell(app, "output", 2, 1).click()
    wait_value(app, "grad_output", 2, 1, 1)
    assert assert_page_equals_autograd(app).tensors["grad_output"].nonzero().tolist() == [[0, 0, 2, 1]]


def test_a_weight_by_the_long_slider_by_the_keys_of_its_cell_and_typed(app):
    for key, value in (("ArrowRight", 2.1), ("End", 3), ("Home", -3)):
        with repaint(app):
            weight_slider(app, 1, 2).press(key)
        wait_value(app, "weight", 1, 2, value)
    for key, value in (("ArrowUp", -2), ("Shift+ArrowUp", -1.9), ("PageUp", 1.1), ("End", 9), ("Home", -9)):
        with repaint(app):
            cell(app, "weight", 1, 2).press(key)
        wait_value(app, "weight", 1, 2, value)
    assert_page_equals_autograd(app)
    long = app.locator(".cv-set-weight input[type=range]")

    def reach():
        least, most = long.evaluate("(one) => [one.min, one.max]")
        assert least == f"-{most}"
        return most

    def type_into(row, column, text):
        cell(app, "weight", row, column).press("Enter")
        field = app.locator(".cv-editor")
        field.fill(text)
        field.press("Enter")
        return field

    assert (reach(), long.input_value()) == ("9", "-9"), "the long one follows the cell"
    with repaint(app):
        type_into(1, 2, "1")
    with repaint(app):
        type_into(0, 1, "4,25")  # beyond the slider's reach, with a decimal comma
    wait_value(app, "weight", 0, 1, 4.25)
    assert_page_equals_autograd(app)
    assert (reach(), app.locator(".cv-set-weight .cv-number").inner_text()) == ("5", "4.25")
    before = painted(app)
    field = type_into(0, 1, "much")
    assert field.get_attribute("aria-invalid") == "true"
    field.press("Escape")
    assert (field.count(), painted(app)) == (0, before)
    for way, least in (("a drag", "5"), ("Reset", "3")):
        with repaint(app):
            type_into(1, 1, "500")
        assert reach() == "500"
        with repaint(app):
            if way == "a drag":
                long.fill("0")
                assert reach() == "500", "nothing jumps while a hand is on it"
            else:
                app.get_by_role("button", name=way, exact=True).click()
        if way == "a drag":
            long.dispatch_event("pointerup")
        assert reach() == least, way


def test_height_and_width_apart_and_linked_again(app):
    switch(app, "link height and width", False)
    slide(app, "stride", 3, axis=1)
    slide(app, "kernel_size", 2)
    slide(app, "input_size", 7, axis=1)
    at = assert_page_equals_autograd(app).geometry
    assert (at["stride"], at["kernel_size"], at["input_size"]) == ([2, 3], [2, 3], [8, 7])
    switch(app, "link height and width", True)
    wait_notice(app, "stride of the width changed from 3 to 2")
    at = assert_page_equals_autograd(app).geometry
    assert (at["stride"], at["kernel_size"]) == ([2, 2], [2, 2])


def test_channels_groups_bias_and_planes(app):
    slide(app, "in_channels", 4)
    slide(app, "out_channels", 4)
    switch(app, "bias", True)
    choose(app, "groups", "2")
    seen = assert_page_equals_autograd(app)
    assert [section["name"] for section in seen.shot["equations"]] == ["forward", "input", "weight", "bias"]
    assert seen.tensors["weight"].shape == (4, 2, 3, 3)
    assert seen.tensors["bias"].tolist() == [0.5, -0.5, 1, -1]
    assert "Σ" in app.locator("[data-equation=forward] .cv-row").text_content()
    slide(app, "out_channels", 3)
    wait_notice(app, "groups changed from 2 to 1")
    switch(app, "bias", False)
    assert "grad_bias" not in assert_page_equals_autograd(app).tensors


def test_thumbnails_show_their_planes(app):
    slide(app, "in_channels", 2)
    slide(app, "out_channels", 3)
    thumbs = app.locator("[data-equation=forward] [data-panel=weight] .cv-thumb")
    assert thumbs.count() == 6
    app.locator("[data-equation=forward] .cv-title").click()  # in focus a band has room for them
    with repaint(app):
        app.get_by_role("button", name="Show weight[2, 1]").first.click()
    assert shown_plane(app) == {"o": "2", "c": "1"}
    labels = {panel["label"] for section in snapshot(app)["equations"] for panel in section["panels"]}
    assert {"weight[2, 1]", "output[0, 2]", "padded_input[0, 1]", "rotated_weight[1, 2]"} <= labels
    assert thumbs.nth(5).get_attribute("aria-pressed") == "true"
    before = float(read_panel(app, "weight")[0, 0])
    with repaint(app):
        weight_slider(app, 0, 0).press("ArrowRight")
    assert float(read_panel(app, "weight")[0, 0]) == pytest.approx(before + 0.1, abs=1e-6), "the shown plane's"
    assert_page_equals_autograd(app)
    # Every small picture is drawn in colours, not left empty.
    assert thumbs.evaluate_all("""(thumbs) => thumbs.every((thumb) => {
        const canvas = thumb.firstElementChild;
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.every((part, i) => i % 4 !== 3 || part === 255);
    })""")


def test_a_seed_makes_other_numbers_and_the_same_ones_again(app):
    choose(app, "kernel", "random")
    first = read_panel(app, "weight")
    seed = app.locator(".cv-set-seed input")
    for number, same in (("7", False), ("0", True)):
        with repaint(app):
            seed.fill(number)
            seed.press("Enter")
        assert torch.equal(read_panel(app, "weight"), first) == same, number


# -- typing into cells -------------------------------------------------------------------------------------------


def test_numbers_typed_into_cells(app):
    for panel, key, place in (
        ("padded_input", "ArrowRight", (1, 3)),
        ("weight", "ArrowRight", (2, 0)),
        ("grad_output", "ArrowRight", (1, 3)),
    ):
        cell(app, panel, 1, 2).dblclick()
        editor = app.locator(".cv-editor")
        assert panel in editor.get_attribute("aria-label")
        with repaint(app):
            editor.fill("\N{MINUS SIGN}1.5")
            editor.press("Enter")
        wait_value(app, panel, 1, 2, -1.5)
        assert editor.count() == 0
        # By keyboard alone: a digit opens the field, and Enter goes back to the grid.
        app.keyboard.press(key)
        app.keyboard.press("2")
        with repaint(app):
            app.keyboard.type(".25")
            app.keyboard.press("Enter")
        wait_value(app, panel, *place, 2.25)
        assert app.evaluate("document.activeElement.dataset.cell") == f"{place[0]},{place[1]}"
    seen = assert_page_equals_autograd(app)
    assert (seen.shot["menus"]["loss"], seen.shot["menus"]["grad_output"]) == ("set by hand", "custom")
    switch(app, "bias", True)
    show_band(app, "forward")
    cell(app, "bias", 0, 0).dblclick()
    with repaint(app):
        app.locator(".cv-editor").fill("-2")
        app.keyboard.press("Enter")
    assert float(assert_page_equals_autograd(app).tensors["bias"]) == -2


def test_nonsense_the_border_and_results_are_refused_in_a_sentence(app):
    before, live = snapshot(app), app.locator(".cv-board p.cv-live")
    cell(app, "padded_input", 3, 3).click()
    app.keyboard.press("Enter")
    editor = app.locator(".cv-editor")
    editor.fill("one half")
    app.keyboard.press("Enter")
    assert editor.get_attribute("aria-invalid") == "true"
    assert editor.input_value() == "one half"
    assert 'A cell takes a number such as \N{MINUS SIGN}1.5: got "one half"' in live.text_content()
    app.keyboard.press("Escape")
    assert editor.count() == 0
    assert app.evaluate("document.activeElement.dataset.cell") == "3,3"
    cell(app, "padded_input", 0, 0).dblclick()
    assert "is part of the border" in live.text_content()
    cell(app, "grad_input", 1, 1).dblclick()
    cell(app, "output", 1, 1).press("Enter")
    assert editor.count() == 0
    assert same_state(snapshot(app), before)


# -- back and forth ----------------------------------------------------------------------------------------------


def test_undo_redo_reset_by_button_and_by_keyboard_anywhere_in_the_app(app):
    undo, redo = (app.get_by_role("button", name=name, exact=True) for name in ("Undo", "Redo"))
    choose(app, "kernel", "Laplacian")
    slide(app, "stride", 1)  # the focus stays on the slider
    last = snapshot(app)
    for keys, stride in (("Control+z", 2), ("Control+Shift+Z", 1), ("Control+z", 2), ("Control+y", 1)):
        with repaint(app):
            app.keyboard.press(keys)
        assert slider_value(app, "stride") == stride, keys
    with repaint(app):
        undo.click()
    assert assert_page_equals_autograd(app).shot["menus"]["kernel"] == "Laplacian"
    cell(app, "output", 0, 0).click()
    with repaint(app):
        app.keyboard.press("Control+z")
    assert same_state(snapshot(app), app.start)
    for _ in range(2):
        with repaint(app):
            redo.click()
    assert redo.is_disabled()
    assert same_state(snapshot(app), last)
    with repaint(app):
        app.get_by_role("button", name="Reset").click()
    assert same_state(snapshot(app), app.start)
    with repaint(app):
        undo.click()
    assert same_state(snapshot(app), last), "undo takes a reset back"


# -- the grid by keyboard ----------------------------------------------------------------------------------------


def test_arrow_keys_move_in_the_grid_and_the_live_region_speaks(app):
    live = app.locator(".cv-board p.cv-live")
    assert (live.get_attribute("role"), live.get_attribute("aria-live")) == ("status", "polite")
    cell(app, "output", 0, 0).focus()  # as a screen reader does
    assert "output, row 0, column 0: " in live.text_content()
    at = [0, 0]
    for key, (down, right) in {
        "ArrowRight": (0, 1),
        "ArrowDown": (1, 0),
        "ArrowLeft": (0, -1),
        "ArrowUp": (-1, 0),
        "End": (0, 3),
        "PageDown": (3, 0),
        "Home": (0, -3),
        "Control+Home": (-3, 0),
        "Control+End": (3, 3),
    }.items():
        app.keyboard.press(key)
        at = [at[0] + down, at[1] + right]
        assert app.evaluate("document.activeElement.dataset.cell") == f"{at[0]},{at[1]}", key
        spoken = live.text_content()
        assert spoken.startswith(f"output, row {at[0]}, column {at[1]}: "), spoken
        value = float(spoken.rsplit(": ", 1)[1].split(" (")[0].replace("\N{MINUS SIGN}", "-"))
        assert value == pytest.approx(float(read_panel(app, "output")[tuple(at)]), rel=1e-6, abs=1e-12)
    app.keyboard.press("ArrowRight")
    assert app.evaluate("document.activeElement.dataset.cell") == "3,3", "the edge holds"
    app.keyboard.press("Tab")
    app.keyboard.press("Shift+Tab")
    assert app.evaluate("document.activeElement.dataset.cell") == "3,3", "a grid's stop is where the cursor was"
    cell(app, "padded_input", 0, 0).click()
    assert "padding" in live.text_content()
    app.keyboard.press("Control+End")
    assert "never read" in live.text_content()


# -- the menu of a panel -----------------------------------------------------------------------------------------


def save(page, panel, entry):
    """Choose an entry of a panel's menu and return the downloaded file's name and bytes."""
    with page.expect_download() as download:
        open_menu(page, panel, entry)
    return download.value.suggested_filename, download.value.path().read_bytes()


def open_menu(page, panel, entry):
    """Open the menu of the first panel of a name and choose an entry."""
    here = page.locator(f"[data-panel={panel}]").first
    here.hover()  # only then its menu is there
    menu = here.locator(".cv-menu")
    menu.locator("summary").click()
    menu.get_by_role("button", name=entry).click()


def test_panel_is_saved_as_png_and_svg_and_the_page_lives_on(heatmaps):
    name, data = save(heatmaps, "grad_weight", "Picture as PNG")
    assert name == "convviz-grad_weight.png"
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    assert min(picture.size) >= 100
    assert len(picture.getcolors(1 << 24)) > 20, "a heatmap with numbers, not an empty picture"
    name, data = save(heatmaps, "output", "Picture as SVG")
    assert name == "convviz-output.svg"
    root = ElementTree.fromstring(data)
    assert root.tag.endswith("svg")
    assert b"<image" in data
    slide(heatmaps, "stride", 1)  # a download must not end the kernel
    assert_page_equals_autograd(heatmaps)


def test_numbers_are_copied(app):
    app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_menu(app, "weight", "Copy the numbers")
    app.locator(".cv-board p.cv-live", has_text="Copied weight").wait_for(state="attached")
    assert app.evaluate("navigator.clipboard.readText()") == "-1\t0\t1\n-2\t0\t2\n-1\t0\t1"


# -- pictures and sizes ------------------------------------------------------------------------------------------


def test_nothing_is_cut_off_and_heatmaps_stand_under_their_numbers_at_any_width(heatmaps):
    for width in (360, 3840):
        heatmaps.set_viewport_size({"width": width, "height": 800})
        for bias, mode, channels in ((False, "zeros", 1), (True, "reflect", 2)):
            switch(heatmaps, "bias", bias)
            choose(heatmaps, "padding_mode", mode)
            slide(heatmaps, "in_channels", channels)
            assert_inside(heatmaps, width)
            wait_aligned(heatmaps)


def assert_inside(page, width):
    """No scrolling to the side, and all panels, headings and controls within the window."""
    look = """(width) => {
        const outside = [...document.querySelectorAll(
            ".cv-panel, .cv-area, figcaption, .cv-sign, .cv-formula, .cv-note, .cv-truth, "
            + ".cv-group, .cv-control input, .cv-number, select, .cv-tools",
        )]
            .map((node) => [node, node.getBoundingClientRect()])
            .filter(([_, box]) => box.width && (box.left < -0.5 || box.right > width + 0.5))
            .map(([node, box]) => `${node.textContent.slice(0, 40)}: ${box.left} to ${box.right}`);
        const page = document.documentElement.scrollWidth;
        return [...(page > width ? [`the page is ${page} wide`] : []), ...outside];
    }"""
    try:
        wait_until(lambda: page.evaluate(look, width) == [], within_s=8)
    except AssertionError:
        raise AssertionError(f"outside of {width} px: {page.evaluate(look, width)}") from None


def test_large_input_loses_its_numbers_and_keeps_its_heatmap(heatmaps):
    choose(heatmaps, "input", "random")
    size = heatmaps.locator(".cv-set-input_size input.cv-number").first  # further than its slider goes
    size.fill("64")
    with repaint(heatmaps):
        size.press("Enter")
    padded = panels_of(wait_aligned(heatmaps))[0]
    assert (padded["rows"], padded["columns"], padded["numbered"]) == (66, 66, False)
    assert len(padded["cells"]) == 1, "one cursor cell stands for all"
    seen = assert_page_equals_autograd(heatmaps)
    # The cursor cell walks and speaks like any other.
    grid = heatmaps.locator("[data-panel=padded_input] svg.cv-grid").first
    box = grid.bounding_box()
    grid.click(position={"x": 10.5 / 66 * box["width"], "y": 20.5 / 66 * box["height"]})
    heatmaps.keyboard.press("ArrowDown")
    heatmaps.keyboard.press("ArrowRight")
    here = heatmaps.evaluate("({...document.activeElement.dataset})")
    assert (here["cell"], float(here["value"])) == ("21,11", float(seen.tensors["padded_input"][0, 0, 21, 11]))
    assert "row 21, column 11: " in heatmaps.locator(".cv-board p.cv-live").text_content()
    heatmaps.keyboard.press("F2")
    with repaint(heatmaps):
        heatmaps.locator(".cv-editor").fill("3")
        heatmaps.keyboard.press("Enter")
    assert float(assert_page_equals_autograd(heatmaps).tensors["padded_input"][0, 0, 21, 11]) == 3
    heatmaps.set_viewport_size({"width": 360, "height": 800})
    assert_inside(heatmaps, 360)
    wait_aligned(heatmaps)


def test_dark_theme_changes_colours_and_no_number(app):
    paper = "getComputedStyle(document.querySelector('.cv-app')).backgroundColor"
    before, light = snapshot(app), app.evaluate(paper)
    choose(app, "theme", "dark")
    app.locator(".cv-app[data-theme=dark] .cv-board[data-theme=dark]").wait_for()
    assert app.evaluate("document.documentElement.dataset.convvizTheme") == "dark"
    assert app.evaluate(paper) == "rgb(18, 21, 26)" != light
    assert snapshot(app)["equations"][0]["panels"][0]["cells"] == before["equations"][0]["panels"][0]["cells"]
    choose(app, "theme", "auto")
    app.emulate_media(color_scheme="dark")
    app.locator(".cv-board[data-theme=dark]").wait_for()
    app.emulate_media(color_scheme="light")
    app.locator(".cv-board[data-theme=light]").wait_for()
    assert app.evaluate(paper) == light


# -- uploads -----------------------------------------------------------------------------------------------------


def picture(form="PNG", size=(8, 8)):
    """A picture file of known grey values."""
    image = Image.new("L", size)
    image.putdata([(7 * x + 20 * y) % 256 for y in range(size[1]) for x in range(size[0])])
    image.convert("RGB").save(data := io.BytesIO(), form)
    return data.getvalue()


def upload(page, name, kind, data):
    """Choose a file of one's own."""
    page.locator(".cv-upload input").set_input_files({"name": name, "mimeType": kind, "buffer": data})


def test_upload_of_a_picture(app):
    with repaint(app):
        upload(app, "mine.png", "image/png", picture())
    seen = assert_page_equals_autograd(app)
    grey = torch.tensor([[(7 * x + 20 * y) % 256 for x in range(8)] for y in range(8)], dtype=torch.float64) / 255
    assert torch.allclose(seen.tensors["padded_input"][0, 0, 1:-1, 1:-1], grey, atol=6e-4)
    assert seen.shot["menus"]["input"] == "uploaded image"
    with repaint(app):
        upload(app, "photo.jpg", "image/jpeg", picture("JPEG", (300, 200)))
    assert_page_equals_autograd(app)


def test_upload_that_cannot_be_used_is_refused_and_changes_nothing(app):
    slide(app, "stride", 1)
    before = snapshot(app)
    for name, kind, data, words in (
        ("huge.png", "image/png", b"\x89PNG" + bytes(8_500_000), "up to 8 MB"),
        ("broken.png", "image/png", picture(size=(64, 64))[:200], "damaged"),
        ("notes.txt", "text/plain", b"not a picture", "PNG or JPEG"),
        ("empty.png", "image/png", b"", "PNG or JPEG"),
    ):
        upload(app, name, kind, data)
        sentence = wait_notice(app, words)
        assert sentence.count("\n") == 0
        assert app.locator(".cv-notice[role=alert][data-failed=true]").count() == 1
        assert same_state(snapshot(app), before), name
    slide(app, "stride", 2)  # the worker is alive
    assert_page_equals_autograd(app)
    assert app.locator(".cv-notice[data-failed=true]").count() == 0, "the sentence goes when something works"


# -- speed and memory --------------------------------------------------------------------------------------------


def test_steps_do_not_grow_the_page(app):
    app.emulate_media(reduced_motion="no-preference")
    count = """async (count) => {
        const range = document.querySelector(".cv-set-weight input[type=range]");
        const board = document.querySelector(".cv-board");
        for (let step = 1; step <= count; step++) {
            const before = Number(board.dataset.painted);
            range.value = String((step % 41 - 20) / 10); // another value at every step
            range.dispatchEvent(new Event("input", { bubbles: true }));
            for (let frame = 0; Number(board.dataset.painted) === before; frame++) {
                if (frame > 600) throw new Error(`step ${step} was never drawn`);
                await new Promise(requestAnimationFrame);
            }
        }
        // The last steps' changes are still washed with colour: that is to go, all of it, within a moment.
        const passing = () => document.querySelector(".cv-wash, .cv-board .cv-area > .cv-pixels");
        for (let frame = 0; passing(); frame++) {
            if (frame > 600) throw new Error(`${passing().outerHTML} stays`);
            await new Promise(requestAnimationFrame);
        }
        return document.getElementsByTagName("*").length;
    }"""
    weight_slider(app, 1, 1)
    nodes = app.evaluate(count, 5)
    assert app.evaluate(count, 5 + 41) == nodes, "at the same value"
    wait_painted(app)
    assert_page_equals_autograd(app)


def test_fast_slides_drop_stale_steps_and_the_last_one_arrives(app):
    weight_slider(app, 1, 1)
    sent = messages_sent(app)
    app.evaluate("""() => {
        const range = document.querySelector(".cv-set-weight input[type=range]");
        for (let step = 1; step <= 60; step++) {
            range.value = String(-3 + step / 10);
            range.dispatchEvent(new Event("input", { bubbles: true }));
        }
    }""")
    wait_value(app, "weight", 1, 1, 3)
    assert_page_equals_autograd(app)
    assert 1 <= sent() <= 10, "torch is not asked for stale steps"


# -- visitors -----------------------------------------------------------------------------------------------------


def test_two_visitors_never_see_each_others_state(page, app, server):
    open_app(page, server.url)
    slide(page, "stride", 1)
    theirs = snapshot(page)
    assert same_state(snapshot(app), app.start)
    slide(app, "padding", 3)
    assert same_state(snapshot(page), theirs)
    assert_page_equals_autograd(page)
    assert_page_equals_autograd(app)
    page.close(run_before_unload=True)
