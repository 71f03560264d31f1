"""The graph's pane: in the app, in a notebook, and over ten graphs; what is expected comes from torch's own graph."""

import json
import xml.etree.ElementTree as ElementTree
from importlib.resources import files

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import expect

from convviz.features.graph.graph_widget import GraphView
from convviz.features.graph.read_graph import graph
from convviz.views.theme import COLORSCALES
from convviz.web.bundle import bundle
from tests.browser.app_page import (
    cell,
    choose,
    fresh_page,
    open_tab,
    press_tab,
    read_panel,
    repaint,
    show_band,
    slide,
    slider,
    switch,
)
from tests.browser.server import wait_until
from tests.features.graph.test_graph import CASES, leaf


@pytest.fixture
def app(app):
    open_tab(app, "graph")
    return app


# -- reading the pane --------------------------------------------------------------------------------------------


def boxes(page):
    """Return {id: lines} of all boxes, without the step."""
    read = """() => Object.fromEntries([...document.querySelectorAll(".cv-pane-graph [data-node]")].map((box) => {
        const texts = [...box.querySelectorAll("text:not([text-anchor=end])")];
        return [box.dataset.node, texts.map((text) => text.textContent)];
    }))"""
    return page.evaluate(read)


def id_of(page, label):
    """Return the id of the only box with this label."""
    (id,) = [id for id, lines in boxes(page).items() if lines[0].removesuffix(" \u25b8") == label]
    return id


def box(page, id):
    return page.locator(f'.cv-pane-graph [data-node="{id}"]')


def open_box(page, id):
    """Press a box and wait for what it holds."""
    box(page, id).click()
    page.locator(f'.cv-details[data-shown="{id}"]').wait_for()


MAPS = """(selector) => Object.fromEntries([...document.querySelectorAll(selector)].map((part) => {
  const grid = part.querySelector("svg.cv-grid");
  const cells = [...part.querySelectorAll("[data-cell]")].map((cell) => Number(cell.dataset.value));
  const size = grid ? [Number(grid.getAttribute("aria-rowcount")), Number(grid.getAttribute("aria-colcount"))] : null;
  const text = part.querySelector(".cv-tensor-text")?.textContent;
  const numbered = grid?.classList.contains("cv-numbered");
  return [part.dataset.tensor ?? part.dataset.stage, { size, cells, text, numbered }];
}))"""


def planes(page, selector):
    """Return {key: plane} of the heatmaps that have numbers."""
    found = page.evaluate(MAPS, selector)
    return {
        key: torch.tensor(each["cells"], dtype=torch.float64).reshape(each["size"])
        for key, each in found.items()
        if each["size"] and each["numbered"]
    }


def wait_details(page, key, expected):
    """Wait until a heatmap of the details shows a plane."""
    wanted = expected.detach().double()
    wanted = wanted if wanted.dim() == 2 else wanted.reshape(1, -1)
    page.wait_for_function(
        """([key, wanted]) => {
          const found = document.querySelectorAll(`[data-tensor="${key}"] [data-cell]`);
          const cells = [...found].map((cell) => Number(cell.dataset.value));
          return cells.length === wanted.length
              && wanted.every((value, i) => Math.abs(value - cells[i]) <= 1e-4 * Math.max(1, Math.abs(value)));
        }""",
        arg=[key, wanted.flatten().tolist()],
    )


# -- ten graphs and more, without a kernel -----------------------------------------------------------------------

MOUNT = """async ([esm, data, colorscales]) => {
  const module = (await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })))).default;
  const listeners = {};
  const notify = (name, ...values) => (listeners[name] ?? []).forEach((listener) => listener(...values));
  const model = {
    get: (name) => ({ data, colorscales, theme: "light" })[name],
    on: (name, listener) => (listeners[name] ??= []).push(listener),
    off: (name, listener) => (listeners[name] = (listeners[name] ?? []).filter((each) => each !== listener)),
    send: async (message) => {
      const replies = await window.answer(message);
      for (const [content, buffers] of replies) {
        notify("msg:custom", content, buffers.map((bytes) => new DataView(Uint8Array.from(bytes).buffer)));
      }
    },
  };
  window.listening = () => Object.values(listeners).flat().length;
  let unmount = module.render({ model, el: document.body });
  window.unmount = () => { unmount?.(); unmount = null; };
}"""


