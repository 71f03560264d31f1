"""The code in the documentation runs, from top to bottom."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^ *```python\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
PAGES = ("docs/embed.md", "docs/four_ways.md", "docs/open_the_box.md", "README.md")


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
