"""The site on a plain static server, below a path of somebody's course: it lives, and asks for its own files alone."""

import re

import pytest

from convviz.export.live_page import FOLDER
from convviz.export.page_assets import SHOWN
from convviz.export.site import INDEX, app_of, site_files, write_site
from convviz.facts.features import FEATURES
from convviz.facts.words import sentences
from convviz.lessons import lesson
from tests.browser.app_page import press_tab, slide, wait_painted
from tests.browser.axe import assert_accessible
from tests.browser.serve_folder import Quiet, serve_folder
from tests.browser.server import ROOT, wait_until

APP = app_of("en")
say, say_board, say_lesson = sentences("picture"), sentences("board"), sentences("lesson_player")
say_served = sentences("live_page")
BELOW = "course/week 3"
CHAPTER = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
(POLICY,) = re.findall(r"^ +(default-src .+)$", CHAPTER, re.MULTILINE)


class Strict(Quiet):
    """A host with the policy that the documentation names; any frame may load its files, as behind our proxies."""

    def end_headers(self):
        self.send_header("Content-Security-Policy", POLICY)
        if f"/{FOLDER}" in self.path:
            self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    root = tmp_path_factory.mktemp("host")
    write_site(root / BELOW)
    with serve_folder(root, Strict) as address:
        yield f"{address}{BELOW.replace(' ', '%20')}/"


@pytest.fixture
def site(page, url):
    """A page that will have asked for files of the site alone, each of which is there, and has reported no error."""
    complaints, asked, sockets = [], [], []
    page.on("console", lambda message: message.type in ("error", "warning") and complaints.append(message.text))
    page.on("request", lambda request: request.url.startswith("http") and asked.append(request))
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.asked = asked
    yield page
    known = {url, *(url + name for name in site_files() if name != INDEX)}
    assert {request.url.split("#")[0] for request in asked} - known == set()
    answers = filter(None, (request.response() for request in asked))  # waits for those that are still on their way
    assert {answer.status for answer in answers} <= {200, 304}
    assert [*page.outside, *sockets, *complaints] == []


def shape(page, panel):
    return page.locator(f"[data-panel={panel}] .cv-shape").first.text_content()


def cells(page, panel):
    return page.locator(f"[data-panel={panel}] [data-cell]").evaluate_all("(all) => all.map((c) => c.dataset.value)")


@pytest.mark.plotly
def test_a_slider_moves_the_numbers_and_no_kernel_is_promised(site, url):
    site.goto(f"{url}#v=1")
    wait_painted(site)
    assert shape(site, "output") == "[1, 1, 4, 4]"
    before = cells(site, "grad_weight")
    slide(site, "stride", 3)
    assert shape(site, "output") == "[1, 1, 3, 3]"
    assert cells(site, "grad_weight") != before
    site.locator(".cv-board .cv-plot .hm image").first.wait_for(state="attached")
    assert site.locator(".cv-truth").text_content() == say("truth.page")
    assert site.locator(".cv-set-device, .cv-set-dtype, .cv-upload").count() == 0
    named = site.locator(".cv-tab").evaluate_all("(tabs) => tabs.map((tab) => tab.dataset.tab)")
    entries = [FEATURES[tab]["entry"] for tab in SHOWN]
    alone = [tab for tab in SHOWN if entries.count(FEATURES[tab]["entry"]) == 1]
    assert sorted(filter(None, named)) == sorted(alone), "others are parts of an entry"
    assert site.locator("#convviz-lost, [data-convviz-torch]").count() == 0
    assert_accessible(site, "the page on a static host")


def test_in_a_sandboxed_frame_it_lives_on_the_pages_own_numbers(site, url):
    site.set_content(f'<iframe sandbox="allow-scripts" width="1200" height="700" src="{url}#v=1"></iframe>')
    (_, inside) = site.frames
    # Asked again and again: the policy forbids the script by which Playwright would wait within this frame.
    truth = inside.locator(".cv-truth")
    wait_until(lambda: truth.all_text_contents() == [say("truth.page")], what="the board has numbers")
    assert inside.locator(".cv-late").count() == 0


def test_from_a_file_a_sentence_says_why_nothing_moves(page, tmp_path):
    write_site(tmp_path)
    page.goto((tmp_path / APP).as_uri())
    late = page.locator(".cv-late")
    late.wait_for(state="attached")
    assert not late.is_visible(), "whoever only waits for the script does not see it"
    page.evaluate("document.getAnimations().forEach((each) => each.finish())")
    late.wait_for()
    assert late.text_content() == say_served("late").replace("`", "")


def test_each_tab_opens_with_a_file_of_its_own(site, url):
    site.goto(url + APP)
    wait_painted(site)
    places = {"mistakes": ".cv-verdict", "network": ".cv-network-maps", "race": ".cv-race-recorded code"}
    places |= {"pasted": ".cv-pasted-field", "pooling": "[data-cell]"}
    for tab, shown in places.items():
        assert not any(f"/tab-{tab}-" in request.url for request in site.asked)
        press_tab(site, tab)
        site.locator(f".cv-pane-{tab} {shown}").first.wait_for()
        assert sum(f"/tab-{tab}-" in request.url for request in site.asked) == 1
        assert set(site.locator(".cv-pane-failure[role=alert]").all_text_contents()) == {""}


def test_an_address_opens_its_picture_its_tab_and_its_lesson(site, url):
    site.context.grant_permissions(["clipboard-read", "clipboard-write"])
    site.goto(f"{url}#v=2&size=9&stride=3&tab=graph")
    wait_painted(site)
    assert shape(site, "padded_input") == "[1, 1, 9, 9]"
    assert site.locator(".cv-pane").count() == 0, "a tab that needs torch is not opened"
    assert not any("/tab-" in request.url for request in site.asked)
    site.get_by_role("button", name=say_board("copy.link")).click()
    site.locator(".cv-notice", has_text=say_board("copy.address")).wait_for()
    copied = site.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"{url}{APP}#v=2&"), "an address that every host and its caches know"
    assert "size=9&stride=3" in copied
    site.goto("about:blank")
    site.goto(f"{url}#v=2&size=9&stride=3&tab=mistakes")
    site.locator(".cv-pane-mistakes .cv-verdict").wait_for()
    assert site.locator(".cv-set-stride input").first.input_value() == "3"
    site.goto(f"{url}#lesson=why_rotated&step=3")
    steps = len(lesson("why_rotated")["steps"])
    site.locator(".cv-lesson-count", has_text=say_lesson("count", at=3, of=steps)).wait_for()