@pytest.fixture(scope="module")
def page(browser):
    """An empty page with the pane's script and sheets, in which each test shows its graph."""
    folder = files("convviz.web")
    css = "\n".join(
        folder.joinpath(name).read_text("utf-8")
        for name in ("board/board.css", "tabs/pane.css", "../features/graph/tab.css")
    )
    with fresh_page(browser) as page:
        page.goto("about:blank")
        page.add_style_tag(content=css)
        page.esm, page.views, page.sent = bundle(folder, "../features/graph/tab.js"), [], []

        def answer(message):
            page.views[-1]._answer(None, message, [])
            replies, page.sent[:] = [*page.sent], []
            return replies

        page.expose_function("answer", answer)
        yield page


@pytest.fixture
def show(page, monkeypatch):
    """Return a function that shows a graph in the empty page; the view's own Python answers it."""

    def send(_, content, buffers=()):
        page.sent.append((content, [*map(list, buffers)]))

    monkeypatch.setattr(GraphView, "send", send)
    page.set_viewport_size({"width": 1400, "height": 900})
    page.mouse.move(2, 2)

    def mount(found):
        page.evaluate("window.unmount?.()")
        page.views.append(GraphView(found))
        page.evaluate(MOUNT, [page.esm, page.views[-1].data, COLORSCALES])

    yield mount
    page.evaluate("window.unmount()")
    views, page.views[:], page.sent[:] = [*page.views], [], []
    for view in views:
        view.close()
    broken, page.page_errors[:] = [error.stack or error.message for error in page.page_errors], []
    assert broken == []


def test_a_deep_graph_opens_at_its_output(page, show):
    h = torch.ones(2, requires_grad=True)
    for _ in range(2000):
        h = h.sin()
    show(graph(h, {"h": h}))
    output, rest = page.locator('[data-kind="output"]'), page.locator('[data-kind="rest"]')
    page.wait_for_function("() => Number(document.querySelector('.cv-viewport').dataset.scale) > 0")
    expect(output).to_be_in_viewport()
    assert output.locator("text").first.text_content() == "h"
    expect(rest).not_to_be_in_viewport()
    assert rest.get_attribute("aria-label") == "1,503 nodes left out, further from the output"
    assert "Of the graph's 2,002 nodes these are the 499 nearest to the output" in page.inner_text(".cv-graph-note")
    rest.dispatch_event("click")
    expect(page.locator(".cv-details")).to_contain_text("further from the output than those shown")
    expect(page.locator(".cv-details")).not_to_contain_text("did not reach this")


def test_it_is_exported_as_it_is_drawn_and_stepping_goes_the_way_of_the_engine(page, show):
    """Which is the graph's: tests/features/graph/test_graph.py holds it against torch."""
    output, params, _ = CASES["cnn"]()
    found = graph(output, params)
    show(found)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export SVG").click()
    assert download.value.suggested_filename == "graph.svg"
    saved, original = ElementTree.parse(download.value.path()).getroot(), ElementTree.fromstring(found.to_svg())
    assert [*map(ElementTree.tostring, saved)] == [*map(ElementTree.tostring, original)], "nothing of the page is in it"
    assert saved.attrib == original.attrib
    page.get_by_role("button", name="Walk backwards").click()
    for step, id in enumerate(found.steps, 1):
        assert page.locator('[data-node][aria-current="step"]').get_attribute("data-node") == id
        assert page.locator(".cv-where").text_content() == f"step {step} of {len(found.steps)}"
        reached = page.locator("[data-node]:not(.cv-ahead)").evaluate_all("all => all.map((box) => box.dataset.node)")
        assert set(reached) == set(found.steps[:step])
        left = page.locator("[data-edge].cv-leaves").evaluate_all("all => all.map((edge) => edge.dataset.edge)")
        assert {edge.split()[1] for edge in left} <= {id}
        assert bool(left) == any(edge.target == id for edge in found.edges)
        line = page.locator(".cv-walk").text_content()
        assert line.startswith("The backward pass starts" if step == 1 else boxes(page)[id][0].removesuffix(" \u25b8"))
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    assert page.locator('[data-node][aria-current="step"]').get_attribute("data-node") == "n0"
    page.keyboard.press("Escape")
    assert page.locator(".cv-pane-graph .cv-ahead").count() == 0
    page.get_by_role("button", name="Walk backwards").click()
    page.evaluate("window.unmount()")
    assert page.evaluate("window.listening()") == page.locator(".cv-pane").count() == 0


