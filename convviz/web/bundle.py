"""Join the board's JavaScript files into the one module that a widget or a page can carry.

A widget's module is loaded from a blob, where a relative import has nothing to be relative to. So each file becomes a
function of its own, called once, after what it imports: two files may use the same names. What a file exports is
constant around these functions, where those that follow find it. Files of ``facts/data`` and ``lessons`` may be
imported as JSON, and those that a feature has beside its scripts. Paths are seen from ``web``; what is beside it
begins with "..".
"""

import functools
import json
import posixpath
import re
from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable

from convviz.facts import OF_BINARY_WEIGHTS, OF_POOLINGS, facts
from convviz.lessons import lesson
from convviz.web.minify import packed_script

IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "(?P<file>\.{1,2}/[\w./-]+)";\n', re.MULTILINE)
FACTS = re.compile(
    r'^import (?P<name>\w+) from "(?:[./]*/(?:facts/data|(?P<lesson>lessons))|(?P<beside>\.))/(?P<file>[\w/]+)\.json" '
    r'with \{ type: "json" \};\n',
    re.MULTILINE,
)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (?P<name>\w+))", re.MULTILINE)
DEFAULT = re.compile(r"^export default ", re.MULTILINE)
HOME = "/web"
SPACED = re.compile(r" ?([=(){},:>]) ?")
# The folders, each of which imports from those before it alone: their files stand together, for what is alike and near
# each other packs better.
FOLDERS = ("base", "rules", "picture", "numbers", "board", "controls", "lesson", "tabs", "page")


def bundle(folder: Traversable, entry: str, *, pack: bool = True) -> str:
    """Return one ES module for an entry file and all that it imports, by relative paths and without "as"."""
    module = f"{_joined(_modules(folder, [entry]), pack)}\nexport default {_variable(entry)}.default;\n"
    return packed_script(module) if pack else module


def bundle_several(folder: Traversable, entries: Mapping[str, str], *, pack: bool = True) -> str:
    """Return a statement that gives a page the exports of ``entries``, name → path; what they share is there once."""
    modules = _modules(folder, list(entries.values()))
    given = [f"{name}: {_given(path, modules)}" for name, path in entries.items()]
    body = f"{_joined(modules, pack)}\nreturn {{ {', '.join(given)} }};"
    statement = f"const {{ {', '.join(entries)} }} = (() => {{\n{body}\n}})();"
    return packed_script(statement) if pack else statement


def _given(path: str, modules: Mapping[str, str]) -> str:
    script = _read(path, modules[path])
    if script.has_default:
        return f"{_variable(path)}.default"
    return f"{{ {', '.join(script.exported)} }}" if path in _open(modules) else _variable(path)


@dataclass(frozen=True)
class Script:
    """What a file of the board imports, exports and does."""

    facts: tuple[tuple[str, str, bool, str], ...]  # its name there, as a module, whether it is a lesson, which one
    imports: tuple[tuple[str, str], ...]  # which file, the names
    exported: tuple[str, ...]
    has_default: bool
    code: str


@functools.lru_cache(maxsize=1024)
def _read(path: str, source: str) -> Script:
    """Read a file once: most of the board's are in the page's script and in that of every tab."""
    given = tuple(
        (found["name"], _named(path, found), bool(found["lesson"]), _fact(path, found))
        for found in FACTS.finditer(source)
    )
    imports = tuple(
        (_resolved(path, found["file"]), " ".join(found["names"].split()).strip(" ,"))
        for found in IMPORT.finditer(source)
    )
    code = EXPORT.sub("", DEFAULT.sub("const default_ = ", IMPORT.sub("", FACTS.sub("", source)))).strip("\n")
    exported = tuple(found["name"] for found in EXPORT.finditer(source))
    return Script(given, imports, exported, bool(DEFAULT.search(source)), code)


def _modules(folder: Traversable, entries: list[str]) -> dict[str, str]:
    """Return path → source of the entry files and all they import, each after what it imports."""
    modules: dict[str, str] = {}

    def add(path: str, importers: tuple[str, ...]) -> None:
        if path in importers:
            circle = " → ".join([*importers[importers.index(path) :], path])
            raise ValueError(f"files cannot import each other in a circle: {circle}; move what both need to a third")
        if path in modules:
            return
        source = folder.joinpath(path).read_text(encoding="utf-8")
        script = _read(path, source)
        for _, module, is_lesson, fact in script.facts:
            data = (lesson if is_lesson else facts)(fact)
            if fact == "mistakes":
                data = [mistake for mistake in data if mistake["id"][0] not in OF_POOLINGS + OF_BINARY_WEIGHTS]
            modules.setdefault(module, json.dumps(data, ensure_ascii=False, separators=(",", ":")))
        for file, _ in script.imports:
            add(file, (*importers, path))
        modules[path] = source

    for entry in entries:
        add(entry, ())
    return {path: modules[path] for path in sorted(modules, key=_place)}


def _place(path: str) -> tuple[int, str]:
    """Return where a file stands: data first, then folder by folder."""
    first = path.partition("/")[0]
    if path.endswith(".json"):
        return -1, path
    return FOLDERS.index(first) if first in FOLDERS else len(FOLDERS), ""


def _joined(modules: Mapping[str, str], pack: bool) -> str:
    by_name = _open(modules)
    return "\n".join(_scoped(path, source, by_name, pack) for path, source in modules.items())


def _open(modules: Mapping[str, str]) -> set[str]:
    """Return the files whose exports all that follow see: no default, and names nobody else has."""
    scripts = {path: _read(path, source) for path, source in modules.items() if not path.endswith(".json")}
    counts = Counter(name for script in scripts.values() for name in script.exported)
    return {
        path
        for path, script in scripts.items()
        if not script.has_default and all(counts[name] == 1 for name in script.exported)
    }


def _scoped(path: str, source: str, by_name: Container[str], pack: bool) -> str:
    if path.endswith(".json"):
        return f"const {_variable(path)} = {source};"
    script = _read(path, source)
    read = [(name, module) for name, module, *_ in script.facts]
    read += [(f"{{ {names} }}", file) for file, names in script.imports if file not in by_name]
    names = ", ".join([*script.exported, *(["default: default_"] if script.has_default else [])])
    head = [
        f"const {f'{{ {names} }}' if path in by_name else _variable(path)} = (() => {{",
        *(f"const {names} = {_variable(file)};" for names, file in read),
    ]
    end = f"return {{ {names} }}}})();"
    if pack:  # these lines stand in no file that a wheel has packed
        head, end = ["".join(SPACED.sub(r"\1", line) for line in head)], SPACED.sub(r"\1", end)
    return "\n".join(filter(None, [*head, script.code, end]))


def _named(path: str, found: re.Match[str]) -> str:
    return f"{found['lesson'] or 'facts'}/{_fact(path, found)}.json"


def _fact(path: str, found: re.Match[str]) -> str:
    """Return the name of an imported file, as ``facts`` or ``lesson`` has it."""
    return posixpath.join(posixpath.dirname(path)[3:], found["file"]) if found["beside"] else found["file"]


def _resolved(path: str, relative: str) -> str:
    """Return a path as seen from ``web``, whichever way it is written."""
    return posixpath.relpath(posixpath.join(HOME, posixpath.dirname(path), relative), HOME)


def _variable(path: str) -> str:
    """Return the name of a file's constant: a dollar keeps it apart."""
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js").removesuffix(".json"))
