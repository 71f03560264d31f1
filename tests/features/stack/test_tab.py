"""The tab Stack: its gradients by autograd through as many layers, its words by counting, its controls by hand."""

import json

import pytest
import torch
import torch.nn.functional as F

from convviz.export.page import export_html
from convviz.geometry.spec import ConvSpec
from convviz.settings.link import from_link
from tests.browser.app_page import choose, fresh_page, open_tab, read_panel, slide
from tests.browser.call_javascript import JavaScript
from tests.geometries import EDGE_CASES, conv2d_by_definition, integers, random_specs

PANE = ".cv-pane-stack"
STACK = "../features/stack/layer_stack.js"
READ = "(map) => [...map.querySelectorAll('[data-cell]')].map((cell) => Number(cell.dataset.value))"
RUN = """(text) => JSON.stringify(JSON.parse(text).map(({ spec, most, weight, asked }) => {
  const { layersOf, gradientThrough } = js["../features/stack/layer_stack.js"];
  const { outputSizes } = js["rules/conv_geometry.js"];
  const layers = layersOf(spec, most);
  const kernel = weight && { shape: weight.shape, data: Float64Array.from(weight.data) };
  const planes = layers.length ? gradientThrough(layers, kernel, asked) : [];
  return { sizes: layers.map(outputSizes), planes: planes.map(({ data }) => [...data]) };
}))"""


@pytest.fixture(scope="module")
def js(browser):
    context = browser.new_context()
    yield JavaScript(context.new_page(), more=[STACK])
    context.close()


def one_channel(spec, size):
    return spec.replace(input_size=size, in_channels=1, out_channels=1, groups=1, batch=1)


def through(spec, layers, weight, asked):
    """Return the gradients at every plane, last first, by autograd through the definition."""
    planes = [torch.zeros(1, 1, *spec.input_size, dtype=torch.float64, requires_grad=True)]
    for _ in range(layers):
        here = one_channel(spec, tuple(planes[-1].shape[2:]))
        planes.append(conv2d_by_definition(planes[-1], weight, None, here))
    question = torch.zeros_like(planes[-1])
    question[(..., *asked) if asked else ...] = 1
    return torch.autograd.grad(planes[-1], planes[::-1], question)


def test_the_gradient_through_any_stack_is_autograds(js):
    specs, cases = [*EDGE_CASES.values(), *random_specs(seed=12, count=150)], []
    for number, spec in enumerate(specs):
        weight = integers((1, 1, *spec.kernel_size), number)
        sent = {"shape": list(weight.shape), "data": weight.flatten().tolist()} if number % 2 else None
        asked = [0, 0] if number % 3 else None
        cases.append({"spec": spec.to_dict(), "most": 1 + number % 4, "weight": sent, "asked": asked})
    depths = set()
    for spec, case, found in zip(specs, cases, json.loads(js.page.evaluate(RUN, json.dumps(cases))), strict=True):
        layers = len(found["sizes"])
        weight = torch.ones(1, 1, *spec.kernel_size, dtype=torch.float64)
        if case["weight"]:
            weight = torch.tensor(case["weight"]["data"], dtype=torch.float64).reshape(weight.shape)
        wanted = through(spec, layers, weight, case["asked"])
        assert [list(plane.shape[2:]) for plane in wanted[:-1]] == found["sizes"][::-1], spec
        assert [plane.flatten().tolist() for plane in wanted] == found["planes"], spec
        if layers < case["most"]:  # and there really is no other layer
            with pytest.raises(ValueError, match=r"kernel|padding"):
                one_channel(spec, tuple(found["sizes"][-1]))
        depths.add(layers)
    assert depths == {1, 2, 3, 4}


def test_the_field_and_the_reads_are_what_one_counts(js):
    specs = [spec for spec in random_specs(seed=5, count=80) if max(spec.stride) < 6]
    fields = js(STACK, "fieldOf", [[spec.to_dict(), 1 + n % 3, n % 2] for n, spec in enumerate(specs)])
    reads = js(STACK, "readsOf", [[spec.to_dict(), n % 2] for n, spec in enumerate(specs)])
    for number, (spec, field, counts) in enumerate(zip(specs, fields, reads, strict=True)):
        layers, axis = 1 + number % 3, number % 2
        k, s, d = spec.kernel_size[axis], spec.stride[axis], spec.dilation[axis]
        # One line of pixels, long enough for three outputs and no border.
        size = 1
        for _ in range(layers):
            size = (size - 1) * s + d * (k - 1) + 1
        assert field["size"] == size, spec
        assert field["size"] == 1 + field["reach"] * sum(field["steps"])
        # Weights that are all positive leave no gradient at 0 that has a way to the output.
        pixels = torch.zeros(1, 1, size, dtype=torch.float64, requires_grad=True)
        seeing = pixels
        for _ in range(layers):
            seeing = F.conv1d(seeing, torch.ones(1, 1, k, dtype=torch.float64), stride=s, dilation=d)
        (seen,) = torch.autograd.grad(seeing[0, 0, 0], pixels)
        assert field["read"] == seen.count_nonzero(), spec
        line = torch.zeros(1, 1, 20 * (s + d * k), dtype=torch.float64, requires_grad=True)
        output = F.conv1d(line, torch.ones(1, 1, k, dtype=torch.float64), stride=s, dilation=d)
        (read,) = torch.autograd.grad(output.sum(), line)
        start = s * (d * k)  # a window begins there, and no border is near
        assert read[0, 0, start : start + s].tolist() == counts, spec


