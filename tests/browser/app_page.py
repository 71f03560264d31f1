"""Reads the app off its page as a visitor sees it, and computes with autograd what must stand there."""

import contextlib
import copy
import itertools
import json
import re
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F

from tests.browser.server import wait_until
from tests.conftest import OUTSIDE

# A first start reads torch from a cold disk.
APPEARS_WITHIN_MS = 120_000
FOLLOWS_WITHIN_MS = 15_000

LOSSES = {
    "half squared error": "half_squared_error",
    "cross-entropy to a target cell": "cross_entropy",
    "sum": "sum",
    "mean": "mean",
    "set grad_output by hand": "weighted_sum",
}
# What rounding explains, relative to the largest number of the tensor: sums of at most a few thousand terms.
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "bfloat16": 3e-2}
LABEL = re.compile(r"(\w+)\[(\d+), (\d+)\]")

# One look at everything, so that all of it belongs to the same moment. A panel that is too large for numbers has
# them in plotly's graph only; its trace is the one whose picture stands where the panel stands.
SNAPSHOT = """() => {
  const box = (node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    return [left, top, width, height];
  };
  const off = (a, b) => Math.max(...a.map((value, i) => Math.abs(value - b[i])));
  const readSection = (section) => {
    const plot = section.querySelector(".cv-plot");
    const traces = (plot.data ?? []).map((trace) => ({
      z: Array.from(trace.z, (row) => Array.from(row)),
      box: box(plot.querySelector(`.subplot.${trace.xaxis}${trace.yaxis} .hm image`) ?? plot),
    }));
    const panels = [...section.querySelectorAll("[data-panel]")].map((panel) => {
      const svg = panel.querySelector("svg.cv-grid");
      const cells = [...svg.querySelectorAll("[data-cell]")];
      const area = box(panel.querySelector(".cv-area"));
      const trace = traces.toSorted((a, b) => off(a.box, area) - off(b.box, area))[0];
      return {
        name: panel.dataset.panel,
        label: panel.querySelector(".cv-name").textContent,
        shape: JSON.parse(panel.querySelector(".cv-shape").textContent),
        rows: Number(svg.getAttribute("aria-rowcount")),
        columns: Number(svg.getAttribute("aria-colcount")),
        numbered: svg.classList.contains("cv-numbered"),
        cells: Object.fromEntries(cells.map((cell) => [cell.dataset.cell, Number(cell.dataset.value)])),
        z: trace?.z ?? null,
        off: trace ? off(trace.box, area) : null,
      };
    });
    return { name: section.dataset.equation, panels, traces: traces.length };
  };
  const sliders = {};
  for (const handle of document.querySelectorAll("[class*=cv-set-] .noUi-handle")) {
    const name = /cv-set-(\\w+)/.exec(handle.closest("[class*=cv-set-]").className)[1];
    (sliders[name] ??= []).push(Number(handle.getAttribute("aria-valuenow")));
  }
  const menus = [...document.querySelectorAll(".cv-app .widget-dropdown")].map((menu) => [
    menu.querySelector("label").textContent,
    menu.querySelector("select").selectedOptions[0]?.text.replaceAll("\\u00a0", " "), // as ipywidgets writes spaces
  ]);
  const switches = [...document.querySelectorAll(".cv-app .widget-checkbox")].map((box) => [
    box.textContent.replace("\\u200b", "").trim(),
    box.querySelector("input").checked,
  ]);
  return {
    sliders,
    menus: Object.fromEntries(menus),
    switches: Object.fromEntries(switches),
    kernel: Object.fromEntries([...document.querySelectorAll("[data-slider]")].map((slider) => [
      slider.dataset.slider, Number(slider.querySelector("input[type=text]").title),
    ])),
    loss: document.querySelector(".cv-loss").textContent,
    truth: document.querySelector(".cv-board .cv-truth").textContent,
    truth_ok: document.querySelector(".cv-board .cv-truth").dataset.ok,
    equations: [...document.querySelectorAll("[data-equation]")].map(readSection),
  };
}"""


