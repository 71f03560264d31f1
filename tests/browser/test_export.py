"""The one-file page in a browser: alive without a kernel, without a server, without a single request."""

import json
import math
import re

import pytest
import torch
import torch.nn.functional as F

from convviz.export.page import export_html
from convviz.facts.numbers import format_long
from convviz.settings.link import to_link
from convviz.settings.state import Settings
from convviz.settings.tensors import bias_tensor, grad_tensor, input_tensor, target_tensor, weight_tensor
from convviz.spec import ConvSpec
from tests.browser.app_page import (
    FOLLOWS_WITHIN_MS,
    cell,
    fresh_page,
    painted,
    repaint,
    show_all_controls,
    wait_painted,
)
from tests.browser.pdf import words_of
from tests.geometries import reals
from tests.states import random_states
from tests.test_link import in_a_page
from tests.truth import truth, truth_transposed

pytestmark = pytest.mark.browser

APPEARS_WITHIN_MS = 60_000
LABEL = re.compile(r"\w+\[(\d+), (\d+)\]")
# Whether plotly's own layout is as high as the row.
PLOTLY_KNOWS = """() => [...document.querySelectorAll(".cv-equation")].every((equation) => {
  const { layout } = equation.querySelector(".cv-plot");
  return Math.abs(layout.height - equation.querySelector(".cv-stage").getBoundingClientRect().height) < 1;
})"""
# Where plotly's image of a panel stands beside the panel's cells, and how many pixels it has.
COLOURS = """() => Promise.all([...document.querySelectorAll(".cv-equation")].flatMap((equation) => {
  const { data } = equation.querySelector(".cv-plot");
  return [...equation.querySelectorAll(".cv-panel")].map(async (panel) => {
    const called = panel.querySelector(".cv-name").textContent.split("[")[0];
    const { xaxis, yaxis, z } = data.find(({ name }) => name === called);
    const own = panel.querySelector(".cv-tiles, .cv-area > .cv-pixels");
    const grid = panel.querySelector(".cv-grid");
    const cells = ["aria-colcount", "aria-rowcount"].map((name) => Number(grid.getAttribute(name)));
    if (own) {
      const [one, other] = [own, own.closest(".cv-area")].map((at) => at.getBoundingClientRect());
      const off = Math.max(...["left", "top", "right", "bottom"].map((side) => Math.abs(one[side] - other[side])));
      return { called, off, cells, pixels: own.width ? [own.width, own.height] : cells, own: true };
    }
    const image = equation.querySelector(`.overplot .${xaxis}${yaxis} .hm image`);
    const id = image.closest("[clip-path]").getAttribute("clip-path").match(/#[\\w-]+/);
    const clip = equation.querySelector(`${id} rect`);
    const [one, other] = [image, panel.querySelector(".cv-area")].map((at) => at.getBoundingClientRect());
    const moved = ["left", "top", "right", "bottom"].map((side) => one[side] - other[side]);
    const cut = ["width", "height"].map((side) => clip[side].baseVal.value - other[side]);
    const off = Math.max(...[...moved, ...cut].map(Math.abs));
    const picture = Object.assign(new Image(), { src: image.href.baseVal });
    await picture.decode();
    return { called, off, cells, pixels: [picture.naturalWidth, picture.naturalHeight], own: false };
  });
}))"""
# As the page keeps its settings when it is about to be loaded again.
STATE = """() => {
  window.dispatchEvent(new Event("convviz:save"));
  const kept = sessionStorage.getItem("convviz:state");
  sessionStorage.removeItem("convviz:state");
  return JSON.parse(kept);
}"""
# Moves chosen controls at random, one after another, and reads all panels after each. The answer is one text: over
# a million single numbers Playwright takes longer than the page takes for all of its moves.
WALK = """async ([moves, seed]) => {
  let word = seed;
  const draw = (count) => (word = (Math.imul(word, 1664525) + 1013904223) >>> 0, Math.floor((word / 2 ** 32) * count));
  const board = document.querySelector(".cv-board");
  const settled = (before) => new Promise((done) => {
    const look = () => (Number(board.dataset.painted) > before ? done() : requestAnimationFrame(look));
    look();
  });
  const state = STATE;
  const kinds = ":is(select, input[type=range], input[type=checkbox])";
  const controls = () => [...document.querySelectorAll(`:is(.cv-controls, .cv-choices) ${kinds}`)]
    .filter((input) => input.offsetParent && !input.disabled)
    .filter((input) => !input.closest(".cv-set-example")); // a move is one setting
  const read = () => {
    const panels = {};
    for (const equation of board.querySelectorAll(".cv-equation")) {
      const data = equation.querySelector(".cv-plot").data;
      for (const panel of equation.querySelectorAll(".cv-panel")) {
        const label = panel.querySelector(".cv-name").textContent;
        const plane = data.find(({ name }) => name === label.split("[")[0]).z.map((row) => [...row]);
        const cells = [...panel.querySelectorAll("[data-cell][data-value]")];
        const shown = cells.every((at) => {
          const [row, column] = at.dataset.cell.split(",").map(Number);
          return Number(at.dataset.value) === plane[row][column];
        });
        panels[panel.dataset.panel] = { plane, shown, label, numbered: cells.length };
      }
    }
    const set = {};
    for (const control of document.querySelectorAll(".cv-control")) {
      const name = control.className.match(/cv-set-(\\w+)/)[1];
      const input = control.querySelector("select, input");
      if (!input) continue; // a button
      const value = { checkbox: input.checked, range: Number(input.value) }[input.type] ?? input.value;
      (set[name] ??= []).push(value);
    }
    const textOf = (selector) => board.querySelector(selector).textContent;
    return { panels, set, state: state(), loss: textOf(".cv-loss"), truth: textOf(".cv-truth") };
  };
  const found = [];
  let tries = 0;
  while (found.length < moves) {
    if (tries++ > 20 * moves) throw new Error(`of ${tries} moves ${found.length} changed the state`);
    const all = controls();
    const input = all[draw(all.length)];
    const [before, was] = [Number(board.dataset.painted), JSON.stringify(state())];
    const old = input.type === "checkbox" ? input.checked : input.value;
    if (input.type === "checkbox") input.checked = !input.checked;
    else if (input.type === "range") {
      const [low, high, step] = [Number(input.min), Number(input.max), Number(input.step)];
      input.value = String(low + step * draw(Math.round((high - low) / step) + 1));
    } else input.selectedIndex = draw(input.options.length);
    if ((input.type === "checkbox" ? input.checked : input.value) === old) continue;
    input.dispatchEvent(new Event(input.type === "range" ? "input" : "change", { bubbles: true }));
    if (JSON.stringify(state()) === was) continue; // refused, or what was meant holds already
    await settled(before);
    found.push(read());
  }
  return JSON.stringify(found);
}""".replace("STATE", STATE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def exported(folder):
    return export_html({}, folder / "page.html")


def open_page(page, path):
    """Open a page from the disk and wait until it is drawn."""
    page.requests = []
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto(path.as_uri())
    wait_painted(page, 0, APPEARS_WITHIN_MS)
    show_all_controls(page)


def test_it_lives_without_one_request(page, exported):
    page.route("**/*", lambda route: route.continue_() if route.request.url == exported.as_uri() else route.abort())
    open_page(page, exported)
    assert [url for url in page.requests if not url.startswith("blob:")] == [exported.as_uri()]
    assert page.outside == []
    assert page.locator("#convviz-still").is_hidden()
    output = cell(page, "output", 1, 1)
    before = output.get_attribute("data-value")
    with repaint(page):
        page.locator(".cv-slider input[type=range]").first.press("ArrowRight")
    assert output.get_attribute("data-value") != before
    assert cell(page, "weight", 0, 0).get_attribute("data-value") == "-0.9"
    with repaint(page):
        page.get_by_role("button", name="Undo").click()
    assert output.get_attribute("data-value") == before


def test_the_boards_own_actions_work(page, exported):
    """Typing, pinning, stamps and the sizes of the remainder: what the kernel answers in the live app."""
    open_page(page, exported)
    cell(page, "padded_input", 2, 2).dblclick()
    editor = page.locator(".cv-editor")
    editor.fill("5")
    with repaint(page):
        editor.press("Enter")
    assert cell(page, "padded_input", 2, 2).get_attribute("data-value") == "5"
    cell(page, "grad_weight", 1, 1).click()
    total = page.locator(".cv-sum output")
    total.wait_for()
    assert total.get_attribute("data-value") == cell(page, "grad_weight", 1, 1).get_attribute("data-value")
    with repaint(page):
        page.get_by_role("button", name="stamps", exact=True).click()
    assert "laid at (2i − 1, 2j − 1)" in page.locator("[data-equation=input] .cv-formula").get_attribute("aria-label")
    page.locator("[data-equation=forward] .cv-symbols-open").click()
    with repaint(page):
        page.locator(".cv-sizes button", has_text="size 9").click()
    assert page.locator(".cv-set-input_size .cv-number").first.text_content() == "9"
    page.locator("[data-equation=forward] .cv-step").click()
    page.locator("[data-equation=forward] .cv-transport").wait_for(state="visible")


def test_a_cell_with_the_focus_may_go_with_its_panel(page, exported):
    """The focus moves on while panels come and go: nothing is linked by the geometry of those that are gone."""
    page.goto(f"{exported.as_uri()}#v=1&size=3&weight=counting&loss=sum")
    wait_painted(page, 0)
    with repaint(page):
        page.evaluate("location.hash = 'v=1&size=4&padding=2&mode=circular'")
    cell(page, "grad_input", 3, 3).click()
    said = page.evaluate_handle("""() => {
      const live = document.querySelector(".cv-foot > .cv-live");
      const said = [];
      const CHANGES = { childList: true, characterData: true, subtree: true };
      new MutationObserver(() => said.push(live.textContent)).observe(live, CHANGES);
      return said;
    }""")
    with repaint(page):
        page.go_back()
    assert page.page_errors == []
    value = float(cell(page, "grad_input", 2, 2).get_attribute("data-value"))
    spoken = [text for text in said.json_value() if text]
    assert spoken == [f"grad_input, row 2, column 2: {value:g}".replace("-", "−")], "no number of the picture before"


def test_undo_and_redo_with_the_keyboard_and_reset(page, exported):
    open_page(page, exported)
    menu = page.locator(".cv-set-preset select")
    for kernel in ("box", "emboss"):
        with repaint(page):
            menu.select_option(kernel)
    menu.focus()
    for keys, kernel in (
        ("Control+z", "box"),
        ("Control+z", "sobel_x"),
        ("Control+Shift+z", "box"),
        ("Control+y", "emboss"),
    ):
        with repaint(page):
            page.keyboard.press(keys)
        assert menu.input_value() == kernel
    with repaint(page):
        page.get_by_role("button", name="Reset").click()
    assert menu.input_value() == "sobel_x"
    assert page.get_by_role("button", name="Redo").get_attribute("aria-disabled") == "true"
    with repaint(page):
        page.get_by_role("button", name="Undo").click()
    assert menu.input_value() == "emboss"


def test_paper_is_white_also_for_a_dark_page(browser, exported):
    with fresh_page(browser, color_scheme="dark") as page:
        open_page(page, exported)
        color = "getComputedStyle(document.documentElement).backgroundColor"
        assert page.evaluate(color) == "rgb(18, 21, 26)"
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate(color) == "rgb(255, 255, 255)"
        assert page.locator(".cv-controls").is_hidden()
        assert page.locator(".cv-panel").first.is_visible()


@pytest.mark.parametrize("drawn", ["at once", "at rest"])
def test_the_colours_go_with_the_panels(page, exported, drawn):
    """While a slider moves the panels have colours of their own; at rest plotly's images take their place."""
    open_page(page, exported)
    for name, steps in (("padding", 2), ("kernel_size", 1), ("input_size", 1)):
        for _ in range(steps):
            with repaint(page):
                page.locator(f".cv-set-{name} input").first.press("ArrowRight")
        if drawn == "at rest":
            page.wait_for_function(
                "() => !document.querySelector('.cv-tiles, .cv-area > .cv-pixels')", timeout=FOLLOWS_WITHIN_MS
            )
            assert page.evaluate(PLOTLY_KNOWS)
        panels = page.evaluate(COLOURS)
        assert len(panels) == 11
        for panel in panels:
            assert panel["off"] <= 1.5, panel
            assert panel["pixels"] == panel["cells"], panel
            assert panel["own"] == (drawn == "at once"), panel


def test_printed_is_what_stands_there_now(page, exported):
    """Read in the PDF: the numbers of this state, in cells and in words, and no longer those of the first."""
    open_page(page, exported)
    read = "(panels) => [...panels[0].querySelectorAll('.cv-cell')].map((cell) => cell.ariaLabel).join('')"
    output = page.locator('[data-panel="output"]')
    first, loss = output.evaluate_all(read), page.locator(".cv-loss")
    with repaint(page):
        page.locator(".cv-set-preset select").select_option("emboss")
    with repaint(page):
        page.locator(".cv-set-stride input").first.press("ArrowLeft")
    printed = "".join(words_of(page.pdf())).replace(" ", "")
    assert output.evaluate_all(read) in printed
    assert loss.text_content().replace(" ", "") in printed
    assert first not in printed
    assert "linkheightandwidth" not in printed, "controls cannot be used on paper"


def test_a_range_that_a_typed_number_needs_goes_back(page, exported):
    """With undo and reset, and when the number was dragged back: the others could not be moved by hand in it."""
    open_page(page, exported)
    field, slider = (page.locator(f'[data-slider="0,1"] input[type={kind}]') for kind in ("text", "range"))
    ends = page.locator(".cv-slider input[type=range]")
    first = ends.nth(8).get_attribute("max")

    def drag_back():
        slider.fill("0")
        assert ends.nth(8).get_attribute("max") == "500", "nothing jumps while a hand is on it"
        slider.dispatch_event("pointerup")

    ways = {name: page.get_by_role("button", name=name, exact=True).click for name in ("Undo", "Reset")}
    for name, back in {**ways, "drag": drag_back}.items():
        field.fill("500")
        field.press("Enter")
        assert ends.nth(8).get_attribute("max") == "500", name
        back()
        assert ends.nth(8).get_attribute("max") == first, name


def test_what_cannot_be_is_said_and_the_control_goes_back(page, exported):
    open_page(page, exported)
    slider = page.locator(".cv-set-kernel_size input").first
    with repaint(page):
        page.locator(".cv-set-padding_mode select").select_option("reflect")
    with repaint(page):
        page.locator(".cv-set-input_size input").first.evaluate(
            "(input) => { input.value = '2'; input.dispatchEvent(new Event('input')); }"
        )
    assert int(slider.get_attribute("max")) == 4
    slider.evaluate("(input) => { input.max = '5'; input.value = '5'; input.dispatchEvent(new Event('input')); }")
    notice = page.locator(".cv-notice")
    assert notice.text_content() == "kernel size can be 1 to 4 here: got 5"
    assert notice.get_attribute("data-failed") == "true"
    assert slider.input_value() == "3"


def test_a_click_chooses_the_target_of_cross_entropy(page, exported):
    open_page(page, exported)
    loss, target = (page.locator(f".cv-set-{name} select") for name in ("loss_kind", "target"))
    with repaint(page):
        loss.select_option("cross_entropy")
    assert target.is_visible()
    assert target.locator("option").all_inner_texts() == ["one-hot"]
    with repaint(page):
        cell(page, "output", 1, 2).click()
    read = "(cells) => cells.map((cell) => Number(cell.dataset.value))"
    gradient, output = (
        torch.tensor(page.locator(f"[data-panel={name}] [data-cell]").evaluate_all(read)).reshape(4, 4)
        for name in ("grad_output", "output")
    )
    expected = output.flatten().softmax(0).reshape(4, 4)
    expected[1, 2] -= 1
    torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-5)
    assert page.locator(".cv-loss").inner_text().startswith("loss = −Σ target · log softmax(output) / N = ")
    assert "grad_output is softmax(output)" in page.locator("[data-equation=forward] .cv-caption").text_content()
    with repaint(page):
        loss.select_option("sum")
    assert not target.is_visible()


