"""A tab's script comes when the tab is first opened: from the kernel or as a file, late, never, and at a second try."""

import base64
import gzip

import pytest

from convviz.facts.words import sentences
from convviz.web.widget_assets import tab_script
from tests.browser.app_page import fresh_page, open_app, open_tab, press_tab
from tests.browser.bare_page import expose

say = sentences("tab_pane")

# A model as a pane sees it, of which the test is the kernel: what is sent is kept, and answered from here.
STAND_IN = """() => {
  const listeners = new Map();
  window.notify = (event, ...details) => [...(listeners.get(event) ?? [])].forEach((listener) => listener(...details));
  window.sent = [];
  window.kernel = { send: (message) => sent.push(message) };
  const model = {
    kernel: () => window.kernel,
    on: (event, listener) => {
      listeners.set(event, [...(listeners.get(event) ?? []), listener]);
      return () => listeners.set(event, listeners.get(event).filter((each) => each !== listener));
    },
  };
  window.listening = () => [...listeners.values()].flat().length;
  window.answer = (tab, text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    notify("msg:custom", { type: "script", tab }, [new DataView(bytes.buffer)]);
  };
  const scripts = createTabScripts(model);
  const pane = createValues({ data: {}, tab: "code", theme: "light", colorscales: { light: {} } });
  window.open = () => openTab("code", document.body, scripts, { ...pane, send: (message) => sent.push(message) });
}"""
TEXT = "document.querySelector('.cv-pane p').textContent"


@pytest.fixture
def stand_in(page):
    """Return a page with the opening of a tab in it, and nothing else; ``sent`` has what went to the kernel."""
    page.goto("about:blank")
    expose(page, "page/load_on_demand.js", "tabs/tab_placeholder.js", "base/observable_values.js")
    page.clock.install()
    page.evaluate(STAND_IN)
    return page


def packed(name):
    return base64.b64encode(gzip.compress(tab_script(name).encode())).decode()


def asked(page):
    return page.evaluate("sent.filter(({ type }) => type === 'script').length")


def test_a_script_is_asked_for_once_and_its_sheet_goes_with_the_pane(stand_in):
    page = stand_in
    page.evaluate("void (window.shut = open())")
    assert page.evaluate("sent") == [{"type": "script", "tab": "code"}]
    assert page.evaluate(TEXT) == say("script.asked")
    page.evaluate("([text]) => answer('matrix', text)", [packed("matrix")])  # of another tab, for another page
    assert page.locator(".cv-pane-code, .cv-pane-matrix").count() == 0
    page.evaluate("([text]) => answer('code', text)", [packed("code")])
    page.locator(".cv-pane-code").wait_for()
    assert page.locator(".cv-pane").count() == page.locator("style").count() == 1
    assert page.evaluate("listening()") == 0
    page.evaluate("shut()")
    assert page.locator(".cv-pane, style").count() == 0
    page.evaluate("void (window.shut = open())")
    assert page.locator(".cv-pane-code").count() == 1, "the second time it is there at once"
    assert asked(page) == 1


def test_a_script_that_does_not_come_is_said_asked_for_again_and_taken_late(stand_in):
    page = stand_in
    again = page.get_by_role("button", name=say("again"))
    page.evaluate("void (window.shut = open())")
    assert again.is_hidden()
    page.clock.run_for(5_000)
    assert page.evaluate(TEXT) == say("script.asked")
    page.clock.run_for(6_000)
    again.wait_for()
    assert page.evaluate(TEXT) == say("script.late")
    before = asked(page)
    again.press("Enter")
    assert again.is_hidden()
    assert asked(page) == before + 1
    page.clock.run_for(10_100)
    again.wait_for()
    again.focus()
    page.evaluate("([text]) => answer('code', text)", [packed("code")])
    page.locator(".cv-pane-code").wait_for()
    assert page.locator(".cv-pane").count() == 1
    assert page.evaluate("document.activeElement.matches('.cv-pane-code')"), "the keyboard is where the button was"
    before = asked(page)
    page.clock.run_for(60_000)
    assert asked(page) == before, "who has it asks no more"


def test_a_tab_closed_before_its_script_came_asks_no_more_and_no_script_is_said(stand_in):
    page = stand_in
    page.evaluate("open()()")
    before = asked(page)
    page.clock.run_for(60_000)
    assert asked(page) == before
    assert page.evaluate("listening()") == page.locator(".cv-pane").count() == 0
    page.evaluate("void (window.shut = open())")
    page.evaluate("([text]) => answer('code', text)", [base64.b64encode(b"no gzip").decode()])
    page.get_by_role("button", name=say("again")).wait_for()
    assert page.locator(".cv-pane").count() == 1


def test_without_a_kernel_it_is_said_and_the_next_kernel_is_asked(stand_in):
    page = stand_in
    page.evaluate("void (window.real = kernel, kernel = null, window.shut = open())")
    page.get_by_role("button", name=say("again")).wait_for()
    assert page.evaluate(TEXT) == say("script.lost")
    page.evaluate("kernel = real, notify('change:kernel')")
    assert asked(page) == 1
    assert page.evaluate(TEXT) == say("script.lost")
    page.evaluate("([text]) => answer('code', text)", [packed("code")])
    page.locator(".cv-pane-code").wait_for()


FAILS_ONCE = """() => {
  const real = window.fetch;
  window.asked = 0;
  window.fetch = (address, ...rest) =>
    String(address).includes("/tab-quantised-") && ++window.asked === 1
      ? Promise.resolve(new Response("", { status: 503 }))
      : real(address, ...rest);
}"""


@pytest.fixture
def newcomer(browser, server):
    """A page of its own: in the one that tests share, another may have opened the tab before."""
    with fresh_page(browser) as page:
        open_app(page, server.url)
        yield page


def test_a_served_page_fetches_a_tab_once_and_says_when_it_cannot(newcomer):
    app = newcomer
    app.evaluate(FAILS_ONCE)
    press_tab(app, "quantised")
    pane = app.locator(".cv-slot .cv-pane")
    again = pane.get_by_role("button", name=say("again"))
    again.wait_for()
    assert pane.locator("p").first.text_content().startswith(say("script.failed", why="503")[:40])
    assert pane.get_attribute("role") == "tabpanel"
    assert pane.get_attribute("aria-labelledby") == app.locator("[role=tab][data-tab=quantised]").get_attribute("id")
    again.click()
    app.locator('.cv-pane-quantised[data-shown]:not([data-shown=""])').wait_for()
    press_tab(app, "quantised")
    open_tab(app, "quantised")
    assert app.evaluate("asked") == 2, "one that failed, one that came, and none for the second opening"
