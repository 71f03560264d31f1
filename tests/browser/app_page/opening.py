"""Opens the app for a test, and brings the page back to where it started."""

import contextlib
import re

from playwright.sync_api import Error
from playwright.sync_api import TimeoutError as TooSlow

from tests.browser.app_page.operate_page import choose
from tests.browser.app_page.read_page import same_state, snapshot
from tests.browser.app_page.waits import APPEARS_WITHIN_MS, repaint, settle, wait_painted
from tests.browser.bare_page import JS
from tests.browser.server import wait_until
from tests.chromium import HAS_ARRIVED
from tests.conftest import note_trouble

# What a person would do to get rid of all that is open: bars of steps, a pinned cell, details, formulas, a tab, and
# scrolled places.
TIDY = """() => {
  document.activeElement?.blur();
  for (const closes of document.querySelectorAll(".cv-transport:not([hidden]), .cv-sum")) {
    closes.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  }
  for (const details of document.querySelectorAll(".cv-board details[open]")) details.open = false;
  for (const opener of document.querySelectorAll(".cv-symbols-open[aria-expanded=true]")) opener.click();
  document.querySelector(".cv-tab[aria-selected=true]")?.click();
  // Nothing inside a picture scrolls, and to ask each of its thousands of parts takes as long as all the rest.
  for (const node of document.querySelectorAll(":not(svg *)")) {
    if (node.scrollTop || node.scrollLeft) node.scrollTo(0, 0);
  }
}"""

# A screen in light colours, for who wants no motion: to tell a browser again what is so takes as long as half a link.
PLAIN_SCREEN = {"color_scheme": "light", "reduced_motion": "reduce", "media": "screen"}
IS_PLAIN = '() => matchMedia("screen and (prefers-color-scheme: light) and (prefers-reduced-motion: reduce)").matches'

# What stands behind More. Tests of the app have it open: to shut and to open it takes as long as all the rest.
MORE = ".cv-more-controls, .cv-advanced"

# A link that stands there already would be none. The room is shared as in a page just loaded: to the input is in sight.
SHOW = """async ([link, stays]) => {
  document.querySelector(".cv-lesson:not([hidden]) .cv-lesson-close")?.click();
  document.querySelector(".cv-lesson-gone:not([hidden]) footer > :last-child")?.click();
  for (const details of document.querySelectorAll("details[open]")) {
    if (!(stays && details.matches(stays))) details.open = false;
  }
  history.replaceState(null, "", location.pathname);
  location.hash = link;
  const frame = () => new Promise(requestAnimationFrame);
  await new Promise((done) => addEventListener("hashchange", done, { once: true }));
  await frame();
  await frame();
  document.querySelector("[data-bands=all] .cv-title[aria-pressed=true]")?.click();
  document.querySelector("[data-bands=one] [data-equation=input][data-strip] .cv-title")?.click();
  document.activeElement?.blur(); // a cell that Esc gave the focus back to would be announced
  await frame(); // it is drawn in the next one
}"""


# A script of a page: plotly is there at once, and takes its data but draws nothing.
_KEY = re.search(
    r"const KEY = (Symbol\.for\(.+?\));", JS.joinpath("board", "panel", "load_plotly.js").read_text("utf-8")
)[1]
NO_PLOTLY = f"""window[{_KEY}] = Promise.resolve({{
  react: async (at, data, layout) => void Object.assign(at, {{ data, layout }}), purge() {{}},
}});"""


# A script of a page: all is there, at its place and to be clicked, and nothing is painted. Paper is.
UNPAINTED = """{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("@media screen { html { opacity: 0 } }");
  document.adoptedStyleSheets = [sheet];
}"""


@contextlib.contextmanager
def fresh_page(browser, *, has_arrived=True, plotly=False, painted=False, **options):
    """Yield a page of another visitor, as the fixture `page` makes it, with options for its context.

    Args:
        browser: the fixture.
        has_arrived: whether the visitor has seen the arrival, so that the board is at rest.
        plotly: whether it draws the heatmaps, pixels and all; to load it takes longer than all the rest of a page.
        painted: whether its pixels are there without plotly, too: they are a sixth of the processor seconds of tests.
        options: for its context.
    """
    fixed = {"viewport": {"width": 1400, "height": 900}, "service_workers": "block", "bypass_csp": True}
    fixed["reduced_motion"] = "reduce"  # each frame of a motion is painted, by the processor
    painted = painted or plotly
    context = browser.new_context(**{**fixed, **options})
    for script in [HAS_ARRIVED] * has_arrived + [NO_PLOTLY] * (not plotly) + [UNPAINTED] * (not painted):
        context.add_init_script(script)
    page = context.new_page()
    if not painted:
        page.screenshot = without_pixels
    note_trouble(page)
    try:
        yield page
        assert [error.stack or error.message for error in page.page_errors] == []
    finally:
        with contextlib.suppress(Error):  # the test has closed it
            page.close(run_before_unload=True)  # so that what is its own on the server ends at once
        context.close()