def truth_of_controls(shot):
    """Return what torch computes from the geometry in the controls and the numbers that were set."""
    at, panels = shot["set"], {n: torch.tensor(p["plane"], dtype=torch.float64) for n, p in shot["panels"].items()}
    pair = lambda name: (at[name][0], at[name][0] if linked(at, name) else at[name][1])  # noqa: E731
    size, stride, dilation = (pair(name) for name in ("input_size", "stride", "dilation"))
    (top, bottom), (left, right) = shot["state"]["spec"]["padding"]  # each side has a control of its own
    mode = "constant" if at["padding_mode"] == ["zeros"] else at["padding_mode"][0]
    x = panels["padded_input"][top : top + size[0], left : left + size[1]].clone()
    x, w = x[None, None].requires_grad_(), panels["weight"].clone()[None, None].requires_grad_()
    padded = F.pad(x, (left, right, top, bottom), mode=mode)
    bias = panels["bias"].reshape(1).clone().requires_grad_() if at["bias"] == [True] else None
    output = F.conv2d(padded, w, bias, stride, 0, dilation)
    kind, target, grad = at["loss_kind"][0], at["target"][0], at["grad_output"][0]
    goal = {"zeros": 0, "ones": 1}.get(target)
    if (
        kind == "half_squared_error" and goal is None
    ):  # a random target: the page alone knows it, so take its grad_output
        goal = (output.detach() - panels["grad_output"]).clone()
    # Of a target cell only grad_output tells where it is: there alone it is below 0.
    aim = panels["grad_output"].flatten().argmin()[None]
    weights = torch.ones_like(output) if grad == "ones" else panels["grad_output"][None, None]
    loss = {
        "sum": lambda: output.sum(),
        "mean": lambda: output.mean(),
        "half_squared_error": lambda: 0.5 * ((output - goal) ** 2).sum(),
        "weighted_sum": lambda: (weights * output).sum(),
        "cross_entropy": lambda: F.cross_entropy(output.flatten(1), aim),
    }[kind]()
    wanted = {"grad_output": output, "grad_padded_input": padded, "grad_input": x, "grad_weight": w}
    wanted |= {} if bias is None else {"grad_bias": bias}
    found = dict(zip(wanted, torch.autograd.grad(loss, tuple(wanted.values()), allow_unused=True), strict=True))
    found |= {"padded_input": padded, "output": output}
    return loss.item(), {name: tensor.detach().reshape(tensor.shape[-2:] if tensor.dim() == 4 else (1, 1))
                         for name, tensor in found.items()}, panels  # fmt: skip


