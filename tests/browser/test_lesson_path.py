"""All lessons as a visitor plays them, from the first step to the last, and the list that leads on."""

import contextlib
import re

import pytest
from playwright.sync_api import TimeoutError as TooSlow

from convviz.export.page import export_html
from convviz.export.page_assets import SHOWN, to_json
from convviz.facts import facts
from convviz.facts.features import FEATURES
from convviz.facts.words import sentences
from convviz.lessons import lesson, lesson_bundle, names
from tests.browser.app_page import fresh_page, press_tab, repaint, slide, slider_value, wait_painted
from tests.browser.axe import assert_accessible
from tests.browser.test_site import url  # noqa: F401  (a fixture)

say = sentences("lesson_player")
TITLES = {id.removesuffix(".title"): title for id, title in facts("words/lesson_titles").items()}
LAST = names()[-1]


@pytest.fixture(scope="module")
def all_of_them(tmp_path_factory):
    """A page that carries every lesson, as the served page and the app have them."""
    path = export_html(None, tmp_path_factory.mktemp("path") / "page.html", controls=("kernel", "geometry", "channels"))
    page, none = path.read_text(encoding="utf-8"), '"lessons":{}'
    assert page.count(none) == 1
    path.write_text(
        page.replace(none, f'"lessons":{to_json({name: lesson_bundle(name) for name in names()})}'), encoding="utf-8"
    )
    return path


KEPT = "navigator.clipboard.writeText = (text) => { window.taken = text; return Promise.resolve(); }"


def at_step(page, name, number):
    count = say("count", at=number, of=len(lesson(name)["steps"]))
    page.wait_for_function("(count) => document.querySelector('.cv-lesson-count').textContent === count", arg=count)


def do(page, done, task):
    """Have a task done: a walk by a click for each place, what is chosen in a tab once the tab is there."""
    count = "document.querySelectorAll('.cv-lesson-done').length"
    if "choose" in task:
        page.wait_for_function(
            f"(done) => {count} >= done || document.querySelector('.cv-slot [data-wanted]')", arg=done
        )
    for _ in range(task.get("walk", {"places": 1})["places"]):
        with contextlib.suppress(TooSlow):  # a walk goes on by itself: the button may be gone meanwhile
            if page.evaluate(count) < done:
                page.locator(".cv-lesson-act").click(timeout=5_000)
    page.wait_for_function(f"(done) => {count} >= done", arg=done)


def play(page, name, go_on, tabs=()):
    """Play a lesson to its end; every task is done by its button, every answer typed; tabs are those of the page."""
    for number, step in enumerate(lesson(name)["steps"], 1):
        at_step(page, name, number)
        here = step.get("tab", "") in ("", *tabs)
        shown = [FEATURES[step["tab"]]["label"]] if here and "tab" in step else []
        assert page.locator(".cv-tab[data-tab][aria-selected=true]").all_text_contents() == shown, (name, number)
        assert bool(page.locator(".cv-lesson-text > .cv-muted").text_content()) == (not here), (name, number)
        tasks = [task for task in step.get("do", []) if here or "choose" not in task]
        for done, task in enumerate(tasks, 1):
            do(page, done, task)
        assert page.locator(".cv-lesson-done").count() == len(tasks)
        assert all(page.locator(".cv-lesson-done p:last-child").all_text_contents())
        if question := step.get("question"):
            answer = page.get_by_label("Your answer")
            answer.fill(str(question["answer"]))
            answer.press("Enter")
            assert page.locator(".cv-lesson-feedback").text_content().startswith("Right! "), (name, number)
        assert page.locator(".cv-lesson").first.get_attribute("data-complete") == "", (name, number)
        assert page.locator(".cv-notice").text_content() == "", (name, number)
        go_on(page)
    gone = page.locator(".cv-lesson-gone")
    assert gone.locator("li").count() == len(lesson(name)["end"]["words"])
    typed = f'import convviz\nconvviz.check(yours, "{lesson(name)["end"]["exercise"]}")'
    assert gone.locator("code").text_content() == typed


