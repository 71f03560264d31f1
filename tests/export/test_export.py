"""The one-file page: what is in it, how large it is, and what is refused."""

import errno
import gzip
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

import convviz
from convviz.cli import main
from convviz.export.page import CONTROLS, export_html
from convviz.facts.format_numbers import format_number
from convviz.geometry.spec import ConvSpec
from convviz.settings.compute import compute
from convviz.settings.state import Settings
from convviz.views.panels import equations
from tests.export.test_picture import printed


class Parts(HTMLParser):
    """What a browser finds: tags with their attributes, and the texts of elements."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self._open = [], {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open.append(dict(attrs).get("id", tag))

    def handle_endtag(self, tag):
        if self._open:
            self._open.pop()

    def handle_data(self, data):
        if self._open:
            self.texts[self._open[-1]] = self.texts.get(self._open[-1], "") + data


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return export_html(None, tmp_path_factory.mktemp("page") / "page.html").read_text(encoding="utf-8")


def data_of(text):
    return json.loads(Parts(text).texts["convviz-data"])


def test_a_state_is_given_as_the_command_line_takes_it(tmp_path):
    """A link, an address with one, a file: to a page, a module and a picture; what a link cannot say is a warning."""
    (tmp_path / "state.json").write_text(json.dumps({"digit": 7}), encoding="utf-8")
    for text, field, value in (
        ("v=2&stride=2", "spec", 2),
        ("http://localhost:8866/?v=2&stride=2#", "spec", 2),
        (str(tmp_path / "state.json"), "digit", 7),
    ):
        page = export_html(text, tmp_path / "page.html").read_text(encoding="utf-8")
        shown = data_of(page)["state"][field]
        assert (shown["stride"][0] if field == "spec" else shown) == value, text
        assert convviz.export_picture(text, tmp_path / "picture.svg").is_file(), text
    unreadable = "v=2&stride=0"
    for write in (
        lambda: export_html(unreadable, tmp_path / "page.html"),
        lambda: convviz.export_module(tmp_path / "module.js", unreadable),
        lambda: convviz.export_picture(unreadable, tmp_path / "picture.svg"),
    ):
        with pytest.warns(UserWarning, match="stride is a whole number from 1 to 64") as warned:
            write()
        assert [(each.filename, each.lineno) for each in warned] == [(__file__, write.__code__.co_firstlineno)]
    for write in (export_html, convviz.export_picture):
        with pytest.raises(OSError, match="neither a link such as"):
            write("nowhere.json", tmp_path / "picture.svg")
        with pytest.raises(ValueError, match="has no link in it"):
            write("http://localhost:8866/", tmp_path / "picture.svg")


def test_the_page_is_small_enough_and_without_plotly_smaller(written, tmp_path):
    content = written.encode()
    assert len(content) <= 1_750_000
    assert len(gzip.compress(export_html(None, tmp_path / "small.html", plotly=False).read_bytes(), 9)) <= 220_000


def test_it_asks_nobody_for_anything(written):
    parts = Parts(written)
    assert not [tag for tag, _ in parts.tags if tag in ("link", "iframe", "img", "object", "embed", "base")]
    for tag, attributes in parts.tags:
        for name, value in attributes.items():
            if name in ("src", "href", "srcset", "action", "data"):
                assert value.startswith("data:"), (tag, name, value[:80])
            assert not name.startswith("on"), "no script in attributes"
    ours = re.sub(r'<script type="text/plain".*?</script>', "", written, flags=re.DOTALL)
    assert set(re.findall(r"(?:https?:|wss?:)//[^\s\"'`)]+", ours)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1998/Math/MathML",
    }
    assert "@import" not in ours
    assert not re.search(r"\beval\(|\bnew Function\b|\bfetch\(|XMLHttpRequest|WebSocket|importScripts", ours)


def test_equal_input_gives_equal_bytes_in_every_process(tmp_path):
    """Python hashes texts by another number in each process: no order may come from that."""
    state = {"spec": ConvSpec(9, kernel_size=3, stride=(3, 2)).to_dict(), "loss": "sum"}
    code = f"import convviz; convviz.export_html({state}, {str(tmp_path / 'there')!r})"
    seed = next(each for each in ("1", "2") if each != os.environ.get("PYTHONHASHSEED"))
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONHASHSEED": seed})
    there = (tmp_path / "there").read_bytes()
    assert there == export_html(state, tmp_path / "here").read_bytes()
    assert str(tmp_path).encode() not in there


def test_the_state_goes_in_as_it_is_computed_there(written):
    data = data_of(written)
    assert data["version"] == convviz.__version__
    assert Settings.from_dict(data["state"]) == Settings.first_picture(dtype="float64")
    assert data["state"] == json.loads(json.dumps(Settings.first_picture(dtype="float64").to_dict())), "whole"
    state = {
        "spec": ConvSpec(5, kernel_size=2).to_dict(),
        "weight": {"kind": "box"},
        "dtype": "bfloat16",
        "tab": "code",
    }
    assert Settings.from_dict(state).tab == "code"


def test_a_state_an_app_and_none_are_taken(tmp_path):
    class AnyApp:
        def state(self):
            return {"digit": 7}

    five = {"digit": 5, "device": "cuda"}  # of another machine
    taken = [
        (None, Settings.first_picture()),
        ({}, Settings()),
        (five, Settings(digit=5)),
        (AnyApp(), Settings(digit=7)),
    ]
    for number, (given, shown) in enumerate(taken):
        text = export_html(given, tmp_path / f"{number}.html").read_text(encoding="utf-8")
        assert Settings.from_dict(data_of(text)["state"]) == shown.replace(dtype="float64")


def test_markup_in_texts_stays_text(tmp_path):
    evil = "</script><script>alert(1)</script><!-- <b>"
    text = export_html(None, tmp_path / "p.html", title=evil).read_text(encoding="utf-8")
    parts = Parts(text)
    assert [tag for tag, _ in parts.tags].count("script") == 3
    assert parts.texts["title"] == evil
    assert parts.texts["h1"] == evil
    for script in re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL):
        assert "<!--" not in script
        assert "<script" not in script


def test_the_still_picture_shows_the_numbers_of_all_panels_before_any_script_runs(tmp_path):
    """In reading order; the numbers themselves are held by test_stages.py, and by heart in test_settings.py."""
    for settings in (Settings(dtype="float64"), Settings.first_picture(dtype="float64")):
        written = export_html(settings.to_dict(), tmp_path / "page.html").read_text(encoding="utf-8")
        rows = equations(compute(settings), settings.plane, settings.input_view)
        figures = re.findall(r"<figure>.*?</figure>", written, re.DOTALL)
        for figure, row in zip(figures, rows, strict=True):
            shown = re.findall(r'text-anchor="middle"[^>]*>([^<]*)<', figure)
            assert shown == [format_number(value) for panel in row.panels for value in printed(panel)], row.title
            assert "<figcaption>" in figure
            assert 'role="img" aria-label=' in figure
        assert "<noscript>" in written
        assert "@media print" in written


@pytest.mark.parametrize("controls", ["loss", tuple(CONTROLS)])
def test_chosen_controls_are_kept(tmp_path, controls):
    text = export_html(None, tmp_path / "page.html", controls=controls).read_text(encoding="utf-8")
    assert data_of(text)["controls"] == ([controls] if isinstance(controls, str) else list(controls))


# What is refused.


@pytest.mark.parametrize(
    ("state", "controls", "message"),
    [
        ({"version": 2}, (), "this convviz reads states of version 1: got 2; update convviz"),
        ({"colour": 1}, (), "got colour as well"),
        (None, ("kernels",), "a control is one of kernel, example, preset, .*: got 'kernels'"),
        (
            {"spec": ConvSpec(64, 8, 8, kernel_size=5, padding=2).to_dict()},
            (),
            "up to 5 million products a step.*6.6 million",
        ),
    ],
)
def test_what_cannot_be_exported_is_said_and_nothing_is_written(tmp_path, state, controls, message):
    with pytest.raises(ValueError, match=message) as refused:
        export_html(state, tmp_path / "page.html", controls=controls)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("height", [99, 400.0, True])
def test_a_height_is_a_number_of_pixels(tmp_path, height):
    with pytest.raises(ValueError, match="height is a whole number of 100 pixels or more"):
        export_html(None, tmp_path / "page.html", height=height)


def test_a_full_disk_leaves_the_old_page_and_nothing_aside(tmp_path):
    """The system refuses to write the second half of the file, as it does on a full disk."""
    pytest.importorskip("resource", reason="this system limits no file's size")
    path = tmp_path / "page.html"
    path.write_text("old")
    code = """
import resource, sys
from convviz.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, resource.RLIM_INFINITY))
sys.exit(main(["export", "-o", sys.argv[1]]))
"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"convviz: the page cannot be written to {path}: {os.strerror(errno.EFBIG)}; choose another path\n"
    )
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# The command.


def test_the_command_writes_a_page(tmp_path, capsys):
    state, page = tmp_path / "state.json", tmp_path / "page.html"
    state.write_text(json.dumps({"digit": 8}))
    options = ["--controls", "kernel,stride", "--title", "Lesson 1", "--lang", "zh-TW", "--height", "700"]
    assert main(["export", "--state", str(state), "-o", str(page), *options]) == 0
    assert str(page) in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    data = data_of(text)
    assert (data["state"]["digit"], data["controls"], data["height"]) == (8, ["kernel", "stride"], 700)
    assert '<html lang="zh-Hant"' in text
    assert "<title>Lesson 1</title>" in text
    assert "height: 700px" in text
