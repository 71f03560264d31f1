"""Imports point downwards only. Every import counts, at the top of a module or inside a function."""

import ast
import functools
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "convviz"

LAYERS = {
    "facts": 0, "lessons": 0, "geometry": 0, "file_io": 0, "process_limits": 0, "optional_dependencies": 0,
    "ops": 1, "nn": 1, "samples": 1, "sandbox": 1,
    "settings": 2, "mistakes": 2, "cases": 2, "explanation": 2, "check": 2, "courses": 2, "lab": 2,
    "views": 3,
    "web": 4,
    "app": 5, "export": 5,
    "features": 6, "cli": 6, "commands": 6, "serve": 6,
}  # fmt: skip
TOP = max(LAYERS.values())
# Neighbours on one layer may import each other one way round (a test below forbids circles), but these never.
STRANGERS = {("app", "export"), ("export", "app"), ("ops", "samples"), ("ops", "nn")}

UI_PACKAGES = {"ipywidgets", "anywidget", "traitlets", "voila"}
FIRST_UI_LAYER = LAYERS["web"]
WIDGETS = {"ipywidgets", "anywidget"}
WIDGET_FREE = {"convviz.app.session", "convviz.app.page_requests"}  # driven without a browser


@functools.cache
def modules():
    """Dotted name → (source, whether it is a package's __init__), for every module of convviz."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        found[".".join(parts[:-1] if is_package else parts)] = (path.read_text(encoding="utf-8"), is_package)
    return found


@functools.cache
def imports(module, source, is_package=False):
    """Return (line, dotted name) of every import; `from a import b` imports a.b, a module or not."""
    return list(_imports(module, source, is_package))


def _imports(module, source, is_package):
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            yield from ((node.lineno, ".".join([*base, alias.name])) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {
            "importlib.import_module",
            "import_module",
        }:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield node.lineno, first.value


def part(dotted):
    """Return the part of convviz that owns a dotted name; None for the front door, __init__ and __main__."""
    names = dotted.split(".")
    return names[1] if len(names) > 1 and names[1] != "__main__" else None


def violations(module, source, is_package=False):
    """Return one sentence for each import in `module` that breaks the layers of LAYERS."""
    own = part(module)
    if own is None:
        return []  # the front door may open on everything
    if own not in LAYERS:
        return [f"{module}: every part of convviz has a layer, {own!r} has none; add it to LAYERS"]
    found = []
    for line, target in imports(module, source, is_package):
        complaint = complain(module, own, target)
        if complaint:
            found.append(f"{module}:{line} imports {target}: {complaint}")
    return found


def complain(module, own, target):
    """Return what is wrong with `module`, of the part `own`, importing `target`; None if nothing is."""
    layer = LAYERS[own]
    root = target.split(".")[0]
    if root in UI_PACKAGES and layer < FIRST_UI_LAYER:
        return f"layers 0 to {FIRST_UI_LAYER - 1} know no UI package; move what needs {root} to web or app"
    if root in WIDGETS and module in WIDGET_FREE:
        return "this module is tested without widgets; put the widget into a module beside it"
    if root != "convviz" or target == "convviz.__version__":
        return None
    other = part(target)
    if other not in LAYERS and target.count(".") > 1:
        return f"{other!r} has no layer yet; add it to LAYERS"
    if other not in LAYERS:  # the front door itself, or a name that it hands on
        return None if layer == TOP else "import from the module that defines the name, not from the front door"
    if LAYERS[other] > layer:
        return f"{own} is layer {layer}, {other} is layer {LAYERS[other]}, and imports point downwards only"
    if other == "features" and own != "features":
        return "the core finds features by their folders, and lives without any of them"
    if own == "features" and other == "features" and target.split(".")[2:3] != module.split(".")[2:3]:
        return "a feature stands on the core alone: move what two of them need there"
    if own == "features" and LAYERS[other] == layer and other != own:
        return f"no feature knows {other}"
    if (own, other) in STRANGERS:
        return f"{own} and {other} stand on one layer and must not know each other"
    return None


def neighbours():
    """Part → the parts of the same layer that it imports."""
    edges = {name: set() for name in LAYERS}
    for module, (source, is_package) in modules().items():
        own = part(module)
        for _, target in imports(module, source, is_package):
            other = part(target) if target.startswith("convviz.") else None
            if own in LAYERS and other in LAYERS and own != other and LAYERS[own] == LAYERS[other]:
                edges[own].add(other)
    return edges


def circle(edges):
    """Return the names along one circle in a graph, or [] if it has none."""

    done = set()  # from there no way leads into a circle

    def walk(path):
        for following in sorted(edges[path[-1]] - done):
            if following in path:
                return [*path[path.index(following) :], following]
            if found := walk([*path, following]):
                return found
        done.add(path[-1])
        return []

    return next(filter(None, (walk([name]) for name in sorted(edges))), [])


def test_imports_point_downwards():
    found = [violations(module, source, is_package) for module, (source, is_package) in modules().items()]
    assert [report for reports in found for report in reports] == []


def test_every_name_of_the_table_is_a_part_of_the_package():
    assert set(LAYERS) == {part(module) for module in modules()} - {None}


def test_the_widget_free_modules_exist():
    assert set(modules()) >= WIDGET_FREE, "a module was renamed: name it anew in WIDGET_FREE"


def test_neighbours_import_each_other_one_way_round_only():
    assert circle(neighbours()) == []


def test_modules_import_each_other_one_way_round_only():
    """Also where the import is for types only: who needs a type of a module needs the module to be understood."""
    known = set(modules())
    edges = {}
    for module, (source, is_package) in modules().items():
        named = {target for _, target in imports(module, source, is_package)}
        edges[module] = {near for target in named if (near := owner(target, known)) not in (None, "convviz", module)}
    assert circle(edges) == []


def owner(target, known):
    """Return the module that an import takes from: the name itself, or what it stands in."""
    parent = target.rpartition(".")[0]
    return target if target in known else parent if parent in known else None


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("convviz.ops.by_rotate", "from convviz.views import theme"),
        ("convviz.ops.by_rotate", "def f():\n    import convviz.app.session"),
        ("convviz.ops.by_rotate", "from ..views.theme import COLOURS"),
        ("convviz.ops.by_rotate", "import importlib\nimportlib.import_module('convviz.web')"),
        ("convviz.ops.by_rotate", "from convviz.samples import kernels"),
        ("convviz.ops.by_rotate", "from convviz import ConvSpec"),
        ("convviz.geometry.spec", "from convviz.ops import stages"),
        ("convviz.views.figures", "def f():\n    from ipywidgets import HTML"),
        ("convviz.app.session", "import ipywidgets as widgets"),
        ("convviz.export.page", "from convviz.app.session import Session"),
        ("convviz.helpers", ""),
        ("convviz.serve.worker", "from convviz.features.race.data import RaceTab"),
        ("convviz.app.page_requests", "import convviz.features.linear.data"),
        ("convviz.features.linear.data", "from convviz.features.matrix.data import data"),
        ("convviz.features.linear.data", "from convviz.serve import options"),
    ],
)
def test_a_forbidden_import_is_reported(module, source):
    (report,) = violations(module, source)
    assert report.startswith(module)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("convviz.nn", "from convviz.ops import by_rotate\nimport torch"),
        ("convviz.ops.by_rotate", "from . import padding\nfrom ..geometry.spec import ConvSpec"),
        (
            "convviz.app.session",
            "import traitlets\nfrom convviz.views import theme\nfrom .bounds import limits",
        ),
        ("convviz.export.page", "from convviz import __version__"),
        ("convviz.cli", "import convviz\nfrom convviz import serve"),
        ("convviz.__main__", "from convviz.cli import main"),
        (
            "convviz.features.linear.data",
            "from convviz.features.linear.pass_of_layer import one\nfrom convviz.app import to_json",
        ),
    ],
)
def test_an_allowed_import_is_not_reported(module, source):
    assert violations(module, source) == []


def test_a_relative_import_in_a_package_starts_at_the_package():
    assert imports("convviz.ops", "from . import padding", is_package=True) == [(1, "convviz.ops.padding")]


# What may be loaded. Each name here is time and memory of every visitor's kernel: sympy alone, which many functions of
# torch load when they are first called, was half a second and 30 MiB.
TORCH = {"numpy", "torch", "torchgen", "typing_extensions"}
TORCH |= {"tqdm", "dill"}  # by torch.hub and torch.utils.data, where they are installed
APP = TORCH | {"anywidget", "ipywidgets", "traitlets"}
PACKERS = {"rcssmin", "_rcssmin", "rjsmin", "_rjsmin"}  # of the scripts and sheets that it carries: 20 ms
APP |= PACKERS
APP |= {"comm", "decorator", "IPython", "mypy_extensions", "psygnal", "pygments", "wcwidth"}  # what those load in turn


def check_loaded(*steps):
    """Run the code of the steps in one fresh process, and see after each what is loaded beside Python's own and ours.

    Each step has what may be loaded by then, so steps that may load less come first. Those of a list stand in for a
    step, and run in a process of their own, a copy of the one that has come so far: what they load those that follow
    do not have, and torch is loaded once.
    """
    mark = "loaded: "
    asks = f"print({mark!r}, *sys.modules.keys() - before, flush=True)"
    parts, planned = ["import os, sys; before = set(sys.modules)"], []
    for step in steps:
        alone = isinstance(step, list)
        codes = [f"{code}\n{asks}" for code, _ in (step if alone else [step])]
        planned += step if alone else [step]
        if alone:
            body = repr("\n".join(codes))
            codes = [f"if not os.fork():\n  exec({body})\n  os._exit(0)\nassert os.wait()[1] == 0"]
        parts += codes
    done = subprocess.run([sys.executable, "-c", "\n".join(parts)], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert done.returncode == 0, done.stderr
    reported = [line.removeprefix(mark) for line in done.stdout.splitlines() if line.startswith(mark)]
    for loaded, (code, allowed) in zip(reported, planned, strict=True):
        packages = {name.partition(".")[0] for name in loaded.split()} - sys.stdlib_module_names - {"convviz"}
        # __mp_main__ is this process; Python's _sysconfigdata has the machine's name, mypyc's compiled helpers a hash.
        ours = ("__", "_sysconfigdata")
        more = {name for name in packages - allowed if not name.startswith(ours) and not name.endswith("__mypyc")}
        assert not more, (
            f"{', '.join(sorted(more))} must not be loaded by\n{code}\n`python -X importtime` says who asks for it. "
            "Load it inside the function that needs it, or do without; only what every App needs is added to APP"
        )


def test_each_part_loads_what_it_needs_and_no_more(tmp_path):
    """The process that serves: tests/commands/test_cli.py."""
    start = """
