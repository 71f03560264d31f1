"""The code in the documentation runs, from top to bottom."""

import inspect
import re
import runpy
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import convviz
from convviz.facts.features import FEATURES
from convviz.lessons import names as lessons
from convviz.web.bundle import FOLDERS
from tests.test_layers import LAYERS

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^ *```python\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
PAGES = (
    "docs/check.md",
    "docs/embed.md",
    "docs/four_ways.md",
    "docs/frameworks.md",
    "docs/graders.md",
    "docs/lessons.md",
    "docs/library.md",
    "docs/race.md",
    "docs/reference.md",
    "README.md",
)


def blocks(page):
    """Return (line, code) of every Python block of a page, without the indentation of a list."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        indent = re.match(" *", match[0])[0]
        code = "".join(line.removeprefix(indent) for line in match[1].splitlines(keepends=True))
        yield text[: match.start()].count("\n") + 1, code


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    namespace = {"__name__": "__docs__"}
    found = list(blocks(page))
    assert found, "a page without code needs no place in PAGES"
    for line, code in found:
        # The line of the page, so that a traceback points into it.
        exec(compile("\n" * line + code, page, "exec"), namespace)


def test_files_that_a_page_links_to_are_there():
    """Also in Markdown that nobody has built: README sends readers to the files themselves."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "convviz").rglob("*.md")]
    found = 0
    for page in pages:
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.relative_to(ROOT)} links to {link}"
            found += 1
    assert found > 100


def test_what_the_page_about_the_source_names_is_there():
    """Each file of ours that the page links to has the functions that stand below it."""
    page = (ROOT / "docs/reading_the_source.md").read_text(encoding="utf-8")
    found = re.findall(r"\]\(\.\./(convviz/[\w/]+\.py)\)(?:<br>([^|]*))?", page)
    assert len(found) >= 15
    for path, functions in found:
        code = (ROOT / path).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", functions):
            assert re.search(rf"^(def|class) {name}\b", code, re.MULTILINE), (path, name)


def test_the_layers_name_only_what_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = re.findall(r"^    (\w.*?) +L\d ", text, re.MULTILINE)
    assert lines
    for name in re.sub(r"\(.*?\)", "", " ".join(lines)).split():
        package = ROOT / "convviz" / name
        assert package.is_dir() or package.with_suffix(".py").is_file(), name


def test_on_a_package_index_no_link_of_the_readme_leads_nowhere():
    """There it stands alone, as the build writes it; read here without a build."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hook = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = readme = "".join((ROOT / part["path"]).read_text(encoding="utf-8") for part in hook["fragments"])
    for change in hook["substitutions"]:
        text = re.sub(change["pattern"], change["replacement"], text)
    targets = re.findall(r"\]\(([^)]*)\)", text)
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []
    for name in re.findall(r"\]\((docs/\w+\.md|\w+\.md)\)", readme):
        assert f"`{name}`" in text, "the words still say where to look"


def test_the_reference_has_every_public_name():
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    reported = set(re.findall(r":: convviz\.(\w+)$", text, re.MULTILINE))
    for function in filter(inspect.isfunction, (getattr(convviz, name) for name in convviz.__all__)):
        made = function.__annotations__["return"]
        if isinstance(made, str):
            made = getattr(sys.modules[function.__module__], made, None)
        if inspect.isclass(made) and made.__module__.startswith("convviz."):
            assert re.search(rf":: convviz\.(\w+\.)*{made.__name__}$", text, re.MULTILINE), made
    modules = {"lab", "nn"}
    assert set(convviz.__all__) - reported - modules == {"check"}  # the module's function: convviz.check.check
    assert ":: convviz.check.check\n" in text
    (layers,) = re.findall(r":: convviz\.nn\n +:members: (.+)", text)
    assert sorted(layers.split(", ")) == sorted(convviz.nn.__all__)
    race = text[text.index("currentmodule:: convviz.lab") :]
    assert {*re.findall(r"auto\w+:: (\w+)$", race, re.MULTILINE), "ENTRANTS"} == set(convviz.lab.__all__)


def test_tabs_and_lessons_are_documented_as_they_are():
    table = (ROOT / "docs" / "app.md").read_text(encoding="utf-8").partition("| entry → part |")[2].partition("\n\n")[0]
    entries = {name: feature.get("entry_label", feature["label"]) for name, feature in FEATURES.items()}
    alone = {name for name, feature in FEATURES.items() if feature["entry"] == name and "entry_label" not in feature}
    names = [
        feature["label"] if name in alone else f"{entries.get(feature['entry'], feature['entry'])} → {feature['label']}"
        for name, feature in FEATURES.items()
    ]
    assert re.findall(r"^\| (\w.*?) \|", table, re.MULTILINE) == names
    count = {18: "Eighteen", 19: "Nineteen", 20: "Twenty", 21: "Twenty-one"}[len(lessons())]
    assert f"\n{count} lessons, " in (ROOT / "docs" / "lessons.md").read_text(encoding="utf-8")


def test_the_core_is_read_in_as_many_lines_as_is_said():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (reported, order) = re.search(
        r"The core, ([\d,]+) lines, in the order to read it: (.*?) beside it\.", text, re.DOTALL
    ).groups()
    names = re.findall(r"`(.*?)`", order)
    paths = [ROOT / "convviz" / name if "/" in name else ROOT / "convviz" / "web" / "numbers" / name for name in names]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
    assert abs(lines - int(reported.replace(",", ""))) < 50, lines
    assert lines <= 1500


def test_every_numbered_part_of_the_app_is_named():
    parts = runpy.run_path(str(ROOT / "docs" / "screenshot.py"))["PARTS"]
    text = (ROOT / "docs" / "app.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| \*\*(.+?)\*\* \|", text, re.MULTILINE)
    assert rows == [(str(number), name) for number, name in enumerate(parts, 1)]
    assert f"its {len(parts)} parts" in text


def test_the_drawing_of_the_layers_names_them_all():
    drawn = (ROOT / "docs" / "layers.svg").read_text(encoding="utf-8")
    python, _, page = drawn.partition(">page <")
    names = re.findall(r"\w+", " ".join(re.findall(r'font-weight="600">([\w ·]+)', python)))
    assert {*names} == {name for name in LAYERS if name == "cli" or (ROOT / "convviz" / name).is_dir()}
    assert ["page", *re.findall(r'font-weight="600">(\w+)', page)] == [*reversed(FOLDERS)]


def test_a_link_that_leads_nowhere_stops_the_build(tmp_path):
    links = runpy.run_path(str(ROOT / "docs" / "ext" / "check_links.py"))
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html"))
    (tmp_path / "b.html").write_text('<p id="here"><a href="https://example.org/">elsewhere</a>', encoding="utf-8")
    page = tmp_path / "a.html"
    page.write_text('<a href="b.html#here"></a><img src="data:,"><a href="b.html?lang=en#v=2&amp;stride=2"></a>')
    links["check"](app, None)
    assert (tmp_path / links["LIST"]).read_text(encoding="utf-8") == "https://example.org/\n"
    page.write_text('<a href="b.html#there"></a><a href="c.html"></a><a href="#gone"></a>', encoding="utf-8")
    with pytest.raises(links["ExtensionError"]) as reported:
        links["check"](app, None)
    assert str(reported.value).splitlines()[1:] == [
        "a.html: #gone (no such place in it)",
        "a.html: b.html#there (no such place in it)",
        "a.html: c.html (no such file)",
    ]