@contextlib.contextmanager
def fresh_page(browser, **options):
    """Yield a page of another visitor, as the fixture `page` makes it, with options for its context."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, service_workers="block", **options)
    page = context.new_page()
    page.outside, page.page_errors = [], []

    def abort(route):
        page.outside.append(route.request.url)
        route.abort()

    context.route(OUTSIDE, abort)
    page.on("websocket", lambda socket: OUTSIDE.match(socket.url) and page.outside.append(socket.url))
    page.on("pageerror", lambda error: page.page_errors.append(error))
    try:
        yield page
        assert [error.stack or error.message for error in page.page_errors] == []
    finally:
        page.close(run_before_unload=True)  # so that its kernel ends at once
        context.close()


# -- opening and waiting -----------------------------------------------------------------------------------------

# What a person would do to get rid of all that is open: bars of steps, a pinned cell, details, a tab, scrolled places.
TIDY = """() => {
  document.activeElement?.blur();
  for (const closes of document.querySelectorAll(".cv-transport:not([hidden]), .cv-sum")) {
    closes.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  }
  for (const details of document.querySelectorAll(".cv-board details[open]")) details.open = false;
  document.querySelector(".cv-tab[aria-selected=true]")?.click();
  for (const node of document.querySelectorAll("*")) if (node.scrollTop || node.scrollLeft) node.scrollTo(0, 0);
}"""


def open_app(page, url):
    """Open the served app and wait until it is drawn; page.complaints lists the errors in its console."""
    page.complaints = []
    page.on("console", lambda message: message.type == "error" and page.complaints.append(message.text))
    page.goto(url, wait_until="commit", timeout=APPEARS_WITHIN_MS)
    wait_painted(page, 0, APPEARS_WITHIN_MS)


def start_again(page):
    """Close what is open, press Reset and wait until all of the page is as in page.start."""
    page.set_viewport_size({"width": 1400, "height": 900})
    page.emulate_media(color_scheme="light", reduced_motion="no-preference", media="screen")
    page.mouse.move(0, 0)
    page.evaluate(TIDY)
    page.keyboard.press("Escape")
    choose(page, "theme", "auto")
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function("!document.querySelector('.cv-tab[aria-selected=true]')")
    wait_until(lambda: same_state(snapshot(page), page.start), what="the state of the start")
    page.evaluate(TIDY)  # a pin whose cell was gone meanwhile is there again
    settle(page)
    page.evaluate("document.activeElement?.blur()")


def settle(page):
    """Wait until the page that Voilà serves shows all that the kernel has sent so far: nothing is drawn any more."""
    page.evaluate(
        """() => window.jupyterapp.widgetManagerPromise.promise.then(({ kernel }) => kernel.requestKernelInfo())
            .then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
            .then(() => null)"""
    )


def same_state(one, other):
    """Tell whether two snapshots show the same numbers and settings, wherever the keyboard is."""
    return plain(one) == plain(other)


def plain(shot):
    """A snapshot without what depends on the window: places in pixels."""
    shot = copy.deepcopy(shot)
    for section in shot["equations"]:
        for panel in section["panels"]:
            del panel["off"]
    return shot


def messages_sent(page):
    """Count the messages to the kernel from now on; return the function that says how many there were."""
    page.evaluate("""() => {
        if (window.sent === undefined) {
          const send = WebSocket.prototype.send;
          WebSocket.prototype.send = function (data) {
            window.sent += String(data).includes("comm_msg");
            return send.call(this, data);
          };
        }
        window.sent = 0;
    }""")
    return lambda: page.evaluate("window.sent")


def kernel_id(page):
    """Return the id of the kernel behind a page that Voilà serves."""
    return page.evaluate("window.jupyterapp.widgetManagerPromise.promise.then(({kernel}) => kernel.id)")


def painted(page):
    """Return the step that the board shows."""
    return int(page.locator(".cv-board").get_attribute("data-painted"))


def wait_painted(page, after, timeout=FOLLOWS_WITHIN_MS):
    """Wait until the board shows a later step than `after`."""
    page.wait_for_function(
        "(after) => Number(document.querySelector('.cv-board')?.dataset.painted ?? 0) > after",
        arg=after,
        timeout=timeout,
    )


@contextlib.contextmanager
def repaint(page):
    """Wait at the end until the board shows what the action inside changed."""
    before = painted(page)
    yield
    wait_painted(page, before)


def wait_value(page, panel, row, column, value):
    """Wait until a cell holds a value, up to the rounding of float32."""
    page.wait_for_function(
        """([panel, place, value]) => {
            const cell = document.querySelector(`[data-panel="${panel}"] [data-cell="${place}"]`);
            return Math.abs(Number(cell?.dataset.value ?? NaN) - value) <= 1e-6 * Math.max(1, Math.abs(value));
        }""",
        arg=[panel, f"{row},{column}", value],
        timeout=FOLLOWS_WITHIN_MS,
    )


def wait_notice(page, words):
    """Wait until the line of notices contains these words; return the whole line."""
    line = page.locator(".cv-notice p", has_text=words)
    line.wait_for(timeout=FOLLOWS_WITHIN_MS)
    return line.text_content()


# -- what a person does ------------------------------------------------------------------------------------------


def slider(page, name, axis=0):
    """Return the handle of a slider; axis 1 is that of the width."""
    return page.locator(f".cv-set-{name} .noUi-handle").nth(axis)


def slider_value(page, name, axis=0):
    """Return where a slider stands."""
    return int(float(slider(page, name, axis).get_attribute("aria-valuenow")))


def slide(page, name, value, axis=0):
    """Move a slider to a value with the arrow keys, waiting for the board after each step."""
    slider(page, name, axis).focus()
    start = slider_value(page, name, axis)
    for _ in range(abs(value - start)):
        with repaint(page):
            page.keyboard.press("ArrowRight" if value > start else "ArrowLeft")
    assert slider_value(page, name, axis) == value


def choose(page, name, words):
    """Choose an entry of a menu, named as in its class cv-set-<name>, else by the words before it."""
    menu = page.locator(f".cv-set-{name} select")
    menu = menu if menu.count() else page.locator(".cv-app").get_by_role("combobox", name=name, exact=True)
    entries = menu.evaluate("(menu) => [...menu.options].map(({ text }) => text.replaceAll('\\u00a0', ' '))")
    if menu.evaluate("(menu) => menu.selectedIndex") != entries.index(words):
        with repaint(page):
            menu.select_option(index=entries.index(words))


def switch(page, label, on):
    """Set a checkbox with the keyboard."""
    box = page.locator(".cv-app").get_by_role("checkbox", name=label, exact=True)
    if box.is_checked() != on:
        with repaint(page):
            box.press("Space")
    assert box.is_checked() == on


def cell(page, panel, row, column):
    """Return a cell of the first panel of that name."""
    return page.locator(f'[data-panel="{panel}"]').first.locator(f'[data-cell="{row},{column}"]')


def open_tab(page, name):
    """Open a tab and wait until its pane shows what belongs to the settings of now."""
    page.locator(f"[data-tab={name}]").click()
    page.locator(f'.cv-pane-{name}[aria-busy=false][data-shown]:not([data-shown=""])').wait_for(
        timeout=APPEARS_WITHIN_MS
    )
    settle(page)  # the board draws once more: the tab is a part of the state


def settle_pane(page, name):
    """Wait until the pane of a tab shows what the kernel has sent so far, and what it asked for in turn."""
    settle(page)
    page.locator(f".cv-pane-{name}[aria-busy=false]").wait_for()


def pane_follows(page, name, action):
    """Do something and wait until the pane of a tab shows all that follows."""
    pane = f".cv-pane-{name}"
    before = int(page.locator(pane).get_attribute("data-shown"))
    action()
    settle(page)
    page.wait_for_function(
        """([pane, before]) => {
            const { dataset, ariaBusy } = document.querySelector(pane);
            return ariaBusy === "false" && Number(dataset.shown) > before;
        }""",
        arg=[pane, before],
    )


def show_plane(page, axis, index):
    """Choose a plane with the selector of the forward equation: axis is n, o or c."""
    words = {"n": "sample n", "o": "output channel o", "c": "input channel c"}[axis]
    menu = page.locator("[data-equation=forward] .cv-choices label", has_text=words).locator("select")
    if menu.count() and menu.input_value() != str(index):
        with repaint(page):
            menu.select_option(str(index))


def shown_plane(page):
    """Return {axis: index} of the plane that the forward equation's selectors show."""
    labels = page.locator("[data-equation=forward] .cv-choices label")
    return dict(
        labels.evaluate_all("labels => labels.map((l) => [l.textContent.match(/ ([noc]) /)[1], l.lastChild.value])")
    )


