"""`convviz serve --class N`: a class shares one machine; what goes wrong passes by itself, and nobody loses a move."""

import asyncio
import json
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from convviz.facts.words import sentences
from tests.browser.app_page import fresh_page, wait_painted
from tests.browser.server import voila_server, wait_until
from tests.browser.test_live import APPEARS_WITHIN_MS, LOST, ask, move, open_live, send, shape, upgrade, wait_kernel
from tests.browser.test_serving import BAD_ADDRESSES
from tests.protocol import NEWER, start_kernel

pytestmark = pytest.mark.browser

say = sentences("served")
TORCH = ".cv-board[data-from=torch]"
# What a teacher waits half a minute for.
IMPATIENT = """from dataclasses import replace
from convviz.serve import care
care.CLASS = replace(care.CLASS, hung_s=2, ping_s=2, comes_back_s=1)
"""


@pytest.fixture(scope="module")
def lecture():
    """A server with one place."""
    with voila_server(arguments=["--class", "1"], prepare=IMPATIENT) as server:
        yield server


@pytest.fixture(scope="module")
def student(browser, lecture):
    """A page that stays open, with a kernel, through all that happens to it: it alone counts its moves."""
    with fresh_page(browser) as page:
        yield page


def wait_torch(page):
    """Wait until the board shows torch's numbers of the newest settings."""
    page.locator(".cv-picture[data-settled$=torch]").wait_for(timeout=APPEARS_WITHIN_MS)
    page.locator(TORCH).wait_for(timeout=APPEARS_WITHIN_MS)
    assert page.locator(LOST).is_hidden()


def told(page):
    """Keep every sentence that the page says from now on; return what reads them."""
    page.evaluate("""() => {
        window.told = [];
        const text = document.querySelector("#convviz-lost-text");
        const keep = () => window.told.push(`${text.role}: ${text.textContent}`);
        new MutationObserver(keep).observe(text, {childList: true});
    }""")
    return lambda: page.evaluate("window.told")


def stride(page):
    return page.locator(".cv-set-stride input").first.input_value()


def test_no_address_starts_a_kernel_by_being_looked_at_and_a_socket_only_for_a_page_of_ours(lecture):
    looked_at = ("/", "/?v=1", "/app.ipynb", "/voila/render/app.ipynb", "/voila/render/", "/convviz/kernel", "/x.html")
    for path in (*looked_at, *BAD_ADDRESSES):
        for method in ("GET", "HEAD", "POST"):
            assert ask(lecture, path, method=method).status < 500, path
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
        assert ask(lecture, "/convviz/kernel", **upgrade(origin)).status == 403, origin
    nobody = {name: value for name, value in upgrade("").items() if name != "Origin"}
    assert ask(lecture, "/convviz/kernel", **nobody).status == 403, "no browser leaves it out"
    assert lecture.kernels() == {}


def test_who_goes_while_the_kernel_has_not_answered_yet_leaves_none(lecture):
    kernel_id, asking = start_kernel(lecture.url)
    lecture.kernels()[kernel_id].suspend()
    headers = {**upgrade(lecture.url.rstrip("/")), "Sec_WebSocket_Protocol": NEWER}
    send(lecture, f"/api/kernels/{kernel_id}/channels?session_id=1", **headers).close()
    assert ask(lecture, "/health").status == 200, "the server has heard of it"
    lecture.kernels()[kernel_id].resume()
    asking.close()
    wait_until(lambda: not lecture.kernels(), what="the kernel of a page that went before it was connected ends")
    assert len(lecture.said) == 1, f"one line, the address: {lecture.said}"


def test_the_second_page_waits_in_line_and_takes_the_place_of_the_first(browser, student, lecture):
    with fresh_page(browser) as first:
        open_live(first, lecture.url)
        wait_torch(first)
        open_live(student, lecture.url)
        student.locator(LOST, has_text=say("live.queue", place=1)).wait_for(timeout=APPEARS_WITHIN_MS)
        assert move(student) == "3"
        assert shape(student, "output") == "[1, 1, 3, 3]"
        (kernel,) = lecture.kernels()
    wait_torch(student)
    assert list(lecture.kernels()) != [kernel]
    assert shape(student, "output") == "[1, 1, 3, 3]"


