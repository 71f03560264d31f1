"""The article in a browser: one picture that follows the reader, by whatever way; and without scripts, on paper."""

import pytest

from convviz.export.article.page import export_article
from convviz.export.article.sections import facts_of_sections
from convviz.export.site import write_site
from convviz.facts.i18n.current_language import languages
from convviz.settings.link import from_link
from tests.browser.app_page import fresh_page
from tests.browser.axe import TAGS, assert_accessible
from tests.browser.test_bare_figure import AS_SEEN
from tests.browser.test_site import BELOW, url  # noqa: F401  (a fixture)
from tests.export.test_article import Truth

SECTIONS = facts_of_sections()
SHOWN_OUTPUTS = from_link(next(each["state"] for each in SECTIONS if each["id"] == "channels"))[0].spec.out_channels
AT = "(id) => document.getElementById(id).scrollIntoView({ behavior: 'instant' })"
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"


@pytest.fixture(scope="module")
def articles(tmp_path_factory):
    folder = tmp_path_factory.mktemp("articles")
    return {tag: export_article(folder / f"{tag}.html", lang=tag).as_uri() for tag in languages()}


def reading(browser, articles, tag="en", **options):
    """A reader under the article's own policy, which `fresh_page` sets aside for its axe."""
    return fresh_page(browser, **{"bypass_csp": False, "viewport": {"width": 1440, "height": 900}, **options})


def listening(page):
    """Have the page keep what its console complains about."""
    page.complaints = []
    page.on("console", lambda message: message.type in ("error", "warning") and page.complaints.append(message.text))
    return page


@pytest.fixture(scope="module")
def desk(browser, articles):
    """A reader's window, in which one article after the other is opened."""
    with reading(browser, articles) as page:
        yield listening(page)


