"""The folders of the page's JavaScript import downwards only, types included, and the lower ones know no page.

They know no feature, and a feature knows no other, nor what is above the tabs.
"""

import json
import posixpath
import re
from importlib.resources import files
from pathlib import Path

import pytest

from convviz.web.bundle import FOLDERS

JS = files("convviz.web")
PACKAGE = files("convviz")
SOURCES = {
    path.relative_to(JS).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(JS.rglob("*.js"))
    if "vendor" not in path.parts
}
FEATURES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(PACKAGE.joinpath("features").rglob("*.js"))
}
LAYERS = list(FOLDERS)  # the lowest first
WITHOUT_PAGE = ["rules", "picture", "numbers"]
TYPES = Path(__file__).parents[1] / "js"
# `import { a } from "./b.js"`, JSDoc's `@import { A } from "./b.js"`, and `import("./b.js")`, in a type or not.
IMPORT = re.compile(
    r'\bimport\b[^"\'`;()]*?\bfrom\s*["\'](?P<plain>[^"\']+)["\']|\bimport\(\s*["\'](?P<typed>[^"\']+)["\']'
)
PAGE = re.compile(r"\b(?:document|window|HTML\w*Element|SVG\w*Element)\b")
COMMENT = re.compile(r"/\*[\s\S]*?\*/|^[ \t]*//.*$| // .*$", re.MULTILINE)
TEXT = re.compile(r'"[^"\n]*"|`[^`]*`')


def imported(name, source):
    """Yield the path of every file that a file imports or takes a type from."""
    for found in IMPORT.finditer(source):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(name), found["plain"] or found["typed"]))


def violations(name, source):
    """Return one sentence for each import that leads to a higher folder, or out of the folders."""
    own = name.split("/")[0]
    found = []
    for target in imported(name, source):
        if target.startswith(("../facts/data/", "../lessons/")):
            continue  # data, below every folder and every Python layer
        other = target.split("/")[0]
        if other not in LAYERS:
            found.append(f"{name} imports {target}, which is in none of the folders {', '.join(LAYERS)}")
        elif LAYERS.index(other) > LAYERS.index(own):
            found.append(f"{name} imports {target}, and {own} is below {other}; move what both need down")
    return found


def violations_of_feature(name, source):
    """Return what a feature's script imports that is neither its own, nor data, nor the core below the page."""
    own = "/".join(name.split("/")[:2])
    allowed = (f"{own}/", "facts/data/", "lessons/", *(f"web/{layer}/" for layer in LAYERS if layer != "page"))
    return [target for target in imported(name, source) if not target.startswith(allowed)]


def test_a_feature_imports_the_core_alone():
    for name, source in FEATURES.items():
        assert violations_of_feature(name, source) == [], name
        assert not re.search("@ts-(?:ignore|expect-error|nocheck)", source), f"{name}: give it its type instead"
    taken = 'import { a } from "../matrix/tab.js";\nimport { b } from "../../web/page/app_view.js";\n'
    taken += '/** @import { C } from "../matrix/product.js" */'
    wrong = ["features/matrix/tab.js", "web/page/app_view.js", "features/matrix/product.js"]
    assert violations_of_feature("features/linear/tab.js", taken) == wrong


def names_of_page(source):
    """Return what the code, and its types, name of a page; words in other comments and in texts do not count."""
    types = [each for comment in re.findall(r"/\*\*[\s\S]*?\*/", source) for each in re.findall(r"\{.*\}", comment)]
    return PAGE.findall("\n".join([TEXT.sub("", COMMENT.sub("", source)), *types]))


def test_imports_point_downwards_types_are_checked_and_the_lower_folders_name_no_page():
    for name, source in SOURCES.items():
        assert name.split("/")[0] in LAYERS
        assert violations(name, source) == []
        assert not re.search("@ts-(?:ignore|expect-error|nocheck)", source), f"{name}: give it its type instead"
        assert name.split("/")[0] not in WITHOUT_PAGE or names_of_page(source) == [], name


