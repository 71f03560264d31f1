"""Scripts and sheets without what only those read who write them: comments, and space that parts nothing.

The files of a wheel are packed when it is built (``hatch_build.py``), so that who installs it needs no packer. Those of
a checkout are packed as they are read, where the packers are installed, and else stay as they are.
"""

from __future__ import annotations

import re

try:
    from rcssmin import cssmin
    from rjsmin import jsmin
except ImportError:
    cssmin = jsmin = str

# What stands at the start of a line and is read there by ``bundle.py``.
LINES = re.compile(r"^(import .*;\n|export (?:default )?)", re.MULTILINE)


def packed_script(script: str) -> str:
    """Return a script packed."""
    return str(jsmin(script))


def packed_sheet(sheet: str) -> str:
    """Return a style sheet packed."""
    return str(cssmin(sheet))


def packed_file(script: str) -> str:
    """Return a file of the board packed, its imports and exports still each at the start of a line."""
    first, *others = LINES.split(script)
    parts = [packed_script(first)]
    for line, code in zip(others[::2], others[1::2], strict=True):
        parts.append(line.rstrip("\n") if line.startswith("import") else f"{line}{packed_script(code).lstrip()}")
        if line.startswith("import") and code.strip():
            parts.append(packed_script(code))
    return "\n".join(filter(None, parts)) + "\n"