@pytest.fixture(scope="module")
def phone(browser, articles):
    with reading(browser, articles, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as page:
        yield listening(page)


def opened(page, address):
    page.complaints.clear()
    page.goto(address)
    page.locator("convviz-board [data-cell]").first.wait_for(state="attached")
    page.evaluate(PAINTED)


def go_to(page, section):
    page.evaluate(AT, section)
    page.locator(f"#{section}[data-now]").wait_for(state="attached")
    page.evaluate(PAINTED)


def picture(page):
    return page.locator("convviz-board").evaluate(AS_SEEN)


@pytest.mark.parametrize("tag", languages())
def test_each_section_has_its_picture_with_autograds_numbers(desk, articles, tag):
    page = desk
    opened(page, articles[tag])
    for section in SECTIONS:
        go_to(page, section["id"])
        seen, truth = picture(page), Truth(section["state"])
        result = f"grad_{section['band']}"
        assert seen["numbers"][result] == getattr(truth, result)[0, 0].flatten().tolist(), section["id"]
        assert seen["inside"]
        assert seen["digits"] >= 9.9
        assert seen["notice"] == ""
        heading, said = page.locator(f"#{section['id']} h2"), page.locator(".said")
        assert heading.is_visible()
        if section is not SECTIONS[0]:
            assert section["band"] == "weight" or "grad_input" in said.text_content()
    assert page.complaints == []
    assert page.outside == []


def test_scrolling_down_and_up_shows_what_jumping_shows(desk, articles):
    ids = [section["id"] for section in SECTIONS]
    page = desk
    jumped = {}
    for at in (7, 0, 9, 3, 5, 1, 8, 2, 6, 4):
        opened(page, f"{articles['en']}#{ids[at]}")
        go_to(page, ids[at])
        jumped[ids[at]] = picture(page)
    opened(page, articles["en"])
    page.mouse.move(300, 500)  # over the text
    for way in (1, -1):
        for _ in range(100):
            now = page.evaluate("document.querySelector('[data-now]').id")
            seen, expected = picture(page), dict(jumped[now])
            for one, other in zip(seen.pop("places"), expected.pop("places"), strict=True):
                assert one == pytest.approx(other, abs=1), "but for half a pixel of the scroll"
            assert seen == expected
            before = page.evaluate("scrollY")
            page.evaluate(f"scrollBy({{ top: {way * 450}, behavior: 'instant' }})")
            page.evaluate(PAINTED)
            if page.evaluate("scrollY") == before:
                break
        assert now == (ids[-1] if way > 0 else ids[0])


def test_what_a_reader_tries_is_noticed_and_what_they_guess_is_answered(desk, articles):
    page = desk
    opened(page, articles["en"])
    task = page.locator("#one [data-yes]")
    assert task.is_hidden()
    one = page.locator("convviz-board [data-panel=grad_output] [data-cell='1,1']").bounding_box()
    page.mouse.move(one["x"] + 20, one["y"] + 20)
    page.mouse.down()
    page.mouse.move(one["x"] + 20 + one["width"], one["y"] + 20, steps=4)
    page.mouse.up()
    task.wait_for()
    assert page.locator(".said").text_content() == task.text_content()
    go_to(page, "stamps")
    assert "=" not in picture(page)["sum"]
    answers = page.locator("#stamps details")
    for at in range(3):
        answers.nth(at).locator("summary").click()
        assert answers.evaluate_all("(all) => all.map((each) => each.open)") == [each == at for each in range(3)]
    page.evaluate(PAINTED)
    assert picture(page)["sum"].endswith("= 165")
    page.locator("convviz-board [data-panel=grad_input] [data-cell='0,2']").click(force=True)
    assert page.locator("#stamps [data-yes]").is_hidden(), "an edge is no corner"
    page.locator("convviz-board [data-panel=grad_input] [data-cell='0,4']").click(force=True)
    page.locator("#stamps [data-yes]").wait_for()
    go_to(page, "channels")
    planes = page.locator("convviz-board [data-panel=grad_output] .cv-thumb")
    assert planes.count() == SHOWN_OUTPUTS
    planes.last.click()
    page.locator("#channels [data-yes]").wait_for()
    go_to(page, "mistakes")
    page.locator("#mistakes details").first.locator("summary").press("Enter")
    page.evaluate(PAINTED)
    assert page.locator("convviz-board .cv-panel[data-guilty]").get_attribute("data-panel") == "rotated_weight"
    page.locator("#mistakes details").first.locator("summary").press("Enter")
    page.evaluate(PAINTED)
    assert page.locator("convviz-board .cv-panel[data-guilty]").count() == 0
    go_to(page, "network")
    weight = page.locator("convviz-board [data-panel=weight] [data-cell='1,1']").bounding_box()
    page.mouse.move(weight["x"] + 12, weight["y"] + 12)
    page.mouse.down()
    page.mouse.move(weight["x"] + 12, weight["y"] - 30, steps=6)
    page.mouse.up()
    page.locator("#network [data-yes]").wait_for()
    assert page.complaints == []


def test_a_phone_reads_below_the_picture_and_moves_it_by_touch(phone, articles):
    page = phone
    opened(page, articles["zh-Hans"])
    go_to(page, "window")
    box = page.locator("convviz-board").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] < 420 < page.locator("#window h2").bounding_box()["y"] + 420
    page.locator("convviz-board [data-panel=grad_input] [data-cell='1,3']").tap(force=True)
    page.locator("#window [data-yes]").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for section in SECTIONS:
        go_to(page, section["id"])
        assert picture(page)["inside"]
        assert picture(page)["digits"] >= 9.9


def swipe(page, start, down):
    """Draw a finger over the picture, in steps as a screen reports them."""
    session = page.context.new_cdp_session(page)
    for at in range(11):
        points = [{"x": start["x"] + start["width"] / 2, "y": start["y"] + start["height"] / 2 + down * at / 10}]
        kind = "touchMove" if at else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.evaluate(PAINTED)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.evaluate(PAINTED)


def test_a_finger_moves_the_1_and_scrolls_the_page_from_anywhere_else(phone, articles):
    page = phone
    opened(page, articles["en"])
    go_to(page, "one")
    cell = "convviz-board [data-panel={}] [data-cell='{}']"
    before, numbers = page.evaluate("scrollY"), picture(page)["numbers"]["grad_output"]
    for panel, place in (("grad_output", "2,0"), ("grad_input", "4,4")):
        swipe(page, page.locator(cell.format(panel, place)).bounding_box(), -60)
        page.wait_for_function("(before) => scrollY > before", arg=before)
        before = page.evaluate("scrollY")
        assert picture(page)["numbers"]["grad_output"] == numbers
    one = page.locator(cell.format("grad_output", "1,1")).bounding_box()
    swipe(page, one, one["height"])
    assert picture(page)["numbers"]["grad_output"].index(1) == 7
    assert page.evaluate("scrollY") == before
    page.locator("#one [data-yes]").wait_for()
    go_to(page, "stamps")
    before, numbers = page.evaluate("scrollY"), picture(page)["numbers"]
    swipe(page, page.locator(cell.format("grad_output", "2,1")).bounding_box(), -60)
    page.wait_for_function("(before) => scrollY > before", arg=before)
    assert picture(page)["numbers"] == numbers
    go_to(page, "network")
    swipe(page, page.locator(cell.format("weight", "1,1")).bounding_box(), -40)
    page.locator("#network [data-yes]").wait_for()


