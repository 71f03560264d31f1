"""The board's sources: one module from many files, a vendored plotly nobody touched, and no outside host."""

import hashlib
import json
import posixpath
import re
from importlib.resources import files

import pytest

from convviz.app.app import App
from convviz.app.script_carrier_widget import Script
from convviz.facts import facts
from convviz.facts.features import FEATURES
from convviz.web.bundle import bundle, bundle_several
from convviz.web.widget_assets import app_styles, asking_script, carrier_script, joined, tab_file, tab_script

BOARD = files("convviz.web")
JS = BOARD
# As seen from web: features stand beside it.
SOURCES = sorted(
    posixpath.relpath(path, JS)
    for folder in (JS, files("convviz").joinpath("features"))
    for path in folder.rglob("*.js")
    if "vendor" not in path.parts
)
TABS = {name: tab_file(name) for name in FEATURES}
# The last are of pages: without a kernel, served, around a notebook of Voilà's.
ENTRIES = [
    "page/article.js",
    "../features/network/recorded_tab.js",
    "../features/network/start_page.js",
    "page/script_carrier_widget.js",
    "page/request_shared_script.js",
    "tabs/pane_alone.js",
    *TABS.values(),
    "page/standalone_page.js",
    "page/board_element.js",
    "page/live_page.js",
    "page/static_site.js",
    "page/voila_page.js",
]
# plotly-cartesian.min.js and LICENSE of the npm package plotly.js-cartesian-dist-min.
PLOTLY_VERSION = "4.1.1"
PLOTLY_SHA256 = "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"
IMPORT = re.compile(r"^import \{[^}]*\} from \"(\.{1,2}/[\w./-]+)\";$", re.MULTILINE)
FACTS = re.compile(
    r'^import (\w+) from "(?:(?:\.\./)+(?:facts/data|lessons)|\.)/([\w/]+)\.json" with \{ type: "json" \};$',
    re.MULTILINE,
)
IMPORTED = re.compile(r"^const (?:\{[^}]*\}|[A-Z_\d]+) = \$\w+;$")


def text_of(name):
    return JS.joinpath(name).read_text(encoding="utf-8")


def imports_of(name):
    beside = posixpath.join("/web", posixpath.dirname(name))
    return [posixpath.relpath(posixpath.join(beside, path), "/web") for path in IMPORT.findall(text_of(name))]


def reached(name, found=None):
    found = set() if found is None else found
    found.add(name)
    for other in imports_of(name):
        if other not in found:
            reached(other, found)
    return found


# The bundle of the real files.


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_file_stands_once_after_what_it_imports_and_loses_but_imports_and_exports(entry):
    module = bundle(JS, entry, pack=False)
    wanted = reached(entry)
    names = {line: name for name in sorted(SOURCES, key=wanted.__contains__) for line in openings(name)}
    order = [names[line] for line in module.splitlines() if line in names]
    assert len(order) == len(set(order))
    assert set(order) == wanted
    assert order[-1] == entry
    assert not re.findall(r"^[ \t]*import\b(?!\()", module, re.MULTILINE)
    exported = re.findall(r"^[ \t]*export\b.*", module, re.MULTILINE)
    assert exported == [f"export default ${re.sub('[/.]', '_', entry[:-3])}.default;"], "the default alone"
    for name in order:
        assert all(order.index(other) < order.index(name) for other in imports_of(name)), name
        own = re.sub(r"^export default ", "const default_ = ", FACTS.sub("", IMPORT.sub("", text_of(name))), flags=re.M)
        lines = [line for line in re.sub(r"^export ", "", own, flags=re.M).splitlines() if line]
        (start,) = (line for line in openings(name) if line in module)
        carried = module.partition(f"{start}\n")[2].partition("\nreturn { ")[0].splitlines()
        while IMPORTED.fullmatch(carried[0]):
            del carried[0]
        assert [line for line in carried if line] == lines, name


def test_one_widget_carries_the_apps_bundle_and_text_not_a_path():
    script = Script()
    assert type(App._esm) is type(script._esm) is type(Script._css) is str
    assert App._esm == asking_script() == bundle(JS, "page/request_shared_script.js")
    assert len(App._esm) < 3_600  # with what finds the language before there is a word, and shows the carrier in marimo
    assert script._esm == carrier_script() == bundle(JS, "page/script_carrier_widget.js")
    assert ".cv-look" in Script._css
    script.close()


@pytest.mark.parametrize("name", TABS)
def test_what_draws_a_tab_comes_with_its_sheet_and_not_with_the_boards_script(name):
    script = tab_script(name)
    module, _, sheet = script.partition("export const sheet = ")
    assert module.strip() == bundle(JS, TABS[name])
    sheet = json.loads(sheet.strip().removesuffix(";"))
    assert sheet == joined([BOARD.joinpath(tab_file(name, "css"))])
    assert f".cv-pane-{name}" in sheet
    assert sheet not in app_styles()
    for entry in (
        "page/script_carrier_widget.js",
        "page/live_page.js",
        "page/static_site.js",
        "page/standalone_page.js",
    ):
        assert TABS[name] not in reached(entry), entry


