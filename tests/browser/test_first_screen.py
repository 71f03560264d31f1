"""First sight: what the picture is for is there as heatmaps, whole and uncovered, and every digit can be read."""

import itertools

import pytest

from tests.browser.app_page import fresh_page, repaint, show_link, wait_painted
from tests.browser.printed_digits import PLACES_OF

WANTED = {"grad_output", "rotated_weight", "padded_grad_output", "grad_input", "grad_weight"}
WINDOWS = [(1280, 720), (1366, 768), (1440, 900), (1920, 1080)]
NOTEBOOK = (1008, 779)  # what is seen of a cell of JupyterLab's at 1440 x 900, with the file browser open
PHONE = (390, 844)
LEAST = 10  # pixels of a digit's letters

# What is wrong with each panel that is shown: it leaves the window, is covered, lacks numbers, has too small ones, or
# some that leave their cells. A notebook's cell is what its scroller shows of it.
FAULTS = (
    f"(least) => {{ const placesOf = {PLACES_OF};"
    + """
  const scroller = document.querySelector("[data-of-a-notebook]");
  const view = scroller?.getBoundingClientRect() ?? { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const panels = [...document.querySelectorAll(".cv-equation .cv-panel")].filter((panel) => panel.checkVisibility());
  const faults = panels.flatMap((panel) => {
    const found = [];
    const area = panel.querySelector(".cv-area").getBoundingClientRect();
    const grid = panel.querySelector("svg.cv-grid");
    const [rows, columns] = [grid.ariaRowCount, grid.ariaColCount].map(Number);
    const [width, height] = [area.width / columns, area.height / rows];
    const outside = Math.max(
      view.left - area.left, view.top - area.top, area.right - view.right, area.bottom - view.bottom);
    if (outside > 0.5) found.push(`${outside.toFixed(0)} px outside the window`);
    for (const x of [area.left + width / 2, area.right - width / 2])
      for (const y of [area.top + height / 2, area.bottom - height / 2]) {
        const hit = document.elementFromPoint(x, y);
        if (!panel.contains(hit)) found.push(`covered by ${hit?.className || hit?.tagName || "nothing"}`);
      }
    const texts = [...grid.querySelectorAll(".cv-printed text")].filter((text) => text.textContent)
      .filter((text) => text.checkVisibility({ visibilityProperty: true }));
    const places = texts.flatMap(placesOf);
    const lacking = rows * columns - places.length;
    if (lacking) found.push(`${lacking} of ${rows} x ${columns} without a number, cells of ${width.toFixed(1)} px`);
    if (texts.length) {
      const letters = Math.min(...texts.map((text) => // a zero's are smaller
        parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d));
      if (letters < least - 0.1) found.push(`digits of ${letters.toFixed(1)} px`);
      const unit = grid.viewBox.baseVal.width / columns;
      const narrowed = texts[0].parentElement.transform.baseVal[0]?.matrix.a ?? 1;
      const over = places.map(({ x, y, box }) => {
        const [column, row] = [x * narrowed, y].map((at) => Math.floor(at / unit));
        const [left, top] = [area.left + column * width, area.top + row * height];
        const middle = (box.top + box.bottom) / 2;
        return Math.max(
          left - box.left, box.right - left - width, top - middle + letters / 2, middle + letters / 2 - top - height);
      });
      const most = Math.max(...over);
      if (most > 0.5) found.push(`a number ${most.toFixed(1)} px out of its cell of ${width.toFixed(1)}`);
    }
    const band = panel.closest(".cv-equation").dataset.equation;
    return [...new Set(found)].map((fault) => `${band}: ${panel.dataset.panel}: ${fault}`);
  });
  return { shown: panels.map((panel) => panel.dataset.panel), faults };
}"""
)
# The app within something that scrolls, as wide and as high as a notebook's cell shows it.
IN_A_NOTEBOOK = """([width, height]) => {
  const page = document.querySelector(".cv-page");
  const cell = document.createElement("div");
  cell.dataset.ofANotebook = "";
  cell.style.cssText = `width: ${width}px; height: ${height}px; overflow: auto`;
  page.before(cell);
  cell.append(page);
  dispatchEvent(new Event("resize"));
}"""