# -- what the page shows -----------------------------------------------------------------------------------------


def snapshot(page):
    """Return everything that the page shows at one moment, as plain data."""
    # As one text: over thousands of single numbers Playwright takes longer than the page takes to look.
    return json.loads(page.evaluate(f"JSON.stringify(({SNAPSHOT})())"))


def wait_aligned(page):
    """Wait until every heatmap stands where its panel stands; return the snapshot."""

    def aligned():
        shot = snapshot(page)
        return all(panel["off"] is not None and panel["off"] <= 1.5 for panel in panels_of(shot)) and shot

    try:
        return wait_until(aligned, within_s=8)
    except AssertionError:
        off = {f"{panel['label']}": panel["off"] for panel in panels_of(snapshot(page))}
        raise AssertionError(f"pixels between heatmap and panel: {off}") from None


def panels_of(shot):
    """All panels of a snapshot, in reading order."""
    return [panel for section in shot["equations"] for panel in section["panels"]]


def read_panel(page, name, equation=None):
    """Return the numbers of a panel, float64 ``[rows, columns]``.

    Args:
        page: the page.
        name: the stage's name.
        equation: forward, input, weight or bias; default: the first panel of the name.
    """
    sections = snapshot(page)["equations"]
    wanted = [section for section in sections if equation in (None, section["name"])]
    panel = next(panel for section in wanted for panel in section["panels"] if panel["name"] == name)
    return plane_of(panel)


