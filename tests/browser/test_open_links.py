"""Links in the browser: the page's own reader against Python's, and addresses opened and copied in all uses.

Those in a notebook are in test_jupyterlab.py, where one is open.
"""

import json
from pathlib import Path

import pytest

from convviz.export.page import export_html
from convviz.geometry.spec import ConvSpec
from convviz.settings.link import briefly, from_link, to_link
from convviz.settings.state import Settings
from convviz.settings.tensor_source import Source
from convviz.settings.tensors import weight_tensor
from tests.browser.app_page import (
    APPEARS_WITHIN_MS,
    FOLLOWS_WITHIN_MS,
    cell,
    choose,
    fresh_page,
    open_app,
    read_panel,
    repaint,
    slide,
    snapshot,
    wait_notice,
    wait_painted,
)
from tests.browser.bare_page import expose
from tests.browser.server import wait_until
from tests.random_links import OLD_LINKS, of_old, old_state, random_settings, random_texts
from tests.settings.test_link import LARGE, in_a_page

# As one text: over thousands of single numbers Playwright takes longer than the page takes to read.
READ = """(texts) => JSON.stringify(texts.map((text) => {
  try { return { ...fromLink(text), isLink: isLink(text) }; } catch (error) { return String(error.stack); }
}))"""
WRITE = "(states) => states.map((state) => { try { return toLink(state); } catch (error) { return error.message; } })"
ODD = (
    "",
    "v=1",
    "#",
    "?",
    "a#v=1",
    "toString=1",
    "token=abc",
    "v=constructor&size=6",
    "v=__proto__&size=6",
    "v=toString",
    "v=",
    "v=0&digit=4",
    "v=2&v=1&size=6",
    "v=2&stride=3&kernel=6",
    "v=4&weight=box",
    "constructor",
    "__proto__=1&hasOwnProperty=2",
    "🦊" * 60,
    "loss=" + "🦊" * 60,
)
LESSON = Settings(
    spec=ConvSpec((6, 5), kernel_size=(3, 2), padding=((1, 0), (2, 1)), padding_mode="reflect"),
    input=Source("ramp"),
    weight=Source("values", (0.1, -2.0, 0.3, 1e-7, 5.0, -0.25), (1, 1, 3, 2)),
    loss="sum",
    tab="linear",
    dtype="float64",
    link_axes=False,
)
NO_CLIPBOARD = """
  navigator.clipboard.writeText = () => Promise.reject(new Error("forbidden"));
  document.execCommand = () => false;
"""
BAD = "v=1&stride=0&size=5&loss=huber&digit=7&utm_source=mail"
CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}
# Addresses that mean nothing to us: of Voilà, of other sites, of a heading, broken, and names that every object has.
OTHERS = ("%00%ff&==&;&%", "token=abc&theme=dark", "constructor=1&__proto__=2", "a=" + "b" * 10_000)
PUT = """(text) => new Promise((done) => {
  const before = location.href;
  const reported = () => { removeEventListener("hashchange", reported); done(); };
  addEventListener("hashchange", reported);
  location.hash = text;
  if (location.href === before) reported();
})"""
# As the page keeps its settings when it is about to be loaded again.
STATE = """() => {
  dispatchEvent(new Event("convviz:save"));
  const kept = sessionStorage.getItem("convviz:state");
  sessionStorage.removeItem("convviz:state");
  return JSON.parse(kept);
}"""


# The page's reader and writer.


@pytest.fixture(scope="module")
def twin(browser):
    """Return a function that evaluates a script with the page's reader and writer in reach, in one page for all.

    Not in node, which decodes a broken address otherwise than browsers do.
    """
    with fresh_page(browser) as page:
        page.goto("about:blank")
        expose(page, "rules/settings_link.js")
        yield page.evaluate


def test_the_first_picture_is_the_same(twin):
    assert twin("FIRST_STATE") == json.loads(json.dumps(Settings.first_picture().to_dict()))
    assert twin("BASE_STATE") == json.loads(json.dumps(Settings().to_dict()))