def by_pointer(page):
    page.locator(".cv-lesson-next").click()


def by_key(page):
    page.locator(".cv-lesson h3").first.focus()
    page.keyboard.press("n")


def test_a_lesson_is_played_to_its_end_and_leads_to_the_next(browser, url):  # noqa: F811
    """Some that have each kind of task, and the last one; tests/js/lesson_player.test.mjs plays them all."""
    played, started, came = {"weight": by_pointer, "function": by_key, LAST: by_pointer}, [], []
    with fresh_page(browser, viewport={"width": 1366, "height": 768}) as page:
        page.on("request", lambda request: came.extend(re.findall(r"/lesson-(\w+)-", request.url)))
        page.goto(f"{url}#lesson=why_rotated")  # which the page has itself
        at_step(page, "why_rotated", 1)
        after = page.locator(".cv-lesson-after")
        for name, go_on in played.items():
            page.evaluate("(name) => { location.hash = `lesson=${name}`; }", name)
            play(page, name, go_on, SHOWN)
            started.append(name)
            if name != LAST:
                started.append(names()[names().index(name) + 1])
                assert after.text_content() == say("after", title=TITLES[started[-1]])
                after.click()
                at_step(page, started[-1], 1)
            assert came == started, "a lesson comes when it is started"
        assert not after.is_visible()
        done = [bool(text) for text in page.locator(".cv-path-done").all_text_contents()]
        assert done == [name in played for name in names()]


def test_the_list_opens_any_lesson_and_knows_what_is_done(opened, reader, all_of_them):
    reader.goto("about:blank")  # nothing else is done
    page = opened("lesson=padding&step=2&done=linear,weight,other", path=all_of_them)
    at_step(page, "padding", 2)
    page.evaluate(KEPT)
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_function("window.taken?.endsWith('#lesson=padding&step=2&done=linear,weight')")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_function("!window.taken.includes('lesson=')")
    page.locator(".cv-path summary").click()
    items = page.locator(".cv-path li")
    assert items.locator("button").all_text_contents() == list(TITLES.values())
    done = [bool(text) for text in items.locator(".cv-path-done").all_text_contents()]
    assert done == [name in ("linear", "weight") for name in names()]
    page.keyboard.press("Escape")
    assert not items.first.is_visible()
    page.locator(".cv-path summary").click()
    items.get_by_role("button", name=TITLES["stride"]).click()
    at_step(page, "stride", 1)
    assert page.evaluate("document.activeElement.tagName") == "H3"
    opened("v=2", (360, 768), path=all_of_them)
    page.locator(".cv-path summary").click()
    box = page.locator(".cv-path ol").bounding_box()
    assert 0 <= box["x"] < box["x"] + box["width"] <= 360, "it lies within the page"
    assert_accessible(page, "the list of lessons")


def test_a_link_to_a_step_carries_what_was_moved_in_it(opened, reader, all_of_them):
    reader.goto("about:blank")  # nothing is done
    page = opened("lesson=padding&step=2", path=all_of_them)
    at_step(page, "padding", 2)
    page.evaluate(KEPT)
    slide(page, "input_size", slider_value(page, "input_size") + 2)
    slide(page, "stride", 2)
    moved = {name: slider_value(page, name) for name in ("input_size", "stride", "padding", "kernel_size")}
    values = "(all) => all.map((one) => one.dataset.value)"
    numbers = page.locator("[data-panel=grad_input] [data-cell]").evaluate_all(values)
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_function("window.taken?.includes('#lesson=padding&step=2&v=')")
    link = page.evaluate("window.taken.split('#')[1]")
    reader.goto("about:blank")
    opened(link, path=all_of_them)
    at_step(page, "padding", 2)
    page.wait_for_function("document.querySelector('.cv-set-stride input').value === '2'")
    assert {name: slider_value(page, name) for name in moved} == moved
    wait_painted(page)
    shown = page.locator("[data-panel=grad_input] [data-cell]").evaluate_all(values)
    assert shown == numbers
    opened("v=2&size=7&lesson=padding&step=2", path=all_of_them)  # before the lesson: the picture it begins in
    at_step(page, "padding", 2)
    assert slider_value(page, "stride") == 1