import convviz
convviz.ConvSpec((8, 8)).output_size; dir(convviz)
assert not [name for name in sys.modules if name.startswith(("convviz.export", "convviz.app"))]
from convviz.cli import main
try:
    main(["serve", "--help"])
except SystemExit:
    pass
"""
    operators = """
import torch
x = torch.ones(1, 1, 3, 3)
convviz.stages(convviz.ConvSpec((3, 3)), x, x)
repr(convviz.graph(torch.ones(1, requires_grad=True) ** 2))
"""
    # Every tab but those that show what torch's own `backward(gradient)` and `gradcheck` do: both load sympy.
    worker = """
from convviz.app.page_requests import answer
from convviz.settings.state import Settings
first = Settings.first_picture().to_dict()
for tab in ("matrix", "graph", "code", "linear"):
    for transposed in (True, False):
        answer({"type": "tab", "tab": tab, "settings": {**first, "transposed": transposed}})
"""
    app = """
app = convviz.App()
assert not [name for name in sys.modules if name.startswith("convviz.export")], "the picture costs nothing until then"
for transposed in (True, False):
    app.set_state({**app.state(), "tab": "matrix", "transposed": transposed})
"""
    shown = """
import os
os.environ.pop("VOILA_KERNEL_ID", None)
there = set(sys.modules)
app._ipython_display_()
assert all(name.startswith(("convviz.", "html", "IPython.")) for name in set(sys.modules) - there)
"""
    module = f"""
from convviz.cli import main
assert main(["export", "--module", "--state", "v=2&size=6", "-o", {str(tmp_path / "board.mjs")!r}]) == 0
assert main(["export", "--state", "nowhere.json", "-o", "page.html"]) == 2
"""
    live = "from convviz.serve.first_page import live_page; live_page()"
    page = "import convviz.export.page as page; page.page_bytes(None)"
    without = PACKERS | {"babel"}
    check_loaded(
        (start, set()),
        [(live, without), (module, without)],
        (operators, TORCH),
        [(page, without | TORCH)],
        (worker, TORCH),
        (app, APP),
        (shown, APP),
    )


ROOMS = ("calling", "probes", "diagnose", "run")  # of the checker, the lowest first


def test_the_rooms_of_the_checker_import_downwards():
    found = []
    for module, (source, is_package) in modules().items():
        own = module.split(".")[2:3]
        for _, target in imports(module, source, is_package) if own and own[0] in ROOMS else ():
            parts = target.split(".")
            other = parts[2] if parts[:2] == ["convviz", "check"] and len(parts) > 2 else ""
            if other in ROOMS and ROOMS.index(other) > ROOMS.index(own[0]):
                found.append(f"{module} imports {target}")
    assert found == []
