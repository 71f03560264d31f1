"""The app's address: a board that lives before torch answers, and goes on while it does not."""

import collections
import contextlib
import http.client
import io
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psutil
import pytest
from PIL import Image, ImageChops

from convviz import lessons
from convviz.facts.features import TABS
from convviz.facts.words import sentences
from tests.browser.app_page import (
    APPEARS_WITHIN_MS,
    assert_page_equals_autograd,
    cell,
    fresh_page,
    open_tab,
    press_tab,
    repaint,
    wait_painted,
    weight_slider,
)
from tests.browser.axe import assert_accessible
from tests.browser.server import voila_server, wait_until

say = sentences("live_page")
say_picture, say_pane = sentences("picture"), sentences("tab_pane")
OWN = ".cv-board .cv-area > .cv-pixels"
PLOTLYS = f"() => !document.querySelector('{OWN}')"  # the colours are, not the panels' own
DRAWN = '.cv-board[data-painted]:not([data-painted=""])'
HEATMAP = f"{DRAWN} .cv-plot .hm image"
AWAY = "#convviz-lost-text"
TORCH = ".cv-board[data-from=torch]"


def hold_torch(page):
    """Hold the page's connections to torch, from the next one that it opens; return what lets them go."""
    held = []
    page.route_web_socket("**/live/numbers", lambda socket: held.append(socket))

    def let():
        wait_until(lambda: page.wait_for_timeout(10) or held, what="the page asks for torch")
        for socket in held:
            socket.connect_to_server()

    return let


def wait_torch(page, state):
    """Wait until the page says this of torch: "ok" or "away"."""
    page.locator(f"body[data-convviz-torch={state}]").wait_for(timeout=APPEARS_WITHIN_MS)


def open_live(page, url, drawn=DRAWN):
    """Open the page at the picture of v=1, or at the address's own, and wait for its board, and for nothing else."""
    page.goto(url if "#" in url or "?" in url else f"{url}#v=1", wait_until="commit", timeout=APPEARS_WITHIN_MS)
    page.locator(drawn).first.wait_for(state="attached", timeout=APPEARS_WITHIN_MS)


def move(page, name="stride", key="ArrowRight"):
    """Move a slider by a key, and wait until the board shows it; return where it stands."""
    before = int(page.locator(".cv-board").get_attribute("data-painted"))
    slider = page.locator(f".cv-set-{name} input").first
    slider.press(key)
    wait_painted(page, before)
    return slider.input_value()


def shape(page, panel):
    return page.locator(f"[data-panel={panel}] .cv-shape").first.text_content()


def differing(one, other):
    """Return how many squares of 4 × 4 pixels differ by more than 64 of 255 on average, as those of a letter do.

    Chromium draws the lines between cells anew when it has the time, a pixel beside where they were, though nothing has
    moved: in the average of a square that is 48 at most.
    """
    pictures = [Image.open(io.BytesIO(data)).convert("RGB").reduce(4) for data in (one, other)]
    apart = ImageChops.difference(*pictures).tobytes()
    return sum(max(apart[at : at + 3]) > 64 for at in range(0, len(apart), 3))


@pytest.mark.plotly
def test_board_lives_before_torch_and_nothing_on_the_screen_moves_when_it_answers(page, server):
    let = hold_torch(page)
    open_live(page, server.url)
    assert page.locator("body").get_attribute("data-convviz-torch") == ""
    assert page.locator(".cv-truth").text_content() == say_picture("truth.meanwhile")
    assert shape(page, "output") == "[1, 1, 4, 4]"
    assert move(page) == "3", "the slider"
    assert shape(page, "output") == "[1, 1, 3, 3]", "and the board, without torch"
    press_tab(page, "code")
    failure = page.locator(".cv-pane-code .cv-pane-failure")
    failure.filter(has_text=say_pane("waits")).wait_for()
    press_tab(page, "code")
    page.locator(".cv-set-stride input").first.focus()
    page.evaluate("window.boards = [document.activeElement, document.querySelector('.cv-board')]")
    # The line of truth, and what only torch can do, are what changes.
    rest = ":is(.cv-truth, .cv-set-device, .cv-set-dtype, .cv-upload) { opacity: 0; }"
    page.wait_for_function(PLOTLYS)
    before = page.screenshot(style=rest)
    let()
    page.locator(TORCH).wait_for(timeout=APPEARS_WITHIN_MS)
    page.wait_for_function(PLOTLYS)
    assert page.evaluate("window.boards.every((node) => node.isConnected)")
    assert page.evaluate("document.activeElement === window.boards[0]"), "the focus stays on the slider"
    assert differing(page.screenshot(style=rest), before) == 0
    assert len(page.frames) == 1
    assert_page_equals_autograd(page)
    assert page.outside == []