def test_a_box_of_the_users_own_graph_opens(page, show):
    x, w, b = leaf(2, 2, 5, 5), leaf(3, 2, 3, 3, seed=1), leaf(3, seed=2)
    output = F.conv2d(x, w, b, 2, 1)
    loss = (output**2).sum()
    truth = torch.autograd.grad(loss, (output, x, w, b), retain_graph=True)
    show(graph(loss, {"x": x, "w": w, "b": b}))
    open_box(page, id_of(page, "ConvolutionBackward0"))
    page.get_by_role("button", name="Open the box").click()
    page.locator(".cv-inside:not([hidden])").wait_for()
    for axis, index in (("n", 1), ("o", 2), ("c", 1)):
        field = page.locator(f".cv-inside input[data-axis={axis}]")
        field.fill(str(index))
        field.press("Enter")
    page.locator(".cv-inside-stage .cv-name", has_text="grad_weight[2, 1]").wait_for()
    page.locator(".cv-inside-stage .cv-name", has_text="grad_output[1, 2]").first.wait_for()
    found = planes(page, ".cv-inside-stage")
    g, to_x, to_w, to_b = (gradient.double() for gradient in truth)
    rotated = w[2, 1].detach().double().flip(0, 1)
    wanted = {"grad_output": g[1, 2], "grad_input": to_x[1, 1], "grad_weight": to_w[2, 1], "grad_bias": to_b[None]}
    for name, plane in (wanted | {"rotated_weight": rotated}).items():
        torch.testing.assert_close(found[name], plane, rtol=1e-4, atol=1e-4, msg=name)
    # And the planes of a saved tensor.
    field = page.locator('[data-tensor="saved input"] .cv-planes input').first
    field.fill("1")
    field.press("Enter")
    wait_details(page, "saved input", x[1, 0])


def test_zoom_and_pan_with_pointer_wheel_and_keys(page, show):
    output, params, _ = CASES["diamond"]()
    page.set_viewport_size({"width": 420, "height": 500})
    show(graph(output, params))
    view = page.locator(".cv-viewport")

    def scale():
        return float(view.get_attribute("data-scale"))

    def where():
        return view.evaluate("(box) => [box.scrollLeft, box.scrollTop]")

    page.wait_for_function("document.querySelector('.cv-viewport').dataset.scale")
    before = scale()
    page.get_by_role("button", name="Zoom in").click()
    assert scale() == pytest.approx(before * 1.25, abs=2e-3)
    view.focus()
    page.keyboard.press("0")
    assert view.evaluate("(box) => box.scrollHeight <= box.clientHeight && box.scrollWidth <= box.clientWidth")
    for _ in range(8):
        page.keyboard.press("+")
    view.hover()
    page.keyboard.down("Control")
    before = scale()
    page.mouse.wheel(0, -100)
    page.wait_for_function(
        "(before) => Number(document.querySelector('.cv-viewport').dataset.scale) > before", arg=before
    )
    page.keyboard.up("Control")
    at, start = view.bounding_box(), where()
    page.mouse.move(at["x"] + 100, at["y"] + 100)
    page.mouse.down()
    page.mouse.move(at["x"] + 70, at["y"] + 60, steps=4)
    page.mouse.up()
    assert where() == [pytest.approx(start[0] + 30, abs=1), pytest.approx(start[1] + 40, abs=1)]
    assert page.locator(".cv-details").is_hidden(), "a drag is no click"
    view.focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("(top) => document.querySelector('.cv-viewport').scrollTop > top", arg=start[1] + 41)


def test_every_box_can_be_reached_with_the_arrow_keys(page, show):
    for case in ("cnn", "cat and split"):
        output, params, _ = CASES[case]()
        show(graph(output, params))
        assert_every_box_is_reached(page, case)


def assert_every_box_is_reached(page, case):
    tree = page.evaluate("""() => {
      const press = (box, key) => {
        box.focus();
        box.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        return document.activeElement;
      };
      const keys = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
      const start = document.querySelector("[data-node][tabindex='0']");
      const seen = new Set([start]);
      for (const box of seen) for (const key of keys) seen.add(press(box, key));
      const count = (selector) => document.querySelectorAll(selector).length;
      return [seen.size, count("[data-node]"), count("[data-node][tabindex='0']")];
    }""")
    assert tree[0] == tree[1], case
    assert tree[2] == 1, case


