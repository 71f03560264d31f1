"""The tab Pooling: its planes by autograd, what a cell says, its switches, and settings that torch refuses."""

import pytest
import torch
import torch.nn.functional as F

from convviz.export.page import export_html
from convviz.settings.link import from_link
from convviz.settings.tensors import grad_tensor, input_tensor
from tests.browser.app_page import fresh_page, slide
from tests.browser.axe import assert_accessible

PANE = ".cv-pane-pooling"
NUMBERS = "(map) => [...map.querySelectorAll('[data-cell]')].map((cell) => Number(cell.dataset.value))"
BIG_IN_THE_MIDDLE = "input=values:1x1x4x4:1,3,2,4,2,7,0,1,5,0,6,3,2,1,3,4"
LINK = "v=2&size=6&kernel=3&stride=2&padding=1&grad=random&input=random&tab=pooling"


@pytest.fixture
def show(browser, tmp_path):
    with fresh_page(browser) as page:

        def go(link):
            page.goto(export_html(from_link(link)[0].to_dict(), tmp_path / "page.html").as_uri())
            page.locator(PANE).wait_for()
            return page

        yield go
        assert page.outside == []


def plane(page, name):
    return page.locator(f"{PANE} [data-tensor={name}]").last


def reported(page):
    return page.locator(f"{PANE} .cv-readout").inner_text()


def press(page, words):
    page.locator(PANE).get_by_role("button", name=words, exact=True).click()


def pooled(link, operation, **more):
    settings, _ = from_link(link)
    x = input_tensor(settings).double().requires_grad_()
    output = operation(x, settings.spec.kernel_size, settings.spec.stride, 1, **more)
    (gradient,) = torch.autograd.grad(output, x, grad_tensor(settings).double())
    return {"output": output, "grad_input": gradient}


def holds(page, wanted):
    for name, tensor in wanted.items():
        seen = torch.tensor(plane(page, name).evaluate(NUMBERS), dtype=torch.float64)
        assert torch.allclose(seen, tensor.detach().flatten(), rtol=0, atol=1e-12), name


def test_its_planes_follow_what_is_chosen_and_each_cell_says_where_it_comes_from(show):
    page = show(LINK)
    holds(page, pooled(LINK, F.max_pool2d))
    assert "−∞" in plane(page, "padded_input").locator("[data-cell='0,0']").get_attribute("aria-label")
    plane(page, "output").locator("[data-cell='1,1']").hover()
    assert reported(page).startswith("output[1, 1] = ")
    lit = plane(page, "padded_input").locator(".cv-lights")
    assert (len(lit.get_attribute("data-lit").split()), len(lit.get_attribute("data-zero").split())) == (1, 8)
    assert sorted(plane(page, "mask").evaluate(NUMBERS)) == [0] * 8 + [1]
    press(page, "avg_pool2d")
    holds(page, pooled(LINK, F.avg_pool2d))
    group = page.locator(PANE).get_by_role("group", name="count_include_pad")
    group.get_by_role("button", name="False").click()
    holds(page, pooled(LINK, F.avg_pool2d, count_include_pad=False))
    plane(page, "grad_input").locator("[data-cell='0,0']").focus()
    assert reported(page).startswith("grad_input[0, 0] = ")
    assert page.locator(f"{PANE} .cv-live").inner_text() == reported(page), "who came by keys hears it"
    page.keyboard.press("ArrowRight")
    assert reported(page).startswith("grad_input[0, 1] = ")
    assert_accessible(page, PANE)


def test_a_mistake_that_the_stride_hides_is_shown_by_a_link(show):
    page = show(f"v=2&size=4&kernel=2&stride=2&grad=ones&tab=pooling&{BIG_IN_THE_MIDDLE}")
    press(page, "=")
    verdict, wrong = page.locator(f"{PANE} .cv-pool-assigning"), plane(page, "grad_input").locator(".cv-lights")
    assert "no pixel is in two windows" in verdict.inner_text()
    assert wrong.get_attribute("data-lit") in ("", None)
    page.locator(f"{PANE} [data-overlap]").click()
    verdict.get_by_text("2 of 16 numbers of grad_input wrong").wait_for()
    assert wrong.get_attribute("data-lit") == "1,1 2,2"
    plane(page, "grad_input").locator("[data-cell='1,1']").hover()
    assert "grad_input[1, 1] = 1 with =" in reported(page)
    assert "that of output[1, 1]. With += it is 4." in reported(page)
    assert page.locator(f"{PANE} [data-overlap]").is_hidden()


def test_settings_without_pooling_are_said_and_one_press_leads_to_the_nearest(show):
    page = show("v=2&size=6&kernel=3&padding=2&mode=reflect&tab=pooling")
    failure = page.locator(f"{PANE} div.cv-pane-failure")
    assert "padding_mode is reflect" in failure.inner_text()
    assert "at most half of the kernel, rounded down: 1" in failure.inner_text()
    assert plane(page, "output").is_hidden()
    press(page, "Set padding_mode=zeros, padding=1")
    plane(page, "output").wait_for()
    assert failure.inner_text() == ""
    slide(page, "padding", 0)
    assert "padding" not in page.locator(f"{PANE} .cv-pool-call").inner_text()
