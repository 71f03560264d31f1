"""The network's pane alone, with the LeNet that the page computes: by pointer and by keys."""

import json

import pytest
from playwright.sync_api import expect

from convviz.views.theme import COLORSCALES
from convviz.web.bundle import bundle
from convviz.web.widget_assets import HERE, app_styles, tab_file, tab_sheet

OPEN = """
const page = { kept: () => ({}), keep() {} };
const values = { data: { step: 1 }, theme: "light", busy: false, colorscales: %s };
made.render({ model: { get: (name) => values[name], on() {}, off() {}, send() {}, page }, el: document.body });
"""


@pytest.fixture
def pane(page):
    page.set_viewport_size({"width": 1366, "height": 768})
    page.add_style_tag(content=app_styles() + tab_sheet("network"))
    script = bundle(HERE, tab_file("network")).replace("export default", "const made =")
    page.add_script_tag(content=script + OPEN % json.dumps(COLORSCALES), type="module")
    page.wait_for_selector(".cv-network-bar")
    return page


def sentence(pane):
    return pane.locator(".cv-network-sentence")


def test_bars_maps_and_an_opened_operation(pane):
    assert pane.locator(".cv-network-bar").count() == 13
    expect(sentence(pane)).to_contain_text("Sent back: the loss.")
    box = pane.locator('[data-operation="3"] [data-row="forward"]').bounding_box()
    pane.mouse.move(box["x"] + 20, box["y"] + 20)
    expect(sentence(pane)).to_contain_text("pool1[0,")
    expect(sentence(pane)).to_contain_text("conv2 reads it in")
    lens, maps = (pane.locator(each).bounding_box() for each in (".cv-network-lens", ".cv-network-maps"))
    assert lens["y"] >= maps["y"] + maps["height"], "it covers no map"
    assert pane.locator(".cv-network-grid :nth-child(13)").first.inner_text() in sentence(pane).inner_text()
    pane.mouse.down()
    pane.mouse.up()
    pane.get_by_role("button", name="Open pool1").click()
    expect(pane.locator(".cv-network-rule-words")).to_contain_text("The largest of these 4")
    expect(pane.locator(".cv-network-lens")).to_be_hidden()
    pane.keyboard.press("Escape")
    expect(pane.locator(".cv-network-rule")).to_be_hidden()
    expect(pane.get_by_role("button", name="Open pool1")).to_be_visible()  # the cell is still kept


def test_what_the_colours_mean_stays_in_sight_when_a_cell_is_sent_back(pane):
    expect(pane.locator(".cv-network-example")).to_contain_text("An example, a LeNet")
    pane.set_viewport_size({"width": 940, "height": 800})
    pane.locator('[data-operation="5"] [data-row="forward"]').click(position={"x": 6, "y": 6})
    pane.get_by_role("button", name="Send a 1 back").click()
    names = pane.locator(".cv-network-row-name")
    expect(names.nth(1)).to_contain_text("what depends on the cell that you point at")
    maps, legend = pane.locator(".cv-network-maps").bounding_box(), names.nth(1).bounding_box()
    assert legend["x"] + legend["width"] <= maps["x"] + maps["width"]
    drawn = pane.locator('[data-operation="3"] [data-row="backward"]').bounding_box()
    assert legend["y"] + legend["height"] <= drawn["y"], "it covers no map"


def test_all_of_it_by_keys(pane):
    pane.locator(".cv-network-bar").first.focus()
    for key in ("ArrowRight", "ArrowRight", "Enter", "ArrowRight", "Enter"):
        pane.keyboard.press(key)
    expect(sentence(pane)).to_contain_text("relu1[0,")
    pane.keyboard.press("s")
    expect(pane.get_by_role("radio", checked=True)).to_contain_text(["relu1[0,"])
    expect(pane.locator('.cv-network-bar[data-state="after"]')).to_have_count(10)
    pane.keyboard.press("Escape")
    expect(sentence(pane)).to_contain_text("Sent back: a single 1 from relu1[0,")
    pane.get_by_role("radio", name="a 1 from score 7").click()
    expect(sentence(pane)).to_contain_text("a single 1 from fc3[7]")