def plane_of(panel):
    """Return the numbers of a panel of a snapshot: of its cells, of plotly's graph where it has no numbers."""
    rows, columns = panel["rows"], panel["columns"]
    if not panel["numbered"]:
        plane = torch.tensor(panel["z"], dtype=torch.float64)
        assert plane.shape == (rows, columns)
        return plane
    places = list(itertools.product(range(rows), range(columns)))
    assert list(panel["cells"]) == [f"{row},{column}" for row, column in places], panel["name"]
    return torch.tensor([panel["cells"][f"{r},{c}"] for r, c in places], dtype=torch.float64).reshape(rows, columns)


@dataclass
class Seen:
    """What a page shows, over all its planes.

    Attributes:
        tensors: every stage that has a panel, whole, float64.
        shot: the controls, as the last snapshot has them.
    """

    tensors: dict[str, torch.Tensor]
    shot: dict

    @property
    def geometry(self):
        """The geometry, as the controls say it."""
        values = {name: [int(value) for value in both] for name, both in self.shot["sliders"].items()}
        pairs = {name: values[name] for name in ("input_size", "kernel_size", "stride", "padding", "dilation")}
        return pairs | {
            "mode": self.shot["menus"]["padding mode"],
            "groups": int(self.shot["menus"]["groups"]),
            "channels": (values["batch"][0], values["in_channels"][0], values["out_channels"][0]),
        }

    @property
    def dtype(self):
        """The dtype, as its menu says it."""
        return self.shot["menus"]["dtype"]