def geometry(kernel, size, padding, stride, nines=False):
    """A link of a geometry; with nines the kernel's are negative, and grad_output is ones: sums of three characters."""
    own = f"&weight=values:1x1x{kernel}x{kernel}:{','.join(['-9'] * kernel**2)}&grad=ones" if nines else ""
    return f"v=2&size={size}&kernel={kernel}&padding={padding}&stride={stride}{own}"


def states(kernels, sizes, paddings):
    """Links of what can be, with numbers of three characters and a sign; cell_and_digit_sizes.test.mjs has others."""
    for kernel, size, padding, stride in itertools.product(kernels, sizes, paddings, (1, 2)):
        yield geometry(kernel, size, padding, stride, nines=True)


@pytest.fixture(scope="module")
def sight(browser, server):
    """A page of the served app; the windows' sizes and the links follow each other in it."""
    with fresh_page(browser) as page:
        page.goto(server.url, wait_until="commit")
        page.locator(".cv-board[data-from=torch]").wait_for()
        yield page


def rest(page):
    """Wait until the bands have taken the room that the numbers ask for: a frame after these are painted."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")


def resize(page, size):
    """Give the window a size, and wait until the board has it."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    rest(page)
    wait_painted(page)


def show(page, link):
    """Put a link into the page's address, and wait until it is drawn."""
    if page.evaluate("location.hash") != f"#{link}":
        with repaint(page):
            page.evaluate("(link) => { location.hash = link; }", link)
        rest(page)


def faults_of(page, links, about):
    """Return a line for each fault of each link."""
    found = []
    for link in links:
        show(page, link)
        seen = page.evaluate(FAULTS, LEAST)
        missing = WANTED - set(seen["shown"])
        faults = [*seen["faults"], *(f"{name} is not shown" for name in sorted(missing))]
        found += [f"{about}, {link}: {fault}" for fault in faults]
    return found


def test_the_first_picture_shows_what_it_is_for(sight):
    for size in WINDOWS:
        resize(sight, size)
        assert faults_of(sight, ["v=3"], f"{size}") == []
    resize(sight, PHONE)
    show(sight, "v=3")
    seen = sight.evaluate(FAULTS, LEAST)
    assert seen["faults"] == []
    assert {"grad_output", "grad_input", "padded_grad_output", "rotated_weight"} <= set(seen["shown"]), "both readings"


# The hardest of each window: what is smaller fits where these do.
HARDEST = {
    (1280, 720): [*states((1, 3, 4), (8,), (2,)), *states((3,), (5,), (1,))],
    (1366, 768): list(states((1, 5), (8,), (2,))),
    (1920, 1080): [*states((5,), (8,), (2,)), *states((3,), (12,), (1,))],
}


@pytest.mark.parametrize("size", HARDEST, ids="{0[0]}x{0[1]}".format)
def test_every_digit_stays(sight, size):
    resize(sight, size)
    assert faults_of(sight, HARDEST[size], f"{size}") == []


@pytest.fixture
def notebook(sight):
    """The page as a notebook's cell, and then as it was."""
    resize(sight, (1440, 900))
    sight.evaluate(IN_A_NOTEBOOK, list(NOTEBOOK))
    resize(sight, (1440, 901))
    yield sight
    sight.evaluate("document.querySelector('[data-of-a-notebook]').replaceWith(document.querySelector('.cv-page'))")


def test_every_digit_stays_in_a_cell_of_a_notebook(notebook):
    links = ["v=3", *states((1, 3), (6,), (1,)), *states((3,), (5,), (0,))]
    # Eight rows of three characters each in three bands have no room there: the band in use keeps its digits.
    links = [link for link in links if not ("kernel=3" in link and "stride=2" in link and "-9" in link)]
    assert faults_of(notebook, links, "notebook") == []


