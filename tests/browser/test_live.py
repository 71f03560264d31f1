"""The app's address: a board that lives before any kernel does, and what joins it, or does not, later."""

import collections
import contextlib
import http.client
import io
import os
import urllib.parse

import pytest
from PIL import Image, ImageChops

from convviz import lessons
from convviz.facts import facts
from convviz.facts.words import sentences
from tests.browser.app_page import wait_painted
from tests.browser.axe import assert_accessible
from tests.browser.server import IMPATIENT, voila_server, wait_until

pytestmark = pytest.mark.browser

say = sentences("served")
say_picture, say_pane = sentences("picture"), sentences("pane")
APPEARS_WITHIN_MS = 120_000
PLOTLYS = "() => !document.querySelector('.cv-area > .cv-pixels')"  # the colours are, not the panels' own
HEATMAP = '.cv-board[data-painted]:not([data-painted=""]) .cv-plot .hm image'
LOST = "#convviz-lost-text"
# A kernel waits until somebody opens the other end of a pipe: no clock is involved.
WAITING = "import os\nopen(os.environ['GATE']).close()"
FAILING = "import os\nos._exit(1)"


def kernels_that(folder, what):
    """Return variables under which every kernel runs these lines before it answers anything."""
    startup = folder / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    startup.joinpath("first.py").write_text(what, encoding="utf-8")
    return {"IPYTHONDIR": str(folder)}


@pytest.fixture(scope="module")
def live():
    """A server whose kernels start as they do."""
    with voila_server(prepare=IMPATIENT) as server:
        yield server


class Gate:
    """Holds every kernel back, before it has loaded anything."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)

    def open(self):
        """Let the one kernel go that waits; wait for it to get here if need be."""
        wait_until(self._let_go, what="a kernel waits at the gate")

    def _let_go(self):
        with contextlib.suppress(OSError):  # nobody is there yet
            os.close(os.open(self.path, os.O_WRONLY | os.O_NONBLOCK))
            return True
        return False


@pytest.fixture(scope="module")
def gated(tmp_path_factory):
    """A server with room for one kernel, each of which waits for its gate."""
    folder = tmp_path_factory.mktemp("gated")
    gate = Gate(folder / "gate")
    env = {**kernels_that(folder, WAITING), "GATE": str(gate.path)}
    with voila_server(env=env, arguments=["--kernels", "1"]) as server:
        server.gate = gate
        yield server


def open_live(page, url):
    """Open the page at the picture of v=1, or at the address's own, and wait for its heatmaps, and for nothing else."""
    page.goto(url if "#" in url or "?" in url else f"{url}#v=1", wait_until="commit", timeout=APPEARS_WITHIN_MS)
    page.locator(HEATMAP).first.wait_for(state="attached", timeout=APPEARS_WITHIN_MS)


def wait_kernel(page, state):
    """Wait until the page says this of its kernel."""
    page.locator(f"body[data-convviz-kernel={state}]").wait_for(timeout=APPEARS_WITHIN_MS)


def move(page, name="stride", key="ArrowRight"):
    """Move a slider by a key, and wait until the board shows it; return where it stands."""
    before = int(page.locator(".cv-board").get_attribute("data-painted"))
    slider = page.locator(f".cv-set-{name} input").first
    slider.press(key)
    wait_painted(page, before)
    return slider.input_value()


def leave(page, server):
    """Close a page whose kernel still starts, and wait for the kernel of the next one in line."""
    (kernel,) = wait_until(server.kernels, what="its kernel waits at its gate")
    page.close(run_before_unload=True)
    wait_until(lambda: set(server.kernels()) - {kernel}, what="the next page's kernel starts")
    assert kernel not in server.kernels()


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


def test_board_lives_before_a_kernel_and_nothing_on_the_screen_moves_when_it_comes(page, gated):
    open_live(page, gated.url)
    wait_kernel(page, "starting")
    assert shape(page, "output") == "[1, 1, 4, 4]"
    assert move(page) == "3", "the slider"
    assert shape(page, "output") == "[1, 1, 3, 3]", "and the board, without a kernel"
    page.evaluate("window.boards = [document.activeElement, document.querySelector('.cv-board')]")
    # The line of truth, and what only a kernel can do, are what changes.
    rest = ":is(.cv-truth, .cv-set-device, .cv-set-dtype, .cv-upload) { opacity: 0; }"
    page.wait_for_function(PLOTLYS)
    before = page.screenshot(style=rest)
    gated.gate.open()
    wait_kernel(page, "ok")
    page.wait_for_function(PLOTLYS)
    assert page.evaluate("window.boards.every((node) => node.isConnected)")
    assert page.evaluate("document.activeElement === window.boards[0]"), "the focus stays on the slider"
    assert differing(page.screenshot(style=rest), before) == 0
    assert move(page) == "4"
    assert page.outside == []


