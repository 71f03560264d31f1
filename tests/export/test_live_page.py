"""The bytes of the page that computes by itself until torch does, and who gets it packed."""

import gzip
import json
import re
from types import SimpleNamespace

import pytest

from convviz import __version__
from convviz.export.live_page import FOLDER
from convviz.facts.i18n.current_language import language, languages, use_locale
from convviz.facts.words import sentences
from convviz.serve.first_page import LivePages, live_page
from convviz.serve.live_page_handlers import takes_gzip
from convviz.serve.make_voila_template import made_files

say = sentences("live_page")
KEPT_BYTES = 750_000  # until the first heatmap


def named_in(page):
    return set(re.findall(rf"{FOLDER}([\w.-]+\.\w+)", page.content.decode()))


def test_every_file_is_named_after_what_it_holds_and_the_page_names_them():
    one, same = live_page(), live_page()
    assert one == same, "made twice it is the same, to the byte"
    assert named_in(one.page) == set(one.files)
    with use_locale("zh-Hant"):
        assert live_page().page.tag != one.page.tag


def test_the_page_knows_where_to_ask_for_numbers_and_of_which_version_it_is():
    data = json.loads(re.search(r'id="convviz-data">(.*?)</script>', live_page().page.content.decode(), re.DOTALL)[1])
    assert (data["numbers"], data["version"]) == ("live/numbers", __version__)


@pytest.mark.parametrize("tag", languages())
def test_what_is_packed_is_the_same_unpacked(tag):
    with use_locale(tag):
        live = live_page()
    for name, file in {"page": live.page, **live.files}.items():
        if file.packed is not None:
            assert gzip.decompress(file.packed) == file.content, name
            assert len(file.packed) < len(file.content), name
    at_once = [file for name, file in live.files.items() if not name.startswith(("tab-", "recorded-"))]
    sent = [file.packed or file.content for file in (live.page, *at_once)]
    assert sum(map(len, sent)) < KEPT_BYTES


def test_a_page_of_another_language_is_made_when_it_is_asked_for_and_shares_what_says_nothing(monkeypatch):
    made = []
    monkeypatch.setattr("convviz.serve.first_page.live_page", lambda: made.append(language()) or live_page())
    pages = LivePages()
    assert made == ["en"]
    files = {tag: named_in(pages.page(tag)) for tag in ("en", "zh-Hant")}
    assert made == ["en", "zh-Hant"]
    shared = {name.partition("-")[0] for name in files["en"] & files["zh-Hant"]}
    assert shared == {"styles", "plotly", "recorded"}
    assert all(pages.file(name) for tag in files for name in files[tag])
    assert made == ["en", "zh-Hant"]
    assert pages.file("none.js") is None
    assert made == ["en", "zh-Hant", "zh-Hans"], "a page that is older than the server may ask for any"


def test_the_page_says_what_it_is_without_scripts_and_asks_nobody_outside():
    page = live_page().page.content.decode()
    assert f"<title>{say('title')}</title>" in page
    assert say("noscript") in page
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page)


@pytest.mark.parametrize(
    ("header", "takes"),
    [("gzip, deflate, br", True), ("GZIP;q=0.5", True), ("br", False), ("", False), ("gzip;q=0", False)],
)
def test_only_who_takes_gzip_gets_it(header, takes):
    assert takes_gzip(SimpleNamespace(headers={"Accept-Encoding": header})) is takes


def test_the_files_of_the_template_are_those_that_would_be_made_now():
    for path, text in made_files().items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m convviz.serve.make_voila_template"