def linked(at, name):
    return at["link_axes"] == [True]


def assert_loss(shot, loss, about):
    """The loss is written with six digits, whichever way the last one was rounded."""
    written = shot["loss"].rsplit("= ")[-1].replace("−", "-")
    near = {format_long(loss * (1 + nudge)).replace("−", "-") for nudge in (-1e-10, 0, 1e-10)}
    assert written in near or abs(loss) + abs(float(written)) < 1e-9, about


def test_through_hundreds_of_states_every_cell_is_torchs(page, folder):
    """Three times a hundred moves of every control; what follows is held against autograd from what was set."""
    state = {"spec": ConvSpec(6, kernel_size=2, padding=1).to_dict(), "link_axes": False}
    controls = ("kernel", "geometry", "input", "loss", "bias", "scale")
    open_page(page, export_html(state, folder / "walk.html", controls=controls))
    # Neither read backwards nor linked: the controls then name the geometry axis by axis.
    page.evaluate(
        "for (const name of ['transposed', 'link_axes']) document.querySelector(`.cv-set-${name}`).hidden = true"
    )
    start = page.evaluate(STATE)
    for seed in range(3):
        if seed:
            with repaint(page):
                page.get_by_role("button", name="Reset").click()
        assert page.evaluate(STATE) == start
        shots = json.loads(page.evaluate(WALK, [100, seed + 1]))
        for shot in shots:
            assert_shot_of_controls(shot)
        assert len({shot["set"]["padding_mode"][0] for shot in shots}) >= 2


