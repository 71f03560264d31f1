"""The example course, built by Sphinx as its teacher would: its board lives, and nobody else is asked."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from convviz.settings.link import from_link
from tests.browser.app_page import fresh_page
from tests.browser.server import QUICK_START, ROOT
from tests.browser.test_embedded_in_other_pages import APPEARS_WITHIN_MS, PANELS_OF_STAMPS, expected, numbers

COURSE = "v=2&size=8&stride=2&grad=ones"  # what the course's conf.py shows


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The example course, built as its teacher would."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copytree(
        ROOT / "docs" / "examples" / "sphinx", folder / "course", ignore=shutil.ignore_patterns("pages", "_build")
    )
    command = [sys.executable, "-c", QUICK_START, "sphinx", "-W", "-b", "html", "course", "built"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0, done.stderr
    return folder / "built"


def test_the_sphinx_course_is_alive(browser, course):
    with fresh_page(browser) as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((course / "index.html").as_uri())
        assert page.locator("h1").first.text_content().startswith("The gradient of a convolution")
        inside = page.frame_locator("iframe")
        inside.locator(".cv-board[data-painted='1']").wait_for(timeout=APPEARS_WITHIN_MS)
        place = inside.locator(".cv-board")
        assert numbers(place, "grad_input") == expected(from_link(COURSE)[0].to_dict(), "grad_input")
        blocks = inside.locator(".cv-block").evaluate_all("all => all.map((each) => each.className)")
        assert blocks == ["cv-block cv-block-kernel", "cv-block cv-block-geometry"]
        inside.get_by_role("slider", name="stride", exact=True).press("ArrowRight")
        inside.locator(".cv-board[data-painted='2']").wait_for()
        moved = from_link(COURSE.replace("stride=2", "stride=3"))[0].to_dict()
        for panel in PANELS_OF_STAMPS:
            assert numbers(place, panel) == expected(moved, panel), panel
        high = "document.querySelector('iframe').getBoundingClientRect().height"
        page.wait_for_function(f"{high} !== 760 && {high} < 1200")  # the page has said how high it is
        assert page.outside == []
        assert {Path(url).suffix for url in asked if url.startswith("http")} == set()