class Swallows(BaseHTTPRequestHandler):
    """A proxy that passes on what is asked, and no wish for a websocket."""

    def do_GET(self):
        try:
            answer = urllib.request.urlopen(self.server.behind + self.path[1:])
        except urllib.error.HTTPError as error:
            answer = error
        body = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers["Content-Type"])
        self.send_header("Content-Length", len(body))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


def test_a_proxy_that_swallows_websockets_is_named_with_the_remedy(page, server):
    with ThreadingHTTPServer(("127.0.0.1", 0), Swallows) as proxy:
        proxy.behind = server.url
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        open_live(page, f"http://127.0.0.1:{proxy.server_port}/")
        page.locator(AWAY, has_text=say("live.swallowed")).wait_for(timeout=APPEARS_WITHIN_MS)
        assert page.locator(AWAY).get_attribute("role") == "status", "calm: nobody has to do anything now"
        assert page.locator(".cv-truth").text_content() == say_picture("truth.alone")
        assert move(page) == "3", "the board lives all the same"
        assert_accessible(page, "torch is away", rules=["color-contrast"])
        for size in ((1366, 700), (360, 740)):
            page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
            covered = page.evaluate("""() => {
                const away = document.querySelector("#convviz-lost").getBoundingClientRect();
                return [...document.querySelectorAll("button, input, select, summary, a")].filter((node) => {
                    const box = node.getBoundingClientRect();
                    return node.checkVisibility() && !node.matches(".convviz-skip") && box.left < away.right
                        && box.right > away.left && box.top < away.bottom && box.bottom > away.top;
                }).map((node) => node.outerHTML.slice(0, 80));
            }""")
            assert covered == [], size
        proxy.shutdown()


def test_server_that_is_killed_and_comes_back_finds_the_page_as_it_was_and_what_was_done_meanwhile(page):
    with voila_server() as server:
        open_live(page, server.url)
        page.locator(TORCH).wait_for(timeout=APPEARS_WITHIN_MS)
        open_tab(page, "code")
        assert move(page) == "3"
        port = urllib.parse.urlsplit(server.url).port
        server.kill()
    page.locator(AWAY, has_text=say("live.gone")).wait_for(timeout=APPEARS_WITHIN_MS)
    assert move(page, "padding") == "2", "meanwhile; another control, because quick moves of one are one step"
    with voila_server(arguments=["--port", port]) as server:
        wait_torch(page, "ok")
        page.locator(TORCH).wait_for(timeout=APPEARS_WITHIN_MS)
        assert page.locator("#convviz-lost").is_hidden()
        assert page.locator(".cv-set-stride input").first.input_value() == "3"
        assert page.locator(".cv-set-padding input").first.input_value() == "2"
        wait_painted(page)
        press_tab(page, "code")
        page.locator("summary", has_text="More").click()
        assert_page_equals_autograd(page)
        page.locator(".cv-tools button").first.click()
        page.wait_for_function("document.querySelector('.cv-set-padding input').value === '1'")


def test_all_tabs_closed_leave_nothing_but_the_workers(browser, server):
    def processes():
        return sorted(child.pid for child in psutil.Process(server.process.pid).children(recursive=True))

    with fresh_page(browser) as page:
        open_live(page, server.url)
        page.locator(TORCH).wait_for(timeout=APPEARS_WITHIN_MS)
        before = processes()
        with fresh_page(browser) as other:
            open_live(other, server.url)
            other.locator(TORCH).wait_for(timeout=APPEARS_WITHIN_MS)
            assert processes() == before, "a visitor has no process"
    assert processes() == before


def test_the_page_has_its_landmarks_and_its_skip_link(page, server):
    open_live(page, f"{server.url}?v=1&size=5&padding=0")
    assert shape(page, "padded_input") == "[1, 1, 5, 5]"
    assert page.title() == say("title")
    assert page.locator("main").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == say("skip")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"
    assert page.url.endswith("#convviz-main")
    assert page.locator(".cv-set-input_size input").first.input_value() == "5", "it is no other picture's address"
    page.set_viewport_size({"width": 360, "height": 740})
    page.wait_for_function("document.documentElement.scrollWidth <= 360")


# -- what the server answers -----------------------------------------------------------------------------------------


