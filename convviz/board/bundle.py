"""Join the board's JavaScript files into the one module that a widget or a page can carry.

A widget's module is loaded from a blob, where a relative import has nothing to be relative to. So the files stay
small and separate, and importable by node for their tests; here each becomes a function of its own, called once, after
what it imports: two files may use the same names, as they may in any other ES modules. Comments and the space before a
line stay behind: every page carries the files, and these are for those who read them. The files of ``facts`` and
``lessons``, which Python reads as well, may be imported as JSON.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from importlib.resources.abc import Traversable

from convviz.facts import facts
from convviz.lessons import lesson

IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "(?P<file>\.{1,2}/[\w./-]+)";\n', re.MULTILINE)
FACTS = re.compile(
    r'^import (?P<name>\w+) from "[./]*/(?P<folder>facts|lessons)/(?P<file>[\w/]+)\.json" with \{ type: "json" \};\n',
    re.MULTILINE,
)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (?P<name>\w+))", re.MULTILINE)
DEFAULT = re.compile(r"^export default ", re.MULTILINE)
# These would find the same in a text of several lines: tests/test_board.py sees to it that the files have none.
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?:(?!\*/)[\s\S])*\*/[ \t]*)\n", re.MULTILINE)
# Behind code, and a type in the middle of it: what looks like one in a text has the text's quote behind it.
BESIDE = re.compile(r"""[ \t]+//[ ][^"'`\n]*$|/\*\* @(?:(?!\*/)[^"'`\n])*\*/[ ]?(?=[^"'`\n]*$)""", re.MULTILINE)


def bundle(folder: Traversable, entry: str) -> str:
    """Return one ES module for an entry file and all that it imports.

    Args:
        folder: where the files stand; they import each other by relative paths, names only, without "as".
        entry: the path in the folder of the file whose ``export default`` the module has.

    Raises:
        ValueError: files import each other in a circle.
    """
    return f"{_joined(_modules(folder, [entry]))}\nexport default {_variable(entry)}.default;\n"


def bundle_several(folder: Traversable, entries: Mapping[str, str]) -> str:
    """Return a statement that gives several entry files to a page under names; what they share is there once.

    Args:
        folder: as for ``bundle``.
        entries: name in the page → path in the folder. The name has the file's default export, or all its exports.

    Raises:
        ValueError: files import each other in a circle.
    """
    modules = _modules(folder, list(entries.values()))
    given = [
        f"{name}: {_variable(path)}{'.default' if DEFAULT.search(modules[path]) else ''}"
        for name, path in entries.items()
    ]
    return f"const {{ {', '.join(entries)} }} = (() => {{\n{_joined(modules)}\nreturn {{ {', '.join(given)} }};\n}})();"


def _modules(folder: Traversable, entries: list[str]) -> dict[str, str]:
    """Return path → source of the entry files and of all they import, each after what it imports."""
    modules: dict[str, str] = {}

    def add(path: str, importers: tuple[str, ...]) -> None:
        if path in importers:
            circle = " → ".join([*importers[importers.index(path) :], path])
            raise ValueError(f"files cannot import each other in a circle: {circle}; move what both need to a third")
        if path in modules:
            return
        source = folder.joinpath(path).read_text(encoding="utf-8")
        for unread in (COMMENT, BESIDE, INDENT):
            source = unread.sub("", source)
        for found in FACTS.finditer(source):
            name = f"{found['folder']}/{found['file']}.json"
            data = (facts if found["folder"] == "facts" else lesson)(found["file"])
            modules.setdefault(name, json.dumps(data, ensure_ascii=False, separators=(",", ":")))
        for found in IMPORT.finditer(source):
            add(_resolved(path, found["file"]), (*importers, path))
        modules[path] = source

    for entry in entries:
        add(entry, ())
    return modules


def _joined(modules: Mapping[str, str]) -> str:
    return "\n".join(_scoped(path, source) for path, source in modules.items())


def _scoped(path: str, source: str) -> str:
    """Return a file as a constant that holds what it exports."""
    if path.endswith(".json"):
        return f"const {_variable(path)} = {source};"
    names = _exported(source)
    default = ["default: default_"] if DEFAULT.search(source) else []

    def read(found: re.Match[str]) -> str:
        return f"const {{{found['names']}}} = {_variable(_resolved(path, found['file']))};\n"

    def read_facts(found: re.Match[str]) -> str:
        return f"const {found['name']} = {_variable(found['folder'] + '/' + found['file'])};\n"

    body = EXPORT.sub("", DEFAULT.sub("const default_ = ", IMPORT.sub(read, FACTS.sub(read_facts, source))))
    given = ", ".join([*names, *default])
    return f"const {_variable(path)} = (() => {{\n{body}return {{ {given} }};\n}})();"


def _exported(source: str) -> list[str]:
    return [found["name"] for found in EXPORT.finditer(source)]


def _resolved(path: str, relative: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), relative))


def _variable(path: str) -> str:
    """Return the name of a file's constant: a dollar keeps it apart from every name in the files."""
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js").removesuffix(".json"))
