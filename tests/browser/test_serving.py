"""The page that Voilà serves with our template: what it asks for, what it says, and what ends with it."""

import json

import pytest

from tests.browser.server import voila_server, wait_until

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


def test_the_app_has_its_landmarks_and_is_not_wider_than_a_phone(app):
    assert app.title() == "convviz · the backward pass of conv2d"
    assert app.locator("html").get_attribute("lang") == "en"
    main = app.locator("main")
    assert main.count() == 1
    assert main.locator(".cv-board").count() == 1, "the app stands inside the landmark"
    assert app.locator("[role=alert]:visible").count() == 0
    app.set_viewport_size({"width": 360, "height": 740})
    app.wait_for_function("document.documentElement.scrollWidth <= 360")  # once the board has taken its new width


def test_words_stay_until_the_board_is_there_on_the_slowest_machine(page, server):
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
    open_page(page, server.url)
    assert page.evaluate("window.boardsWhenTheWordsWent") == 1


def test_words_tell_each_step_until_the_app_is_there(page, server):
    # Every text the line ever shows, whatever the speed of this machine.
    page.add_init_script("""
        window.words = [];
        new MutationObserver(() => {
            const line = document.querySelector("#convviz-loading");
            const text = line ? `${line.getAttribute("role")}: ${line.textContent}` : "gone";
            if (window.words.at(-1) !== text && (line || window.words.length)) window.words.push(text);
        }).observe(document, {childList: true, subtree: true, characterData: true});
    """)
    open_page(page, server.url)
    # On a slow machine each step is told a second time, with words of patience behind.
    told = list(dict.fromkeys(words.split(" Still")[0] for words in page.evaluate("window.words")))
    assert told == ["status: Starting a kernel …", "status: Loading torch …", "status: Drawing …", "gone"]


def test_skip_link_leads_to_the_app_and_controls_follow_the_theme_of_the_page(page, plain):
    open_page(page, plain.url)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the app"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"
    background = "getComputedStyle(document.body).backgroundColor"
    controls = "getComputedStyle(document.body).getPropertyValue('--jp-border-color1').trim()"
    seen = {}
    for theme in ("light", "dark"):
        page.evaluate("(theme) => { document.documentElement.dataset.convvizTheme = theme; }", theme)
        seen[theme] = (page.evaluate(background), page.evaluate(controls))
    assert seen["light"][0] != seen["dark"][0]
    assert seen["light"][1] != seen["dark"][1]
    page.evaluate("delete document.documentElement.dataset.convvizTheme")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        assert (page.evaluate(background), page.evaluate(controls)) == seen[scheme]


def test_kernel_that_is_shut_down_in_order_is_told(page, plain):
    kernel = open_page(page, plain.url)
    page.evaluate("(url) => fetch(url, {method: 'DELETE'})", f"/api/kernels/{kernel}")
    page.locator(BANNER).wait_for(state="visible", timeout=20_000)
    assert "kernel" in page.locator(ALERT).text_content()


def test_reload_from_the_start_drops_the_permalink_and_keeps_nothing(page, plain):
    kernel = open_page(page, plain.url + "#a-permalink")
    page.evaluate("addEventListener('convviz:save', () => sessionStorage.setItem('kept', 'wrongly'))")
    plain.kill_kernel(kernel)
    page.locator(BANNER).wait_for(state="visible", timeout=20_000)
    with page.expect_navigation():
        page.get_by_role("button", name="Reload from the start").click()
    assert page.url == plain.url
    assert page.evaluate("sessionStorage.getItem('kept')") is None


def test_short_loss_of_the_connection_is_told_and_taken_back(page, plain):
    open_page(page, plain.url)
    # The banner comes and goes within milliseconds here: an observer sees it, a look might not.
    page.evaluate("""
        window.told = [];
        const banner = document.querySelector("#convviz-lost");
        new MutationObserver(() => window.told.push(banner.hidden ? "hidden" : banner.innerText))
            .observe(banner, {attributes: true, childList: true, subtree: true});
        window.jupyterapp.widgetManager.kernel.reconnect();
    """)
    page.wait_for_function("window.told.at(-1) === 'hidden'", timeout=20_000)
    assert any("reconnect" in words for words in page.evaluate("window.told"))


def test_closed_page_ends_its_kernel(page, plain):
    kernel = open_page(page, plain.url)
    assert kernel in plain.kernels()
    page.close(run_before_unload=True)
    wait_until(lambda: kernel not in plain.kernels(), what="the kernel of a closed page ends")


def test_server_gone_is_told(page, tmp_path):
    with voila_server(write_notebook(tmp_path, SLIDER)) as server:
        open_page(page, server.url)
        server.kill()
        page.locator(BANNER).wait_for(state="visible", timeout=20_000)
        assert "server" in page.locator(ALERT).text_content()


def test_app_that_fails_says_so_instead_of_loading_for_ever(page, tmp_path):
    with voila_server(write_notebook(tmp_path, "1 / 0")) as server:
        page.goto(server.url, wait_until="commit")
        page.locator(BANNER).wait_for(state="visible", timeout=APPEARS_WITHIN_MS)
        assert "could not start" in page.locator(ALERT).text_content()
        assert page.locator(LOADING).count() == 0
        assert "convviz doctor" in page.locator("main").text_content()
        assert "ZeroDivisionError" not in page.content(), "no traceback for a visitor"


def test_preheated_kernel_is_used_replaced_and_ended_by_ctrl_c(page, tmp_path):
    with voila_server(write_notebook(tmp_path, SLIDER), preheat=True) as server:
        waiting = set(wait_until(server.kernels, what="one kernel is started before anybody comes"))
        assert len(waiting) == 1
        assert open_page(page, server.url) in waiting
        assert page.outside == []
        wait_until(lambda: len(server.kernels()) == 2, what="the next kernel is started")
        kernels = list(server.kernels().values())
        assert server.interrupt() == 0
        wait_until(lambda: not any(kernel.is_running() for kernel in kernels), what="all kernels end")
    assert len(server.said) == 1, f"one line, the address: {server.said}"


def test_ctrl_c_while_the_first_kernel_starts_is_quiet_too(tmp_path):
    with voila_server(write_notebook(tmp_path, SLIDER), preheat=True) as server:
        assert server.interrupt() == 0
        assert server.kernels() == {}
    assert len(server.said) == 1, f"one line, the address: {server.said}"


def test_kernel_knows_the_device_and_keeps_to_one_thread(page, tmp_path):
    names = ["CONVVIZ_DEVICE", "OMP_NUM_THREADS", "MKL_NUM_THREADS"]
    tell = f"w.Label(' '.join(os.environ.get(name, 'unset') for name in {names}))"
    path = write_notebook(tmp_path, "import os, ipywidgets as w", tell)
    with voila_server(path, env={"MKL_NUM_THREADS": "3"}, arguments=["--device", "cpu"]) as server:
        open_page(page, server.url)
        assert page.locator(".widget-label").first.text_content() == "cpu 1 3"