def assert_shot_of_controls(shot):
    """Hold every panel, and the loss, against autograd from what the controls show."""
    about = json.dumps(shot["set"])
    loss, expected, panels = truth_of_controls(shot)
    assert_loss(shot, loss, about)
    for name, plane in expected.items():
        if name == "grad_padded_input" and name not in panels:
            assert shot["set"]["padding_mode"] == ["zeros"]
            continue
        assert panels[name].shape == plane.shape, (name, about)
        assert torch.allclose(panels[name], plane, rtol=1e-6, atol=1e-9), (name, about)
        assert shot["panels"][name]["shown"], (name, about)
    assert "in this page" in shot["truth"]


def truth_of_state(state):
    """Return what autograd says of the settings that the page says it has, and the loss."""
    settings = Settings.from_dict(state)
    given = {
        "input": input_tensor(settings),
        "weight": weight_tensor(settings),
        "bias": bias_tensor(settings),
        "target": target_tensor(settings),
        "grad": grad_tensor(settings),
    }
    given = {name: None if tensor is None else tensor.double() for name, tensor in given.items()}
    found = (truth_transposed if settings.transposed else truth)(settings.spec, settings.loss, given)
    found |= {name: given[name] for name in ("bias", "target") if given[name] is not None}
    return found.pop("loss").item(), {name: tensor.detach() for name, tensor in found.items()}


