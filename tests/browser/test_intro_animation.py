"""The arrival: it plays once a visitor, shows true numbers, ends in each way and leaves nothing behind."""

import contextlib
import re

import pytest
import torch
import torch.nn.functional as F

from convviz.export.page import export_html
from tests.browser.app_page import assert_page_equals_autograd, fresh_page, read_panel, repaint, wait_painted

PLAYS = "[data-arriving]"
LAPTOP, PHONE = {"width": 1366, "height": 768}, {"width": 390, "height": 844}
LOW_PHONE = {"width": 375, "height": 667}
KERNEL = torch.arange(1.0, 10).reshape(1, 1, 3, 3)
BECAUSE = re.compile(
    r"As the 1 moves, the ringed pixel \[2,2\] receives 9, 8 … 1: the kernel backwards"
    r"(, because later windows meet it with earlier weights)?\. So the kernel that slides is rotated\."
)

# By then the band was seen to be in sight and at rest, or was not.
SETTLED = """new Promise((done) => {
  const wait = (frames) => (frames ? requestAnimationFrame(() => wait(frames - 1)) : setTimeout(done));
  wait(8);
})"""
# What the arrival moves stands still until it is finished by hand: no test depends on how fast a machine is.
HELD = """const { animate } = Element.prototype;
Element.prototype.animate = function (...given) {
  const motion = animate.apply(this, given);
  if (this.closest(".cv-arrival") || this.matches(".cv-plate")) motion.pause();
  return motion;
};"""
# The visitor is new again; how many things were kept of them.
FORGET = """() => {
  const { length } = localStorage;
  localStorage.clear();
  return length;
}"""
# What is there for a moment, or says that it is.
LEFT = """() => [...document.querySelectorAll(
  ".cv-plate, .cv-arrival, .cv-float, .cv-second, [data-arriving]"
)].map((node) => node.getAttribute("class") ?? node.tagName)"""
# The bands as they are at rest, but for the because, which stays.
BANDS = """() => {
  const copy = document.querySelector(".cv-equations").cloneNode(true);
  copy.querySelector(".cv-arrived")?.remove();
  for (const node of copy.querySelectorAll("[data-arrived]")) node.removeAttribute("data-arrived");
  for (const node of copy.querySelectorAll(".cv-plot, canvas")) node.remove(); // what plotly draws, and when
  return copy.innerHTML;
}"""
# At each motion, until none is left: the numbers of the plates, and of the tray, as they stand there; then on to the
# next motion, which begins once the one before it is over, or is the end.
WALK = """async () => {
  const texts = (parent) => [...document.querySelectorAll(`${parent} .cv-plate text`)].map((text) => text.textContent);
  const band = "[data-equation=input]";
  const held = () => document.getAnimations().filter(({ playState }) => playState === "paused");
  const plays = () => document.querySelector("[data-arriving]") !== null;
  const frame = () => new Promise(requestAnimationFrame);
  const seen = [];
  while (plays()) {
    const motions = held();
    if (motions.length) {
      seen.push({
        sent: texts(`${band} [data-panel=grad_output]`),
        landed: texts(`${band} [data-panel=grad_input]`),
        tray: texts(".cv-float:not(.cv-stamp)"),
      });
      for (const motion of motions) motion.finish();
    }
    await frame();
  }
  await frame();
  return seen;
}"""


@pytest.fixture(scope="module")
def exported(exported):
    return exported.as_uri()


@contextlib.contextmanager
def visit(browser, **options):
    """Yield a page in which the arrival stands still."""
    with fresh_page(browser, **{"reduced_motion": "no-preference"} | options) as page:
        page.add_init_script(HELD)
        yield page


def go(page, url):
    page.goto("about:blank")  # with another hash alone it would be the same page
    page.goto(url)
    wait_painted(page, 0)
    page.evaluate(SETTLED)


def plays(page):
    return page.locator(PLAYS).count() == 1


def said(page):
    return page.locator(".cv-arrived").inner_text()


def watch(page):
    """Watch it again; it stands at its first motion."""
    page.locator(".cv-watch").click()
    page.locator(PLAYS).wait_for()


def walk(page):
    """Hurry through all of it; return what was seen at each motion."""
    return page.evaluate(WALK)


def numbers(texts):
    return [float(text.replace("\N{MINUS SIGN}", "-")) if text else None for text in texts]