def test_the_page_writes_the_same_links(twin):
    states = list(random_settings(1, 300))
    middle = Source("one_hot", (0, 0, 1, 1))  # of the links of v=2
    states += [Settings.first_picture(grad=middle, weight=Source(kind)) for kind in ("counting", "box", "sobel_x")]
    expected = []
    for settings in states:
        try:
            expected.append(to_link(settings))
        except ValueError as error:
            expected.append(str(error))
    assert twin(WRITE, [settings.to_dict() for settings in states]) == expected
    count = {version: sum(link.startswith(f"v={version}") for link in expected) for version in (1, 2, 3)}
    assert min(count.values()) >= 3, count
    assert sum(count.values()) >= 225, count


def test_the_page_reads_the_same_links(twin):
    texts = [*ODD, *random_texts(2, 1500)]
    for settings in random_settings(3, 300):
        try:
            texts.append(to_link(settings))
        except ValueError:
            continue
    for text, read in zip(texts, json.loads(twin(READ, texts)), strict=True):
        settings, notices = from_link(text)
        assert isinstance(read, dict), (text, read)
        assert _plain(read["state"]) == _plain(settings.to_dict()), text
        # Only why a geometry is not possible is said in other words.
        assert [_without_reason(notice) for notice in read["notices"]] == [_without_reason(n) for n in notices], text


def test_links_from_before_there_were_two_versions_open_what_they_opened(twin):
    links = [link for link, _ in OLD_LINKS]
    for (link, named), read in zip(OLD_LINKS, json.loads(twin(READ, links)), strict=True):
        there = read | {"state": of_old(read["state"])}
        assert there == {"state": old_state(named), "notices": [], "isLink": True}, link
    assert twin(WRITE, [old_state(named) for _, named in OLD_LINKS]) == [to_link(old_state(n)) for _, n in OLD_LINKS]


def test_an_address_of_others_is_no_link(twin):
    others = ["", *OTHERS, "a-heading", "utm_source=x"]
    ours = ["token=abc&stride=1", "v=2"]
    found = [read["isLink"] for read in json.loads(twin(READ, [*others, *ours]))]
    assert found == [False] * len(others) + [True] * len(ours)


def _plain(state):
    """Return a state as JSON has it, with every number a float: a large one comes from the page as rounded digits."""
    return json.loads(json.dumps(state), parse_int=float)


def _without_reason(notice):
    return notice.split(" left out: ", 1)[0]


# Opening a page takes longest: what needs no address of its own is done in one open page.


@pytest.fixture
def open_link(app):
    """Return a function that opens a link in the open app; Reset leads there until the test ends."""

    def open_link(link):
        put_after_hash(app, link)
        wait_for_settings(app, from_link(link)[0])

    yield open_link
    share = app.get_by_role("button", name="Share", exact=True)
    if share.get_attribute("aria-expanded") == "true":
        share.click()
    open_link("v=1")
    app.evaluate("history.replaceState(null, '', location.pathname)")


def assert_lesson(page, url, lesson=LESSON):
    """The page was opened with the link of the lesson."""
    wait_for_settings(page, lesson)
    page.locator(".cv-pane-linear").wait_for(timeout=FOLLOWS_WITHIN_MS)
    assert read_panel(page, "weight").flatten().tolist() == list(LESSON.weight.values)
    shot = snapshot(page)
    assert shot["sliders"]["kernel_size"][:2] == [3, 2]
    assert shot["menus"]["loss"] == "sum"
    assert page.get_by_role("button", name="Undo", exact=True).is_disabled()
    assert page.locator(".cv-notice").text_content() == ""
    assert page.url == url
    assert page.outside == []


