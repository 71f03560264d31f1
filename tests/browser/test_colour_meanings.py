"""What the colours say: the variable, a number's size and its sign; marks are grey, and red is what is wrong."""

import re
from importlib.resources import files

import pytest

from convviz.export.page import export_html
from convviz.facts import facts
from convviz.geometry.spec import ConvSpec
from convviz.views.theme import COLORSCALES, rgb
from convviz.web.widget_assets import coloured, joined
from tests.browser.app_page import cell, fresh_page, repaint, wait_painted

QUANTITIES = facts("picture")["quantities"]
# Every colour that anything of the picture is drawn in, but fills of values.
INKS = """(all) => [...new Set(all.filter((one) => one.checkVisibility()).flatMap((one) => {
  const { color, fill, stroke, borderLeftColor, outlineColor } = getComputedStyle(one);
  return [color, fill, stroke, borderLeftColor, outlineColor];
}))]"""
PRINTED = """(grid) => [...grid.querySelectorAll(".cv-printed text")]
    .flatMap((text) => [...text.x.baseVal].map(({ value }, index) => [[text.y.baseVal[index].value / 40,
        value * (text.parentElement.transform.baseVal[0]?.matrix.a ?? 1) / 40].map(Math.floor).join(),
      text.classList.contains("cv-marked")]))"""


@pytest.fixture(scope="module")
def remainder(browser, tmp_path_factory):
    """A picture with padding, inserted zeros and rows that no window reads."""
    state = {"spec": ConvSpec(7, stride=2, padding=((1, 0), (1, 0))).to_dict()}
    path = export_html(state, tmp_path_factory.mktemp("colours") / "page.html")
    with fresh_page(browser) as page:
        page.goto(path.as_uri())
        wait_painted(page, 0, 60_000)
        yield page


def test_a_variable_and_its_gradient_have_one_hue_in_name_frame_and_formula(remainder):
    hues, frames = {}, {}
    for quantity, names in QUANTITIES.items():
        for name in names:
            for hue, frame, width in remainder.locator(f"[data-panel={name}]").evaluate_all(
                """all => all.map((one) => {
                  const { outlineColor, outlineWidth } = getComputedStyle(one.querySelector(".cv-area"));
                  return [getComputedStyle(one.querySelector(".cv-name")).color, outlineColor, outlineWidth];
                })"""
            ):
                hues.setdefault(quantity, set()).add(hue)
                frames.setdefault((quantity, "grad" in name.split("_")), set()).add((frame, float(width[:-2])))
    assert [len(found) for found in hues.values()] == [1, 1, 1]
    assert len(set.union(*hues.values())) == 3
    for (quantity, gradient), ((frame, width),) in frames.items():
        assert ({frame} == hues[quantity]) == gradient, "the frame of a gradient is the strong one"
        assert (width >= 2) == gradient, (quantity, width)
    formula = remainder.locator("[data-equation=weight] .cv-formula")
    assert formula.locator("mi").all_text_contents() == ["grad_weight", "padded_input", "dilated_grad_output"]
    shown = formula.locator("mi").evaluate_all("all => all.map((one) => getComputedStyle(one).color)")
    assert [{hue} for hue in shown] == [hues[name] for name in ("weight", "input", "output")]


def test_the_legend_is_each_variables_scale_one_below_the_other(remainder):
    shown = remainder.locator(".cv-foot .cv-scale i").evaluate("(one) => getComputedStyle(one).backgroundImage")
    ramps = [re.findall(r"rgb\((\d+), (\d+), (\d+)\)", ramp) for ramp in shown.split("linear-gradient")[1:]]
    assert [[tuple(map(int, color)) for color in ramp] for ramp in ramps] == [
        [rgb(color) for _, color in COLORSCALES["light"][name]] for name in QUANTITIES
    ]


