"""Join the board's JavaScript files into the one module that a widget can carry.

A widget's module is loaded from a blob, where a relative import has nothing to be relative to. So the files stay
small and separate, and importable by node for their tests; here they are put one after another, each file's
imports before it, without their import and export lines.
"""

from __future__ import annotations

import re
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