def test_a_copied_address_opens_the_same_numbers(browser, server):
    """A page whose address is none of ours; the numbers that it comes to; another page with the address of those."""
    lesson = LESSON.replace(input=Source("random"))
    with fresh_page(browser, **CLIPBOARD) as page:
        open_app(page, f"{server.url}?{'&'.join(OTHERS)}#a-heading")
        wait_for_settings(page, Settings.first_picture())
        assert page.locator(".cv-notice").text_content() == ""
        put_after_hash(page, to_link(lesson.replace(loss="mean", spec=lesson.spec.replace(stride=(2, 1)))))
        page.locator(".cv-pane-linear").wait_for(timeout=FOLLOWS_WITHIN_MS)
        slide(page, "stride", 1)
        choose(page, "loss", "sum")
        wait_for_settings(page, lesson)
        address = copied(page, "Copy link")
        assert address == f"{server.url}?{to_link(lesson)}"
        reported = page.locator(".cv-share-outcome").text_content()
        assert "Others cannot open 127.0.0.1" in reported, "the server is on this computer"
        shown = numbers_of(page)
        code = copied(page, "Copy as Python")
    with fresh_page(browser) as page:
        open_app(page, address)
        assert_lesson(page, address, lesson)
        assert numbers_of(page) == shown
        assert_reset_leads_back_also_after_a_reload(page, lesson)
    apps = []
    exec(code.replace("convviz.App(", "apps.append(convviz.App(").rstrip() + ")", {"apps": apps})
    assert apps[0].session.settings == from_link(address)[0]
    apps[0].close()


def assert_reset_leads_back_also_after_a_reload(page, lesson):
    """Reset leads to what the address says, and not to what a page without one would start with."""
    slide(page, "stride", 3)
    with repaint(page):
        page.get_by_role("button", name="Reset", exact=True).click()
    wait_for_settings(page, lesson)
    slide(page, "stride", 2)
    page.evaluate("dispatchEvent(new Event('convviz:save'))")  # as before a reload after a lost kernel
    page.reload(wait_until="commit")
    page.locator(".cv-board[data-painted]").wait_for(timeout=APPEARS_WITHIN_MS)
    wait_for_settings(page, lesson.replace(spec=lesson.spec.replace(stride=(2, 1))))
    with repaint(page):
        page.get_by_role("button", name="Reset", exact=True).click()
    wait_for_settings(page, lesson)


def test_an_address_of_ten_kilobytes(browser, server):
    """As many numbers as an address may carry: they open, but a link of our own would be shorter, and says so."""
    numbers = ",".join(["0.125"] * 1600)
    with fresh_page(browser, **CLIPBOARD) as page:
        open_app(page, f"{server.url}?v=1&input=values:1x1x40x40:{numbers}&size=5&digit={'1' * 300}")
        wait_notice(page, "digit is a whole number from 0 to 9")
        wait_for_settings(page, from_link(f"size=5&input=values:1x1x40x40:{numbers}")[0])
        open_share(page)
        page.get_by_role("button", name="Copy link", exact=True).click()
        page.locator(".cv-share-outcome.cv-refused", has_text="too many numbers for a link").wait_for()
        assert copied(page, "Copy as Python").count("0.125") == 1600


def test_share_saves_the_page_that_export_writes(app, open_link, opened, tmp_path):
    open_link("v=1&size=6&stride=1&loss=mean")
    choose(app, "padding_mode", "circular")
    saved = saved_page(app, tmp_path)
    settings = from_link("size=6&stride=1&loss=mean&mode=circular")[0]
    assert saved.read_bytes() == export_html(settings.to_dict(), tmp_path / "expected.html").read_bytes()
    page = opened("", path=saved)
    for (label, shape, cells), (label_there, shape_there, cells_there) in zip(
        numbers_of(page), numbers_of(app), strict=True
    ):
        assert (label, shape) == (label_there, shape_there)
        assert cells == pytest.approx(cells_there, rel=1e-5, abs=1e-5), label  # there float32, here float64


def test_a_state_too_large_for_a_page_is_said_and_nothing_is_saved(app, open_link):
    open_link(LARGE)
    downloads = []

    def note(download):
        downloads.append(download)

    app.on("download", note)
    open_share(app)
    app.get_by_role("button", name="Save as page", exact=True).click()
    refused = app.locator(".cv-share-outcome.cv-refused", has_text="million")
    refused.wait_for(timeout=FOLLOWS_WITHIN_MS)
    assert "up to 5 million products a step: this geometry takes 6.6 million" in refused.text_content()
    app.remove_listener("download", note)
    assert downloads == []


# A page without a kernel: the one that is open for all tests, and one of its own where that matters.


@pytest.fixture
def shown(opened):
    """Return a function that shows a link in the exported page."""

    def show(link):
        page = opened("v=1")
        put_after_hash(page, link)
        wait_painted(page)
        return page

    return show