def test_a_first_visit_sees_what_one_pixel_receives_and_a_second_does_not(browser, exported):
    with visit(browser, has_arrived=False, viewport=LAPTOP) as page:
        go(page, exported)
        assert plays(page), "it begins where nothing was touched"
        link = page.evaluate("location.href")
        heard = page.locator("[data-equation=input]").aria_snapshot()
        assert "rotated_weight" in heard
        assert "what pixel" not in heard, "it is seen alone"
        assert said(page) == ""
        seen = walk(page)

        for index in range(9):
            sent = torch.zeros(9)
            sent[index] = 1
            landed = F.conv_transpose2d(sent.reshape(1, 1, 3, 3), KERNEL).flatten().tolist()
            tray = [9.0 - place if place < index else None for place in range(9)]
            flies, falls = seen[1 + 2 * index], seen[2 + 2 * index]
            about = f"the 1 at place {index}"
            assert numbers(flies["sent"]) == numbers(falls["sent"]) == sent.tolist(), about
            assert numbers(flies["landed"]) == [0.0] * 25, f"{about}, its stamp on its way"
            assert numbers(falls["landed"]) == landed, f"{about}, its stamp landed"
            assert numbers(falls["tray"]) == tray, f"{about}, before its number has fallen"
            assert landed[12] == 9 - index, about
        assert numbers(seen[19]["tray"]) == [9, 8, 7, 6, 5, 4, 3, 2, 1]
        assert len(seen) == 20, "then the tray goes, and that is all"

        assert BECAUSE.fullmatch(said(page)), said(page)
        assert page.evaluate(LEFT) == []
        assert read_panel(page, "grad_output").flatten().tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0]
        assert page.get_by_role("button", name="Undo").get_attribute("aria-disabled") == "true"
        assert page.evaluate("location.href") == link

        tools = page.locator("[data-equation=input] .cv-head").locator(".cv-break-open, .cv-why").filter(visible=True)
        for size in (LAPTOP, {"width": 1280, "height": 720}):
            page.set_viewport_size(size)
            assert tools.count() == 3, "what one asks next is in sight beside its sentence"
            whole = "(said) => said.scrollHeight <= said.clientHeight"
            assert page.locator(".cv-arrived").evaluate(whole), "which is whole"
        with repaint(page):
            page.locator(".cv-set-padding input[type=range]").first.press("ArrowRight")
        assert said(page) == ""

        go(page, exported)
        assert not plays(page), "once a visitor"
        assert said(page).startswith("As the 1 moves"), "who reads how it ended"


def test_it_ends_in_each_way_and_leaves_nothing_behind(browser, exported):
    with visit(browser, viewport=LAPTOP) as page:
        go(page, exported)
        before = page.evaluate(BANDS)
        ways = {
            "a press": lambda: page.mouse.click(700, 740),
            "a key": lambda: page.keyboard.press("a"),
            "a wheel": lambda: page.mouse.wheel(0, 40),
            "another tab of the browser": lambda: page.evaluate(
                "document.dispatchEvent(new Event('visibilitychange'))"
            ),
            "paper": lambda: page.emulate_media(media="print"),
            "another size": lambda: page.set_viewport_size({"width": 1250, "height": 730}),
            "another theme": lambda: page.emulate_media(color_scheme="dark"),
        }
        for name, act in ways.items():
            watch(page)
            act()
            page.locator(PLAYS).wait_for(state="detached")
            assert page.evaluate(LEFT) == [], name
            page.emulate_media(media="screen", color_scheme="light")
            page.set_viewport_size(LAPTOP)
            page.mouse.move(0, 0)
            page.wait_for_function(f"(before) => ({BANDS})() === before", arg=before)
            assert BECAUSE.fullmatch(said(page)), f"{name}: the picture is the same, and so is its because"

        for link in ("#v=2&stride=2", "#v=2&weight=random", "#lesson=why_rotated"):
            with repaint(page):
                page.evaluate("location.hash = 'v=2&size=6'")
            with repaint(page):
                page.evaluate("location.hash = 'v=3'")
            watch(page)
            page.evaluate("(link) => { location.hash = link; }", link)
            page.locator(PLAYS).wait_for(state="detached")
            assert page.evaluate(LEFT) == [], link
            assert said(page) == "", f"{link}: nothing is said of a picture that is gone"

        go(page, exported)
        watch(page)
        with repaint(page):
            page.locator(".cv-set-weight input[type=range]").evaluate("""(slider) => {
              slider.value = -3;
              slider.dispatchEvent(new Event("input", { bubbles: true }));
            }""")
        assert not plays(page)
        assert page.evaluate(LEFT) == []
        assert said(page) == "", "another kernel: that is not what was seen"


