"""The page in other languages: which one a visitor gets, the menu that changes it, and what a person reads there."""

import contextlib
import http.client
import urllib.parse

import nbformat
import pytest

from convviz.export.page import export_html
from convviz.facts.i18n.current_language import languages, use_locale
from convviz.facts.words import sentences
from convviz.lessons import lesson
from tests.browser.app_page import (
    APPEARS_WITHIN_MS,
    fresh_page,
    open_tab,
    press_tab,
    repaint,
    slide,
    slider_value,
    wait_painted,
)
from tests.browser.axe import assert_accessible
from tests.browser.server import voila_server, wait_until
from tests.browser.test_pseudo_language import misfits
from tests.browser.test_site import url  # noqa: F401  (a fixture)

say, player = sentences("language"), sentences("lesson_player")
OTHERS = languages()[1:]
NAME = "why_rotated"
# Words of a lesson's card that begin like English ones; names of tensors have an underscore, or stand for themselves.
ENGLISH = """() => (document.querySelector(".cv-lesson").innerText.match(/\\b[A-Za-z]{3,}\\b(?!_)/g) ?? [])
  .filter((word) => !/^(input|output|weight|stride|padding|padded|grad|kernel|Enter)$/.test(word))"""


def tongue(page):
    return page.evaluate("[document.documentElement.lang, document.querySelector('.cv-app').lang].join()")


def choose(page, name):
    """Take a language from the menu, and wait for its page."""
    page.locator(".cv-languages summary").click()
    with page.expect_navigation():
        page.locator(".cv-languages a", has_text=name).click()
    wait_painted(page)


def with_words(tag, part, id, **values):
    with use_locale(tag):
        return sentences(part)(id, **values)


# -- which one


def asked(server, query="", header=None):
    """Return the language of the page that the server answers with, and what caches are sent."""
    where = urllib.parse.urlsplit(server.url)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=30)
    connection.request("GET", where.path + query, headers={"Accept-Language": header} if header else {})
    answer = connection.getresponse()
    page = answer.read().decode()
    connection.close()
    return page.partition('<html lang="')[2].partition('"')[0], answer.headers["Vary"]


def test_the_address_comes_before_the_browser(server):
    for query, header, tag in (
        ("", None, "en"),
        ("", "zh-TW,zh;q=0.9,en;q=0.8", "zh-Hant"),
        ("?v=2&size=8", "de,zh;q=0.9", "zh-Hans"),
        ("?lang=zh-TW", "en", "zh-Hant"),
        ("?v=2&size=8&lang=en", "zh-CN", "en"),
        ("?lang=xx", "zh-CN", "en"),
        ("?lang=%ff", "zh-CN", "en"),
        ("?lang=en&v=2&lang=zh_TW", None, "zh-Hant"),
        ("?lang=%22%3E%3Ci%3E", "zh-CN", "en"),
        ("?lang=" + "z" * 999, None, "en"),
    ):
        assert asked(server, query, header) == (tag, "Accept-Language, Accept-Encoding"), (query, header)


# -- the menu


def test_another_language_keeps_settings_and_undo_and_the_kernel_speaks_it(browser, server):
    with fresh_page(browser, locale="zh-TW") as page:
        page.goto(f"{server.url}?v=2&size=7", wait_until="commit", timeout=APPEARS_WITHIN_MS)
        wait_painted(page, 0, APPEARS_WITHIN_MS)
        assert tongue(page) == "zh-Hant,zh-Hant"
        slide(page, "stride", 2)
        choose(page, "简体中文")
        assert page.url == f"{server.url}?v=2&size=7&lang=zh-Hans"
        assert tongue(page) == "zh-Hans,zh-Hans"
        assert slider_value(page, "stride") == 2
        page.locator(".cv-board[data-from=torch]").wait_for(timeout=APPEARS_WITHIN_MS)
        with repaint(page):
            page.get_by_role("button", name=with_words("zh-Hans", "board", "undo"), exact=True).click()
        assert slider_value(page, "stride") == 1
        open_tab(page, "pytorch")
        assert with_words("zh-Hans", "features/pytorch", "machine.threads", function="torch.get_num_threads") in (
            page.locator(".cv-pane-pytorch").text_content()
        ), "a sentence that the kernel makes"
        slide(page, "stride", 3)
        page.reload(wait_until="commit", timeout=APPEARS_WITHIN_MS)
        wait_painted(page, 0, APPEARS_WITHIN_MS)
        assert slider_value(page, "stride") == 1, "a reload leads to where the address does"
        assert tongue(page) == "zh-Hans,zh-Hans"
        assert page.outside == []


def test_a_lesson_goes_on_at_its_step_and_those_that_are_done_stay_so(page, url):  # noqa: F811
    page.goto(f"{url}#lesson={NAME}&step=3&done=linear")
    wait_painted(page)
    choose(page, "繁體中文")
    of = len(lesson(NAME)["steps"])
    page.locator(".cv-lesson-count", has_text=with_words("zh-Hant", "lesson_player", "count", at=3, of=of)).wait_for()
    page.locator(".cv-lesson-close").click()
    choose(page, "English")
    assert page.locator(".cv-lesson-count").is_hidden(), "it was left, whatever the address says"
    assert page.locator(".cv-path-done").first.text_content() == f" ✓ {player('list.done')}"
    page.locator(".cv-languages summary").press("Enter")
    assert page.locator(".cv-languages a[aria-current]").text_content() == "English"
    assert_accessible(page, "the menu of languages", ".cv-languages", ".cv-heading")  # it lies over sliders
    page.keyboard.press("Escape")
    assert not page.locator(".cv-languages a").first.is_visible()
    assert page.evaluate("document.activeElement.localName") == "summary"


