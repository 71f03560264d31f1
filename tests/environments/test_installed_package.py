"""The package as it is installed: built, put into an environment of its own, and used away from the checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zlib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from convviz.export.page import export_html
from convviz.facts.i18n.current_language import use_locale
from convviz.facts.words import sentences
from tests.browser.app_page import fresh_page
from tests.browser.server import ROOT, voila_server

pytestmark = pytest.mark.browser

say = sentences("guided/remainder")


PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
OWN = Path(sysconfig.get_path("purelib"))  # the packages of the tests


@pytest.fixture(autouse=True)
def away(monkeypatch):
    """Whoever tests a worktree names it in PYTHONPATH, and every Python would read its convviz instead of its own."""
    monkeypatch.delenv("PYTHONPATH", raising=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return the path of the package's wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [*PIP, "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    subprocess.run(build, check=True, capture_output=True, cwd=folder)
    return next(folder.glob("convviz-*.whl"))


def environment(wheel, name):
    """Return the Python of an environment with the wheel and nothing else, and where its packages are."""
    folder = wheel.parent / name
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    install = [*PIP, "--python", str(python), "install", "--no-deps", "--no-index", "--ignore-installed", str(wheel)]
    subprocess.run(install, check=True, capture_output=True, cwd=folder)
    return python, site


@pytest.fixture(scope="module")
def installed(wheel):
    """Return the Python of an environment with the wheel; what it depends on comes from the tests' own."""
    python, site = environment(wheel, "empty")
    # Its packages alone: of what stands in there to be read at the start, such as the way to the checkout, nothing is.
    (site / "dependencies.pth").write_text(f"{OWN}\n", encoding="utf-8")
    ours = Path(sys.prefix, "share", "jupyter")
    for each in [
        *ours.glob("*"),
        *ours.glob("voila/*"),
        *ours.glob("voila/templates/*"),
    ]:  # convviz has brought its own
        place = python.parents[1] / "share" / "jupyter" / each.relative_to(ours)
        if not place.exists():  # convviz has brought its own
            place.symlink_to(each)
    return python


@pytest.fixture(scope="module")
def bare(wheel):
    """Return the Python of an environment with the wheel, torch, NumPy and what torch itself requires."""
    python, site = environment(wheel, "bare")
    todo, seen = ["torch", "numpy"], set()
    while todo:
        distribution = metadata.distribution(todo.pop())
        if distribution.name in seen:
            continue
        seen.add(distribution.name)
        for top in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(OWN / top)
        required = map(Requirement, distribution.requires or [])
        todo += [each.name for each in required if each.marker is None or each.marker.evaluate({"extra": ""})]
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
    script = Path(shutil.copy(ROOT / "tests" / "typing_examples.py", tmp_path))
    if checker == "mypy":
        kept = request.config.cache.mkdir("mypy_of_the_wheel")  # of torch, above all, which `make lint` has read
        if (ROOT / ".mypy_cache").is_dir() and not any(kept.iterdir()):
            shutil.copytree(ROOT / ".mypy_cache", kept, dirs_exist_ok=True)
        command = [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", kept]
        command += ["--python-executable", installed]
    else:
        found = ROOT / "tests" / "js" / "node_modules" / ".bin" / "pyright"
        if not found.exists() and os.environ.get("CI") != "true":
            pytest.skip("`make lint-js` installs pyright where node and npm are")
        command = [found, "--pythonpath", installed]
    said = subprocess.run([*command, script.name], capture_output=True, text=True, cwd=tmp_path).stdout
    reported = {int(line) for line in re.findall(r"typing_examples\.py:(\d+):.*\berror\b", said)}
    lines = enumerate(script.read_text(encoding="utf-8").splitlines(), 1)
    assert reported == {number for number, line in lines if line.endswith("# WRONG")}, said


# What a grader's container runs.
GRADED = """
import sys, torch, convviz
from convviz.export.page import export_html
from convviz.facts.i18n.current_language import use_locale, match_locale
from convviz.facts.words import sentences

def right(input, weight_size, grad_output, stride=1, padding=0):
    return torch.nn.grad.conv2d_weight(input, weight_size, grad_output, stride, padding)

def wrong(input, weight_size, grad_output, stride=1, padding=0):
    return -right(input, weight_size, grad_output, stride, padding)

convviz.check(right, "conv2d_weight")
assert convviz.grade(right, "conv2d_weight", points=4) == 4
assert convviz.report(wrong, "conv2d_weight").to_gradescope(4)["tests"][0]["score"] == 0
assert convviz.exercise(["I10"], seed=7).text("md").startswith("#")
x = torch.ones(1, 1, 5, 5, requires_grad=True)
convviz.nn.XNORConv2d(1, 2, 3)(x).sum().backward()
assert convviz.graph(convviz.conv2d(x, torch.ones(1, 1, 3, 3)).sum())._repr_svg_()
assert convviz.stages(convviz.ConvSpec(5), x, torch.ones(1, 1, 3, 3)).deviation == 0
tags = "zh-TW", "zh_CN", "zh", "zh-HK", "en-GB", "en-Latn", "de"
assert [match_locale(tag) for tag in tags] == ["zh-Hant", "zh-Hans", "zh-Hans", "zh-Hant", "en", "en", None]
with use_locale("zh-Hans"):
    print(sentences("rules")("same.odd", count=1, axis="a", side="b"))
for name in convviz.__all__:
    try:
        getattr(convviz, name)
    except ImportError as missing:
        print(missing)
"""


def test_a_graders_container_needs_torch_and_numpy_alone(bare, tmp_path):
    done = subprocess.run([bare, "-c", GRADED], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    with use_locale("zh-Hans"):
        chinese = sentences("rules")("same.odd", count=1, axis="a", side="b")
    missing = said[said.index(chinese) + 1 :]  # after what the check says
    bring = "pip install ipywidgets, or pip install 'convviz[lab]' for all that it can use"
    lacks = f"needs ipywidgets, which is not installed: {bring}"
    assert missing == [f"convviz.{name} {lacks}" for name in ("App", "explain", "lesson")]


# Some commands, one after another: Python and torch start once.
COMMANDS = """
import contextlib, io, json, sys
from convviz.cli import main
for line in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            code = main(line.split())
        except SystemExit as end:
            code = end.code
    print(json.dumps([code, said.getvalue()]), file=sys.__stdout__)
"""


def test_the_command_line_of_a_graders_container_names_what_a_command_lacks(bare, tmp_path):
    made = ["export -o page.html", "export -o page.svg", "export -o page.tex", "exercise --expose I10 -o sheet.md"]
    lacking = {"export -o page.png": "pillow", "export -o page.gif --equation forward": "pillow", "serve": "voila"}
    packed = [f"export -o {lang}.html --lang {lang}" for lang in ("en", "zh-Hans")]
    command = [bare, "-c", COMMANDS, *made, *lacking, *packed]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    found = dict(zip((*made, *lacking, *packed), map(json.loads, done.stdout.splitlines()), strict=True))
    assert [found[line] for line in (*made, *packed)] == [[0, ""]] * 6
    for line, package in lacking.items():
        code, said = found[line]
        assert code, line
        (sentence,) = said.splitlines()
        assert f"which is not installed: pip install {package}" in sentence, line
    for lang in ("en", "zh-Hans"):
        source = export_html(None, tmp_path / "source.html", lang=lang)
        ours, theirs = (len(zlib.compress(path.read_bytes())) for path in (source, tmp_path / f"{lang}.html"))
        assert theirs < ours + 1000, f"{lang}: a line end for each file, import and export"
