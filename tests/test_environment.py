"""pyproject.toml says what convviz needs; environment.yml (conda) and constraints.txt (pins) follow it."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
CONDA_NAMES = {"torch": "pytorch-cpu"}
NOT_PINNED = re.compile(r"pip$|nvidia-|cuda-|triton")  # torch's CUDA build pins its own companions


def requirements(lines):
    found = {}
    for line in lines:
        requirement = Requirement(line)
        found[canonicalize_name(requirement.name)] = requirement
    return found


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RUNTIME = requirements(PROJECT["dependencies"])
DIRECT = RUNTIME | requirements(PROJECT["optional-dependencies"]["test"])
PINS = requirements(
    line
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)


def conda():
    return yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))


def conda_packages():
    """Name → range, without python and pip, which have no counterpart in pyproject's dependencies."""
    specs = [spec for spec in conda()["dependencies"] if isinstance(spec, str)]
    return requirements(s for s in specs if s != "pip" and not s.startswith("python="))


def test_conda_and_pyproject_give_the_same_ranges():
    assert {name: package.specifier for name, package in conda_packages().items()} == {
        CONDA_NAMES.get(name, name): requirement.specifier for name, requirement in RUNTIME.items()
    }


def test_conda_python_is_one_we_support():
    (spec,) = [s for s in conda()["dependencies"] if isinstance(s, str) and s.startswith("python=")]
    version = spec.removeprefix("python=")
    assert re.fullmatch(r"3\.\d+", version), f"repo2docker reads only the form python=3.12, not {spec!r}"
    assert SpecifierSet(PROJECT["requires-python"]).contains(version)


def test_binder_installs_convviz_itself():
    (from_pip,) = [d["pip"] for d in conda()["dependencies"] if isinstance(d, dict)]
    assert from_pip == ["-e .[checkout]"]
    assert conda()["channels"] == ["conda-forge", "nodefaults"]


def test_every_constraint_pins_one_public_version():
    def is_pin(requirement):
        (specifier, *more) = requirement.specifier
        # A local version such as +cpu exists on one index only: nobody else could install it.
        return not more and specifier.operator == "==" and Version(specifier.version).local is None

    assert [str(r) for r in PINS.values() if not is_pin(r)] == []


def test_the_pins_are_within_our_own_ranges():
    for name, requirement in DIRECT.items():
        assert name in PINS, f"constraints.txt lacks {name}"
        (pin,) = PINS[name].specifier
        assert requirement.specifier.contains(pin.version), f"{name}: {pin.version} is not {requirement.specifier}"


def test_the_pins_cover_what_our_requirements_bring_along():
    todo, seen = list(DIRECT), set()
    while todo:
        name = todo.pop()
        if name in seen or NOT_PINNED.match(name):
            continue
        seen.add(name)
        for line in metadata.requires(name) or []:
            requirement = Requirement(line)
            extras = DIRECT[name].extras if name in DIRECT else ()
            if requirement.marker is None or any(requirement.marker.evaluate({"extra": e}) for e in extras or [""]):
                todo.append(canonicalize_name(requirement.name))
    assert sorted(seen - set(PINS)) == [], "constraints.txt lacks these: see its first lines for how to renew it"
