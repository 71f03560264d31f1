"""The tab Race in a real browser: a race of 200 images from start to table, a mistake on the board, and its end."""

import base64

import numpy as np
import psutil
import pytest
import torch

from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.features.race.race_process import NICE
from convviz.lab import digits
from convviz.lab.digits import normalized
from tests.browser.app_page import (
    APPEARS_WITHIN_MS,
    assert_page_equals_autograd,
    fresh_page,
    open_app,
    open_tab,
    settle,
    slide,
    wait_notice,
    wait_painted,
)
from tests.browser.server import wait_until

RECORDED = facts("features/race/recorded")

PANE = ".cv-pane-race"
RACES_WITHIN_MS = 2 * APPEARS_WITHIN_MS  # every other process goes before a race
say = sentences("features/race")


def press(page, name):
    page.locator(f"{PANE} [data-race={name}]").click()


def wait_state(page, state):
    page.locator(f"{PANE}[data-race={state}]").wait_for(timeout=RACES_WITHIN_MS)


def wait_curves(page, *names, steps=10**6):
    """Wait until these curves are drawn, of a race of so many steps at most."""
    for name in names:
        page.wait_for_function(
            """([plot, steps]) => {
              const place = document.querySelector(plot);
              return place?.querySelector(".scatterlayer .trace") && Number(place.dataset.last) <= steps;
            }""",
            arg=[f"{PANE} [data-plot={name}]", steps],
            timeout=RACES_WITHIN_MS,
        )


def racer(server):
    """Return the one process of the race, somewhere below the server's."""
    below = psutil.Process(server.process.pid).children(recursive=True)
    (found,) = [child for child in below if not is_gone(child) and "convviz.lab.race_worker" in child.cmdline()]
    return found


def is_gone(process):
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def start(page, **chosen):
    """Choose what is raced and press Start."""
    for label, value in chosen.items():
        page.locator(PANE).get_by_label(say(label), exact=True).fill(str(value))
    press(page, "start")


def rows(page):
    """Return the table's cells, a list a row."""
    return page.locator(f"{PANE} .cv-race-wide tbody tr").evaluate_all(
        "(rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent))"
    )


def choose_rotate_alone(page):
    for box in page.locator(f"{PANE} .cv-race-layers input").all():
        box.set_checked(box.get_attribute("value") == "rotate")


def assert_input_is_the_digit(seen, image):
    torch.testing.assert_close(
        seen.tensors["padded_input"].float(), normalized(image[None], torch.float32), rtol=1e-5, atol=1e-5
    )


def check_curves_pause_and_table(page):
    start(page, train=200, epochs=1)  # four steps, and the test images once, which take as long as they
    wait_curves(page, "loss", "seconds", steps=4)
    assert page.locator(f"{PANE} .cv-race-recorded").is_hidden()
    press(page, "pause")
    wait_state(page, "paused")
    done = page.locator(f"{PANE} .cv-race-line").text_content()
    slide(page, "stride", 3)  # the board answers, and the race waits
    assert page.locator(f"{PANE} .cv-race-line").text_content() == done
    press(page, "pause")  # which is Go on now
    wait_state(page, "finished")
    wait_curves(page, "accuracy", "weights", steps=4)
    assert page.locator(f"{PANE} .cv-race-line").text_content() == say("state.finished", total=4)
    table = rows(page)
    assert [row[0] for row in table[:2]] == ["torch", "rotate"]
    assert all(row[6] for row in table[:2]), "each has its backend"
    assert [row[1] for row in table[2:]] == ["99.2 %", "99.1 %"]


def check_a_mistake_on_the_board(page):
    found = page.locator(f"{PANE} .cv-mistake[data-layer=rotate]").first
    at = int(found.get_attribute("data-at"))
    found.click()
    wait_notice(page, "conv1 of rotate when it read a")
    wait_painted(page)
    page.set_viewport_size({"width": 1800, "height": 1200})
    page.locator(".cv-drawer-close").click()  # it folds the bands of the upper row, which draw again when they are seen
    page.locator("[data-equation=forward] .cv-stage").wait_for()
    settle(page)
    seen = assert_page_equals_autograd(page)
    assert seen.tensors["weight"].shape == (8, 1, 3, 3)
    assert_input_is_the_digit(seen, digits(train=200).test_images[at])
    open_tab(page, "race")
    assert page.locator(f"{PANE}[data-race=finished]").count() == 1, "the results stay"


def check_stop_and_close_end_the_process(server, page):
    ends = {"starting": lambda: press(page, "stop"), "running": lambda: page.locator(".cv-drawer-close").click()}
    for state, end in ends.items():  # the first one as its process starts: to load torch takes longest
        start(page, epochs=20)
        page.locator(f"{PANE}:is([data-race={state}], [data-race=running])").wait_for(timeout=RACES_WITHIN_MS)
        process = racer(server)
        assert process.nice() == NICE, "who moves a slider comes first"
        end()
        wait_until(lambda process=process: is_gone(process), what="the race has ended")
    open_tab(page, "race")
    wait_state(page, "stopped")
    assert len(rows(page)) == 4, "what was measured stays"


def test_a_race_from_start_to_its_end(server, browser):
    """That it ends with its page, too, is held in tests/serve/test_numbers_socket.py."""
    with fresh_page(browser, plotly=True) as page:
        open_app(page, server.url)
        open_tab(page, "race")
        wait_curves(page, "loss")
        assert say("recorded", **RECORDED["made"]) in page.locator(f"{PANE} .cv-race-recorded").text_content()
        choose_rotate_alone(page)
        check_curves_pause_and_table(page)
        check_a_mistake_on_the_board(page)
        check_stop_and_close_end_the_process(server, page)


def test_without_a_kernel_there_is_a_recorded_race_whose_mistakes_open(server, browser):
    with fresh_page(browser, plotly=True) as page:
        page.route_web_socket("**/live/numbers", lambda socket: socket.close())
        page.goto(f"{server.url}#v=2&tab=race")
        wait_curves(page, "loss", "accuracy", "seconds", "weights")
        reported = page.locator(f"{PANE} .cv-race-recorded").text_content()
        assert say("recorded", **RECORDED["made"]) in reported
        assert RECORDED["command"] in reported
        assert page.locator(f"{PANE} .cv-race-setup").is_hidden()
        assert rows(page) == RECORDED["table"]["rows"]
        page.locator(f"{PANE} .cv-mistake").last.click()
        page.locator("p.cv-notice", has_text="conv1 of article when it read").wait_for()
        shown = page.locator('[data-panel="weight"] [data-cell="1,1"]').first.get_attribute("data-value")
        *_, layer = RECORDED["openings"].values()
        *_, opening = layer.values()
        assert opening["channels"] == [1, 32]
        assert float(shown) == pytest.approx(weights(opening)[4])


def weights(opening):
    """Return the nine numbers of a recorded kernel."""
    return np.frombuffer(base64.b64decode(opening["weight"]["bytes"]), "<f4").astype(float)