def test_it_is_not_played_where_something_else_is_to_be_looked_at(browser, exported, tmp_path):
    without = export_html(None, tmp_path / "page.html", controls=["kernel"]).as_uri()
    lesson = export_html(None, tmp_path / "lesson.html", lesson="why_rotated").as_uri()
    links = ["#v=2&weight=random", "#lesson=why_rotated", "#present=1"]  # tests/js/intro_steps.test.mjs: other pictures
    with visit(browser, has_arrived=False, viewport=LAPTOP) as page:
        for address in [*(exported + link for link in links), without, lesson]:
            go(page, address)
            assert not plays(page), address
            assert page.evaluate(LEFT) == [], address
            assert page.locator(".cv-arrived").all_inner_texts() in ([], [""]), address
        go(page, exported)
        assert plays(page), "none of these was its visit"
        page.evaluate(FORGET)
        page.emulate_media(reduced_motion="reduce")
        go(page, exported)
        assert not plays(page), "where a person asked for less motion"
        assert BECAUSE.fullmatch(said(page)), "but its end is there"
        assert page.evaluate(FORGET) == 1, "that was its visit"
        page.emulate_media(reduced_motion="no-preference")
        page.add_init_script("""addEventListener("DOMContentLoaded", () => new MutationObserver((_, watcher) => {
          const board = document.querySelector(".cv-board");
          board?.dispatchEvent(new WheelEvent("wheel", { bubbles: true }));
          if (board) watcher.disconnect();
        }).observe(document.body, { childList: true, subtree: true }));""")
        go(page, exported)
        assert (plays(page), said(page)) == (False, ""), "where something was touched before"


def test_watching_it_again_keeps_the_kernel_or_is_one_step_that_can_be_undone(browser, exported):
    with visit(browser, viewport=LAPTOP) as page:
        go(page, f"{exported}#v=2&weight=random")
        undo = page.get_by_role("button", name="Undo")
        kernel = read_panel(page, "weight").flatten().tolist()
        watch(page)
        assert numbers(walk(page)[19]["tray"]) == pytest.approx(kernel[::-1])
        assert read_panel(page, "weight").flatten().tolist() == kernel
        assert undo.get_attribute("aria-disabled") == "true"

        go(page, f"{exported}#v=2&size=8&stride=2&weight=random")
        kernel = read_panel(page, "weight")
        page.locator(".cv-watch").focus()
        page.keyboard.press("Enter")
        page.locator(PLAYS).wait_for()
        assert "Undo returns" in page.locator(".cv-notice").inner_text()
        walk(page)
        assert read_panel(page, "weight").flatten().tolist() == KERNEL.flatten().tolist()
        with repaint(page):
            undo.click()
        assert torch.equal(read_panel(page, "weight"), kernel)
        assert undo.get_attribute("aria-disabled") == "true", "it was one step"
        assert said(page) == ""


def test_on_a_phone_all_of_it_is_in_the_card_and_a_tap_ends_it(browser, exported):
    with visit(browser, has_arrived=False, viewport=PHONE, has_touch=True) as page:
        go(page, exported)
        assert plays(page)
        outside = page.evaluate("""() => {
          const stage = document.querySelector("[data-equation=input] .cv-stage").getBoundingClientRect();
          return [...document.querySelectorAll(".cv-float, .cv-float-label")].filter((node) => {
            const { left, right, top, bottom } = node.getBoundingClientRect();
            return left < stage.left || right > stage.right || top < stage.top || bottom > stage.bottom;
          }).length;
        }""")
        assert outside == 0
        places = """() => [...document.querySelectorAll(".cv-panel .cv-area")].map((area) =>
          JSON.stringify(area.getBoundingClientRect()))"""
        before = page.evaluate(places)
        page.touchscreen.tap(195, 200)
        page.locator(PLAYS).wait_for(state="detached")
        assert page.evaluate(LEFT) == []
        page.evaluate(SETTLED)
        assert page.evaluate(places) == before, "its because takes no room from the panels"
        assert BECAUSE.fullmatch(said(page)), said(page)


def test_on_a_low_phone_the_sliders_cover_nothing_of_the_tray(browser, exported):
    with visit(browser, has_arrived=False, viewport=LOW_PHONE, has_touch=True) as page:
        go(page, exported)
        assert plays(page)
        below = page.evaluate("""() => {
          const { left, bottom } = document.querySelector(".cv-float:not(.cv-stamp)").getBoundingClientRect();
          return document.elementFromPoint(left, bottom).closest(".cv-equation")?.dataset.equation;
        }""")
        assert below == "input"


def test_torch_answers_while_it_plays_and_the_page_is_as_true_as_ever(browser, server):
    with visit(browser, has_arrived=False, viewport=LAPTOP) as page:
        page.goto(f"{server.url}#v=3")  # with nothing opened beside it
        page.locator(f".cv-board[data-from=torch]{PLAYS}").wait_for()
        assert_page_equals_autograd(page)
        assert plays(page), "looking at it does not end it"
        walk(page)
        assert_page_equals_autograd(page)
        assert page.evaluate(LEFT) == []
