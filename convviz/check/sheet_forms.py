"""What a sheet is made of, and how that is written as Markdown, as a notebook and as a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

# That of the project's other pages; nothing is asked from anywhere.
STYLE = """body { margin: 0; background: #fff; color: #16191d; font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 900px; margin: 0 auto; padding: 16px; }
h1 { font-size: 24px; line-height: 1.25; }
h2 { margin: 28px 0 8px; font-size: 19px; }
h3 { margin: 20px 0 4px; font-size: 16px; }
p { margin: 0 0 8px; overflow-wrap: anywhere; }
table { display: inline-table; margin: 4px 24px 12px 0; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; }
td { min-width: 32px; padding: 4px 8px; border: 1px solid #d5d9e0; text-align: center; }
th { padding: 2px 8px; color: #5a626d; font-weight: 400; font-size: 13px; }
.list td, .list th { text-align: left; }
.bad { color: #b3261e; font-weight: 700; }
ul { margin: 0 0 8px; padding-left: 0; list-style: none; font-variant-numeric: tabular-nums; }
li { overflow-wrap: anywhere; }
pre { padding: 8px; background: #f4f5f7; white-space: pre-wrap; overflow-wrap: anywhere; }
@media print { table, h3 { break-inside: avoid; } h3 { break-after: avoid; } }
"""


@dataclass(frozen=True)
class Heading:
    """A title; level 1 is the sheet's own."""

    level: int
    text: str


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Table:
    """A plane of numbers with a name; the cells in ``marked`` are wrong ones."""

    name: str
    rows: tuple[tuple[str, ...], ...]
    marked: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Lines:
    """Lines that belong together, such as the sums of a result."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Python that can be run."""

    text: str


@dataclass(frozen=True)
class Listing:
    """A table of words, with a heading for each column."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Words | Table | Lines | Code | Listing


def as_markdown(sheet: Sequence[Block]) -> str:
    """Return a sheet as Markdown with tables."""
    return "\n\n".join(map(_markdown, sheet)) + "\n"


def as_notebook(sheet: Sequence[Block]) -> str:
    """Return a sheet as a notebook: words in text cells, Python in cells to run."""
    cells: list[tuple[str, str]] = []
    for block in sheet:
        if isinstance(block, Code):
            cells.append(("code", block.text))
        elif cells and cells[-1][0] == "markdown" and not (isinstance(block, Heading) and block.level < 3):
            cells[-1] = ("markdown", f"{cells[-1][1]}\n\n{_markdown(block)}")
        else:
            cells.append(("markdown", _markdown(block)))
    notebook = {
        "cells": [_cell(number, kind, text) for number, (kind, text) in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def as_html(sheet: Sequence[Block]) -> str:
    """Return a sheet as one page, without scripts."""
    title = next(block.text for block in sheet if isinstance(block, Heading))
    body = "\n".join(map(_html, sheet))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{STYLE}</style>
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
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_plain(block.text)}"
    if isinstance(block, Words):
        return _plain(block.text)
    if isinstance(block, Code):
        return f"```python\n{block.text}\n```"
    if isinstance(block, Lines):
        return "\n".join(f"- `{line}`" for line in block.lines)
    if isinstance(block, Listing):
        rows = [block.head, ("---",) * len(block.head), *block.rows]
        return "\n".join(f"| {' | '.join(map(_plain, row))} |" for row in rows)
    width = len(block.rows[0])
    lines = [f"`{block.name}`", "", f"| |{'|'.join(map(str, range(width)))}|", f"|---{'|---:' * width}|"]
    for i, row in enumerate(block.rows):
        cells = (f"**{cell}**" if (i, j) in block.marked else cell for j, cell in enumerate(row))
        lines.append(f"|{i}|{'|'.join(cells)}|")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return words with what Markdown would take for signs of its own made plain."""
    return "".join(f"\\{sign}" if sign in "*|<" else sign for sign in text)


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
    if isinstance(block, Words):
        return f"<p>{escape(block.text)}</p>"
    if isinstance(block, Code):
        return f"<pre><code>{escape(block.text)}</code></pre>"
    if isinstance(block, Lines):
        return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in block.lines)}</ul>"
    if isinstance(block, Listing):
        head = "".join(f'<th scope="col">{escape(word)}</th>' for word in block.head)
        rows = ("".join(f"<td>{escape(word)}</td>" for word in row) for row in block.rows)
        return f'<table class="list"><tr>{head}</tr>{"".join(f"<tr>{row}</tr>" for row in rows)}</table>'
    return _html_table(block)


def _html_table(table: Table) -> str:
    head = "".join(f'<th scope="col">{j}</th>' for j in range(len(table.rows[0])))
    rows = []
    for i, row in enumerate(table.rows):
        cells = (
            f'<td class="bad">{cell}</td>' if (i, j) in table.marked else f"<td>{cell}</td>"
            for j, cell in enumerate(map(escape, row))
        )
        rows.append(f'<tr><th scope="row">{i}</th>{"".join(cells)}</tr>')
    return f"<table><caption>{escape(table.name)}</caption><tr><th></th>{head}</tr>{''.join(rows)}</table>"