# -- in the app --------------------------------------------------------------------------------------------------


def test_the_apps_graph_is_that_of_its_computation(app):
    labels = sorted(lines[0] for lines in boxes(app).values())
    assert labels == sorted(
        [
            "output",
            "MulBackward0",
            "SumBackward0",
            "PowBackward0",
            "SubBackward0",
            "ConvolutionBackward0 \u25b8",
            "input",
            "weight",
        ]
    )
    x = read_panel(app, "padded_input")[1:9, 1:9].requires_grad_()
    w = read_panel(app, "weight").requires_grad_()
    output = F.conv2d(x[None, None], w[None, None], None, 2, 1)
    to_output, to_x, to_w = torch.autograd.grad(0.5 * (output**2).sum(), (output, x, w))
    for label, value, gradient in (
        ("input", x, to_x),
        ("weight", w, to_w),
        ("ConvolutionBackward0", output[0, 0], to_output[0, 0]),
    ):
        open_box(app, id_of(app, label))
        wait_details(app, "value 0", value)
        wait_details(app, "gradient 0", gradient)


def test_details_follow_the_settings(app):
    open_box(app, id_of(app, "weight"))
    slide(app, "stride", 1)
    wait_details(app, "gradient 0", read_panel(app, "grad_weight"))
    switch(app, "bias", True)
    app.locator(".cv-pane-graph [data-node][aria-label^=bias]").wait_for()
    # With a bias more the boxes are numbered anew; the one that was open stays open.
    assert app.locator(".cv-pane-graph [aria-pressed=true]").get_attribute("data-node") == id_of(app, "weight")
    wait_details(app, "value 0", read_panel(app, "weight"))
    open_box(app, id_of(app, "bias"))
    wait_details(app, "gradient 0", read_panel(app, "grad_bias"))
    switch(app, "bias", False)  # the box is gone, and what it held with it
    app.locator(".cv-details").wait_for(state="hidden")


def test_the_box_opens_into_the_boards_panels(app):
    choose(app, "padding_mode", "reflect")
    app.locator("[data-node]", has_text="ReflectionPad2DBackward0").wait_for()
    open_box(app, id_of(app, "ConvolutionBackward0"))
    app.get_by_role("button", name="Open the box").click()
    app.locator(".cv-inside:not([hidden]) .cv-inside-stage").first.wait_for()
    found = planes(app, ".cv-inside-stage")
    assert {"dilated_grad_output", "padded_grad_output", "rotated_weight", "padded_input"} < set(found)
    for name, plane in found.items():
        panel = "grad_padded_input" if name == "grad_input" else name
        torch.testing.assert_close(plane, read_panel(app, panel).double(), rtol=1e-5, atol=1e-5)
    words = app.locator(".cv-branch").first.locator(".cv-operation strong").all_text_contents()
    assert words == ["insert zeros", "pad", "rotate", "correlate"]


def lit(app):
    read = """() => [...document.querySelectorAll("[data-panel] .cv-lights")].flatMap((group) => {
        const { panel } = group.closest("[data-panel]").dataset;
        return (group.dataset.lit ?? "").split(" ").filter(Boolean).map((cell) => `${panel} ${cell}`);
    })"""
    return set(app.evaluate(read))


def framed(app):
    return set(
        app.evaluate(
            '() => [...document.querySelectorAll("[data-panel].cv-pointed")].map((panel) => panel.dataset.panel)'
        )
    )


