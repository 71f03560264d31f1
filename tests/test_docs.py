"""The code in the documentation runs, from top to bottom."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^ *```python\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
PAGES = (
    "docs/check.md",
    "docs/embed.md",
    "docs/four_ways.md",
    "docs/frameworks.md",
    "docs/graders.md",
    "docs/lessons.md",
    "docs/open_the_box.md",
    "docs/race.md",
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
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#:]+)\)", text):
            assert ((ROOT / page).parent / link).exists(), f"{page} links to {link}"


def test_the_layer_pictures_name_only_what_exists():
    for page in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        lines = re.findall(r"^    (\w.*?) +L\d ", text, re.MULTILINE)
        assert lines, page
        for name in re.sub(r"\(.*?\)", "", " ".join(lines)).split():
            package = ROOT / "convviz" / name
            assert package.is_dir() or package.with_suffix(".py").is_file(), f"{page} names {name}"


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