def test_what_is_to_be_moved_is_framed_where_it_stands(opened, all_of_them):
    page = opened("lesson=dilation", path=all_of_them)
    control = page.locator(".cv-set-dilation").first  # of both axes, which are linked
    assert control.get_attribute("data-wanted") == ""
    assert control.is_visible(), "“More” is open"
    page.wait_for_function("document.querySelector('[data-wanted]').getBoundingClientRect().bottom <= innerHeight")
    with repaint(page):
        control.get_by_role("slider").first.press("ArrowRight")
    assert page.locator(".cv-lesson-done").count() == 1
    assert page.locator("[data-wanted]").count() == 0
    opened("lesson=stride", path=all_of_them)
    for _ in range(2):
        page.locator(".cv-set-stride input").first.press("ArrowRight")
    page.locator(".cv-lesson", has_text=say("astray.set", name="stride", now=3, value=2)).first.wait_for()
    for name, number, control, choice in (
        ("remainder", 4, ".cv-set-output_padding:visible input", "ArrowLeft"),
        ("bias", 2, ".cv-set-batch:visible input", "ArrowRight"),
        ("channels", 5, ".cv-set-groups select", "2"),
        ("channels", 3, '[data-equation="input"] select[aria-label*="output channel"]', "1"),
    ):
        page.evaluate("(link) => { location.hash = link; }", f"lesson={name}&step={number}")
        at_step(page, name, number)
        here = page.locator(control).first
        with repaint(page):
            here.press(choice) if choice.startswith("Arrow") else here.select_option(choice)
        assert page.locator(".cv-lesson-done").count() == 1, (name, number)


def test_bands_that_change_places_keep_the_room_that_is_theirs(opened, all_of_them):
    page = opened("lesson=transposed", path=all_of_them)  # its first step turns the convolution round on the board
    page.locator(".cv-lesson-act").click()
    by_pointer(page)
    for number, focus in ((2, "forward"), (3, "input")):
        at_step(page, "transposed", number)
        wait_painted(page)
        heights = page.locator(".cv-equation").evaluate_all(
            "(all) => Object.fromEntries(all.map((each) => [each.dataset.equation, each.clientHeight]))"
        )
        assert list(heights) == ["input", "forward", "weight"]
        assert max(heights, key=heights.get) == focus
        by_pointer(page)


def test_on_a_phone_a_step_brings_what_its_band_offers_into_sight(touched, all_of_them):
    page = touched("lesson=why_rotated&step=4", (390, 664), all_of_them)
    page.evaluate("scrollTo(0, 400)")
    views = page.locator(".cv-equation[data-focus] .cv-views")
    assert views.bounding_box()["y"] < 0
    page.locator(".cv-lesson-next").click()
    page.wait_for_function(
        "document.querySelector('.cv-equation[data-focus] .cv-views').getBoundingClientRect().top >= 0"
    )


def test_on_a_phone_the_card_is_a_sheet_at_the_lower_edge(touched, all_of_them):
    page = touched(f"lesson={names()[0]}", (390, 844), all_of_them)
    for name in names():
        page.evaluate("(name) => { location.hash = `lesson=${name}&step=1`; }", name)
        page.wait_for_function(
            "(title) => document.querySelector('.cv-lesson').ariaLabel === title",
            arg=say("panel", title=TITLES[name]),
        )
        wait_painted(page)
        card = page.locator(".cv-lesson").first.bounding_box()
        assert 830 <= card["y"] + card["height"] <= 844.5, name
        assert 339 <= card["height"] <= 0.7 * 844 + 1, f"{name}: of one height, but where a step says more"
        hidden = "(text) => text.scrollHeight - text.clientHeight"
        assert page.locator(".cv-lesson-text").first.evaluate(hidden) <= 1, f"{name}: all of it is in sight"


# -- a step that is shown in a tab


