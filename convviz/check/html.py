"""A report as HTML: what is wrong, where, the cases, and the first wrong plane beside the right one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from convviz.check.case_result import CaseResult
from convviz.check.diagnose import Diagnosis
from convviz.check.error_map import ErrorMap, Rows
from convviz.facts.words import sentences

say = sentences("check")
WRONG = "background:rgba(208,60,40,0.35)"  # readable on light and on dark paper
CELL = "padding:1px 6px;text-align:right;font-variant-numeric:tabular-nums"
MOST = 16  # rows and columns of a plane that are shown


def as_html(
    task: str,
    cases: Sequence[CaseResult],
    diagnoses: Sequence[Diagnosis],
    shown: ErrorMap | None,
    assumed: Sequence[str],
    not_asked: Mapping[str, str],
) -> str:
    """Return what a report holds as a fragment of HTML, for a notebook's output; the arguments are its fields."""
    right = sum(case.passed for case in cases)
    summary = say("summary", task=task, right=right, count=len(cases))
    parts = [f"<p>{escape(summary)}</p>"]
    parts += [
        f"<p><b>{escape(found.title)}</b> ({escape(found.of)}, {escape(found.id)})<br>{escape(found.evidence)}"
        f"{'<br>' + escape(found.fix) if found.fix else ''}</p>"
        for found in diagnoses
    ]
    parts += [_map(shown)] if shown else []
    parts.append(f"<table><tr><th>{escape(say('case'))}</th></tr>{''.join(map(_row, cases))}</table>")
    if assumed:
        parts.append(f"<p>{escape(say('assumed', what='; '.join(assumed)))}</p>")
    if not_asked:
        reasons = [say("not_tried.case", case=name, reason=reason) for name, reason in not_asked.items()]
        parts.append(f"<p>{escape(say('not_tried', what='; '.join(reasons)))}</p>")
    return f'<div style="max-width:60em">{"".join(parts)}</div>'


def _map(shown: ErrorMap) -> str:
    name = f"{shown.result}[{', '.join(map(str, shown.at))}]" if shown.at else shown.result
    right, received = _plane(say("right"), shown.right, ()), _plane(say("yours"), shown.received, shown.wrong)
    said = say("plane" if shown.wrong else "plane.shapes", plane=name, case=shown.case)
    text = f"<p>{escape(said)}</p>"
    text += f'<div style="display:flex;gap:2em;flex-wrap:wrap">{right}{received}</div>'
    products = shown.products
    if products and (products.missing or products.extra):
        counts = {"missing": len(products.missing), "extra": len(products.extra)}
        said = say("products", total=products.total, result=products.of, setting=products.setting, **counts)
        text += f"<p>{escape(said)}</p>"
    return text


def _plane(title: str, rows: Rows, wrong: tuple[tuple[int, int], ...]) -> str:
    marked = set(wrong)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{CELL};{WRONG if (i, j) in marked else ""}">{value:.4g}</td>'
            for j, value in enumerate(row[:MOST])
        )
        + "</tr>"
        for i, row in enumerate(rows[:MOST])
    )
    return f"<table><caption>{title}</caption>{body}</table>"


def _row(case: CaseResult) -> str:
    mark = say("right") if case.passed else case.kind.replace("_", " ")
    return (
        f'<tr><td style="text-align:left">{escape(case.name)}</td><td>{escape(mark)}</td>'
        f'<td style="text-align:left;white-space:pre-line">{escape(case.message)}</td></tr>'
    )