def test_who_finds_no_room_stands_in_line_and_gets_a_kernel_without_a_click(page, browser, gated):
    open_live(page, gated.url)
    with browser.new_context() as context:
        other = context.new_page()
        open_live(other, gated.url)
        wait_kernel(other, "queued")
        other.locator(LOST, has_text=say("live.queue", place=1)).wait_for()
        assert other.locator(LOST).get_attribute("role") == "status"
        assert other.get_by_role("button", name=say("again")).is_hidden()
        assert_accessible(other, "in line", rules=["color-contrast"])
        assert move(other) == "3", "the board lives all the same"
        leave(page, gated)
        gated.gate.open()
        wait_kernel(other, "ok")
        assert other.locator(LOST).is_hidden()
        assert other.locator(".cv-set-stride input").first.input_value() == "3", "what was set stays"
        other.close(run_before_unload=True)
    wait_until(lambda: not gated.kernels(), what="the kernel of a closed page ends")


def test_kernels_that_cannot_start_leave_the_board_alive_and_the_third_leaves_the_next_try_to_the_visitor(
    page, tmp_path
):
    with voila_server(env={**kernels_that(tmp_path / "failing", FAILING)}) as server:
        open_live(page, server.url)
        wait_kernel(page, "again")
        page.locator(LOST, has_text=say("live.again", sentence=say("live.failed"))).wait_for()
        wait_kernel(page, "lost")
        assert page.locator(LOST).text_content() == say("live.enough", sentence=say("live.failed"))
        assert page.locator(LOST).get_attribute("role") == "alert"
        assert_accessible(page, "a lost kernel", rules=["color-contrast", "target-size", "button-name"])
        assert move(page) == "3"
        page.get_by_role("button", name=say("again")).click()
        wait_kernel(page, "again")


def test_the_widget_of_a_kernel_finds_the_page(page, live):
    open_live(page, live.url)
    wait_kernel(page, "ok")
    for_widget = page.frames[1].evaluate("""() => {
        const page = globalThis[Symbol.for("convviz.page")];
        return [page.version, typeof page.attach];
    }""")
    assert for_widget == [page.locator("html").get_attribute("data-convviz-version"), "function"]


# The widget comes when the test says so: on a busy machine that may be after its connection has gone.
LATE = """if (window === top) {
  let page;
  const attach = (widget) => {
    window.attachNow = () => page.attach(widget);
    return () => {};
  };
  Object.defineProperty(globalThis, Symbol.for("convviz.page"), {
    get: () => page && { ...page, attach }, set: (value) => (page = value),
  });
}"""


@pytest.mark.parametrize("late", [False, True])
def test_server_that_goes_away_is_told_and_the_board_goes_on(page, late):
    with voila_server() as server:
        if late:
            page.add_init_script(LATE)
        open_live(page, server.url)
        wait_kernel(page, "ok")
        page.wait_for_function("window.attachNow || document.querySelector('.cv-board[data-from=torch]')")
        server.kill()
        page.locator(LOST, has_text=say("live.gone")).wait_for(timeout=20_000)
        page.evaluate("void window.attachNow?.()")
        assert move(page) == "3"
        assert page.get_by_role("button", name=say("again")).is_hidden(), "it is tried again by itself"
        page.page_errors.clear()  # Voilà's front end may miss a part that it had no time to load


@pytest.mark.parametrize("mark", ["?", "#"])
def test_a_link_in_the_address_is_what_the_page_starts_with(page, live, mark):
    open_live(page, f"{live.url}{mark}v=1&size=5&padding=0")
    assert shape(page, "input" if page.locator("[data-panel=input]").count() else "padded_input") == "[1, 1, 5, 5]"
    page.evaluate("location.hash = 'convviz-main'")  # as the skip link does: no other picture
    assert page.locator(".cv-set-input_size input").first.input_value() == "5"
    page.close(run_before_unload=True)


def test_the_page_has_its_landmarks_and_its_skip_link(page, live):
    open_live(page, live.url)
    assert page.title() == say("title")
    assert page.locator("main").count() == 1
    assert_accessible(page, "before a kernel")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == say("skip")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"
    page.set_viewport_size({"width": 360, "height": 740})
    page.wait_for_function("document.documentElement.scrollWidth <= 360")
    page.close(run_before_unload=True)


# -- what the server answers -----------------------------------------------------------------------------------------