@pytest.fixture
def own(browser, tmp_path):
    """A page without a kernel, with the tab open: 11 x 11, kernel 1 to 9, stride 2."""
    with fresh_page(browser) as page:
        show(page, tmp_path, "v=2&size=11&stride=2&tab=stack")
        yield page
        assert page.outside == []


def show(page, folder, link):
    page.goto(export_html(from_link(link)[0].to_dict(), folder / "page.html").as_uri())
    page.locator(f"{PANE} [data-cell]").first.wait_for()


def planes(page):
    """Return the shown planes, last layer's output first, as float64 ``[rows, columns]``."""
    found = []
    for map in page.locator(f"{PANE} .cv-panel").all():
        rows = int(map.locator("[data-cell]").last.get_attribute("data-cell").split(",")[0]) + 1
        found.append(torch.tensor(map.evaluate(READ), dtype=torch.float64).reshape(rows, -1))
    return found


def press(page, words):
    page.locator(PANE).get_by_role("button", name=words, exact=True).click()


def told(page):
    return page.locator(f"{PANE} .cv-stack-told").inner_text()


def shows(page, layers, weight=None, asked=None, spec=None):
    spec = spec or ConvSpec(11, stride=2)
    weight = torch.ones(1, 1, *spec.kernel_size, dtype=torch.float64) if weight is None else weight
    wanted = through(spec, layers, weight, asked)
    assert [plane.tolist() for plane in planes(page)] == [plane[0, 0].tolist() for plane in wanted]


def test_layers_who_asks_and_weights_are_chosen_and_said(own):
    shows(own, 2, asked=(0, 0))
    assert (
        "one output of layer 2 sees an area of 7 × 7 pixels, border included; rows and columns: 1 + 2·(1 + 2) = 7."
        in told(own)
    )
    assert "81 in all. No pixel has more than input[2, 2]: 4." in told(own)
    assert "72 of 121 pixels have no path" in told(own)
    assert "unevenly, 2, 1, 2, 1, … times, because the kernel, 3, is no multiple of the stride, 2." in told(own)
    press(own, "every output")
    shows(own, 2)
    press(own, "1")
    shows(own, 1)
    assert "1 + 2·(1) = 3" in told(own)
    press(own, "the board’s kernel")
    weight = torch.arange(1.0, 10, dtype=torch.float64).reshape(1, 1, 3, 3)
    shows(own, 1, weight)
    assert "further from 0 than that of input[2, 2], 20;" in told(own)
    assert own.get_by_role("button", name="3", exact=True).is_disabled()
    ends = own.locator(f"{PANE} .cv-note").inner_text()
    assert ends.endswith("the kernel spans 3 × 3 and does not fit into what layer 2 leaves, border included: 2 × 2.")


def test_another_output_asks_by_click_and_by_key_and_a_cell_is_read(own):
    first, last = own.locator(f"{PANE} .cv-panel").first, own.locator(f"{PANE} .cv-panel").last
    first.locator("[data-cell='1,0']").click()
    shows(own, 2, asked=(1, 0))
    own.keyboard.press("ArrowRight")
    own.keyboard.press("Enter")
    shows(own, 2, asked=(1, 1))
    last.locator("[data-cell='6,6']").hover()
    assert own.locator(f"{PANE} .cv-readout").inner_text() == "input[6, 6]: 4 paths from here to the chosen outputs."
    last.locator("[data-cell='10,10']").hover()
    assert own.locator(f"{PANE} .cv-readout").inner_text() == "input[10, 10]: 1 path from here to the chosen outputs."


def test_two_buttons_show_a_checkerboard_and_none(own):
    press(own, "kernel 4 at stride 2")
    even = ConvSpec(10, kernel_size=4, stride=2)
    shows(own, 2, spec=even)
    assert "equally often, 2 times, because the kernel, 4, is a multiple of the stride, 2." in told(own)
    press(own, "kernel 3 at stride 2")
    shows(own, 2)
    assert "Checkerboard" in told(own)
    own.locator(".cv-tools button").first.click()  # undo
    shows(own, 2, spec=even)


def test_axes_that_differ_are_told_one_by_one(own, tmp_path):
    show(own, tmp_path, "v=2&size=11x9&kernel=3x2&stride=2&tab=stack")
    assert "7 × 4 pixels, border included; rows: 1 + 2·(1 + 2) = 7; columns: 1 + 1·(1 + 2) = 4." in told(own)
    assert "(kernel − 1)·dilation = 2, 1 further" in told(own)
    assert "a layer reads its rows unevenly, 2, 1, 2, 1, … times" in told(own)
    assert "a layer reads all columns equally often, once, because" in told(own)


def test_in_the_app_the_stack_follows_the_board(app):
    open_tab(app, "stack")
    slide(app, "stride", 1)
    choose(app, "preset", "box")
    press(app, "1")
    press(app, "every output")
    spec = ConvSpec(8, padding=1)
    shows(app, 1, spec=spec)
    press(app, "the board’s kernel")
    (wanted,) = through(spec, 1, read_panel(app, "weight")[None, None], None)[1:]
    assert torch.allclose(planes(app)[-1], wanted[0, 0])