def test_a_site_goes_to_the_browser_s_language_unless_one_is_chosen(browser, url):  # noqa: F811
    with fresh_page(browser, locale="zh-HK") as page:
        for where, tag, reported in (
            ("index.html#v=2&size=6", "zh-Hant", False),
            ("app-zh-Hans.html", "zh-Hans", False),
            ("app.html?lang=zh-Hant&v=2&lang=en", "en", False),
            ("app.html?lang=en&lang=zh_TW", "zh-Hant", False),
            ("app.html?lang=%ff", "en", True),
            ("app.html?lang=xx", "en", True),
        ):
            page.goto(url + where)
            page.locator(f"html[lang={tag}] .cv-board[data-painted]").wait_for()
            assert where != "index.html#v=2&size=6" or slider_value(page, "input_size") == 6
            assert bool(page.locator(".cv-notice").text_content()) == reported, where
        known = "en (English), zh-Hans (简体中文), zh-Hant (繁體中文)"
        assert page.locator(".cv-notice").text_content() == say("unknown", got="'xx'", known=known)


def test_apps_of_a_notebook_speak_as_they_were_set_else_as_the_browser_and_their_menu_wins(browser, tmp_path):
    cells = ["import convviz", "convviz.App(lang='zh-TW')", "convviz.lesson('stride')", "convviz.App(lang='xx')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(notebook, tmp_path / "several.ipynb")
    with (
        voila_server(tmp_path / "several.ipynb", arguments=["--template=convviz"]) as server,
        fresh_page(browser, locale="zh-CN") as page,
    ):
        page.goto(server.url, wait_until="commit", timeout=APPEARS_WITHIN_MS)
        page.locator(".cv-board[data-from=torch]").nth(2).wait_for(timeout=APPEARS_WITHIN_MS)
        apps = page.locator(".cv-app.cv-full")
        assert [apps.nth(at).get_attribute("lang") for at in range(3)] == ["zh-Hant", "zh-Hans", "en"]
        undo = [apps.nth(at).locator(".cv-tools button").first.get_attribute("aria-label") for at in range(3)]
        assert undo == [with_words(tag, "board", "undo") for tag in ("zh-Hant", "zh-Hans", "en")]
        known = "en (English), zh-Hans (简体中文), zh-Hant (繁體中文)"
        assert apps.nth(2).locator(".cv-notice").text_content() == say("unknown", got="'xx'", known=known)
        press_tab(apps.first, "pytorch")
        words = with_words("zh-Hant", "features/pytorch", "machine.threads", function="torch.get_num_threads")
        apps.first.locator(".cv-pane-pytorch", has_text=words).wait_for(timeout=APPEARS_WITHIN_MS)

        of = len(lesson("stride")["steps"])
        apps.nth(1).locator(".cv-lesson-next").click()
        stride = apps.first.locator(".cv-set-stride input").first
        before = stride.input_value()
        stride.press("ArrowRight")
        there = stride.input_value()
        for app in (apps.nth(1), apps.first):
            app.locator(".cv-languages summary").click()
            app.locator(".cv-languages button", has_text="English").click()
            app.and_(page.locator("[lang=en]")).wait_for(timeout=APPEARS_WITHIN_MS)
            assert page.evaluate("document.activeElement.textContent") == "English", "the menu that was used"
        apps.nth(1).locator(".cv-lesson-count", has_text=player("count", at=2, of=of)).wait_for()
        assert stride.input_value() == there
        apps.first.get_by_role("button", name=with_words("en", "board", "undo"), exact=True).click()
        assert stride.input_value() == before
        assert page.outside == []


# -- what is read


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("languages")
    return {tag: export_html(None, folder / f"{tag}.html", lang=tag) for tag in OTHERS}


def test_the_lesson_is_played_to_its_end_by_who_reads_only_this(opened, exported):
    tag = OTHERS[0]  # in the other one test_docs.py plays a lesson
    page = opened(path=exported[tag])
    page.locator(".cv-lesson-start").click()
    for number, step in enumerate(lesson(NAME)["steps"], 1):
        count = with_words(tag, "lesson_player", "count", at=number, of=len(lesson(NAME)["steps"]))
        page.locator(".cv-lesson-count", has_text=count).wait_for()
        for done in range(1, len(step.get("do", [])) + 1):
            page.get_by_role("button", name=with_words(tag, "lesson_player", "act"), exact=True).click()
            page.locator(".cv-lesson-done").nth(done - 1).wait_for(state="attached", timeout=20_000)
        if question := step.get("question"):
            answer = page.get_by_label(with_words(tag, "lesson_player", "question.label"))
            answer.fill("1000")
            answer.press("Enter")
            assert page.locator("[data-state=wrong]").count() == 1
            answer.fill(str(question["answer"]))
            answer.press("Enter")
            assert page.locator("[data-state=right]").count() == 1
        english = page.evaluate(ENGLISH)
        assert english == [], (number, english)
        page.locator(".cv-lesson-next").click()
    assert page.locator(".cv-lesson-gone li").count() == len(lesson(NAME)["end"]["words"])


@pytest.mark.parametrize("tag", OTHERS)
def test_every_label_has_its_room_on_a_narrow_phone(opened, exported, tag):
    page = opened(f"lesson={NAME}&step=2", (360, 780), exported[tag])
    for close in (False, True):
        if close:
            page.locator(".cv-lesson-close").click()
        with contextlib.suppress(AssertionError):  # reported below, by name
            wait_until(lambda: misfits(page) == [], 10)  # the bands take their new room in the next frames
        assert misfits(page) == []