@pytest.mark.parametrize("link", [to_link(LESSON), BAD])
def test_a_page_shows_the_link_in_its_address_and_nothing_that_is_none(shown, link):
    page = shown(link)
    settings, notices = from_link(link)
    assert page_state(page) == in_a_page(settings)
    assert page.locator(".cv-notice").text_content() == briefly(notices)
    assert page.get_by_role("button", name="Undo").get_attribute("aria-disabled") == "true"
    weight = weight_tensor(settings)
    assert read_panel(page, "weight").flatten().tolist() == pytest.approx(weight.flatten().tolist(), abs=1e-12)
    for other in (*OTHERS, "", "🦊" * 60, "a" * 60_000):
        put_after_hash(page, other)
        assert page_state(page) == in_a_page(settings), other[:20]
    with repaint(page):
        page.get_by_role("slider", name="stride", exact=False).first.press("ArrowRight")
    with repaint(page):
        page.get_by_role("button", name="Reset").click()
    assert page_state(page) == in_a_page(settings), "Reset leads back to the link"


def test_a_link_too_large_for_the_page_is_said_and_the_page_stays(shown, reader):
    reader.goto("about:blank")  # as the page starts, and in the open page
    for link, start in (("v=1", LARGE), ("v=1&size=5", "v=1&size=5")):
        page = shown(start)
        put_after_hash(page, LARGE)
        notice = page.locator(".cv-notice")
        assert notice.text_content() == (
            "The link was not opened: one step of the page may take up to 5 million products: use fewer channels or "
            "smaller sizes."
        )
        assert notice.get_attribute("data-failed") == "true"
        assert page_state(page) == in_a_page(from_link(link)[0])
        with repaint(page):
            page.locator(".cv-set-preset select").select_option("box")
        assert notice.text_content() == ""


def test_what_is_being_typed_stays_when_a_panel_comes_and_goes(shown):
    page = shown("v=1")
    panels = page.locator("[data-equation=forward] .cv-panel")
    cell(page, "weight", 1, 1).dblclick()
    editor = page.locator(".cv-editor")
    editor.fill("2.")
    for link, count in (("v=1&bias=0.5", 6), ("v=1", 5)):
        with repaint(page):
            put_after_hash(page, link)
        assert panels.count() == count
        assert editor.input_value() == "2."
        assert editor.evaluate("(editor) => editor === document.activeElement")
    page.keyboard.type("75")
    with repaint(page):
        page.keyboard.press("Enter")
    assert cell(page, "weight", 1, 1).get_attribute("data-value") == "2.75"


def test_a_pages_link_opens_the_same_numbers(opened, exported):
    page = opened("v=1&size=6&stride=1&weight=random")
    page.context.grant_permissions(CLIPBOARD["permissions"])
    cell(page, "weight", 0, 0).dblclick()
    with repaint(page):
        page.locator(".cv-editor").fill("0.125")
        page.locator(".cv-editor").press("Enter")
    page.evaluate("navigator.clipboard.writeText('')")
    page.get_by_role("button", name="Copy link").click()
    words = "Copied: this address gives this picture on this computer, where the file is."
    page.locator(".cv-notice", has_text=words).wait_for(timeout=FOLLOWS_WITHIN_MS)
    address = page.evaluate("navigator.clipboard.readText()")
    page.context.clear_permissions()
    shown, state = numbers_of(page), page_state(page)
    assert address.startswith(f"{exported.as_uri()}#v=1&size=6&stride=1&weight=values:1x1x3x3:0.125,")
    page.goto("about:blank")
    page.goto(address)
    wait_painted(page, 0, APPEARS_WITHIN_MS)
    assert page_state(page) == state
    assert numbers_of(page) == shown
    assert in_a_page(from_link(address)[0]) == state