KINDS = ("transposed", "plain")


def link_of(state):
    """Return the link of a state, or None if it holds too many numbers for one."""
    try:
        return to_link(Settings.from_dict(state))
    except ValueError:
        return None


def states_opened(page, folder, kind, count):
    """Yield random states of a kind, each once the page has opened with it.

    The first, and each that is too long for a link, is exported; the others come as links into the address of the page
    that is open: to open a page takes as long as ten moves.
    """
    number = 100 * KINDS.index(kind)
    drawn = (random_states(number + seed, 99) for seed in range(count))
    states = [next(s for s in each if s["transposed"] == (kind != "plain")) for each in drawn]
    controls = ("kernel", "geometry", "channels", "input", "loss", "scale")
    for seed, state in sorted(enumerate(states), key=lambda each: link_of(each[1]) is not None):
        if (link := link_of(state)) is None or not page.url.startswith("file:"):
            open_page(page, export_html(state, folder / f"{kind}{seed}.html", controls=controls))
        else:
            with repaint(page):
                page.evaluate("(link) => { location.hash = link; }", link)
            assert page.locator(".cv-notice").text_content() == ""
        yield seed, in_a_page(Settings.from_dict(state))


@pytest.mark.parametrize("kind", KINDS)
def test_from_states_of_every_kind_every_cell_is_torchs(page, folder, kind):
    """Twenty-eight moves of every control from each of six random states; channels, groups, each side, each axis."""
    for seed, state in states_opened(page, folder, kind, 6):
        assert page.evaluate(STATE) == state
        for shot in json.loads(page.evaluate(WALK, [28, seed + 1])):
            assert_shot(shot)


