"""The forms in which a sheet is written: Markdown, a notebook, a page of HTML."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path


@dataclass(frozen=True)
class Block:
    """A part of a sheet."""

    # ``"h1"`` to ``"h3"``, ``"p"``, ``"code"`` (Python to run), ``"lines"``, ``"words"`` (a table whose first row is
    # its head) or ``"plane"`` (a table of numbers)
    kind: str
    text: str = ""  # of all but lines and words; the name of a plane
    rows: tuple[tuple[str, ...], ...] = ()  # of a table; of lines each has one cell
    marked: frozenset[tuple[int, int]] = frozenset()  # (row, column) of the cells of a plane that are wrong ones

    def table(self, written: Callable[[str], str], wrong: str) -> list[list[str]]:
        """Return head and rows with each cell as it is written; a plane is counted, and its wrong cells are wrapped."""
        if self.kind == "words":
            return [list(map(written, row)) for row in self.rows]
        found = [["", *map(str, range(len(self.rows[0])))]]
        for i, row in enumerate(self.rows):
            cells = enumerate(map(written, row))
            found.append([str(i), *(wrong.format(cell) if (i, j) in self.marked else cell for j, cell in cells)])
        return found


def as_markdown(sheet: Sequence[Block]) -> str:
    """Return a sheet as Markdown with tables."""
    return "\n\n".join(map(_markdown, sheet)) + "\n"


def as_notebook(sheet: Sequence[Block]) -> str:
    """Return a sheet as a notebook: words in text cells, Python in cells to run."""
    cells: list[tuple[str, str]] = []
    for block in sheet:
        if block.kind == "code":
            cells.append(("code", block.text))
        elif cells and cells[-1][0] == "markdown" and block.kind not in ("h1", "h2"):
            cells[-1] = ("markdown", f"{cells[-1][1]}\n\n{_markdown(block)}")
        else:
            cells.append(("markdown", _markdown(block)))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": [_cell(number, kind, text) for number, (kind, text) in enumerate(cells)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def as_html(sheet: Sequence[Block]) -> str:
    """Return a sheet as one page, without scripts."""
    title = next(block.text for block in sheet if block.kind == "h1")
    body = "\n".join(map(_html, sheet))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{Path(__file__).with_name("exercise_sheet.css").read_text(encoding="utf-8")}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def _cell(number: int, kind: str, text: str) -> dict[str, object]:
    # The id is counted, so that the same seed gives the same file.
    cell: dict[str, object] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
    code: dict[str, object] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return cell | code | {"source": text.splitlines(keepends=True)}


def _markdown(block: Block) -> str:
    if block.kind == "code":
        return f"```python\n{block.text}\n```"
    if block.kind == "lines":
        return "\n".join(f"- `{line}`" for (line,) in block.rows)
    if not block.rows:
        return "#" * int(block.kind[1:] or 0) + " " * (block.kind != "p") + _plain(block.text)
    head, *rows = block.table(_plain, "**{}**")
    lines = [f"`{block.text}`", ""] if block.text else []
    rule = ["---", *["---:" if block.kind == "plane" else "---"] * (len(head) - 1)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in (head, rule, *rows))])


def _plain(text: str) -> str:
    """Return words with what Markdown would take for signs of its own made plain."""
    return "".join(f"\\{sign}" if sign in "*|<" else sign for sign in text)


def _html(block: Block) -> str:
    if block.kind == "code":
        return f"<pre><code>{escape(block.text)}</code></pre>"
    if block.kind == "lines":
        return f"<ul>{''.join(f'<li>{escape(line)}</li>' for (line,) in block.rows)}</ul>"
    if not block.rows:
        return f"<{block.kind}>{escape(block.text)}</{block.kind}>"
    head, *rows = block.table(escape, '<b class="bad">{}</b>')
    cells = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    caption = f"<caption>{escape(block.text)}</caption>" if block.text else ""
    return f'<table class="{block.kind}">{caption}<tr>{cells}</tr>{body}</table>'


FORMS: Mapping[str, Callable[[Sequence[Block]], str]] = {"md": as_markdown, "html": as_html, "ipynb": as_notebook}