def test_without_scripts_and_on_paper_each_section_has_its_own_picture(browser, desk, articles):
    count = len(SECTIONS)
    with reading(browser, articles, java_script_enabled=False) as page:
        page.goto(articles["en"])
        stills = page.locator("section .still svg")
        assert stills.count() == count
        assert all(stills.nth(at).is_visible() for at in range(count))
        assert not page.locator(".pin").is_visible()
        page.locator("#stamps summary").first.click()
        assert page.locator("#stamps details p").first.is_visible()
    page = desk
    opened(page, articles["en"])
    stills = page.locator("section .still svg")
    assert not any(stills.nth(at).is_visible() for at in range(count))
    go_to(page, "stride")
    page.emulate_media(media="print")
    assert all(stills.nth(at).is_visible() for at in range(count))
    assert not page.locator(".pin").is_visible()
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 900, "height": 1400})  # turned
    page.evaluate(PAINTED)
    assert page.locator("[data-now]").count() == 1
    assert picture(page)["inside"]
    page.set_viewport_size({"width": 1440, "height": 900})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_and_nothing_moves_by_itself(browser, articles, scheme):
    size = {"width": 1440, "height": 900} if scheme == "light" else {"width": 390, "height": 844}
    # Where motion is not wanted the panels are in their new places at once, and a browser counts that as a shift.
    motion = {"painted": True, "reduced_motion": "no-preference"}
    with fresh_page(browser, viewport=size, color_scheme=scheme, **motion) as page:
        page.add_init_script(
            "window.shift = 0; new PerformanceObserver((list) => {"
            " for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shift += value;"
            " }).observe({ type: 'layout-shift', buffered: true })"
        )
        opened(listening(page), articles["zh-Hant"])
        assert_accessible(page, "the article", rules=[*TAGS])
        shifts = {"at first": page.evaluate("shift")}
        for section in SECTIONS:  # the panels of the picture are moved, which is no shift
            page.evaluate("shift = 0")
            go_to(page, section["id"])
            shifts[section["id"]] = page.evaluate("shift")
        assert {name: shift for name, shift in shifts.items() if shift > 0.02} == {}
        levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(({ tagName }) => +tagName[1])")
        assert levels == [1, *[2] * (len(SECTIONS) + 1), 3, 3, 3]


def test_the_site_opens_with_it_and_old_links_lead_to_the_app(page, url):  # noqa: F811
    assert BELOW
    page.goto(url)
    page.locator("convviz-board [data-cell]").first.wait_for(state="attached")
    page.locator("nav a[href='app.html']").click()
    page.locator(".cv-board[data-painted]").wait_for()
    assert page.url == f"{url}app.html"
    for old, new in (
        ("#v=2&size=6", "app.html#v=2&size=6"),
        ("index.html#stride=3", "app.html#stride=3"),
        ("?v=2&size=7", "app.html?v=2&size=7"),
        ("zh-Hans.html#lesson=why_rotated&step=3", "app-zh-Hans.html#lesson=why_rotated&step=3"),
    ):
        page.goto("about:blank")
        page.goto(url + old)
        page.wait_for_url(url + new)
    for own in ("#stride", "?lang=en", "zh-Hant.html"):
        page.goto("about:blank")
        page.goto(url + own)
        page.locator("convviz-board [data-cell]").first.wait_for(state="attached")
        assert page.url == url + own
    assert page.outside == []


def test_from_a_disk_the_sections_keep_their_pictures(page, tmp_path):
    write_site(tmp_path)
    page.goto((tmp_path / "index.html").as_uri())
    assert page.locator("#stride .still svg").is_visible()
    assert not page.locator(".pin").is_visible()