def assert_shot(shot):
    """Hold every panel, and the loss, against autograd from the state that the page has."""
    about = json.dumps(shot["state"])
    loss, expected = truth_of_state(shot["state"])
    assert_loss(shot, loss, about)
    for name, panel in shot["panels"].items():
        at = LABEL.fullmatch(panel["label"])
        tensor = expected[name]
        if tensor.dim() == 4:
            tensor = tensor[int(at[1]), int(at[2])] if at else tensor[0, 0]
        plane = torch.tensor(panel["plane"], dtype=torch.float64)
        assert plane.shape == torch.atleast_2d(tensor).shape, (name, about)
        assert torch.allclose(plane, tensor, rtol=1e-6, atol=1e-9), (name, about)
        assert panel["shown"], (name, about)


@pytest.mark.parametrize("frame", ["plain", "sandbox", "srcdoc", "sandboxed srcdoc"])
def test_it_lives_in_an_iframe_and_tells_its_height(page, folder, exported, frame):
    sandbox = ' sandbox="allow-scripts"' if "sandbox" in frame else ""
    listen = """window.told = []; addEventListener("message", (event) => {
      const frame = document.querySelector("iframe");
      if (event.source !== frame.contentWindow) return;
      told.push(event.data);
      if (event.data.type === "convviz:resize") frame.height = event.data.height;
    });"""
    host = folder / f"host-{frame.replace(' ', '-')}.html"
    inner = f'<iframe title="c" width="900"{sandbox}></iframe>'
    host.write_text(f"<!doctype html><title>Course</title><script>{listen}</script>\n{inner}")
    page.goto(host.as_uri())
    attribute, value = ("srcdoc", exported.read_text()) if "srcdoc" in frame else ("src", exported.as_uri())
    page.evaluate("([name, value]) => document.querySelector('iframe').setAttribute(name, value)", [attribute, value])
    inside = page.frame_locator("iframe")
    inside.locator(".cv-board[data-painted='1']").wait_for(timeout=APPEARS_WITHIN_MS)
    inside.locator(".cv-slider input[type=range]").first.press("ArrowRight")
    inside.locator(".cv-board[data-painted='2']").wait_for()
    page.wait_for_function("document.querySelector('iframe').height > 600")
    told = page.evaluate("told")
    assert {message["type"] for message in told if isinstance(message, dict)} == {"convviz:resize"}
    assert {json.loads(message)["subject"] for message in told if isinstance(message, str)} == {"lti.frameResize"}
    bottom = inside.locator("main").evaluate("(main) => main.getBoundingClientRect().bottom")
    assert math.isclose(page.locator("iframe").evaluate("(frame) => Number(frame.height)"), bottom, abs_tol=5)


