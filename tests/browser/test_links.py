"""Linked cells: what lights up is what moves when torch is asked. Nothing that is expected here comes from the taps."""

import itertools
import json

import pytest
import torch
import torch.nn.functional as F

from convviz.ops.by_rotate import dilate_grad_output, pad_grad_output, rotate_weight
from tests.browser.app_page import cell, choose, messages_sent, repaint, slide
from tests.browser.scripts import expose, geometry
from tests.geometries import EDGE_CASES, random_specs

pytestmark = pytest.mark.browser

COPIES = (
    "padded_input",
    "weight",
    "rotated_weight",
    "bias",
    "grad_output",
    "dilated_grad_output",
    "padded_grad_output",
)
# One text for all geometries: over each cell by itself Playwright takes longer than the page.
ALL_LINKS = """(places) => JSON.stringify(places.map(([given, sizes]) => {
  const links = new Links(geometryOf(...given));
  const found = {};
  for (const [panel, [rows, columns]] of Object.entries(sizes)) {
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        found[`${panel} ${row},${column}`] = links
          .of({ panel, row, column })
          .map((link) => [link.real, `${link.panel} ${link.row},${link.column}`]);
      }
    }
  }
  return found;
}))"""


def single(spec):
    """Return the geometry with one channel and one sample: links are the same in every plane."""
    return spec.replace(in_channels=1, out_channels=1, groups=1, batch=1)


def panels(spec, x, w, b, g):
    """Return every panel's plane as a function of the four tensors that a person can change, each channel by itself."""
    (top, bottom), (left, right) = spec.padding
    mode = "constant" if spec.padding_mode == "zeros" else spec.padding_mode
    padded = F.pad(x, (left, right, top, bottom), mode=mode)
    output = F.conv2d(padded, w, b, spec.stride, 0, spec.dilation, len(w))
    to_padded, to_input, to_weight = torch.autograd.grad(output, (padded, x, w), g)
    dilated = dilate_grad_output(g, spec.stride)
    found = {
        "padded_input": padded,
        "weight": w,
        "bias": b.reshape(-1, 1, 1),
        "output": output,
        "grad_output": g,
        "dilated_grad_output": dilated,
        "padded_grad_output": pad_grad_output(dilated, spec),
        "rotated_weight": rotate_weight(w, len(w)),
        "grad_input": to_input,
        "grad_weight": to_weight,
        "grad_bias": g.sum((-2, -1)).reshape(-1, 1, 1),
    }
    found = found if spec.padding_mode == "zeros" else found | {"grad_padded_input": to_padded}
    return {name: plane.detach().reshape(len(w), *plane.shape[-2:]) for name, plane in found.items()}


def moved_by(spec):
    """Return {panel: size} and, for every number that can be changed, the cells that move with it.

    Channel 0 has numbers from 1 to 9, and each other channel one of them larger by 1: no sum of theirs is rounded, and
    none stays what it was because its terms cancel.
    """
    draw = torch.Generator().manual_seed(0)
    shapes = (spec.input_size, spec.kernel_size, (1,), spec.output_size)
    start = [torch.randint(1, 10, shape, generator=draw).double() for shape in shapes]
    count = sum(tensor.numel() for tensor in start)
    moves = torch.cat([torch.zeros(1, count), torch.eye(count)]).split([tensor.numel() for tensor in start], 1)
    x, w, b, g = (tensor + move.reshape(-1, *tensor.shape) for tensor, move in zip(start, moves, strict=True))
    found = panels(spec, x[None].requires_grad_(), w[:, None].requires_grad_(), b.flatten(), g[None])
    moved = {}
    for name, planes in found.items():
        for number, row, column in (planes[1:] != planes[0]).nonzero().tolist():
            moved.setdefault(number, set()).add(f"{name} {row},{column}")
    return {name: list(planes.shape[-2:]) for name, planes in found.items()}, moved


def is_copy(cell):
    return cell.split()[0] in COPIES