def open_tab_of(page):
    return page.evaluate("document.querySelector('.cv-tab[data-tab][aria-selected=true]')?.dataset.tab ?? ''")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The page of the lesson whose steps are shown in the tab Mistakes, which it therefore has."""
    return export_html(None, tmp_path_factory.mktemp("tabs") / "page.html", lesson="function")


def test_a_step_opens_its_tab_beside_the_card_and_the_next_one_closes_it(opened):
    page = opened("lesson=function")
    assert open_tab_of(page) == ""
    by_pointer(page)
    pane = page.locator(".cv-pane-mistakes")
    pane.wait_for()
    boxes = [each.bounding_box() for each in (page.locator(".cv-lesson").first, page.locator(".cv-slot"))]
    assert boxes[1]["x"] + boxes[1]["width"] <= boxes[0]["x"], "in the place of the upper row"
    assert page.locator('[data-equation="input"] .cv-area').first.is_visible(), "and the band that it speaks of stays"
    with repaint(page):
        page.locator(".cv-set-stride:visible").first.get_by_role("slider").first.press("ArrowRight")
    wanted = pane.locator('[data-mistake="I07"]')
    assert wanted.get_attribute("data-wanted") == ""
    assert wanted.is_visible()
    assert page.locator(".cv-lesson-count").bounding_box()["y"] > 0, "the tab is scrolled to it, not the card away"
    wanted.click()
    page.locator(".cv-lesson[data-complete]").wait_for()
    assert "[1, 1, 5, 5] instead of [1, 1, 7, 7]" in pane.locator(".cv-verdict").text_content()
    for _ in range(3):
        by_pointer(page)
    at_step(page, "function", 5)
    assert open_tab_of(page) == ""
    page.locator(".cv-lesson-close").click()
    press_tab(page, "mistakes")
    page.evaluate("void (location.hash = 'lesson=function&step=1')")
    at_step(page, "function", 1)
    assert open_tab_of(page) == "mistakes", "one that somebody has opened stays"
    page.evaluate("void (location.hash = 'lesson=stride')")
    known = say("absent", name="stride", known="why_rotated, function")
    page.locator(".cv-notice", has_text=known).wait_for()


def test_on_a_phone_the_tab_stands_above_the_card_and_steps_aside_for_the_board(touched):
    page = touched("lesson=function&step=2", (390, 844))
    pane = page.locator(".cv-pane-mistakes")
    pane.wait_for(state="attached")
    assert not pane.is_visible(), "first a slider is to be moved"
    do(page, 1, {"set": "stride=2"})
    assert pane.is_visible()
    do(page, 2, {"choose": "I07"})
    verdict = pane.locator(".cv-verdict")
    verdict.evaluate("(node) => node.scrollIntoView({ block: 'start' })")  # the page scrolls past its sheet
    assert verdict.bounding_box()["y"] < page.locator(".cv-lesson").first.bounding_box()["y"] - 20


def test_a_page_without_a_step_s_tab_says_so_and_goes_on(opened, tmp_path):
    page = opened("lesson=quantised&step=4", path=export_html(None, tmp_path / "page.html", lesson="quantised"))
    assert say("no_tab", tab=FEATURES["quantised"]["label"]) in page.locator(".cv-lesson-text").text_content()
    assert not page.locator(".cv-lesson-act").is_visible(), "what is to be chosen there is not asked for"
    assert page.locator(".cv-lesson").first.get_attribute("data-complete") == ""


def test_a_page_of_the_race_s_lesson_has_the_recorded_race(opened, tmp_path):
    page = opened("lesson=race", path=export_html(None, tmp_path / "page.html", lesson="race"))
    theirs = page.locator('.cv-slot [data-part="table"] .cv-theirs')
    theirs.first.wait_for()
    assert theirs.count() == 2
    page.wait_for_function(
        """() => {
          const boxOf = (each) => document.querySelector(each).getBoundingClientRect();
          const [slot, row] = [boxOf(".cv-slot"), boxOf(".cv-theirs:last-child")];
          return slot.top <= row.top && row.bottom <= slot.bottom;
        }"""
    )