def see(page):
    """Look at every plane that the selectors offer, put them back, and return the whole tensors."""
    before = shown_plane(page)
    shot = snapshot(page)
    groups, (batch, into, out) = int(shot["menus"]["groups"]), _channels(shot)
    planes = {}
    for o in range(out):
        group = o // (out // groups)
        for c in range(group * (into // groups), (group + 1) * (into // groups)):
            for n in range(batch):
                for axis, index in (("o", o), ("c", c), ("n", n)):
                    show_plane(page, axis, index)
                shot = snapshot(page)
                _collect(shot, planes)
    for axis in ("o", "c", "n"):
        show_plane(page, axis, before.get(axis, 0))
    return Seen({name: _assemble(name, *found) for name, found in planes.items()}, shot)


def _channels(shot):
    return tuple(int(shot["sliders"][name][0]) for name in ("batch", "in_channels", "out_channels"))


def _collect(shot, planes):
    for section in shot["equations"]:
        for panel in section["panels"]:
            found = LABEL.fullmatch(panel["label"])
            assert panel["label"] == panel["name"] or found[1] == panel["name"], panel["label"]
            at = (int(found[2]), int(found[3])) if found else None
            shape, seen = planes.setdefault(panel["name"], (tuple(panel["shape"]), {}))
            plane = plane_of(panel)
            assert shape == tuple(panel["shape"]), f"{panel['name']} has two shapes"
            assert torch.equal(seen.setdefault(at, plane), plane), f"{panel['label']} differs between two equations"


def _assemble(name, shape, planes):
    if None in planes:
        assert len(shape) == 1, f"the planes of {name} have no indices"
        return planes[None].reshape(shape)
    assert sorted(planes) == list(itertools.product(range(shape[0]), range(shape[1]))), f"planes of {name}"
    return torch.stack([planes[at] for at in sorted(planes)]).reshape(shape)


# -- what must stand there ---------------------------------------------------------------------------------------


def autograd_of_page(page, seen=None):
    """Return {name: tensor} of what torch computes from the tensors and the geometry that the page shows.

    Args:
        page: the page.
        seen: what `see(page)` returned; default: look now.
    """
    seen = seen or see(page)
    at, shown = seen.geometry, seen.tensors
    (top, left), (height, width) = at["padding"], at["input_size"]
    mode = "constant" if at["mode"] == "zeros" else at["mode"]
    x = shown["padded_input"][..., top : top + height, left : left + width].clone().requires_grad_()
    w = shown["weight"].clone().requires_grad_()
    b = shown["bias"].clone().requires_grad_() if "bias" in shown else None
    padded = F.pad(x, (left, left, top, top), mode=mode)
    padded.retain_grad()
    output = F.conv2d(padded, w, b, at["stride"], 0, at["dilation"], at["groups"])
    output.backward(shown["grad_output"])
    expected = {
        "padded_input": padded.detach(),
        "weight": w.detach(),
        "output": output.detach(),
        "grad_output": _grad_output(seen),
        "rotated_weight": _rotated(w.detach(), at["groups"]),
        "grad_input": x.grad,
        "grad_weight": w.grad,
    }
    expected |= _spread(shown["grad_output"], at)
    if mode != "constant":
        expected["grad_padded_input"] = padded.grad
    if b is not None:
        expected |= {"bias": b.detach(), "grad_bias": b.grad}
    return expected


def _grad_output(seen):
    """The derivative of the loss that the menus name; itself where nobody but its author can know it."""
    shown, menus = seen.tensors, seen.shot["menus"]
    kind, output = LOSSES[menus["loss"]], shown["output"]
    if kind == "weighted_sum":
        return torch.ones_like(output) if menus["grad_output"] == "ones" else shown["grad_output"]
    if kind == "half_squared_error":
        targets = {"zeros": output, "ones": output - 1}
        return targets.get(menus["target"], shown["grad_output"])
    if kind == "cross_entropy":
        shares = output.flatten(1).softmax(1).reshape(output.shape)
        target = (shares - shown["grad_output"] * len(output)).round()  # where it is, the grad_output alone tells
        assert target.sum((1, 2, 3)).tolist() == [1] * len(output)
        assert (target == target[0]).all()
        return (shares - target) / len(output)
    return torch.full_like(output, 1 if kind == "sum" else 1 / output.numel())


def _rotated(weight, groups):
    out, into, *kernel = weight.shape
    per_group = weight.flip(2, 3).reshape(groups, out // groups, into, *kernel)
    return per_group.transpose(1, 2).reshape(groups * into, out // groups, *kernel)


def _spread(grad_output, at):
    """grad_output with the stride's zeros, and that with the border which the backward pass reads."""
    *leading, rows, columns = grad_output.shape
    (down, right), size = at["stride"], at["input_size"]
    dilated = torch.zeros(*leading, (rows - 1) * down + 1, (columns - 1) * right + 1, dtype=grad_output.dtype)
    dilated[..., ::down, ::right] = grad_output
    sides = []
    for axis in (0, 1):
        reach = at["dilation"][axis] * (at["kernel_size"][axis] - 1)
        crop = at["padding"][axis] if at["mode"] == "zeros" else 0
        remainder = (size[axis] + 2 * at["padding"][axis] - reach - 1) % at["stride"][axis]
        sides.append((reach - crop, reach - crop + remainder))
    return {"dilated_grad_output": dilated, "padded_grad_output": F.pad(dilated, (*sides[1], *sides[0]))}


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
    for place, value in seen.shot["kernel"].items():
        weight = cell_of_shot(seen.shot, "weight", place)
        assert value == pytest.approx(weight, rel=TOLERANCE[seen.dtype], abs=TOLERANCE[seen.dtype])
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
    assert shot["truth"].startswith("equals autograd"), shot["truth"]
    assert shot["truth"].endswith(f"({shot['menus']['device']}, {seen.dtype})"), shot["truth"]
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
