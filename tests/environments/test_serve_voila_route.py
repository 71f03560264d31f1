"""The notebook of the app as Voilà's page, a route of `convviz serve`; test_dashboard.py runs `voila` alone."""

from pathlib import Path

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
def served(tmp_path_factory):
    """A server for oneself whose home cannot be written to; its notebook's pages have some seconds to come back."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "home").touch()  # below a file nothing can be made, not even by an administrator
    (folder / "tmp").mkdir()
    env = {"HOME": str(folder / "home" / "none"), "TMPDIR": str(folder / "tmp")}
    with voila_server(prepare=IMPATIENT, env=env) as server:
        server.notebook, server.env = server.url + NOTEBOOK, env
        assert kinds(server) == ["races"], "none of kernels before somebody opens the notebook"
        yield server


def folders(server):
    """Return the names of the folders that servers of this one's environment have made for a while."""
    names = (path.name for path in Path(server.env["TMPDIR"]).iterdir())
    return {name for name in names if name.startswith(("convviz-", "voila"))}


def kinds(server):
    return sorted(name.removeprefix("convviz-").split("-")[0] for name in folders(server))


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
    reported = list(dict.fromkeys(words.split(" Still")[0] for words in page.evaluate("window.words")))
    reported = [each for each in reported if each != "status: "]  # before its first words
    assert reported == ["status: Starting a kernel …", "status: Loading torch …", "status: Drawing …", "gone"]
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


def test_short_loss_of_the_connection_is_shown_and_taken_back(opened):
    # The banner comes and goes within milliseconds here: an observer sees it, a look might not.
    opened.evaluate("""
        window.reported = [];
        const banner = document.querySelector("#convviz-lost");
        new MutationObserver(() => window.reported.push(banner.hidden ? "hidden" : banner.innerText))
            .observe(banner, {attributes: true, childList: true, subtree: true});
        window.jupyterapp.widgetManager.kernel.reconnect();
    """)
    opened.wait_for_function("window.reported.at(-1) === 'hidden'", timeout=20_000)
    assert any("Reconnecting" in words for words in opened.evaluate("window.reported"))


def test_kernel_that_hangs_is_shown_and_taken_back(opened, served):
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
    ours = [line for line in served.said[said:] if "not a writable location" not in line]  # as IPython says of a home
    assert ours == [], "it is no event"


def test_a_server_that_is_killed_leaves_folders_which_the_next_one_removes_though_its_app_fails(opened, served):
    """The last one: its server is gone."""
    left = folders(served)
    assert kinds(served) == ["kernels", "races"]
    served.kill()
    opened.locator(BANNER).wait_for(state="visible", timeout=20_000)
    assert "server" in opened.locator(ALERT).text_content()
    assert folders(served) == left
    with voila_server(env={**served.env, "CONVVIZ_DEVICE": "abacus"}) as server:
        opened.goto(server.url + NOTEBOOK, wait_until="commit")
        opened.locator(BANNER).wait_for(state="visible", timeout=APPEARS_WITHIN_MS)
        assert "could not start" in opened.locator(ALERT).text_content()
        assert opened.locator(LOADING).count() == 0, "it says so instead of loading for ever"
        assert "convviz doctor" in opened.locator("main").text_content()
        assert "ValueError" not in opened.content(), "no traceback for a visitor"
        assert not left & folders(served)
        assert kinds(served) == ["kernels", "races"]
        assert server.interrupt() == 0
    assert folders(served) == set()
    opened.page_errors.clear()  # Voilà's front end misses its server