def expected_links(spec, moved):
    """Return {name: (must light, may light)}: a border may show a copy or not, where the cell itself is lit."""
    of = {}
    for cells in moved.values():
        for name in cells:
            of.setdefault(name, []).append(cells)
    border = {name for cells in moved.values() for name in cells if name.startswith("padded_input")}
    (top, _), (left, _) = spec.padding
    rows, columns = spec.input_size
    inner = {f"padded_input {top + i},{left + j}" for i in range(rows) for j in range(columns)}
    expected = {}
    for name, groups in of.items():
        lit = set()
        for cells in groups:
            # A copy lights up all that moves with it; a result only the numbers that it is made of.
            lit |= cells if is_copy(name) else {other for other in cells if is_copy(other)}
        must = lit - (border - inner) if not is_copy(name) else lit
        expected[name] = (must - {name}, lit - {name})
    # The fold: a border's gradient goes into the gradient of the cell that it copies.
    for cells in moved.values() if spec.padding_mode != "zeros" else ():
        own = {name for name in cells if name.startswith("padded_input")}
        for name in own & inner:
            row, column = (int(part) for part in name.split()[1].split(","))
            folded = f"grad_input {row - top},{column - left}"
            for copy in own:
                border_cell = f"grad_padded_input {copy.split()[1]}"
                for one, other in ((folded, border_cell), (border_cell, folded)):
                    must, may = expected.get(one, (set(), set()))
                    expected[one] = (must | {other}, may | {other})
    # An output, its target and what comes back for it stand side by side: none has to be made of another.
    for row, column in itertools.product(*map(range, spec.output_size)):
        at = f"{row},{column}"
        (group,) = [cells for cells in moved.values() if f"grad_output {at}" in cells]
        back = {name for name in group if is_copy(name)}
        for ends, others in (({f"output {at}"}, back), (back, {f"output {at}"})):
            for name in ends:
                must, may = expected.get(name, (set(), set()))
                pair = others | {f"target {at}"}
                expected[name] = (must | pair, may | pair)
    return expected


@pytest.fixture
def links(page):
    """Return a function: [(spec, {panel: size})] → of each {cell: [[real, cell], ...]} as the page finds it."""
    page.goto("about:blank")
    expose(page, "picture/links.js", "rules/spec.js")
    return lambda places: json.loads(page.evaluate(ALL_LINKS, [[geometry(spec), sizes] for spec, sizes in places]))


def test_lit_cells_are_those_that_move_in_torch(links):
    drawn = [spec for seed in range(4) for spec in random_specs(seed=700 + seed, count=50)]
    specs = [single(spec) for spec in (*drawn, *EDGE_CASES.values())]
    moves = [moved_by(spec) for spec in specs]
    shown = links([(spec, sizes) for spec, (sizes, _) in zip(specs, moves, strict=True)])
    for spec, (_, moved), cells in zip(specs, moves, shown, strict=True):
        expected = expected_links(spec, moved)
        for name, found in cells.items():
            real = {other for is_real, other in found if is_real}
            must, may = expected.get(name, (set(), set()))
            assert must <= real <= may, (json.dumps(spec.to_dict()), name, sorted(must - real), sorted(real - may))


def test_a_window_shows_its_zeros_apart(links):
    """A corner of grad_input at stride 2: under the rotated kernel lie inserted zeros and padding, named as such."""
    spec = next(iter(random_specs(seed=1, count=1))).replace(
        input_size=8, in_channels=1, out_channels=1, groups=1, batch=1,
        kernel_size=3, stride=2, padding=1, dilation=1, padding_mode="zeros",
    )  # fmt: skip
    (cells,) = links([(spec, {"grad_input": [8, 8]})])
    found = dict(reversed(link) for link in cells["grad_input 3,3"])
    window = {f"padded_grad_output {3 + u},{3 + v}" for u in range(3) for v in range(3)}
    assert window <= found.keys()
    assert {cell for cell in window if found[cell]} == {f"padded_grad_output {r},{c}" for r in (3, 5) for c in (3, 5)}


# -- in the app --------------------------------------------------------------------------------------------------


def lit(app):
    """Return {panel: set of lit cells} as the page draws them."""
    read = """() => Object.fromEntries([...document.querySelectorAll("[data-panel] .cv-lights")].map((group) => [
        group.closest("[data-panel]").dataset.panel, (group.dataset.lit ?? "").split(" ").filter(Boolean)]))"""
    return {panel: set(cells) for panel, cells in app.evaluate(read).items() if cells}


def the_sum(app):
    """Return the products behind the pinned cell, as lists of full factors, and the total: value and text."""
    read = """() => {
      const line = document.querySelector(".cv-sum");
      const total = line.querySelector("output");
      const products = [...line.querySelectorAll(".cv-product")].map((product) =>
        [...product.querySelectorAll(".cv-factor")].map((factor) => Number(factor.dataset.value)));
      return { products, value: total && Number(total.dataset.value), text: total?.textContent, all: line.textContent };
    }"""
    return app.evaluate(read)


def added(products):
    total = 0.0
    for factors in products:
        product = 1.0
        for factor in factors:
            product *= factor
        total += product
    return total


CORNER = {"0,0", "0,1", "1,0", "1,1"}


