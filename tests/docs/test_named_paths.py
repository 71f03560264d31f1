"""Every path of ours that the Makefile, the Markdown pages, deploy/ and the comments name exists."""

import functools
import re
import subprocess
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]  # with what is new
SUFFIX = r"\.(?:py|js|mjs|css|json|md|po|yml|yaml|toml|conf)\b(?!/)"
# A path in a sentence, in code or in a diagram. Not the rest of a variable, of a placeholder or of a path elsewhere.
PATH = re.compile(r"(?<![\w/.<>*{}$@)\\-])(?:\./)?((?:[\w.*-]+/)*[\w*-][\w.*-]*" + SUFFIX + ")")
FOLDER = re.compile(r"`((?:[\w-]+/)+)`")
MODULE = re.compile(r"(?:-m|-p) ((?:convviz|tests|benchmarks)\b[\w.]*)")
# In source, where many names are made up, only a path that begins at a folder of ours.
OURS = re.compile(r"(?<![\w/.])((?:convviz|tests|docs|deploy|benchmarks)/[\w./-]*\w" + SUFFIX + ")")
ELSEWHERE = ("torch/", "aten/", "tools/")  # PyTorch's own sources
# A visitor's own files, and files that a command writes.
EXAMPLES = {
    "../folder/b.js",
    "*.test.js",
    "_config.yml",
    "convviz.mjs",
    "convviz.zh-Hans.mjs",
    "derivatives.yaml",
    "f64.json",
    "my_module.py",
    "plotly.js",
    "results.json",
    "site/",
    "tests.py",
    "values.schema.yaml",
}
MADE_UP = {"convviz/app.js", "tests/q3.py"}  # in sources: a page of `convviz site`, a student's grader


@pytest.fixture(scope="module")
def files() -> list[PurePosixPath]:
    try:
        listed = subprocess.run(COMMAND, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as problem:
        pytest.skip(f"Only git knows which files belong to the repository: {problem}")
    return [PurePosixPath(name) for name in listed.splitlines() if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def existing(files) -> list[PurePosixPath]:
    return [*files, *{folder for name in files for folder in name.parents}]


def text_of(name: PurePosixPath) -> str:
    """What a file says, without links: those to other hosts, and those that test_docs.py follows."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.sub(r"https?://\S+|\]\([^)]*\)", "", text)


def pages(files):
    return [
        name
        for name in files
        if (name.suffix == ".md" and name.name != "CHANGELOG.md")
        or name.parts[0] == "deploy"
        or str(name) in ("Makefile", "pyproject.toml")
    ]


def test_every_path_that_a_page_names_exists(files, existing):
    """`app/app.py` names convviz/app/app.py: the end of a path is enough."""
    named, missing = set(), []
    ends = {"/".join(name.parts[first:]) for name in existing for first in range(len(name.parts))}
    is_there = functools.cache(lambda path: path in ends or any(name.match(path) for name in existing))
    for page in pages(files):
        text = text_of(page)
        found = {*PATH.findall(text), *FOLDER.findall(text)}
        named |= found
        for path in sorted(found - EXAMPLES):
            if not path.startswith(ELSEWHERE) and not is_there(path):
                missing.append(f"{page} names {path}")
    assert len(named) > 200
    assert missing == []
    assert named >= EXAMPLES, f"no page names {sorted(EXAMPLES - named)} any more: take it off EXAMPLES"


def test_every_module_that_a_command_names_exists(files):
    found = {(page, module) for page in pages(files) for module in MODULE.findall(text_of(page))}
    assert len(found) > 10
    for page, module in found:
        path = ROOT / module.rstrip(".").replace(".", "/")
        assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), f"{page} names {module}"


def test_every_file_that_a_target_of_make_runs_exists():
    """The lists of `make check` and `make board`, whose names the Makefile completes."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    lists = re.findall(r"^(\w+) := \$\(addprefix (\S+),\$\(addsuffix \.py,([\w/\s]+)\)\)", text, re.MULTILINE)
    assert [name for name, _, _ in lists] == ["CHECKED", "BOARD"]
    for target, before, names in lists:
        paths = [f"{before}{name}.py" for name in names.split()]
        assert len(paths) > 20, target
        assert [path for path in paths if not (ROOT / path).is_file()] == [], target
        assert len(paths) == len(set(paths)), target


def test_every_path_of_ours_that_a_source_names_exists(files):
    missing = []
    for name in files:
        if name.suffix in (".py", ".js", ".mjs", ".ts", ".css") and "vendor" not in name.parts:
            for path in set(OURS.findall(text_of(name))) - MADE_UP:
                if not (ROOT / path).exists():
                    missing.append(f"{name} names {path}")
    assert missing == []