def test_without_scripts_the_picture_stands_there(browser, exported):
    with fresh_page(browser, java_script_enabled=False) as page:
        page.goto(exported.as_uri())
        assert page.locator("#convviz-still svg").count() == 3
        assert all(svg.is_visible() for svg in page.locator("#convviz-still svg").all())
        assert page.locator("noscript").inner_text().startswith("This is a picture")
        assert page.locator("#convviz-live").inner_text() == ""


def test_a_page_that_fails_keeps_its_picture(page, folder, exported):
    broken = folder / "broken.html"
    broken.write_text(exported.read_text().replace('"kind":"sobel_x"', '"kind":"sobel_z"'))
    page.goto(broken.as_uri())
    page.locator("#convviz-live", has_text="The page could not start").wait_for()
    assert page.locator("#convviz-still svg").first.is_visible()


def test_no_number_runs_over_its_cell(page, exported):
    """The longest that float64 has: sign, mantissa and an exponent of three digits with a sign of its own."""
    numbers = "-1.25e-150,-2.75e150,-1234.5,-0.00012,-1e9,-99.99,0.5,-1.5e-7,1e100"
    page.goto(f"{exported.as_uri()}#v=1&weight=values:1x1x3x3:{numbers}")
    wait_painted(page, 0, APPEARS_WITHIN_MS)
    look = """() => [...document.querySelectorAll("[data-focus] .cv-area")].flatMap((area) => {
      const cell = area.querySelector(".cv-cell").getBoundingClientRect().width;
      return [...area.querySelectorAll(".cv-printed text")]
        .map((text) => [text.textContent, text.getBoundingClientRect().width / cell]).filter(([, width]) => width);
    })"""
    page.set_viewport_size({"width": 1600, "height": 1200})
    widths = []
    for band in "123":  # in focus its numbers are printed
        page.keyboard.press(band)
        page.locator(f".cv-equation:nth-child({band})[data-focus]").wait_for()
        page.wait_for_function("() => !document.querySelector('[data-focus] .cv-wordless')")
        widths += page.evaluate(look)
    assert {len(text) for text, _ in widths} >= {5, 6, 7, 8, 9}
    assert [(text, width) for text, width in widths if width > 1] == [], "as a part of its cell"


@pytest.mark.parametrize("width", [320, 1400])
def test_nothing_is_wider_than_the_window(browser, exported, width):
    with fresh_page(browser) as page:
        page.set_viewport_size({"width": width, "height": 800})
        open_page(page, exported)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_phone_the_controls_stay_below_what_they_move(browser, exported):
    with fresh_page(browser) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        open_page(page, exported)
        stride = page.get_by_role("slider", name="stride", exact=True)
        page.locator("[data-equation=weight] .cv-title").click()
        stride.focus()
        box, bar = stride.bounding_box(), page.locator(".cv-block-geometry").bounding_box()
        assert 0.6 * 844 <= bar["y"] <= box["y"] < box["y"] + box["height"] <= bar["y"] + bar["height"] <= 844
        band = page.locator("[data-equation=weight]").bounding_box()
        assert 0 <= band["y"] < band["y"] + band["height"] <= bar["y"]
        with repaint(page):
            page.keyboard.press("ArrowLeft")
        assert cell(page, "dilated_grad_output", 7, 7).is_visible()


