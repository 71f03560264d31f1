"""The page that Voilà serves with our template: what it asks for, what it says, and what ends with it."""

import http.client
import json
import urllib.parse

import pytest

from tests.browser.app_page import fresh_page, kernel_id
from tests.browser.server import IMPATIENT, voila_server, wait_until

pytestmark = pytest.mark.browser

BANNER = "#convviz-lost"
ALERT = "#convviz-lost-text"
LOADING = "#convviz-loading"
# A first start reads torch from a cold disk.
APPEARS_WITHIN_MS = 120_000

# The class tells the page at once that all is there; without our board it would wait a little for more.
SLIDER = "import ipywidgets as w; w.IntSlider(value=3, max=9, description='kernel').add_class('cv-board')"


def open_page(page, url):
    """Open the page and return its kernel's id, once the widgets are there."""
    page.goto(url, wait_until="commit", timeout=APPEARS_WITHIN_MS)
    return wait_open(page)


def wait_open(page):
    """Wait until the widgets are there; return the kernel's id."""
    # Words that are not there yet are no words that have gone: they stand before <main>.
    page.locator("main").wait_for(state="attached", timeout=APPEARS_WITHIN_MS)
    page.locator(LOADING).wait_for(state="detached", timeout=APPEARS_WITHIN_MS)
    assert page.locator(BANNER).is_hidden(), page.locator("body").inner_text()
    page.locator("body[data-convviz-kernel=ok]").wait_for()
    return page.evaluate("window.jupyterapp.widgetManagerPromise.promise.then(({kernel}) => kernel.id)")


