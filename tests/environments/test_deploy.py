"""What can be held of deploy/ without a container engine, and the command lines of its pages."""

import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from convviz.cli import build_parser

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PAGES = ("docs/serving.md", "deploy/nginx.conf", "deploy/Caddyfile", "deploy/Dockerfile")
# A command of ours in a block or in a comment that stands apart; what follows more space, or a #, explains it.
COMMAND = re.compile(r"^(?:#? {3,}[^`\n]*?)(convviz [a-z]+(?: \S+)*)", re.MULTILINE)


def instructions():
    """Return (word, rest) of each instruction of the Dockerfile, continued lines joined."""
    lines = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    split = [line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith("#")]
    return [(word, rest) for word, rest in split]


def only(word):
    (found,) = [rest for each, rest in instructions() if each == word]
    return found


def compose():
    return list(yaml.safe_load((DEPLOY / "compose.yml").read_text(encoding="utf-8"))["services"].values())


def test_every_instruction_is_one_that_engines_know():
    assert [word for word, _ in instructions()] == [
        "FROM", "ARG", "WORKDIR", "COPY", "COPY", "RUN", "RUN", "USER", "WORKDIR", "EXPOSE", "ENTRYPOINT",
    ]  # fmt: skip


def test_what_the_image_copies_is_in_the_repository_and_enough_to_build_the_package():
    sources = {source for word, rest in instructions() if word == "COPY" for source in rest.split()[:-1]}
    tracked = subprocess.run(["git", "ls-files", *sources], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode == 0:  # not in a source distribution
        assert {path.split("/")[0] for path in tracked.stdout.split()} == sources
    assert [source for source in sources if not (ROOT / source).exists()] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {"pyproject.toml", *project["project"]["license-files"]}
    needed |= {part["path"] for part in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["fragments"]}
    needed |= set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    assert needed <= sources


def test_python_is_that_of_conda_and_one_we_support():
    (version,) = re.findall(r"python:(3\.\d+)-slim", only("FROM"))
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    assert f"python={version}" in conda
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert SpecifierSet(project["requires-python"]).contains(version)


def test_versions_are_said_in_constraints_alone():
    (install,) = [rest for word, rest in instructions() if word == "RUN" and "pip install" in rest]
    assert "-c constraints.txt ." in install
    assert not re.search(r"[=<>~]=", install)


def test_the_command_of_image_and_compose_is_one_that_convviz_takes():
    program, *words = json.loads(only("ENTRYPOINT"))
    assert program == "convviz"
    for service in compose():
        options = build_parser().parse_args([*words, *service["command"]])
        assert str(options.port) == only("EXPOSE")
        assert options.host == "0.0.0.0", "a container's own loopback is reached by nobody"
        assert f"127.0.0.1:{options.port}{options.base_url}health" in service["healthcheck"]["test"][-1]


def test_compose_builds_this_image_and_each_proxy_leads_to_each_of_its_servers():
    builds = [service["build"] for service in compose()]
    paths = {(DEPLOY / build["context"] / build["dockerfile"]).resolve() for build in builds}
    assert paths == {DEPLOY / "Dockerfile"}
    ports = [port.rsplit(":", 1) for service in compose() for port in service["ports"]]
    assert {inside for _, inside in ports} == {only("EXPOSE")}
    for proxy in ("nginx.conf", "Caddyfile"):
        assert set(re.findall(r"127\.0\.0\.1:\d+", (DEPLOY / proxy).read_text(encoding="utf-8"))) == {
            outside for outside, _ in ports
        }


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yml"])
def test_what_nobody_has_run_says_so(name):
    assert re.search(r"^# NOT (BUILT|RUN) YET", (DEPLOY / name).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_each_command_of_a_page_is_one_that_convviz_takes(page):
    found = COMMAND.findall((ROOT / page).read_text(encoding="utf-8"))
    assert found or page == "deploy/Dockerfile"
    for command in found:
        build_parser().parse_args(shlex.split(command, comments=True)[1:])


def test_the_binder_address_leads_to_the_notebook_of_the_app():
    for page in ("README.md", "docs/serving.md"):
        (path,) = set(re.findall(r"voila/render/([\w.]+ipynb)", (ROOT / page).read_text(encoding="utf-8")))
        cells = json.loads((ROOT / path).read_text(encoding="utf-8"))["cells"]
        assert "convviz.App()" in [line for cell in cells for line in cell["source"]]