def send(server, path, method="GET", **headers):
    """Send a wish; return the connection on which the answer comes."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server.url).netloc, timeout=60)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    return connection


def ask(server, path, method="GET", **headers):
    """Return the answer to a wish, its body as it came."""
    connection = send(server, path, method, **headers)
    answer = connection.getresponse()
    answer.body = answer.read() if answer.status != 101 else b""
    connection.close()
    return answer


def upgrade(origin):
    """The headers with which a browser opens a websocket from a page of some origin."""
    key = {"Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec_WebSocket_Version": "13"}
    return {"Upgrade": "websocket", "Connection": "Upgrade", "Origin": origin, **key}


def test_only_a_page_of_ours_gets_a_kernel(live):
    wait_until(lambda: not live.kernels(), what="the kernels of the pages before end")
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
        assert ask(live, "/convviz/kernel", **upgrade(origin)).status == 403, origin
    assert ask(live, "/convviz/kernel").status == 400, "no websocket"
    assert ask(live, "/").status == 200
    assert live.kernels() == {}, "to look at the page starts none either"
    assert ask(live, "/convviz/kernel", **upgrade(live.url.rstrip("/"))).status == 101
    wait_until(lambda: not live.kernels(), what="and one that was left at once ends")


def test_heatmaps_have_colours_before_plotly_is_there_and_plotly_takes_their_place(page, live):
    held = []
    page.route("**/convviz/plotly-*", lambda route: held.append(route))
    page.goto(f"{live.url}#v=1", wait_until="commit", timeout=APPEARS_WITHIN_MS)
    page.wait_for_function("document.querySelectorAll('.cv-board .cv-pixels').length > 0", timeout=APPEARS_WITHIN_MS)
    panels = page.locator(".cv-panel").count()
    assert page.locator(".cv-pixels").count() == panels
    colours = "document.querySelector('[data-panel=output] .cv-pixels').toDataURL()"
    before = page.evaluate(colours)
    page.locator('[data-slider="1,1"] input[type=range]').press("ArrowRight")
    page.wait_for_function(f"(before) => {colours} !== before", arg=before)
    wait_until(lambda: page.wait_for_timeout(10) or held, what="the page asks for plotly")
    page.unroute("**/convviz/plotly-*")  # and those that are held go on
    page.locator(HEATMAP).first.wait_for(state="attached", timeout=APPEARS_WITHIN_MS)
    page.wait_for_function("document.querySelectorAll('.cv-pixels').length === 0")
    assert page.locator(HEATMAP).count() == panels


def test_files_are_packed_and_kept_for_ever_and_the_page_is_asked_for_anew(live):
    page = ask(live, "/", Accept_Encoding="gzip")
    assert page.getheader("Content-Encoding") == "gzip"
    assert page.getheader("Cache-Control") == "no-cache"
    assert ask(live, "/", If_None_Match=page.getheader("ETag")).status == 304
    plain = ask(live, "/").body.decode()
    files = {word.split('"')[0] for word in plain.split('"convviz/')[1:]} - {"kernel"}
    assert len(files) == 5 + len(facts("names")["tabs"]) + len(lessons.names())
    for name in files:
        packed, whole = (ask(live, f"/convviz/{name}", Accept_Encoding=each) for each in ("gzip", "identity"))
        assert packed.getheader("Cache-Control") == "public, max-age=31536000, immutable", name
        assert whole.getheader("Content-Encoding") is None, name
        assert (packed.getheader("Content-Encoding") == "gzip") == (not name.endswith(".bin")), name
        assert "frame-ancestors 'self'" in packed.getheader("Content-Security-Policy"), name
    for path in ("/convviz/script-0.js", "/convviz/", "/convviz/0123456789abcdef/static/voila.js"):
        assert ask(live, path).status == 404, path


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


def test_a_second_visit_fetches_next_to_nothing(browser, live):
    """What has come whole when torch answers is not fetched again; Voilà's last files may still be on their way."""
    # No routes: with them Playwright switches the browser's cache off.
    with contextlib.closing(browser.new_context()) as context:
        visits = []
        for _ in range(2):
            page = context.new_page()
            visits.append(fetching(page))
            open_live(page, live.url)
            wait_kernel(page, "ok")
            page.close(run_before_unload=True)
        first, second = visits
        assert 1_000_000 < sum(first.values()) < 2_000_000
        again = {path: second[path] for path in first if second[path]}
        assert sum(again.values()) < 10_000, again


def test_a_tab_without_a_kernel_says_what_it_waits_for_and_is_drawn_when_it_comes(page, browser, gated):
    with browser.new_context() as context:
        other = context.new_page()  # takes the one place
        open_live(other, gated.url)
        wait_kernel(other, "starting")
        open_live(page, gated.url)
        wait_kernel(page, "queued")
        assert page.locator(".cv-truth").text_content() == say_picture("truth.meanwhile")
        page.locator("[data-tab=code]").click()
        pane = page.locator(".cv-pane-code")
        assert pane.locator(".cv-pane-failure").text_content() == say_pane("waits")
        assert pane.get_by_role("button", name=say_pane("again")).is_hidden(), "it is in line already"
        leave(other, gated)
    gated.gate.open()
    page.locator(".cv-board[data-from=torch]").wait_for(timeout=APPEARS_WITHIN_MS)
    page.locator('.cv-pane-code[data-shown]:not([data-shown=""])').wait_for()
    assert pane.locator(".cv-pane-failure").text_content() == ""
    page.close(run_before_unload=True)
    wait_until(lambda: not gated.kernels(), what="the kernel of a closed page ends")
