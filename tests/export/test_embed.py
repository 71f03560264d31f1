"""How convviz is embedded: the module's file, and the files that docs/embed.md shows."""

import gzip
import json
import re
from pathlib import Path

import pytest

import convviz
from convviz.cli import main
from convviz.export.page_assets import plotly_code
from convviz.lessons import lesson, names

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "embed.md"
FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


def fences():
    """Return (words after the fence, text) of every block of the guide, those in other blocks left out."""
    return [(words, code) for _, words, code in FENCE.findall(GUIDE.read_text(encoding="utf-8"))]


def blocks(language):
    """Return the texts of the guide's blocks in a language."""
    return [code for words, code in fences() if words == language]


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    return convviz.export_module(tmp_path_factory.mktemp("module") / "convviz.mjs").read_text(encoding="utf-8")


# The guide.


def test_the_files_that_the_guide_shows_are_the_ones_that_are_tested():
    shown = {match[1]: code for words, code in fences() if (match := re.search(r"file=([\w./]+)", words))}
    assert set(shown) == {"examples/sphinx/conf.py", "examples/sphinx/index.md"}
    for name, code in shown.items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == code, name


def test_the_script_for_the_height_is_the_same_everywhere_and_ten_lines_long():
    script = (ROOT / "docs" / "examples" / "sphinx" / "_static" / "height.js").read_text(encoding="utf-8")
    assert len(script.splitlines()) <= 10
    assert f"<script>\n{script}</script>" in "".join(blocks("html"))


def test_no_snippet_opens_an_old_picture():
    """A link of v=1 is explained, and shown nowhere to be copied."""
    shown = [code for _, code in fences()]
    assert not [code for code in shown if re.search(r"\bv=1\b", code)]


def test_what_was_not_tried_says_so():
    text = GUIDE.read_text(encoding="utf-8")
    for tool in ("Quarto", "Canvas", "Moodle"):
        assert re.search(rf"^## {tool}\n\nUntested", text, re.MULTILINE), tool
        assert re.search(rf"^\| \[{tool}\].*untested \|$", text, re.MULTILINE), tool


def test_every_frame_has_a_title():
    frames = re.findall(r"<iframe [^>]*>", GUIDE.read_text(encoding="utf-8"))
    assert len(frames) == 5
    assert all('title="' in frame for frame in frames)


# The module's file.


def test_the_module_imports_nothing_and_exports_its_default_alone(module):
    assert not re.findall(r"^[ \t]*import\b(?!\()", module, re.MULTILINE)
    assert re.findall(r"^[ \t]*export\b.*$", module, re.MULTILINE) == ["export default { render };"]


def test_it_asks_nobody_for_anything(module):
    ours = module.replace(plotly_code(), "")  # what plotly asks for, a browser shows: nothing
    assert ours != module
    assert set(re.findall(r"(?:https?:|wss?:)//[^\s\"'`)\\]+", ours)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1998/Math/MathML",
    }
    assert not re.search(r"\beval\(|\bnew Function\b|\bfetch\(|XMLHttpRequest|WebSocket|importScripts", ours)
    for forbidden in ("eval(", "new Function(", '.attr("style"', 'setAttribute("style"'):
        assert not re.search(rf"(?<!\w){re.escape(forbidden)}", module), f"a strict policy: {forbidden}"


def test_it_has_the_lessons_that_need_no_tab(module):
    there = set(json.loads(re.match("const facts = (.*);", module)[1])["lessons"])
    assert {name for name in names() if not any(step.get("tab") for step in lesson(name)["steps"])} == there
    assert "why_rotated" in there


def test_its_styles_leave_the_document_around_alone(module):
    styles = re.search(r'"styles":"(.*?)(?<!\\)"', module)[1]
    for rule in re.findall(r"[^{}]*(?=\{)", styles.replace("\\n", "\n")):
        assert not re.search(r"(^|[\s,(])(html|body|:root)\b", rule), rule
    assert ".cv-equation" in styles
    assert ".cv-controls" in styles


def test_it_is_small_and_the_same_for_everybody(module, tmp_path):
    assert len(module.encode()) <= 2_300_000  # plotly as code, which a strict policy lets run, three quarters of it
    assert len(gzip.compress(module.encode())) <= 720_000
    assert str(ROOT) not in module
    again = convviz.export_module(str(tmp_path / "again.mjs"))
    assert again.read_text(encoding="utf-8") == module
    assert [path.name for path in tmp_path.iterdir()] == ["again.mjs"]


# The command.


def test_the_command_writes_the_module(tmp_path, capsys, module):
    path = tmp_path / "convviz.mjs"
    assert main(["export", "--module", "-o", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == module
    assert str(path) in capsys.readouterr().out


def test_the_command_gives_the_module_a_state_for_places_without_one(tmp_path, module):
    path = tmp_path / "convviz.mjs"
    assert main(["export", "--module", "--state", "https://host/page.html#v=3&digit=7", "-o", str(path)]) == 0
    wanted = module.replace('"digit":3,', '"digit":7,', 1)
    assert path.read_text(encoding="utf-8") == wanted != module
    old = tmp_path / "old.mjs"
    assert main(["export", "--module", "--state", "v=1&digit=7", "-o", str(old)]) == 0
    assert old.read_text(encoding="utf-8") == convviz.export_module(path, {"digit": 7}).read_text(encoding="utf-8")


def test_a_module_speaks_one_language_for_all_its_places(tmp_path, capsys):
    path = tmp_path / "convviz.mjs"
    assert main(["export", "--module", "--lang", "zh-CN", "-o", str(path)]) == 0
    assert '"tag":"zh-Hans"' in path.read_text(encoding="utf-8")
    assert main(["export", "--module", "--lang", "xx", "-o", str(path)]) == 0
    assert '"tag":"en"' in path.read_text(encoding="utf-8")
    assert capsys.readouterr().err == (
        "convviz: The language 'xx' is not available, so this is English; available: en (English), zh-Hans (简体中文), "
        "zh-Hant (繁體中文).\n"
    )


@pytest.mark.parametrize(
    "options",
    [
        ["--title", "Lesson"],
        ["--controls", "stride"],
        ["--height", "700"],
    ],
)
def test_what_belongs_to_one_place_is_not_taken_for_the_module(tmp_path, capsys, options):
    path = tmp_path / "convviz.mjs"
    assert main(["export", "--module", "-o", str(path), *options]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"convviz: --module takes no {options[0]}")
    assert said.count("\n") == 1
    assert not path.exists()