def test_the_zero_of_a_mark_is_paler_than_one_of_data(remainder):
    """The zeros of padding, those that the stride inserts and what no window reads; a screen reader reads them, too."""
    for key, panel, marked in (
        ("2", "padded_grad_output", lambda r, c: not {r, c} <= {1, 3, 5}),
        ("2", "grad_input", lambda r, c: 6 in (r, c)),
        ("3", "dilated_grad_output", lambda r, c: bool({r, c} & {1, 3})),
    ):
        if not remainder.locator(f".cv-equation:nth-child({key})[data-focus]").count():
            remainder.keyboard.press(key)  # in focus its numbers are printed
        remainder.locator(f"[data-focus] [data-panel={panel}] .cv-printed text").first.wait_for()
        cells = remainder.locator(f"[data-panel={panel}] .cv-cell")
        places = cells.evaluate_all("all => all.map((one) => one.dataset.cell)")
        printed = remainder.locator(f"[data-panel={panel}] .cv-grid").evaluate(PRINTED)
        assert sorted(place for place, _ in printed) == sorted(places), panel
        wanted = [place for place in places if marked(*map(int, place.split(",")))]
        assert sorted(place for place, pale in printed if pale) == sorted(wanted), panel
        names = cells.evaluate_all("all => all.map((one) => one.ariaLabel)")
        assert len(names) == len(places), panel
        assert all(names), panel
    remainder.keyboard.press("Escape")


def test_nothing_is_red_but_what_is_wrong(remainder):
    """No mark, frame, sentence or button of a picture that is right has the colour of what is wrong."""
    bad = remainder.locator(".cv-board").evaluate(
        """(board) => { const one = board.appendChild(document.createElement("i"));
            one.style.color = "var(--cv-bad)";
            const found = getComputedStyle(one).color;
            one.remove();
            return found; }"""
    )
    assert bad == "rgb(179, 38, 30)"
    inks = remainder.locator(".cv-page *").evaluate_all(INKS)
    assert len(inks) > 8
    assert bad not in inks


def test_each_band_explains_the_marks_that_are_met_there_first(remainder):
    keys = {
        name: remainder.locator(f"[data-equation={name}] .cv-key > span:visible").all_text_contents()
        for name in ("forward", "input", "weight")
    }
    assert keys["forward"] == ["padding", "never read"]
    assert keys["input"] == ["inserted zero", "padding for the remainder"]
    assert keys["weight"] == []


def test_a_huge_number_bleaches_nothing_and_is_marked_and_named(opened):
    page = opened()
    mark = page.locator("[data-equation=forward] [data-panel=padded_input] .cv-beyond")
    key = page.locator("[data-equation=forward] .cv-key-beyond")
    before = colours_of(page, "padded_input")
    assert mark.get_attribute("d") == ""
    assert key.is_hidden()
    cell(page, "padded_input", 1, 3).dblclick()
    page.locator(".cv-editor").fill("1e9")
    with repaint(page):
        page.keyboard.press("Enter")
    after = colours_of(page, "padded_input")
    assert [index for index, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]] == [8]
    assert mark.get_attribute("d").count("M") == 1
    assert key.is_visible()
    cell(page, "padded_input", 1, 3).hover()
    reported = page.locator(".cv-readout").text_content()
    assert reported == "padded_input, row 1, column 3: 1000000000 (off the colour scale, which ends at ±4)"
    with repaint(page):
        page.get_by_role("button", name="Undo", exact=True).click()
    assert mark.get_attribute("d") == ""
    assert key.is_hidden()


def colours_of(page, panel):
    """The fill of every cell of a panel, as the board says it: the paper has the same colours."""
    page.emulate_media(media="print")
    own = page.locator(f"[data-equation=forward] [data-panel={panel}] .cv-area > .cv-pixels")
    pixels = own.evaluate("(one) => Array.from(one.getContext('2d').getImageData(0, 0, one.width, one.height).data)")
    found = [", ".join(map(str, pixels[at : at + 3])) for at in range(0, len(pixels), 4)]
    page.emulate_media(media="screen")
    page.wait_for_function("() => !document.querySelector('.cv-board .cv-area > .cv-pixels')")
    return found


def test_packed_sheets_keep_every_rule(page):
    rules = r"""(text) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
      const spare = [[/\s+/g, " "], [/ ?([,/()]) ?/g, "$1"], [/(?<![\w.])0\./g, "."]];
      const plain = (text) => spare.reduce((all, [found, put]) => all.replace(found, put), text);
      return [...sheet.cssRules].map(({ cssText }) => plain(cssText));
    }"""
    for sheet in sorted(files("convviz.web").rglob("*.css")):
        packed, written = (page.evaluate(rules, text) for text in (joined([sheet]), coloured(sheet.read_text("utf-8"))))
        assert packed == written, sheet.name
        assert written, sheet.name
