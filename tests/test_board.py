"""The board's sources: one module from many files, a vendored plotly nobody touched, and no outside host."""

import hashlib
import re
from importlib.resources import files

import pytest

from convviz.app.share import Share
from convviz.board.bundle import bundle, bundle_apart
from convviz.board.pane import Pane
from convviz.board.sliders import SliderGrid
from convviz.board.tabbar import TabBar
from convviz.board.widget import Board

BOARD = files("convviz.board")
JS = BOARD.joinpath("js")
SOURCES = sorted(path.name for path in JS.iterdir() if path.name.endswith(".js"))
WIDGETS = {"board.js": Board, "sliders.js": SliderGrid, "tabbar.js": TabBar, "share.js": Share}
PANES = [name for name in SOURCES if name.startswith("tab_")]
ENTRIES = [*WIDGETS, *PANES, "page.js"]  # the last is the page without a kernel: no widget carries it
# plotly-cartesian.min.js and LICENSE of the npm package plotly.js-cartesian-dist-min.
PLOTLY_VERSION = "4.1.1"
PLOTLY_SHA256 = "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"
IMPORT = re.compile(r"^import \{[^}]*\} from \"\./([\w.-]+)\";$", re.MULTILINE)


def text_of(name):
    return JS.joinpath(name).read_text(encoding="utf-8")


def imports_of(name):
    return IMPORT.findall(text_of(name))


def reached(name, found=None):
    found = set() if found is None else found
    found.add(name)
    for other in imports_of(name):
        if other not in found:
            reached(other, found)
    return found


# The bundle of the real files.


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_file_stands_once_after_what_it_imports(entry):
    order = re.findall(r"^// ([\w.-]+\.js)$", bundle(JS, entry), re.MULTILINE)
    assert len(order) == len(set(order))
    assert set(order) == reached(entry)
    assert order[-1] == entry
    for name in order:
        assert all(order.index(other) < order.index(name) for other in imports_of(name)), name


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_module_imports_nothing_and_exports_its_default_alone(entry):
    module = bundle(JS, entry)
    assert not re.findall(r"^[ \t]*import\b(?!\()", module, re.MULTILINE)
    assert re.findall(r"^[ \t]*export\b.*", module, re.MULTILINE) == ["export default { render };"]


@pytest.mark.parametrize("entry", ENTRIES)
def test_nothing_but_import_and_export_lines_is_lost(entry):
    def statements(text):
        return [line.removeprefix("export ") for line in IMPORT.sub("", text).splitlines() if line.strip()]

    kept = statements(bundle(JS, entry))
    for name in reached(entry):
        own = statements(text_of(name))
        start = kept.index(f"// {name}") + 1
        assert kept[start : start + len(own)] == own


def test_a_widget_carries_its_bundle_and_text_not_a_path():
    for entry, widget in WIDGETS.items():
        esm = widget._esm
        assert str(esm) == bundle(JS, entry)
        assert isinstance(esm, str)
    assert isinstance(Board._css, str)
    assert ".cv-look" in Board._css


@pytest.mark.parametrize("script", PANES)
def test_a_pane_carries_its_own_script_and_the_shared_look(script):
    pane = Pane(script)
    assert pane._esm == bundle(JS, script)
    assert ".cv-look" in pane._css
    assert pane._css == Pane._css, "the page keeps one sheet for all panes: the last one's"
    assert f".cv-pane-{script[4:-3]}" in pane._css
    pane.close()


def test_every_file_belongs_to_an_entry():
    assert set(SOURCES) == set().union(*map(reached, ENTRIES))


# The bundle of other files.


def folder(tmp_path, **sources):
    for name, source in sources.items():
        (tmp_path / f"{name}.js").write_text(source, encoding="utf-8")
    return tmp_path


def test_imports_on_several_lines_and_of_several_levels(tmp_path):
    made = folder(
        tmp_path,
        entry='import {\n  a,\n  b,\n} from "./one.js";\nimport { c } from "./two.js";\nexport default a(b, c);\n',
        one='import { c } from "./two.js";\nexport function a(x, y) {\n  return x + y + c;\n}\nexport const b = 1;\n',
        two="export const c = 2;\nexport class D {}\nexport async function e() {}\n",
    )
    lines = [line for line in bundle(made, "entry.js").splitlines() if line]
    assert lines == [
        "// two.js",
        "const c = 2;",
        "class D {}",
        "async function e() {}",
        "// one.js",
        "function a(x, y) {",
        "  return x + y + c;",
        "}",
        "const b = 1;",
        "// entry.js",
        "export default a(b, c);",
    ]