def write_notebook(folder, *sources, title="A test page"):
    """Write a notebook with these code cells below a heading; return its path."""
    code = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{"cell_type": "markdown", "id": "m", "metadata": {}, "source": f"# {title}"}]
    cells += [{**code, "id": f"c{index}", "source": source} for index, source in enumerate(sources)]
    kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {
        "cells": cells,
        "metadata": {"kernelspec": kernelspec, "title": title},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = folder / "page.ipynb"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A server of one slider: for tests of the page, that must not wait for the app."""
    with voila_server(write_notebook(tmp_path_factory.mktemp("plain"), SLIDER)) as server:
        yield server


@pytest.fixture(scope="module")
def visit(browser):
    """A page that stays open: each page costs a kernel."""
    with fresh_page(browser) as page:
        yield page


@pytest.fixture
def opened(visit, plain):
    """The open page of the slider, opened again where a test has ended its kernel."""
    if visit.locator("body[data-convviz-kernel=ok]").count() == 0:
        visit.goto(plain.url, wait_until="commit", timeout=APPEARS_WITHIN_MS)
        wait_open(visit)
    yield visit
    errors, visit.page_errors[:] = visit.page_errors[:], []
    assert [error.stack or error.message for error in errors] == []


def test_the_app_has_its_landmarks_and_is_not_wider_than_a_phone(app):
    assert app.title() == "convviz · the backward pass of conv2d"
    assert app.locator("html").get_attribute("lang") == "en"
    main = app.locator("main")
    assert main.count() == 1
    assert main.locator(".cv-board").count() == 1, "the app stands inside the landmark"
    assert app.locator("[role=alert]:visible").count() == 0
    app.set_viewport_size({"width": 360, "height": 740})
    app.wait_for_function("document.documentElement.scrollWidth <= 360")  # once the board has taken its new width


def test_words_tell_each_step_and_stay_until_the_board_is_there_on_the_slowest_machine(page, tmp_path):
    """Of a notebook: the app's own page has its board from the start."""
    # The wait for "nothing more comes" is over at once, as on a machine too busy to draw in the meantime.
    page.add_init_script("""
        const later = window.setTimeout;
        const whenTheAppIsThere = (what) => new MutationObserver((_, observer) => {
            if (!document.querySelector(".cv-app")) return;
            observer.disconnect();
            what();
        }).observe(document, {childList: true, subtree: true, attributes: true});
        window.setTimeout = (what, ms, ...rest) => ms === 3000 ? whenTheAppIsThere(what) : later(what, ms, ...rest);
        new MutationObserver((_, observer) => {
            if (!document.querySelector("main") || document.querySelector("#convviz-loading")) return;
            window.boardsWhenTheWordsWent = document.querySelectorAll(".cv-board").length;
            observer.disconnect();
        }).observe(document, {childList: true, subtree: true});
    """)
    # Every text the line ever shows, whatever the speed of this machine.
    page.add_init_script("""
        window.words = [];
        new MutationObserver(() => {
            const line = document.querySelector("#convviz-loading");
            const text = line ? `${line.getAttribute("role")}: ${line.textContent}` : "gone";
            if (window.words.at(-1) !== text && (line || window.words.length)) window.words.push(text);
        }).observe(document, {childList: true, subtree: true, characterData: true});
    """)
    with voila_server(write_notebook(tmp_path, "import convviz", "convviz.App()")) as server:
        open_page(page, server.url)
    assert page.evaluate("window.boardsWhenTheWordsWent") == 1
    # On a slow machine each step is told a second time, with words of patience behind.
    told = list(dict.fromkeys(words.split(" Still")[0] for words in page.evaluate("window.words")))
    told = [each for each in told if each != "status: "]  # before its first words
    assert told == ["status: Starting a kernel …", "status: Loading torch …", "status: Drawing …", "gone"]


def test_skip_link_leads_to_the_app_and_controls_follow_the_theme_of_the_page(opened):
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.textContent") == "Skip to the app"
    opened.keyboard.press("Enter")
    assert opened.evaluate("document.activeElement.tagName") == "MAIN"
    background = "getComputedStyle(document.body).backgroundColor"
    controls = "getComputedStyle(document.body).getPropertyValue('--jp-border-color1').trim()"
    seen = {}
    for theme in ("light", "dark"):
        opened.evaluate("(theme) => { document.documentElement.dataset.convvizTheme = theme; }", theme)
        seen[theme] = (opened.evaluate(background), opened.evaluate(controls))
    assert seen["light"][0] != seen["dark"][0]
    assert seen["light"][1] != seen["dark"][1]
    opened.evaluate("delete document.documentElement.dataset.convvizTheme")
    for scheme in ("dark", "light"):
        opened.emulate_media(color_scheme=scheme)
        assert (opened.evaluate(background), opened.evaluate(controls)) == seen[scheme]


def test_short_loss_of_the_connection_is_told_and_taken_back(opened):
    # The banner comes and goes within milliseconds here: an observer sees it, a look might not.
    opened.evaluate("""
        window.told = [];
        const banner = document.querySelector("#convviz-lost");
        new MutationObserver(() => window.told.push(banner.hidden ? "hidden" : banner.innerText))
            .observe(banner, {attributes: true, childList: true, subtree: true});
        window.jupyterapp.widgetManager.kernel.reconnect();
    """)
    opened.wait_for_function("window.told.at(-1) === 'hidden'", timeout=20_000)
    assert any("reconnect" in words for words in opened.evaluate("window.told"))


def test_kernel_that_hangs_is_told_and_taken_back(opened, plain):
    kernel = plain.kernels()[kernel_id(opened)]
    slider = opened.get_by_role("slider").first
    slider.press("ArrowRight")
    kernel.suspend()
    try:
        slider.press("ArrowRight")
        opened.locator(ALERT, has_text="has not answered for 5 seconds").wait_for(timeout=20_000)
    finally:
        kernel.resume()
    opened.locator(BANNER).wait_for(state="hidden", timeout=20_000)


def test_message_that_is_none_shows_nobody_the_folders_of_the_server(opened):
    """ipywidgets answers what it cannot read by a traceback."""
    got = opened.evaluate("""async () => {
        const manager = await window.jupyterapp.widgetManagerPromise.promise;
        const models = await Promise.all(Object.values(manager._models));
        const got = [];
        let waiting = 0;
        manager.kernel.anyMessage.connect((_, { msg, direction }) => {
            if (direction === "recv") got.push(JSON.stringify(msg.content));
            if (msg.content.execution_state === "idle") waiting -= 1;
        });
        const wrong = { method: "update", state: { value: [[]] } };
        const odd = [[1], 5, null, {}, { method: "custom", content: [1] }, wrong];
        for (const data of odd) {
            waiting += models.length;
            for (const model of models) model.comm.send(data);
        }
        while (waiting > 0) await new Promise((resolve) => setTimeout(resolve, 20));
        return got;
    }""")
    assert any("traceback" in each for each in got), "there was something to hide"
    for each in got:
        for path in ("site-packages", ".py", "Error:"):
            assert path not in each


def test_reload_from_the_start_drops_the_permalink_and_keeps_nothing(opened, plain):
    kernel = kernel_id(opened)
    opened.evaluate("addEventListener('convviz:save', () => sessionStorage.setItem('kept', 'wrongly'))")
    opened.evaluate("location.hash = 'a-permalink'")
    plain.kill_kernel(kernel)
    opened.locator(BANNER).wait_for(state="visible", timeout=20_000)
    with opened.expect_navigation():
        opened.get_by_role("button", name="Reload from the start").click()
    assert opened.url == plain.url
    assert opened.evaluate("sessionStorage.getItem('kept')") is None
    wait_open(opened)


def test_kernel_that_is_shut_down_in_order_is_told(opened):
    kernel = kernel_id(opened)
    opened.evaluate("(url) => fetch(url, {method: 'DELETE'})", f"/api/kernels/{kernel}")
    opened.locator(BANNER).wait_for(state="visible", timeout=20_000)
    assert "kernel" in opened.locator(ALERT).text_content()


def test_closed_page_ends_its_kernel_and_one_that_only_seemed_to_go_keeps_it(page, plain):
    kernel = open_page(page, plain.url)
    # What Voilà's page calls before it goes; it stays when the link that was clicked is a download.
    asked = page.evaluate("(url) => fetch(url, {method: 'POST'}).then(({ok}) => ok)", f"/voila/api/shutdown/{kernel}")
    assert asked
    answer = "window.jupyterapp.widgetManager.kernel.requestKernelInfo().then(({content}) => content.status)"
    assert page.evaluate(answer) == "ok"
    assert kernel in plain.kernels()
    page.close(run_before_unload=True)
    wait_until(lambda: kernel not in plain.kernels(), what="the kernel of a closed page ends")


def test_closed_page_ends_its_kernel_although_its_last_call_is_lost(page, plain):
    """Blockers of advertisements stop such calls."""
    page.add_init_script("navigator.sendBeacon = () => false")
    kernel = open_page(page, plain.url)
    page.close()
    wait_until(lambda: kernel not in plain.kernels(), what="the kernel of a page that went away ends")


def test_page_that_never_connects_ends_its_kernel(page, plain):
    page.route("**/voila.js*", lambda route: route.abort())
    before = set(plain.kernels())
    page.goto(plain.url, timeout=APPEARS_WITHIN_MS)
    (kernel,) = set(plain.kernels()) - before
    page.goto("about:blank")
    wait_until(lambda: kernel not in plain.kernels(), what="the kernel that nobody connected to ends")


BAD_ADDRESSES = (
    "/logout",
    "/login",
    "/nothing",
    "/a/b",
    "//",
    "/voila",
    "/voila/",
    "/%00",
    "/favicon.ico",
    "/api/contents",
    "/voila/tree",
    "/voila/templates/",
    "/voila/templates/x",
    "/voila/templates/convviz",
    "/voila/templates/convviz/x/y",
    "/voila/templates/convviz/static/",
    "/voila/templates/convviz/static/none.css",
    "/voila/templates/../../static/x",
    "/voila/templates/a/static/b%00",
    "/voila/templates/%2e%2e/static/../../x",
    "/voila/templates/nope/static/page.css",
    "/voila/static/",
    "/voila/static/nope",
    "/voila/static/%00",
    "/voila/static/..%2f..",
    "/voila/files/x",
    "/voila/files/%00",
    "/voila/labextensions/",
    "/voila/labextensions/%00",
    "/voila/labextensions/anywidget",
    "/voila/api/themes/",
    "/voila/api/themes/%00",
    "/api/kernels/12345678-1234-1234-1234-123456789012",
    "/api/kernels/12345678-1234-1234-1234-123456789012/channels",
)


def ask(server, path, method="GET"):
    """Return the answer of a server to an address that no browser would send like this."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server.url).netloc, timeout=60)
    connection.request(method, path)
    answer = connection.getresponse()
    answer.text = answer.read().decode("utf-8", "replace")
    connection.close()
    return answer


def test_every_answer_is_guarded_and_a_bad_address_is_no_event(plain):
    said = len(plain.said)
    answers = [(path, ask(plain, path), 404) for path in BAD_ADDRESSES]
    answers += [(path, ask(plain, path), 400) for path in ("/%ff", "/voila/static/%ff", "/api/kernels/%ff")]
    answers += [(path, ask(plain, path, "PUT"), 405) for path in ("/", "/voila/templates/x", "/voila/static/voila.js")]
    good = (
        "/voila/static/voila.js",
        "/voila/templates/convviz/static/page.css",
        "/voila/labextensions/anywidget/package.json",
    )
    answers += [(path, ask(plain, path), 200) for path in good]
    for path, answer, status in answers:
        assert answer.status == status, path
        assert answer.getheader("X-Content-Type-Options") == "nosniff", path
        assert "frame-ancestors 'self'" in answer.getheader("Content-Security-Policy"), path
        assert answer.getheader("Referrer-Policy") == "same-origin", path
        if status != 200:
            assert "Traceback" not in answer.text, path
    assert plain.said[said:] == []


def test_cookies_stay_with_the_page(plain):
    cookies = ask(plain, "/").headers.get_all("Set-Cookie")
    assert cookies
    for cookie in cookies:
        assert "samesite=lax" in cookie.lower()


def test_app_that_fails_says_so_instead_of_loading_for_ever(page, tmp_path):
    with voila_server(write_notebook(tmp_path, "1 / 0")) as server:
        page.goto(server.url, wait_until="commit")
        page.locator(BANNER).wait_for(state="visible", timeout=APPEARS_WITHIN_MS)
        assert "could not start" in page.locator(ALERT).text_content()
        assert page.locator(LOADING).count() == 0
        assert "convviz doctor" in page.locator("main").text_content()
        assert "ZeroDivisionError" not in page.content(), "no traceback for a visitor"


def test_preheated_kernel_is_used_and_replaced_and_quick_reloads_leave_no_other_until_ctrl_c(page, tmp_path):
    """Whatever is under way when a page is left: the start of its kernel, its cells, its scripts, its connection.

    No kernel takes itself down: among its threads libzmq aborts now and then, with a line in the server's output.
    """
    asked, ready = tmp_path / "asked", tmp_path / "ready"
    whole = f"pathlib.Path({str(ready)!r}).touch()"  # a page that comes before has no use for it
    at_exit = f"import atexit, pathlib; atexit.register(pathlib.Path({str(asked)!r}).touch)"
    slow = "import ipywidgets as w, time; time.sleep(0.2)"
    notebook = write_notebook(tmp_path, at_exit, slow, SLIDER, whole)
    with voila_server(notebook, preheat=True, prepare=IMPATIENT) as server:
        wait_until(ready.exists, what="the first kernel has run all cells")
        waiting = set(wait_until(server.kernels, what="one kernel is started before anybody comes"))
        assert len(waiting) == 1
        assert open_page(page, server.url) in waiting
        assert page.outside == []
        wait_until(lambda: len(server.kernels()) == 2, what="the next kernel is started")
        for mark in ("main", "#jupyter-config-data", "body[data-convviz-kernel]", "main", "main", "body"):
            page.goto(server.url, wait_until="commit", timeout=APPEARS_WITHIN_MS)
            page.locator(mark).wait_for(state="attached", timeout=APPEARS_WITHIN_MS)
        kernel = open_page(page, server.url)
        # A page that is left after it was sent, and before it could say anything, is given the time to connect.
        wait_until(lambda: len(server.kernels()) == 2, what="the kernels of the pages that were left end")
        assert kernel in server.kernels(), "and not the one of the page that stayed"
        kernels = list(server.kernels().values())
        assert server.interrupt() == 0
        wait_until(lambda: not any(each.is_running() for each in kernels), what="all kernels end")
    assert len(server.said) == 1, f"one line, the address: {server.said}"
    assert not asked.exists(), "a kernel that nobody watches is killed"


def test_ctrl_c_while_the_first_kernel_starts_is_quiet_too(tmp_path):
    with voila_server(write_notebook(tmp_path, SLIDER), preheat=True) as server:
        assert server.interrupt() == 0
        assert server.kernels() == {}
    assert len(server.said) == 1, f"one line, the address: {server.said}"


def test_home_that_cannot_be_written_to_serves_the_page_all_the_same_until_the_server_is_gone(page, tmp_path):
    """Its kernel knows the device and keeps to one thread."""
    (tmp_path / "home").touch()  # below a file nothing can be made, not even by an administrator
    env = {"HOME": str(tmp_path / "home" / "none"), "MKL_NUM_THREADS": "3"}
    names = ["CONVVIZ_DEVICE", "OMP_NUM_THREADS", "MKL_NUM_THREADS"]
    tell = f"w.Label(' '.join(os.environ.get(name, 'unset') for name in {names}))"
    path = write_notebook(tmp_path, "import os, ipywidgets as w", tell)
    with voila_server(path, env=env, arguments=["--device", "cpu"]) as server:
        open_page(page, server.url)
        assert page.locator(".widget-label").first.text_content() == "cpu 1 3"
        server.kill()
        page.locator(BANNER).wait_for(state="visible", timeout=20_000)
        assert "server" in page.locator(ALERT).text_content()