def test_a_frame_that_grows_ends_at_one_height(browser, exported, folder):
    # What is high in parts of the window would make the page higher, then the frame, then itself.
    (folder / "narrow.html").write_text(
        f"""<iframe id="book" src="{exported.as_uri()}" style="width: 390px; height: 300px"></iframe><script>
        addEventListener("message", ({{ data }}) => {{
          if (data.type === "convviz:resize") book.style.height = `${{data.height}}px`;
        }});</script>"""
    )
    with fresh_page(browser) as page:
        page.set_viewport_size({"width": 500, "height": 844})
        page.goto((folder / "narrow.html").as_uri())
        page.wait_for_function("parseInt(book.style.height) > 600")
        inside = page.frame_locator("#book")
        inside.locator(".cv-board[data-painted]:not([data-painted=''])").wait_for()
        bottom = inside.locator("main").evaluate("(main) => Math.ceil(main.getBoundingClientRect().bottom)")
        assert bottom <= 980, "the controls lie below the band"
        assert inside.locator("[data-equation=input] [data-panel]:not(:has(svg text))").count() == 0, (
            "numbers in every panel"
        )
        page.wait_for_function("(bottom) => Math.abs(parseInt(book.style.height) - bottom) < 5", arg=bottom)


def test_every_control_has_a_name_and_is_large_enough(page, folder):
    every = ("kernel", "geometry", "channels", "input", "loss", "look")
    open_page(page, export_html({}, folder / "every.html", controls=every))
    for role in ("slider", "combobox", "checkbox", "spinbutton"):
        for control in page.locator(".cv-controls").get_by_role(role).all():
            assert control.evaluate("(input) => (input.ariaLabel ?? input.labels?.[0]?.textContent ?? '').trim()")
            heights = control.evaluate(
                "(input) => [input, ...input.labels].map((at) => at.getBoundingClientRect().height)"
            )
            assert not control.is_visible() or max(heights) >= 24
    assert page.get_by_role("slider", name="stride", exact=True).count() == 1


def test_only_the_chosen_controls_are_there(page, folder):
    open_page(page, export_html({}, folder / "two.html", controls=("stride", "padding_mode")))
    names = page.locator(".cv-control:visible").evaluate_all(
        "all => all.map((at) => at.className.match(/cv-set-(\\w+)/)[1])"
    )
    assert names == ["stride", "padding_mode"]
    open_page(page, export_html({}, folder / "none.html", controls=()))
    assert page.locator(".cv-controls :is(input, select, button):visible").count() == 0
    assert page.locator(".cv-board").bounding_box()["width"] > 0.9 * page.viewport_size["width"]


def test_a_given_height_scrolls_inside(page, folder):
    open_page(page, export_html({}, folder / "low.html", height=400))
    assert page.evaluate("document.body.getBoundingClientRect().height") == 400


def test_states_of_every_kind_come_to_life(page, folder):
    spec = ConvSpec((6, 5), 4, 4, 3, 2, ((1, 0), (2, 1)), groups=2, padding_mode="replicate", batch=2)
    typed = {
        "kind": "values",
        "values": reals(spec.weight_shape, 1).flatten().tolist(),
        "shape": list(spec.weight_shape),
    }
    state = {"spec": spec.to_dict(), "weight": typed, "bias": {"kind": "values", "values": [1.5, -2], "shape": [2]}}
    state |= {
        "plane": {"sample": 1, "out_channel": 3, "in_channel": 2},
        "loss": "mean",
        "theme": "dark",
        "scale": "panel",
    }
    open_page(page, export_html(state, folder / "channels.html", controls=("kernel", "channels")))
    assert page.locator(".cv-page").get_attribute("data-theme") == "dark"
    settings = Settings.from_dict(state)
    shown = float(cell(page, "weight", 2, 1).get_attribute("data-value"))
    assert shown == pytest.approx(float(weight_tensor(settings)[3, 0, 2, 1]), abs=1e-12)
    with repaint(page):
        page.locator("[data-equation=forward] .cv-choices select").nth(1).select_option("0")
    assert "weight[0, 0]" in page.locator(".cv-sliders").get_attribute("aria-label")
    assert painted(page) == 2
