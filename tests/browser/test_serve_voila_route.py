"""The notebook of the app as Voilà's page, a route of `convviz serve`; test_dashboard.py runs `voila` alone."""

import pytest

from tests.browser.app_page import assert_page_equals_autograd, fresh_page, kernel_id, open_app, slide, slider
from tests.browser.server import IMPATIENT, voila_server, wait_until

NOTEBOOK = "voila/render/app.ipynb"
BANNER = "#convviz-lost"
ALERT = "#convviz-lost-text"
LOADING = "#convviz-loading"
# A first start reads torch from a cold disk.
APPEARS_WITHIN_MS = 120_000


@pytest.fixture(scope="module")
def served():
    """A server for oneself, whose notebook's pages have some seconds to come back."""
    with voila_server(prepare=IMPATIENT) as server:
        server.notebook = server.url + NOTEBOOK
        yield server


@pytest.fixture(scope="module")
def visit(browser, served):
    """A page that stays open: each page costs a kernel."""
    with fresh_page(browser) as page:
        yield page


@pytest.fixture
def opened(visit, served):
    """The open page of the notebook, opened again where a test has ended its kernel."""
    if visit.locator("body[data-convviz-kernel=ok]").count() == 0:
        open_app(visit, served.notebook)
    yield visit
    errors, visit.page_errors[:] = visit.page_errors[:], []
    assert [error.stack or error.message for error in errors] == []


@pytest.mark.policy
@pytest.mark.plotly
def test_the_notebook_shows_the_app_with_its_kernel_and_its_page_bears_its_policy(page, served):
    # Every text the line ever shows, whatever the speed of this machine.
    page.add_init_script("""
        window.words = [];
        new MutationObserver(() => {
            const line = document.querySelector("#convviz-loading");
            const text = line ? `${line.getAttribute("role")}: ${line.textContent}` : "gone";
            if (window.words.at(-1) !== text && (line || window.words.length)) window.words.push(text);
        }).observe(document, {childList: true, subtree: true, characterData: true});
    """)
    open_app(page, served.notebook)
    told = list(dict.fromkeys(words.split(" Still")[0] for words in page.evaluate("window.words")))
    told = [each for each in told if each != "status: "]  # before its first words
    assert told == ["status: Starting a kernel …", "status: Loading torch …", "status: Drawing …", "gone"]
    assert len(served.kernels()) == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the app"
    slide(page, "stride", 3)
    assert_page_equals_autograd(page)
    assert page.title() == "convviz · the backward pass of conv2d"
    assert page.locator("main .cv-board").count() == 1, "the app stands inside the landmark"
    assert page.complaints == [], "nothing that the page needs is forbidden"
    assert page.outside == []
    page.close(run_before_unload=True)
    wait_until(lambda: not served.kernels(), what="the kernel of a closed page ends")


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
    assert any("Reconnecting" in words for words in opened.evaluate("window.told"))


def test_kernel_that_hangs_is_told_and_taken_back(opened, served):
    kernel = served.kernels()[kernel_id(opened)]
    kernel.suspend()
    try:
        slider(opened, "stride").press("ArrowLeft")
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
        const wrong = { method: "update", state: { children: 5, loss_value: [[]] } };
        const odd = [[1], 5, null, {}, { method: "custom", content: [1] }, wrong];
        for (const data of odd) {
            waiting += models.length;
            for (const model of models) model.comm.send(data);
        }
        while (waiting > 0) await new Promise((resolve) => setTimeout(resolve, 20));
        return got;
    }""")
    assert got
    for each in got:
        for path in ("site-packages", '.py"', "Traceback (most"):
            assert path not in each


def test_reload_from_the_start_drops_the_permalink(opened, served):
    served.kill_kernel(kernel_id(opened))
    opened.locator(BANNER).wait_for(state="visible", timeout=20_000)
    with opened.expect_navigation():
        opened.get_by_role("button", name="Reload from the start").click()
    assert opened.url == served.notebook
    opened.locator(".cv-board[data-from=torch]").wait_for(timeout=APPEARS_WITHIN_MS)


def test_a_page_that_never_connects_and_quick_reloads_leave_no_kernel(page, served):
    before, said = set(served.kernels()), len(served.said)
    page.route("**/voila.js*", lambda route: route.abort())
    page.goto(served.notebook, timeout=APPEARS_WITHIN_MS)
    assert len(set(served.kernels()) - before) == 1
    page.goto("about:blank")
    page.unroute("**/voila.js*")
    for mark in ("#jupyter-config-data", "body[data-convviz-kernel]"):
        page.goto(served.notebook, wait_until="commit", timeout=APPEARS_WITHIN_MS)
        page.locator(mark).wait_for(state="attached", timeout=APPEARS_WITHIN_MS)
    page.goto("about:blank")
    wait_until(lambda: set(served.kernels()) <= before, what="the kernels that nobody is connected to end")
    assert served.said[said:] == [], "it is no event"


def test_home_that_cannot_be_written_to_serves_the_page_all_the_same_until_the_server_is_gone(page, tmp_path):
    """A server that is killed leaves a folder of each kind, which the next one removes, though its app fails."""
    (tmp_path / "home").touch()  # below a file nothing can be made, not even by an administrator
    (tmp_path / "tmp").mkdir()
    env = {"HOME": str(tmp_path / "home" / "none"), "TMPDIR": str(tmp_path / "tmp")}

    def folders():
        return {path.name for path in (tmp_path / "tmp").iterdir() if path.name.startswith(("convviz-", "voila"))}

    def kinds():
        return sorted(name.removeprefix("convviz-").split("-")[0] for name in folders())

    with voila_server(env=env) as server:
        assert kinds() == ["races"], "none of kernels before somebody opens the notebook"
        open_app(page, server.url + NOTEBOOK)
        left = folders()
        assert kinds() == ["kernels", "races"]
        server.kill()
        page.locator(BANNER).wait_for(state="visible", timeout=20_000)
        assert "server" in page.locator(ALERT).text_content()
    assert folders() == left
    page.page_errors.clear()  # Voilà's front end misses its server
    with voila_server(env={**env, "CONVVIZ_DEVICE": "abacus"}) as server:
        page.goto(server.url + NOTEBOOK, wait_until="commit")
        page.locator(BANNER).wait_for(state="visible", timeout=APPEARS_WITHIN_MS)
        assert "could not start" in page.locator(ALERT).text_content()
        assert page.locator(LOADING).count() == 0, "it says so instead of loading for ever"
        assert "convviz doctor" in page.locator("main").text_content()
        assert "ValueError" not in page.content(), "no traceback for a visitor"
        assert not left & folders()
        assert kinds() == ["kernels", "races"]
        assert server.interrupt() == 0
    assert folders() == set()
    page.page_errors.clear()