def without_pixels(**_):
    """Refuse what would be an empty picture."""
    raise AssertionError("this page has no pixels: open one with fresh_page(painted=True)")


def open_app(page, url, link="#v=1"):
    """Open the served app with all its controls and wait until it is drawn; page.complaints lists the console's errors.

    Without another link it is the picture of v=1, which has zeros inserted, padding and a remainder.
    """
    page.complaints = []
    page.on("console", lambda message: message.type == "error" and page.complaints.append(message.text))
    page.goto(url if "#" in url or "?" in url else url + link, wait_until="commit", timeout=APPEARS_WITHIN_MS)
    page.locator(".cv-board[data-from=torch]").wait_for(timeout=APPEARS_WITHIN_MS)
    show_all_controls(page)
    wait_painted(page, 0, APPEARS_WITHIN_MS)


@contextlib.contextmanager
def visiting(browser, server, **options):
    """Yield a page of the served app for many tests, its first state beside it in page.start."""
    with fresh_page(browser, accept_downloads=True, **options) as page:
        open_app(page, server.url)
        page.start = snapshot(page)
        yield page


def show_all_controls(page):
    """Open what stands behind More, for keys and menus alone: it hangs over the board, whose cells are clicked."""
    page.evaluate(
        """(all) => document.querySelectorAll(all).forEach((more) => {
            more.open = true;
            more.querySelector(".cv-popover")?.setAttribute("style", "pointer-events: none; opacity: 0");
        })""",
        MORE,
    )


def go_to(page, link):
    """Put a link into the address of an open page, and wait until it is drawn."""
    with repaint(page):
        page.evaluate("(link) => { location.hash = link; }", link)


def show_link(page, path, link="v=2", size=(1366, 768)):
    """Show a link in an exported page as if it had just been opened there: to load it again takes five times as long.

    Args:
        page: loads the page where it has not yet, else puts the link into its address.
        path: of the exported page.
        link: without its #.
        size: of the window.
    """
    look_plainly(page, size)
    if page.url.split("#")[0] == path.as_uri():
        assert link, "in the open page no link changes nothing: nobody would hear of it"
        page.mouse.move(0, 0)
        page.evaluate(TIDY)
        page.keyboard.press("Escape")
        page.evaluate(SHOW, [link, ""])
    else:
        page.goto(f"{path.as_uri()}#{link}")
    wait_painted(page)
    return page


def look_plainly(page, size):
    """Show a page on a plain screen, in a window of this width and height."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    if not page.evaluate(IS_PLAIN):
        page.emulate_media(**PLAIN_SCREEN)


def start_again(page):
    """Close what is open, and wait until all of the page is as in page.start; a test may have opened another link."""
    look_plainly(page, (1400, 900))
    page.mouse.move(0, 0)
    page.evaluate(TIDY)
    page.keyboard.press("Escape")
    if page.evaluate("document.querySelector('.cv-app .cv-set-theme select').value") != "auto":
        choose(page, "theme", "auto")
    page.evaluate(SHOW, ["v=1", MORE])
    page.evaluate("history.replaceState(null, '', location.pathname)")
    wait_until(lambda: same_state(snapshot(page), page.start), what="the state of the start")
    show_all_controls(page)  # a test may have closed them
    page.evaluate(TIDY)  # a pin whose cell was gone meanwhile is there again
    settle(page)
    page.evaluate("document.activeElement?.blur()")


def used(page, server):
    """Yield a page of `visiting` as it started; it asks for nothing outside and breaks nothing while a test uses it."""
    try:
        start_again(page)
    except (TooSlow, AssertionError):  # as a test that failed left it
        open_app(page, server.url)
    page.complaints.clear()
    page.page_errors.clear()
    page.outside.clear()
    yield page
    errors, page.page_errors[:] = [error.stack or error.message for error in page.page_errors], []
    assert [*page.outside, *page.complaints, *errors] == []


def kernel_id(page):
    """Return the id of the kernel behind a notebook's page."""
    return page.evaluate("window.jupyterapp.widgetManagerPromise.promise.then(({kernel}) => kernel.id)")


def messages_sent(page):
    """Count what the page sends to the server from now on; return the function that says how many there were."""
    page.evaluate("""() => {
        if (window.sent === undefined) {
          const { send } = WebSocket.prototype;
          WebSocket.prototype.send = function (data) {
            window.sent += 1;
            return send.call(this, data);
          };
        }
        window.sent = 0;
    }""")
    return lambda: page.evaluate("window.sent")
