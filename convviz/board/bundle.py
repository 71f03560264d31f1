"""Join the board's JavaScript files into the one module that a widget can carry.

A widget's module is loaded from a blob, where a relative import has nothing to be relative to. So the files stay
small and separate, and importable by node for their tests; here they are put one after another, each file's
imports before it, without their import and export lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources.abc import Traversable

IMPORT = re.compile(r'^import \{[^}]*\} from "\./(?P<file>[\w.-]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(async )?function |const |class )", re.MULTILINE)


def bundle(folder: Traversable, entry: str) -> str:
    """Return one ES module for an entry file and all that it imports.

    Args:
        folder: where the files stand; they import each other as ``"./name.js"``, names only, without "as".
        entry: the file whose ``export default`` the module has.

    Raises:
        ValueError: two files declare the same name, which would collide in one module.
    """
    return _joined(_parts(folder, entry))


def bundle_apart(folder: Traversable, entries: Sequence[str]) -> tuple[str, list[str]]:
    """Return what several entry files share, once, and after it the rest of each, for a page that has all of them.

    Args:
        folder: as for ``bundle``.
        entries: the entry files. The rest of each may declare the same names as that of another.

    Raises:
        ValueError: two files that meet in one module declare the same name.
    """
    all_parts = [_parts(folder, entry) for entry in entries]
    shared: dict[str, str] = {}
    for parts in all_parts:
        shared |= {name: source for name, source in parts.items() if sum(name in each for each in all_parts) > 1}
    _check_names(shared)
    rests = [{name: source for name, source in parts.items() if name not in shared} for parts in all_parts]
    return _joined(shared), [_joined(rest) for rest in rests]


def _parts(folder: Traversable, entry: str) -> dict[str, str]:
    """Return the files of one module, each after what it imports, without their import and export lines."""
    parts: dict[str, str] = {}

    def add(name: str) -> None:
        if name in parts:
            return
        source = folder.joinpath(name).read_text(encoding="utf-8")
        for found in IMPORT.finditer(source):
            add(found["file"])
        parts[name] = EXPORT.sub("", IMPORT.sub("", source))

    add(entry)
    _check_names(parts)
    return parts


def _joined(parts: dict[str, str]) -> str:
    return "\n".join(f"// {name}\n{source}" for name, source in parts.items())


def _check_names(parts: dict[str, str]) -> None:
    owner: dict[str, str] = {}
    for name, source in parts.items():
        for declared in re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", source, re.MULTILINE):
            if declared in owner:
                raise ValueError(
                    f"names must differ between the board's files, because they become one module: "
                    f"{declared} stands in {owner[declared]} and {name}; rename one"
                )
            owner[declared] = name