@pytest.mark.parametrize(
    "declaration",
    [
        "const same = 1;",
        "let same = 1;",
        "function same() {}",
        "async function same() {}",
        "class same {}",
        "export const same = 1;",
        "export function same() {}",
        "export async function same() {}",
        "export class same {}",
    ],
)
def test_a_name_in_two_files_is_refused(tmp_path, declaration):
    made = folder(
        tmp_path,
        entry='import { x } from "./other.js";\nfunction same() {}\nexport default x;\n',
        other=f"{declaration}\nexport const x = 1;\n",
    )
    with pytest.raises(ValueError, match=r"same stands in other\.js and entry\.js; rename one"):
        bundle(made, "entry.js")


def test_a_name_inside_a_function_collides_with_nobody(tmp_path):
    made = folder(
        tmp_path,
        entry='import { x } from "./other.js";\nfunction use() {\n  const same = x;\n}\nexport default use;\n',
        other="export const x = 1;\nfunction y() {\n  const same = x;\n}\n",
    )
    assert bundle(made, "entry.js").count("same") == 2


def test_what_entries_share_stands_once_and_the_rest_of_each_apart(tmp_path):
    made = folder(
        tmp_path,
        one='import { a } from "./a.js";\nimport { b } from "./b.js";\nexport default a(b);\n',
        two='import { a } from "./a.js";\nimport { other } from "./c.js";\nexport default a(other);\n',
        three='import { a } from "./a.js";\nexport default a;\n',
        a='import { d } from "./d.js";\nexport const a = d;\n',
        b="const same = 1;\nexport const b = same;\n",
        c="const same = 2;\nexport const other = same;\n",
        d="export const d = (x) => x;\n",
    )
    shared, rests = bundle_apart(made, ("one.js", "two.js", "three.js"))
    assert shared.splitlines() == ["// d.js", "const d = (x) => x;", "", "// a.js", "const a = d;"]
    assert [re.findall(r"// (\w+)", rest) for rest in rests] == [["b", "one"], ["c", "two"], ["three"]]
    assert "const same = 1;" in rests[0]
    assert "const same = 2;" in rests[1]


def test_two_shared_files_with_one_name_are_refused(tmp_path):
    sources = {f"{name}{place}": f'import {{ {name} }} from "./{name}.js";\n' for name in "ab" for place in "12"}
    shared = {name: f"const same = 1;\nexport const {name} = same;\n" for name in "ab"}
    made = folder(tmp_path, **shared, **sources)
    with pytest.raises(ValueError, match=r"same stands in a\.js and b\.js; rename one"):
        bundle_apart(made, [f"{name}.js" for name in sources])


# Sizes, plotly, hosts.


@pytest.mark.parametrize("name", SOURCES)
def test_files_stay_small_enough_to_read(name):
    assert len(text_of(name).encode()) <= 60_000


def test_plotly_is_the_published_file_with_its_licence():
    vendored = BOARD.joinpath("vendor", "plotly-cartesian.min.js").read_bytes()
    assert hashlib.sha256(vendored).hexdigest() == PLOTLY_SHA256
    assert f"plotly.js (cartesian - minified) v{PLOTLY_VERSION}".encode() in vendored[:200]
    licence = BOARD.joinpath("vendor", "plotly-LICENSE.txt").read_text(encoding="utf-8")
    assert "MIT License" in licence
    assert "Plotly Technologies Inc." in licence
    assert f"convviz.plotly.{PLOTLY_VERSION}" in text_of("plotly.js"), "pages share one copy of one version"


OUR_TEXTS = [
    *(JS.joinpath(name) for name in SOURCES),
    *(path for path in BOARD.iterdir() if path.name.endswith(".css")),
    files("convviz.app").joinpath("upload.js"),
    files("convviz.app").joinpath("app.css"),
]


@pytest.mark.parametrize("path", OUR_TEXTS, ids=lambda path: path.name)
def test_sources_name_no_outside_host(path):
    text = path.read_text(encoding="utf-8")
    names = set(re.findall(r"(?:https?:|wss?:|ftp:)?//[\w-]+(?:\.[\w-]+)+[^\s\"'`)]*", text))
    assert names <= {"http://www.w3.org/2000/svg"}, "a namespace is a name, not a request; anything else is one"
    assert "@import" not in text
    assert not re.search(r'url\((?!#|"data:)', text), "patterns of the same page and drawn arrows, no files"
