"""The package as it is installed: built, put into an environment of its own, and used away from the checkout."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from convviz.facts.words import sentences
from tests.browser.app_page import fresh_page
from tests.browser.server import ROOT, voila_server

pytestmark = pytest.mark.browser

say = sentences("guided/remainder")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return the Python of an environment with the package's wheel; what it depends on comes from the tests' own."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    build = [*pip, "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    subprocess.run(build, check=True, capture_output=True, cwd=folder)
    (wheel,) = folder.glob("convviz-*.whl")
    venv.create(folder / "empty", symlinks=True)
    python = folder / "empty" / "bin" / "python"
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    # Its packages alone: of what stands in there to be read at the start, such as the way to the checkout, nothing is.
    with open(f"{site}/dependencies.pth", "w") as paths:
        paths.write(f"{sysconfig.get_path('purelib')}\n")
    install = [*pip, "--python", str(python), "install", "--no-deps", "--no-index", "--ignore-installed", str(wheel)]
    subprocess.run(install, check=True, capture_output=True, cwd=folder)
    ours = Path(sys.prefix, "share", "jupyter")
    for each in [
        *ours.glob("*"),
        *ours.glob("voila/*"),
        *ours.glob("voila/templates/*"),
    ]:  # convviz has brought its own
        place = folder / "empty" / "share" / "jupyter" / each.relative_to(ours)
        if not place.exists():  # convviz has brought its own
            place.symlink_to(each)
    return python


def test_a_wheel_serves_the_app_and_a_lesson_away_from_the_checkout(installed, browser, tmp_path):
    where = [str(installed), "-c", "import convviz; print(convviz.__file__)"]
    found = subprocess.run(where, check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    assert found.startswith(str(installed.parents[1]))
    with voila_server(root=tmp_path, python=installed) as server, fresh_page(browser) as page:
        page.goto(f"{server.url}#lesson=remainder&step=1")
        page.locator(".cv-lesson", has_text=say("remainder.two.title")).first.wait_for()
        page.locator(".cv-picture[data-settled$=torch]").wait_for(timeout=60_000)
        assert page.outside == []
    assert len(server.said) == 1, server.said


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_script_is_checked_against_the_types_of_the_wheel(checker, installed, request, tmp_path):
    script = Path(shutil.copy(ROOT / "tests" / "typed_script.py", tmp_path))
    if checker == "mypy":
        kept = request.config.cache.mkdir("mypy_of_the_wheel")  # of torch, above all
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", kept, "--python-executable", installed]
    else:
        found = ROOT / "tests" / "js" / "node_modules" / ".bin" / "pyright"
        if not found.exists() and os.environ.get("CI") != "true":
            pytest.skip("`make types-js` installs pyright where node and npm are")
        command = [found, "--pythonpath", installed]
    said = subprocess.run([*command, script.name], capture_output=True, text=True, cwd=tmp_path).stdout
    reported = {int(line) for line in re.findall(r"typed_script\.py:(\d+):.*\berror\b", said)}
    lines = enumerate(script.read_text(encoding="utf-8").splitlines(), 1)
    assert reported == {number for number, line in lines if line.endswith("# WRONG")}, said
