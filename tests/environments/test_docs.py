"""The documentation as `make docs` builds it: each page answers, its boards live, and nobody else is asked."""

import functools
import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from convviz.export.site import app_of
from convviz.facts import facts
from convviz.facts.i18n.current_language import ENGLISH, languages, use_locale
from convviz.facts.words import sentences
from convviz.lessons import lesson, names
from tests.browser.app_page import fresh_page, repaint
from tests.browser.axe import assert_accessible
from tests.browser.serve_folder import serve_folder
from tests.browser.server import ROOT

pytestmark = pytest.mark.browser

MAX_BYTES = 1_200_000  # of a page with all that it loads, as a host sends it that packs text
FRAME = "figure.live iframe"
OTHERS = [tag for tag in languages() if (ROOT / "docs" / tag / "index.md").is_file()]  # the languages with pages
PACKED = (".bin", ".png")
FRAMES = re.compile(r'<iframe src="([^"#]+)')
LIVE = re.compile(r"/live/convviz/([a-z]+)-[0-9a-f]{16}\.(js|css|bin)$")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", "doctrees", ROOT / "docs", "html"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def url(built):
    with serve_folder(built) as address:
        yield address


@pytest.fixture(scope="module")
def reader(browser, url):
    """One reader for all tests, who asks nobody else and hears no complaint."""
    with fresh_page(browser, plotly=True) as page:
        page.answers, complaints = {}, []
        page.on("response", lambda answer: page.answers.update({answer.url.split("#")[0]: answer.status}))
        page.on("console", lambda message: message.type in ("error", "warning") and complaints.append(message.text))
        yield page
        assert [*page.outside, *complaints, *map(str, page.page_errors)] == []
        assert {status for each, status in page.answers.items() if each.startswith("http")} <= {200, 304}


def pages(built):
    found = (path.relative_to(built).as_posix() for path in built.rglob("*.html"))
    return sorted(name for name in found if not name.startswith("live/"))


def frame(page, drawn=".cv-board[data-painted] .cv-plot .hm image"):
    """Return the first board of the page, once it is drawn: by default in colour."""
    page.frame_locator(FRAME).first.locator(drawn).first.wait_for(state="attached")
    return page.locator(FRAME).first.element_handle().content_frame()


def test_each_page_has_its_language_and_each_board_lives(reader, url, built):
    """Boards differ in their address alone: of the lessons one is opened, and the others name a file that is there.

    Of the pages without a board, which are files and whose links the build checks, two are opened.
    """
    texts = {name: (built / name).read_text("utf-8") for name in pages(built)}
    sources = {name: FRAMES.findall(text) for name, text in texts.items()}
    with_boards = [name for name, found in sources.items() if found]
    assert len(with_boards) == 3 + len(OTHERS) + (1 + len(OTHERS)) * len(names())
    for name in with_boards:
        for source in sources[name]:
            assert (built / name).parent.joinpath(source.partition("?")[0]).resolve().is_file(), (name, source)
    for name, text in texts.items():
        assert re.search(r'<html[^>]* lang="([^"]+)"', text)[1] == language_of(name), name
    opened = [name for name in with_boards if "lessons/" not in name]
    for name in (*opened, f"lessons/{names()[0]}.html", "reference.html", "library.html"):
        reader.answers.clear()
        assert reader.goto(url + name).status == 200
        if sources[name]:
            assert frame(reader, ".cv-board[data-painted]").locator("html").get_attribute("lang") == language_of(name)
        assert loaded(built, url, reader.answers) <= MAX_BYTES, name
    assert {f"{tag}/lessons/{name}.html" for tag in OTHERS for name in names()} <= set(pages(built))


def language_of(page):
    return page.split("/")[0] if page.split("/")[0] in OTHERS else ENGLISH


def loaded(built, url, answers):
    """Return how many bytes files have, text packed."""
    files = {each.removeprefix(url).split("?")[0] for each in answers if each.startswith(url)}
    return sum(size(built / name) for name in files)


@functools.cache
def size(path):
    content = path.read_bytes()
    return len(content if path.suffix in PACKED else gzip.compress(content, 6))