def test_a_folder_names_no_type_of_a_higher_one_that_is_known_without_an_import():
    known = "".join(path.read_text(encoding="utf-8") for path in JS.glob("*.d.ts"))
    types = re.findall(r'^type (\w+) = import\("\./(\w+)/[^"]+"\)\.\1;$', known, re.MULTILINE)
    assert len(types) == known.count("import(")
    for name, source in SOURCES.items():
        comments = "".join(re.findall(r"/\*\*[\s\S]*?\*/", source))
        higher = [type_ for type_, folder in types if LAYERS.index(folder) > LAYERS.index(name.split("/")[0])]
        used = [type_ for type_ in higher if re.search(rf"\b{type_}\b", "".join(re.findall(r"\{.*\}", comments)))]
        assert [type_ for type_ in used if not re.search(rf"@(?:typedef|import)[^@]*\b{type_}\b", comments)] == [], name


@pytest.mark.parametrize(
    "source",
    [
        'import { a } from "../picture/find_linked_cells.js";',
        'import {\n  a,\n  b,\n} from "../board/grid/grid_overlay.js";',
        'const made = await import("../page/page.js");',
        '/** @import { Cell } from "../picture/find_linked_cells.js" */',
        '/**\n * @import { A, B } from "../numbers/compute.js"\n */',
        '/** @param {import("../numbers/compute.js").Tensor} tensor */',
        '/** @type {ReturnType<typeof import("../picture/find_linked_cells.js").createLinks>} */',
        'import { a } from "../../bundle.js";',
        'import { a } from "../../features/linear/tab.js";',
    ],
)
def test_a_forbidden_import_is_reported(source):
    (report,) = violations("rules/shown_plane.js", source)
    assert report.startswith("rules/shown_plane.js imports ")


@pytest.mark.parametrize(
    "source", ['import { a } from "./conv_geometry.js";', '/** @import { Numbers } from "../base/format.js" */']
)
def test_an_allowed_import_is_not_reported(source):
    assert list(imported("rules/shown_plane.js", source))
    assert violations("rules/shown_plane.js", source) == []


@pytest.mark.parametrize(
    "source",
    [
        "document.title;",
        "const a = b ? window : null;",
        "/** @param {HTMLElement} a */",
        "/**\n * @type {SVGElement}\n */",
    ],
)
def test_a_name_of_the_page_is_found(source):
    assert names_of_page(source)


@pytest.mark.parametrize(
    "source",
    ["// the window moves", "/** The window. @param {number} a of the window */", 'say("window");', "a; // a window"],
)
def test_a_window_in_words_is_none(source):
    assert names_of_page(source) == []


def test_the_types_of_every_file_are_checked_and_strictly_without_a_page():
    assert json.loads(TYPES.joinpath("tsconfig.json").read_text(encoding="utf-8"))["compilerOptions"]["checkJs"]
    strict = re.sub(r"^//.*\n", "", TYPES.joinpath("tsconfig.strict.json").read_text(encoding="utf-8"))
    loose = TYPES.joinpath("tsconfig.json").read_text(encoding="utf-8")
    for config, folders in ((loose, LAYERS), (strict, WITHOUT_PAGE)):
        checked = {path.resolve() for pattern in json.loads(config)["include"] for path in TYPES.glob(pattern)}
        wanted = {Path(str(JS.joinpath(name))).resolve() for name in SOURCES if name.split("/")[0] in folders}
        assert wanted <= checked
    every = {path.resolve() for pattern in json.loads(loose)["include"] for path in TYPES.glob(pattern)}
    assert {Path(str(PACKAGE.joinpath(name))).resolve() for name in FEATURES} <= every
    options = json.loads(strict)["compilerOptions"]
    assert options.pop("tsBuildInfoFile").startswith("node_modules/"), "what tsc keeps is in nobody's way"
    assert options == {"noImplicitAny": True, "lib": ["es2023"]}
