"""Scripts and sheets without what only those read who write them: comments, and space that parts nothing.

A wheel's files are packed when it is built (``hatch_build.py``), a checkout's as they are read, where the packers are
installed.
"""

import re

try:
    from rcssmin import cssmin
    from rjsmin import jsmin
except ImportError:
    cssmin = jsmin = str

# What stands at the start of a line and is read there by ``bundle.py``.
LINES = re.compile(r"^(import [^;]*;\n|export (?:default )?)", re.MULTILINE)
# What the formatter writes and no browser needs, outside of strings and comments: space around a slash, a zero before
# a point.
SPARE = re.compile(r"""(?P<kept>/\*.*?\*/|"[^"]*"|'[^']*')| ?(?P<slash>/) ?|(?<![\w.])0(?=\.\d)""", re.DOTALL)


def packed_script(script: str) -> str:
    # No string or regular expression of ours contains ";}", and no loop is empty: a block's last semicolon can go.
    return str(jsmin(script)).replace(";}", "}")


def packed_sheet(sheet: str) -> str:
    return SPARE.sub(lambda found: found["kept"] or found["slash"] or "", str(cssmin(sheet)))


def packed_file(script: str) -> str:
    """Return a file packed, its imports and exports still each at the start of a line."""
    first, *others = LINES.split(script)
    parts = [packed_script(first)]
    for line, code in zip(others[::2], others[1::2], strict=True):
        body = packed_script(code).lstrip()
        parts += [line.rstrip("\n"), body] if line.startswith("import") else [line + body]
    return "\n".join(filter(None, parts)) + "\n"