def test_pane_and_board_point_at_each_other(app):
    conv = id_of(app, "ConvolutionBackward0")
    box(app, conv).hover()
    assert framed(app) == {"output", "grad_output"}
    app.mouse.move(2, 2)
    wait_until(lambda: framed(app) == set(), what="no frames")
    open_box(app, conv)
    app.get_by_role("button", name="Open the box").click()
    stage = app.locator('[data-stage="rotated_weight"]')
    stage.locator('[data-cell="0,0"]').focus()
    assert framed(app) == {"rotated_weight"}
    assert {"rotated_weight 0,0", "weight 2,2"} <= lit(app)
    assert app.locator(".cv-details-readout").text_content().startswith("rotated_weight[0, 0], row 0, column 0: 1")
    app.mouse.move(2, 2)
    show_band(app, "weight")
    cell(app, "grad_weight", 1, 2).hover()
    assert app.locator('[data-stage="grad_weight"] .cv-lights').get_attribute("data-lit") == "1,2"
    weight = id_of(app, "weight")
    assert "cv-framed" in box(app, weight).get_attribute("class")
    app.mouse.move(2, 2)
    assert "cv-framed" not in box(app, weight).get_attribute("class")
    # A drawing that is replaced takes its frames with it: a box that is gone never hears that the pointer left.
    box(app, conv).hover()
    app.evaluate("""() => new MutationObserver((records, observer) => {
        observer.disconnect();
        window.stillFramed = document.querySelectorAll("[data-panel].cv-pointed").length;
    }).observe(document.querySelector(".cv-viewport"), { childList: true })""")
    slider(app, "padding").evaluate("(handle) => handle.focus({ preventScroll: true })")
    app.keyboard.press("ArrowRight")
    assert app.wait_for_function("window.stillFramed >= 0 && [window.stillFramed]").json_value() == [0]


def test_a_box_that_is_pointed_at_or_focused_says_which_paths_add_up_to_its_gradient(page, show):
    x = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    y = torch.tensor(5.0, dtype=torch.float64, requires_grad=True)
    show(graph(x * x + y.sin() * 2, {"x": x, "y": y}))
    id, line = id_of(page, "x"), page.locator(".cv-walk")
    hint = line.text_content()
    sentence = "2 paths lead from the output back to x, and their products add up: 1 · 1 · 3 + 1 · 1 · 3 = 6."
    on_path = "() => [...document.querySelectorAll('.cv-path')].map((edge) => edge.querySelector('text')?.textContent)"
    box(page, id).hover()
    expect(line).to_have_text(sentence)
    assert sorted(page.evaluate(on_path), key=str) == [None, "× 1", "× 3", "× 3"], "not the arrows by way of y"
    page.mouse.move(2, 2)
    expect(line).to_have_text(hint)
    assert page.evaluate(on_path) == []
    box(page, id).focus()
    expect(line).to_have_text(sentence)
    assert box(page, id).get_attribute("aria-label").endswith(sentence), "as a screen reader hears it"


def test_keyboard_alone_walks_opens_and_closes(app):
    focused = "document.activeElement.dataset.node ?? document.activeElement.textContent"
    app.get_by_role("button", name="Walk backwards").focus()
    app.keyboard.press("Enter")
    for _ in range(5):
        app.keyboard.press("ArrowRight")
    assert app.locator('[data-node][aria-current="step"]').text_content().startswith("ConvolutionBackward0")
    app.keyboard.press("Escape")
    assert app.evaluate(focused) == "Walk backwards"
    conv = id_of(app, "ConvolutionBackward0")
    box(app, conv).focus()
    app.keyboard.press("Enter")
    app.locator(f'.cv-details[data-shown="{conv}"]').wait_for()
    app.keyboard.press("Enter")  # the same box again opens it
    app.locator(".cv-inside:not([hidden])").wait_for()
    app.keyboard.press("Enter")
    app.locator(".cv-inside").wait_for(state="hidden")
    app.keyboard.press("Tab")
    app.keyboard.press("Tab")
    assert app.evaluate(focused) == "Hide"
    app.keyboard.press("Enter")
    app.locator(".cv-details").wait_for(state="hidden")
    assert app.evaluate(focused) == conv


def test_themes_narrow_pages_and_opening_again(app):
    fill = "document.querySelector('.cv-pane-graph [data-node] > rect').getAttribute('fill')"
    light = app.evaluate(fill)
    app.emulate_media(color_scheme="dark")
    app.wait_for_function(f"{fill} !== {json.dumps(light)}")
    press_tab(app, "graph")
    app.locator(".cv-pane-graph").wait_for(state="detached")
    with repaint(app):
        slide(app, "digit", 7)
    press_tab(app, "graph")
    app.locator(".cv-pane-graph[data-shown] [data-node]").first.wait_for()
    app.set_viewport_size({"width": 360, "height": 800})
    open_box(app, id_of(app, "weight"))
    wait_details(app, "gradient 0", read_panel(app, "grad_weight"))
    assert app.locator(".cv-pane-graph").evaluate("(node) => node.scrollWidth <= node.clientWidth")