def test_a_page_in_a_frame_without_an_address_hands_on_the_link_alone(browser, exported, tmp_path):
    host = tmp_path / "host.html"
    frames = [
        f'<iframe title="c" width="900" height="900"{more}></iframe>' for more in ("", ' sandbox="allow-scripts"')
    ]
    host.write_text(f"<!doctype html><title>Course</title>{''.join(frames)}", encoding="utf-8")
    with fresh_page(browser, **CLIPBOARD) as page:
        page.goto(host.as_uri())
        fill = "(text) => document.querySelectorAll('iframe').forEach((frame) => { frame.srcdoc = text; })"
        page.evaluate(fill, exported.read_text(encoding="utf-8"))
        for number in range(2):
            page.locator("iframe").nth(number).scroll_into_view_if_needed()  # a frame out of sight does not draw
            inside = page.frame_locator("iframe").nth(number)
            inside.locator(".cv-board[data-painted='1']").wait_for(timeout=APPEARS_WITHIN_MS)
            root = inside.locator(":root")
            root.evaluate(
                "navigator.clipboard.writeText = (text) => { window.taken = text; return Promise.resolve(); }"
            )
            inside.locator(".cv-set-preset select").select_option("box")
            inside.get_by_role("button", name="Copy link").click()
            words = "Copied without an address, because this page has none of its own"
            inside.locator(".cv-notice", has_text=words).wait_for(timeout=FOLLOWS_WITHIN_MS)
            assert root.evaluate("() => window.taken") == "v=3&weight=box&dtype=float64"


def test_a_page_without_a_clipboard_selects_the_link_and_says_when_it_holds_too_many_numbers(opened, exported):
    numbers = ",".join(str(0.1 + number / 7) for number in range(1600))
    page = opened(f"v=1&input=values:1x1x40x40:{numbers}")
    copy = page.get_by_role("button", name="Copy link")
    copy.click()
    page.locator(".cv-notice[data-failed=true]", has_text="too many numbers for a link").wait_for()
    opened("v=1")
    page.evaluate(NO_CLIPBOARD)
    copy.click()
    page.locator(".cv-notice", has_text="press Ctrl+C").wait_for(timeout=FOLLOWS_WITHIN_MS)
    box = page.locator(".cv-copybox")
    assert box.is_visible()
    assert box.input_value() == f"{exported.as_uri()}#v=1&dtype=float64"
    assert box.evaluate("(box) => box.selectionEnd - box.selectionStart") == len(box.input_value())
    page.locator(".cv-question").click()
    assert not box.is_visible(), "it lies over the board until one goes on"
    page.evaluate("() => delete navigator.clipboard.writeText && delete document.execCommand")


# -- what the tests do -------------------------------------------------------------------------------------------


def wait_for_settings(page, settings):
    """Wait until the page holds these settings and has drawn them."""
    wanted = json.loads(json.dumps(settings.to_dict()))
    page.wait_for_function(
        f"""(wanted) => {{
            const same = (a, b) => a === b || (a && b && typeof a === "object" &&
                Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((key) => same(a[key], b[key])));
            return same(({STATE})(), wanted);
        }}""",
        arg=wanted,
        timeout=FOLLOWS_WITHIN_MS,
    )
    wait_painted(page)


def numbers_of(page):
    """Return all numbers of the page."""
    return [
        (panel["label"], panel["shape"], panel["cells"])
        for each in snapshot(page)["equations"]
        for panel in each["panels"]
    ]


def page_state(page):
    """Return the state that an exported page holds."""
    return page.evaluate(STATE)


def put_after_hash(page, text):
    """Put a text after # in the address of an open page, and wait until the page was notified of it."""
    page.evaluate(PUT, text)


def saved_page(page, folder):
    """Press "Save as page" in Share; return the file that the browser downloads."""
    open_share(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as page", exact=True).click()
    assert download.value.suggested_filename == "convolution.html"
    path = Path(folder) / "downloaded" / "convolution.html"
    download.value.save_as(path)
    outcome = page.locator(".cv-share-outcome", has_text="convolution.html is ready")
    outcome.wait_for(timeout=FOLLOWS_WITHIN_MS)
    return path


def open_share(page):
    """Open what the button Share opens."""
    button = page.get_by_role("button", name="Share", exact=True)
    if button.get_attribute("aria-expanded") == "false":
        button.click()


def copied(page, name):
    """Press a button of Share; return what is then on the clipboard."""
    open_share(page)
    page.evaluate("navigator.clipboard.writeText('')")
    page.get_by_role("button", name=name, exact=True).click()
    return wait_until(lambda: page.evaluate("navigator.clipboard.readText()"), what="something is copied")