def test_every_tab_has_a_script_and_an_entry():
    assert {name for name in SOURCES if name.endswith("/tab.js")} == set(TABS.values())
    assert all(feature["entry"] and feature["label"] for feature in FEATURES.values())


def openings(name):
    """How a bundle may begin a file: with what it exports, or with its own name where others export the same."""
    exported = re.findall(r"^export (?:async )?(?:function|const|class) (\w+)", text_of(name), re.MULTILINE)
    own = f"${re.sub('[/.]', '_', name.removesuffix('.js'))}"
    return [f"const {head} = (() => {{" for head in (own, f"{{ {', '.join(exported)} }}")]


def test_every_file_belongs_to_an_entry():
    assert set(SOURCES) == set().union(*map(reached, ENTRIES))


# A text, a comment, an expression, or a template with no other one in it.
WHOLE = re.compile(
    r"//.*|/\*[\s\S]*?\*/"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|(?:(?<=[=(,:\[!&|?;])|(?<=[=(,:\[!&|?;] ))/(?:[^/\\\[\n]|\\.|\[[^\]\n]*\])+/"
    r"|`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^`{}]|\{[^{}]*\})*\})*`"
)


def nested(source):
    """Return the lines in which a template has another one in an argument: rjsmin would take its text for code."""
    return [line for line in WHOLE.sub("", source).splitlines() if "`" in line]


def test_no_template_is_within_another():
    assert nested('const a = `${b} // ${c({ d })}` + "`" + e(/`/, f); // `') == []
    assert nested("const a = `${b ? ` // ${c}` : 1}`;")
    for name in SOURCES:
        assert nested(text_of(name)) == [], name


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
    lines = [line for line in bundle(made, "entry.js", pack=False).splitlines() if line]
    assert lines == [
        "const { c, D, e } = (() => {",
        "const c = 2;",
        "class D {}",
        "async function e() {}",
        "return { c, D, e }})();",
        "const { a, b } = (() => {",
        "function a(x, y) {",
        "  return x + y + c;",
        "}",
        "const b = 1;",
        "return { a, b }})();",
        "const $entry = (() => {",
        "const default_ = a(b, c);",
        "return { default: default_ }})();",
        "export default $entry.default;",
    ]


def test_comments_stay_behind_and_what_looks_like_one_in_a_text_does_not(tmp_path):
    kept = {
        "  a(1); // beside code": "a(1);",
        "  /** @type {any} */ (a)(2);": "(a)(2);",
        "  const b = /** @type {any} */ (a); // and a type": "const b=(a);",
        '  a(/** @type {"b"} */ (c)); // what "b" is': "a((c));",
        '  a("// in a text", `/* and  another */`, "/*", "*/");': 'a("// in a text",`/* and  another */`,"/*","*/");',
        '  a("/** @type {any} */");': 'a("/** @type {any} */");',
        "  a('\" // \"', /[/ ]\\/ /g, b / 2);": "a('\" // \"',/[/ ]\\/ /g,b/2);",
        "  a(`${b} // ${c({ d }, 1)} =  =`);": "a(`${b} // ${c({ d }, 1)} =  =`);",
        "  b = a + +b - -c + d++ - e;": "b=a+ +b- -c+d++-e;",
    }
    comments = ["// @ts-check", "/** One line. */", "  // indented", "/**\n * Several:\n *\n // lines\n */"]
    lines = [line for code in kept for line in (*comments, code)]
    made = folder(tmp_path, entry="\n".join([*lines, *comments, "export default a;\n"]))
    (body,) = re.findall(r"^const \$entry=\(\(\)=>\{(.*)const default_", bundle(made, "entry.js"))
    assert body == "".join(kept.values())


def test_every_file_imports_names_as_they_are_exported():
    """Beside each other in a bundle exports keep their names; one under another name would be missing there."""
    taken = {name: [found[0] for found in IMPORT.finditer(text_of(name))] for name in SOURCES}
    assert [name for name, names in taken.items() if re.search(r"\bas\b", " ".join(names))] == []


def test_an_import_is_relative_to_the_file_that_has_it(tmp_path):
    for name in ("below", "beside"):
        (tmp_path / name).mkdir()
    made = folder(
        tmp_path,
        **{
            "below/entry": 'import { a } from "../beside/same.js";\nimport { b } from "./same.js";\n'
            "export default a(b);\n",
            "below/same": "export const b = 1;\n",
            "beside/same": "export const a = (x) => x;\n",
        },
    )
    module = bundle(made, "below/entry.js", pack=False)
    assert module.index("const { a } = (() => {") < module.index("const $below_entry = (() => {")
    assert module.index("const { b } = (() => {") < module.index("const $below_entry = (() => {")


def test_names_that_two_files_export_are_told_apart(tmp_path):
    made = folder(
        tmp_path,
        entry='import { a } from "./one.js";\nimport { b } from "./two.js";\nexport default [a, b];\n',
        one="const other = 1;\nexport const a = other;\n",
        two='import { a } from "./three.js";\nexport const b = a;\n',
        three="const other = 3;\nexport const a = other;\n",
    )
    module = bundle(made, "entry.js", pack=False)
    assert "const $one = (() => {\n" in module
    assert "const { b } = (() => {\nconst { a } = $three;\n" in module
    assert "const $entry = (() => {\nconst { a } = $one;\nconst default_ = [a, b];\n" in module


def test_files_that_import_each_other_are_refused(tmp_path):
    made = folder(
        tmp_path,
        entry='import { a } from "./one.js";\nexport default a;\n',
        one='import { b } from "./two.js";\nexport const a = b;\n',
        two='import { a } from "./one.js";\nexport const b = a;\n',
    )
    with pytest.raises(ValueError, match=r"circle: one\.js → two\.js → one\.js"):
        bundle(made, "entry.js", pack=False)


def test_what_entries_share_stands_once(tmp_path):
    made = folder(
        tmp_path,
        one='import { a } from "./a.js";\nexport default a(1);\n',
        two='import { a } from "./a.js";\nconst same = 2;\nexport const more = a(same);\n',
        a="const same = 3;\nexport const a = (x) => x + same;\n",
    )
    script = bundle_several(made, {"first": "one.js", "second": "two.js"}, pack=False)
    assert script.startswith("const { first, second } = (() => {")
    assert script.count("const { a } = ") == 1
    assert script.endswith("return { first: $one.default, second: { more } };\n})();")


def test_facts_are_carried_once_as_python_reads_them(tmp_path):
    facts_line = 'import SETTINGS from "../../../facts/data/settings.json" with { type: "json" };\n'
    made = folder(
        tmp_path,
        one=f"{facts_line}export const a = SETTINGS.version;\n",
        two=f'{facts_line}import {{ a }} from "./one.js";\nexport default [a, SETTINGS.version];\n',
    )
    module = bundle(made, "two.js", pack=False)
    (carried,) = re.findall(r"^const \$facts_settings = (.*);$", module, re.MULTILINE)
    assert json.loads(carried) == facts("settings")
    assert module.count("const SETTINGS = $facts_settings;") == 2


# Sizes, plotly, hosts.


def test_plotly_is_the_published_file_with_its_licence():
    vendored = BOARD.joinpath("vendor", "plotly-cartesian.min.js").read_bytes()
    assert hashlib.sha256(vendored).hexdigest() == PLOTLY_SHA256
    assert f"plotly.js (cartesian - minified) v{PLOTLY_VERSION}".encode() in vendored[:200]
    licence = BOARD.joinpath("vendor", "plotly-LICENSE.txt").read_text(encoding="utf-8")
    assert "MIT License" in licence
    assert "Plotly Technologies Inc." in licence
    assert f"convviz.plotly.{PLOTLY_VERSION}" in text_of("board/panel/load_plotly.js"), (
        "pages share one copy of one version"
    )


OUR_TEXTS = [
    *(JS.joinpath(name) for name in SOURCES),
    *BOARD.rglob("*.css"),
    *files("convviz").joinpath("features").rglob("*.css"),
]


def test_sources_name_no_outside_host():
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}  # no requests
    for path in OUR_TEXTS:
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"(?:https?:|wss?:|ftp:)?//[\w-]+(?:\.[\w-]+)+[^\s\"'`)]*", text)) <= names, path
        assert not re.search(r"@import\s*(?:url|[\"'])", text), f"{path}: JSDoc's has braces, and asks for nothing"
        assert not re.search(r'url\((?!#|"data:)', text), f"{path}: patterns of the page and drawn arrows, no files"


def test_a_page_carries_the_mistakes_that_it_can_compute():
    carried = bundle(JS, "lesson/why_wrong.js")

    assert [each["id"] for each in facts("mistakes") if f'"id":"{each["id"]}"' in carried] == [
        each["id"] for each in facts("mistakes") if each["id"][0] in "BFGIW"
    ]


def test_no_source_has_what_the_packer_takes_for_the_end_of_a_block():
    """It leaves out the last semicolon of a block, wherever ``;}`` stands: in no text, and after no empty loop."""
    package = files("convviz")
    paths = [path for kind in ("js", "json") for path in package.rglob(f"*.{kind}")]
    for path in paths:
        if not {"vendor", "share"} & set(path.parts):  # plotly, and what is made of the others
            assert ";}" not in path.read_text(encoding="utf-8"), path
    assert len(paths) > 300