def test_kernel_that_is_killed_comes_again_with_the_settings_and_the_way_back(student, lecture):
    sentences_told = told(student)
    (kernel,) = lecture.kernels()
    lecture.kill_kernel(kernel)
    wait_kernel(student, "again")
    assert move(student) == "4", "meanwhile"
    wait_torch(student)
    assert sentences_told() == ["status: " + say("live.again", sentence=say("live.ended"))]
    assert list(lecture.kernels()) != [kernel]
    assert len(student.frames) == 2, "what talked to the first kernel is gone"
    assert stride(student) == "4"
    student.locator(".cv-tools button").first.click()
    student.wait_for_function("document.querySelector('.cv-set-stride input').value === '3'")
    wait_torch(student)


def test_kernel_that_hangs_is_ended_and_replaced(student, lecture):
    sentences_told = told(student)
    ((_, process),) = lecture.kernels().items()
    process.suspend()
    assert move(student) == "4"
    wait_until(lambda: not process.is_running(), what="the server ends a kernel that hangs")
    student.locator("body:not([data-convviz-kernel=ok])").wait_for(timeout=APPEARS_WITHIN_MS)
    wait_torch(student)
    assert "status: " + say("live.again", sentence=say("live.hung")) in sentences_told()
    assert stride(student) == "4"


def test_server_that_comes_back_finds_the_page_as_it_was_and_a_kernel_rests_until_it_is_needed(student, lecture):
    port = urllib.parse.urlsplit(lecture.url).port
    sentences_told = told(student)
    lecture.kill()
    student.locator(LOST, has_text=say("live.gone")).wait_for(timeout=APPEARS_WITHIN_MS)
    assert move(student, key="ArrowLeft") == "3"
    student.page_errors.clear()  # Voilà's front end misses its server
    with voila_server(arguments=["--class", "1", "--port", port, "--idle", "0.05"]) as server:
        wait_torch(student)
        assert stride(student) == "3"
        wait_kernel(student, "resting")
        assert student.locator(LOST).text_content() == say("live.rests")
        assert student.locator(TORCH).count() == 1, "what torch said holds"
        wait_until(lambda: not server.kernels(), what="the kernel of a page that rests ends")
        assert "alert" not in " ".join(sentences_told())
        before = int(student.locator(".cv-board").get_attribute("data-painted"))
        student.locator(".cv-set-stride input").first.press("ArrowLeft")
        wait_painted(student, before)
        assert shape(student, "output") == "[1, 1, 4, 4]", "at once, by the page"
        wait_torch(student)
        assert stride(student) == "2"
        wait_kernel(student, "resting")
        student.locator("[data-tab=code]").click()
        student.locator('.cv-pane-code[data-shown]:not([data-shown=""])').wait_for(timeout=APPEARS_WITHIN_MS)


async def joined(url):
    """Return a connection that has got a kernel; while nobody runs its loop, it does not even answer a ping."""
    headers = {"Origin": url.rstrip("/")}
    connection = await websocket_connect(HTTPRequest(f"{url.replace('http', 'ws', 1)}convviz/kernel", headers=headers))
    while json.loads(await connection.read_message())["type"] != "done":
        pass
    return connection


def test_kernel_of_a_page_that_is_gone_without_a_word_ends():
    """Its machine sleeps: the connection is there, and nobody answers on it."""
    with voila_server(arguments=["--class", "1"], prepare=IMPATIENT) as server, ThreadPoolExecutor(1) as thread:
        loop = asyncio.new_event_loop()
        connection = thread.submit(loop.run_until_complete, joined(server.url)).result()
        assert len(server.kernels()) == 1
        wait_until(lambda: not server.kernels(), what="the kernel of a page that is silent ends")
        connection.close()
        loop.close()