def test_other_languages_leave_the_digits_their_room(browser, server):
    with fresh_page(browser) as page:
        for language in ("zh-Hans", "zh-Hant"):
            page.goto(f"{server.url}?lang={language}", wait_until="commit")
            page.locator(".cv-board[data-from=torch]").wait_for()
            assert page.evaluate("document.documentElement.lang") == language
            for size in (WINDOWS[0], WINDOWS[2]):
                resize(page, size)
                links = ["v=3", geometry(3, 8, 2, 1, nines=True), geometry(4, 8, 2, 2)]
                assert faults_of(page, links, f"{language} at {size}") == []


# What one can operate and sees, where it stands. The weights, each a slider, are one control: the kernel. A band's
# title reads as one, and is not counted.
CONTROLS = """() => {
  const operated = `button, a[href], select, input, summary, [role=button], [role=slider], [role=spinbutton],
    [role=tab], [role=switch], [role=checkbox], [role=radio], [role=link], [role=combobox], [role=menuitem]`;
  const seen = [...document.querySelectorAll(operated)].filter((each) => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    return each.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !each.matches(".cv-title") &&
      right > Math.max(left, 0) && bottom > Math.max(top, 0) && left < innerWidth && top < innerHeight;
  });
  const names = seen.map((each) => each.closest(".cv-grid") ? each.closest("[data-panel]").dataset.panel :
    each.ariaLabel || each.textContent || each.closest("label, .cv-control")?.textContent);
  return [...new Set(seen.map((each, index) => each.closest(".cv-grid") ? names[index] : each))].map((each) =>
    typeof each === "string" ? each : names[seen.indexOf(each)]);
}"""
# Where what one can press stands, seen or not.
PLACES = """() => Object.fromEntries([...document.querySelectorAll("button, select, input, summary, .cv-panel")]
  .filter((each) => each.checkVisibility()).map((each, index) => {
    const { left, top, width, height } = each.getBoundingClientRect();
    return [`${index} ${each.className} ${each.textContent.slice(0, 30)}`, [left, top, width, height]];
  }))"""
TOUCHED = {"viewport": {"width": 1366, "height": 768}, "has_touch": True, "is_mobile": True}


def shown(page, selector):
    """Return which of the elements can be seen, with what is transparent left out."""
    look = """(all) => all.map((each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true }))"""
    return page.locator(selector).evaluate_all(look)


def test_few_controls_are_in_sight_and_a_bands_come_when_it_is_in_use(browser, exported):
    with fresh_page(browser, painted=True) as page:  # nothing was used yet
        show_link(page, exported)
        rest(page)
        controls = page.evaluate(CONTROLS)
        assert len(controls) <= 18, controls
        assert {"weight", "kernel size", "stride", "padding"} <= set(controls)
        assert not any(shown(page, ".cv-tools-of-band button, .cv-why"))
        places = page.evaluate(PLACES)
        own = "[data-equation=input] :is(.cv-tools-of-band, .cv-whys) button:not([hidden])"
        page.locator("[data-equation=input] .cv-says").hover()
        assert all(shown(page, own)), "pointed at"
        assert page.evaluate(PLACES) == places, "nothing jumps"
        page.mouse.move(0, 0)
        assert not any(shown(page, own))
        page.locator("[data-equation=input] .cv-title").focus()
        page.keyboard.press("Tab")
        assert all(shown(page, own)), "one tabs to them"
        assert page.evaluate("document.activeElement.closest('[data-equation=input] .cv-head') !== null")
    with fresh_page(browser, painted=True, **TOUCHED) as page:
        page.goto(exported.as_uri())
        page.locator(".cv-board[data-from]").wait_for()
        rest(page)
        assert all(shown(page, f"{own}, .cv-control:not([hidden]) > .cv-typed > input")), "touch"