def test_each_card_of_the_mistakes_shows_its_own_and_opens_it(reader, url):
    reader.goto(f"{url}mistakes.html")
    cards = reader.locator(".mistakes section").evaluate_all(
        """(cards) => cards.map((card) => [card.querySelector("h4").id, card.querySelectorAll(".off").length,
          card.querySelector("svg") !== null, card.querySelector("a[href^='live/']")?.href.split("&tab=")[1]])"""
    )
    in_the_tab = facts("settings")["fields"]["mistake"]["words"][1:]
    assert {id for id, *_ in cards} == {one["id"] for one in facts("mistakes")}
    assert [id for id, *_, tab in cards if tab] == [id for id, *_ in cards if id in in_the_tab]
    assert all(tab in (None, f"mistakes&mistake={id}") for id, *_, tab in cards), cards
    drawn = [id for id, off, is_drawn, _ in cards if is_drawn and off]
    assert drawn == [id for id, _, is_drawn, _ in cards if is_drawn], "a picture in which nothing is wrong"
    assert len(drawn) > 30
    reader.locator(".mistakes section:has(#I22) a[href^='live/']").click()
    chosen = reader.locator(".cv-pane-mistakes .cv-mistake[aria-pressed=true]")
    chosen.wait_for()
    assert chosen.get_attribute("data-mistake") == "I22"
    assert chosen.evaluate(
        "(at) => { const [box, own] = [at.parentElement, at].map((el) => el.getBoundingClientRect());"
        " return own.top >= box.top - 1 && own.bottom <= box.bottom + 1; }"
    ), "in sight in its list"
    reader.locator(".cv-pane-mistakes .cv-verdict[data-kind=wrong]").wait_for()


def test_script_and_plotly_are_files_of_the_whole_site(built):
    """So a browser keeps them from one page to the next: each page of a language names the same ones."""
    frames = {name: FRAMES.findall((built / name).read_text("utf-8")) for name in pages(built)}
    addresses = {os.path.normpath(f"{Path(name).parent}/{src}") for name, all_of in frames.items() for src in all_of}
    assert addresses == {f"live/{app_of(tag)}?lang={tag}" for tag in (ENGLISH, *OTHERS)}
    kinds = [LIVE.search(f"/{path.relative_to(built).as_posix()}") for path in built.glob("live/convviz/*")]
    assert sorted(kind[1] for kind in kinds if kind and kind[1] == "plotly") == ["plotly"]


def test_the_first_board_moves_with_its_slider_and_follows_the_theme(reader, url):
    reader.goto(f"{url}index.html")
    board = frame(reader)
    stride = board.get_by_role("slider", name="stride", exact=True)
    assert board.locator("[data-panel=grad_output] [data-cell]").count() == 2 * 9
    with repaint(board):
        stride.press("ArrowRight")
    assert board.locator("[data-equation=input] [data-panel=grad_output] [data-cell]").count() == 4
    reader.emulate_media(color_scheme="dark")
    board.locator(".cv-board[data-theme=dark]").wait_for()
    reader.evaluate("document.body.dataset.theme = 'light'")
    board.locator(".cv-board[data-theme=light]").wait_for()
    reader.emulate_media(color_scheme="light")
    reader.evaluate("document.body.dataset.theme = 'auto'")


def test_the_search_finds_without_a_network(reader, url):
    for wanted, page in (("conv2d_weight", "reference.html"), ("反向傳播", "glossary.html")):
        reader.goto(f"{url}index.html")
        reader.get_by_role("textbox", name="Search").fill(wanted)
        reader.keyboard.press("Enter")
        reader.locator(f'#search-results .search a[href^="{page}"]').first.wait_for()


def test_nothing_is_out_of_reach(reader, url):
    for name, scheme in (("index.html", "light"), ("library.html", "dark")):
        reader.goto(url + name)
        reader.emulate_media(color_scheme=scheme)
        assert_accessible(reader, f"{name}, {scheme}", "body > :not(.page)", ".sidebar-drawer", ".main")
    reader.emulate_media(color_scheme="light")


def test_who_reads_chinese_alone_gets_from_the_first_page_to_a_right_answer(reader, url):
    tag = OTHERS[-1]
    third = names()[2]
    with use_locale(tag):
        title, say = sentences("lesson_titles")(f"{third}.title"), sentences("lesson_player")
        next_step, act, check, right = say("next"), say("act"), say("question.check"), say("answer.right")
        answer = say("question.label")
    reader.goto(f"{url}index.html")
    reader.get_by_role("main").locator(f'a[href="{tag}/index.html"]').click()
    reader.get_by_role("main").get_by_role("link", name=title, exact=True).first.click()
    board = frame(reader)
    steps = lesson(third)["steps"]
    for number, step in enumerate(steps):
        for _ in step.get("do", []):
            board.get_by_role("button", name=act, exact=True).click()
        if number < len(steps) - 1:
            board.get_by_role("button", name=next_step, exact=True).click()
    board.get_by_label(answer).fill(str(steps[-1]["question"]["answer"]))
    board.get_by_role("button", name=check, exact=True).click()
    assert board.locator(".cv-lesson-feedback").last.text_content().startswith(right)