def test_hovering_lights_up_without_a_message_to_the_kernel(app):
    assert lit(app) == {}
    sent = messages_sent(app)
    cell(app, "output", 0, 0).hover()
    found = lit(app)
    # Stride 2, padding 1: the first window has four cells on the image; in the weight these are the lower right four.
    assert found["padded_input"] == {"1,1", "1,2", "2,1", "2,2"}
    assert found["weight"] == {"1,1", "1,2", "2,1", "2,2"}
    assert found["rotated_weight"] == CORNER
    # What comes back for this cell, in all its places, and its target.
    assert found["grad_output"] == found["target"] == found["dilated_grad_output"] == {"0,0"}
    assert found["padded_grad_output"] == {"1,1"}
    sources = {"padded_input", "weight", "rotated_weight"}
    assert found.keys() == sources | {"target", "grad_output", "dilated_grad_output", "padded_grad_output"}
    cell(app, "dilated_grad_output", 0, 0).hover()
    assert lit(app)["output"] == {"0,0"}, "and back"
    app.mouse.move(2, 2)
    assert lit(app) == {}
    assert sent() == 0


def test_a_pin_survives_sliders_and_writes_its_sum(app):
    cell(app, "grad_weight", 1, 2).click()
    app.locator(".cv-product").first.wait_for()
    app.mouse.move(2, 2)
    before = lit(app)
    assert before["grad_output"] == {f"{r},{c}" for r in range(4) for c in range(4)}
    app.locator(".cv-more").click()
    app.mouse.move(2, 2)
    sums = the_sum(app)
    assert len(sums["products"]) == 16
    assert "grad_weight[1,2] = \u03a3 grad_output[o]\u00b7input[i] = " in sums["all"]
    shown = cell(app, "grad_weight", 1, 2)
    assert sums["text"] == shown.get_attribute("aria-label")
    assert added(sums["products"]) == pytest.approx(float(shown.get_attribute("data-value")), rel=1e-5)
    with repaint(app):
        slide(app, "digit", 7)
    after = the_sum(app)
    assert lit(app) == before, "the pin is where it was"
    assert len(after["products"]) == 16, "and the long sum stays open"
    assert after["value"] != sums["value"]
    assert after["text"] == cell(app, "grad_weight", 1, 2).get_attribute("aria-label")
    app.locator(".cv-more").focus()
    app.keyboard.press("Escape")
    app.get_by_text("its sum appears here").wait_for()
    assert app.evaluate("document.activeElement.matches('[data-panel=grad_weight] [data-cell=\"1,2\"]')")
    app.mouse.move(2, 2)


def test_a_term_lights_its_two_cells_and_no_frame_lies_over_a_number(app):
    cell(app, "grad_input", 3, 3).click()
    app.locator(".cv-product").first.wait_for()
    term = app.locator(".cv-product").nth(1)
    factors = term.locator(".cv-factor")
    wanted = {factors.nth(i).get_attribute("data-panel"): {factors.nth(i).get_attribute("data-cell")} for i in (0, 1)}
    assert wanted.keys() == {"padded_grad_output", "rotated_weight"}
    term.hover()
    assert lit(app) == wanted
    over = """(grid) => [...grid.querySelectorAll(".cv-lights path")].every((path) =>
        [...grid.querySelectorAll(".cv-printed text")].every((text) =>
            path.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING))"""
    grids = app.locator('[data-panel="rotated_weight"] svg.cv-grid')
    assert grids.evaluate_all(f"(grids) => grids.map({over})") == [True]
    app.mouse.move(2, 2)
    assert lit(app) != wanted


def test_a_sum_that_stays_the_same_is_not_written_again(app):
    """A button that is replaced between press and release hears no click, and forgets where the pointer is."""
    slide(app, "kernel_size", 4)  # 16 terms: they are folded
    cell(app, "output", 1, 1).click()
    app.locator(".cv-product").first.wait_for()
    app.evaluate("window.more = document.querySelector('.cv-more')")
    stands = "window.more === document.querySelector('.cv-more')"
    with repaint(app):
        choose(app, "loss", "sum")  # the output stays what it is
    assert app.evaluate(stands)
    with repaint(app):
        slide(app, "digit", 7)
    assert not app.evaluate(stands)
    app.keyboard.press("Escape")


def test_a_folded_sum_opens_with_the_numbers_of_now(app):
    """A number that meets a weight of 0 changes a term that is folded away, and no sum."""
    slide(app, "in_channels", 2)
    cell(app, "output", 1, 1).click()
    app.locator(".cv-more").wait_for()
    before = the_sum(app)
    cell(app, "padded_input", 4, 3).focus()
    app.keyboard.press("F2")
    with repaint(app):
        app.locator(".cv-editor").fill("0.3")
        app.locator(".cv-editor").press("Enter")
    assert the_sum(app)["value"] == before["value"]
    app.evaluate("document.querySelector('.cv-more').click()")
    products = the_sum(app)["products"]
    assert len(products) == 18
    assert products[7] == [0, pytest.approx(0.3)]


def test_a_pin_goes_with_its_cell(app):
    cell(app, "output", 3, 3).click()
    app.locator(".cv-product").first.wait_for()
    with repaint(app):
        slide(app, "stride", 4)  # output is 2 x 2 now
    app.get_by_text("its sum appears here").wait_for()
    app.mouse.move(2, 2)
    assert lit(app) == {}