def ask(server, path, **headers):
    """Return the answer to a wish, its body as it came."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server.url).netloc, timeout=60)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    answer.body = answer.read()
    connection.close()
    return answer


@pytest.mark.plotly
def test_heatmaps_have_colours_before_plotly_is_there_and_plotly_takes_their_place(page, server):
    held = []
    page.route("**/convviz/plotly-*", lambda route: held.append(route))
    page.goto(f"{server.url}#v=1", wait_until="commit", timeout=APPEARS_WITHIN_MS)
    page.wait_for_function(f"document.querySelectorAll('{OWN}').length > 0", timeout=APPEARS_WITHIN_MS)
    panels = page.locator(".cv-panel").count()
    assert page.locator(OWN).count() == panels
    colours = "document.querySelector('.cv-board [data-panel=output] .cv-area > .cv-pixels').toDataURL()"
    before = page.evaluate(colours)
    weight_slider(page, 1, 1).press("ArrowRight")
    page.wait_for_function(f"(before) => {colours} !== before", arg=before)
    wait_until(lambda: page.wait_for_timeout(10) or held, what="the page asks for plotly")
    page.unroute("**/convviz/plotly-*")  # and those that are held go on
    page.locator(HEATMAP).first.wait_for(state="attached", timeout=APPEARS_WITHIN_MS)
    page.wait_for_function(f"document.querySelectorAll('{OWN}').length === 0")
    assert page.locator(HEATMAP).count() == panels


def test_files_are_packed_and_kept_for_ever_and_the_page_is_asked_for_anew(server):
    page = ask(server, "/", Accept_Encoding="gzip")
    assert page.getheader("Content-Encoding") == "gzip"
    assert page.getheader("Cache-Control") == "no-cache"
    assert ask(server, "/", If_None_Match=page.getheader("ETag")).status == 304
    plain = ask(server, "/").body.decode()
    files = {word.split('"')[0] for word in plain.split('"convviz/')[1:]}
    assert len(files) == 4 + len(TABS) + len(lessons.names())
    for name in files:
        packed, whole = (ask(server, f"/convviz/{name}", Accept_Encoding=each) for each in ("gzip", "identity"))
        assert packed.getheader("Cache-Control") == "public, max-age=31536000, immutable", name
        assert whole.getheader("Content-Encoding") is None, name
        assert (packed.getheader("Content-Encoding") == "gzip") == (not name.endswith(".bin")), name
        assert "frame-ancestors 'self'" in packed.getheader("Content-Security-Policy"), name
    for path in ("/convviz/script-0.js", "/convviz/", "/convviz/0123456789abcdef/static/voila.js"):
        assert ask(server, path).status == 404, path


def fetching(page):
    """Return {path: bytes} of the files that have come whole; it fills as they come."""
    asked, fetched = {}, collections.Counter()

    def ask(event):
        asked[event["requestId"]] = urllib.parse.urlsplit(event["request"]["url"]).path

    def finish(event):
        fetched[asked[event["requestId"]]] += event["encodedDataLength"]

    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.on("Network.requestWillBeSent", ask)
    network.on("Network.loadingFinished", finish)
    return fetched


def test_a_second_visit_fetches_next_to_nothing(browser, server):
    """What has come whole when torch answers is not fetched again; what is fetched later may still be on its way."""
    # No routes: with them Playwright switches the browser's cache off.
    with contextlib.closing(browser.new_context()) as context:
        visits = []
        for _ in range(2):
            page = context.new_page()
            visits.append(fetching(page))
            open_live(page, server.url, HEATMAP)
            wait_torch(page, "ok")
            page.close(run_before_unload=True)
        first, second = visits
        assert 500_000 < sum(first.values()) < 1_000_000
        again = {path: second[path] for path in first if second[path]}
        assert sum(again.values()) < 10_000, again


def test_what_is_being_typed_a_pinned_cell_steps_and_undo_survive_torchs_coming(page, server):
    let = hold_torch(page)
    open_live(page, server.url)
    assert move(page, key="ArrowLeft") == "1"
    forward = page.locator("[data-equation=forward]")
    forward.get_by_role("button", name="Step through").click()
    forward.get_by_role("button", name="Step forward").click()
    at = forward.locator(".cv-where").text_content()
    cell(page, "weight", 1, 1).focus()
    page.keyboard.press("Enter")
    editor = page.locator(".cv-editor, .cv-area input").first
    editor.fill("7.5")
    let()
    page.locator(TORCH).wait_for(timeout=APPEARS_WITHIN_MS)
    assert editor.input_value() == "7.5"
    assert page.evaluate("document.activeElement.tagName") == "INPUT"
    assert forward.locator(".cv-where").text_content() == at
    with repaint(page):
        editor.press("Enter")
    assert cell(page, "weight", 1, 1).get_attribute("data-value") == "7.5"
    assert_page_equals_autograd(page)
    for stride in ("1", "2"):
        with repaint(page):
            page.get_by_role("button", name="Undo").click()
        assert page.locator(".cv-set-stride input").first.input_value() == stride
    assert_page_equals_autograd(page)
