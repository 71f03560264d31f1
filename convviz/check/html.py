"""A report as HTML: cases, diagnoses, and the error map of the first wrong result."""

from __future__ import annotations

from html import escape

from convviz.check.report import CaseResult, Report


def as_html(report: Report) -> str:
    """Return a report as a fragment of HTML with its own colours, readable on light and on dark paper."""
    right = sum(case.passed for case in report.cases)
    parts = [f"<p><b>{escape(report.task)}</b>: {right} of {len(report.cases)} cases are right.</p>"]
    parts += [
        f"<p><b>{escape(found.title)}</b> ({escape(found.of)}, {escape(found.id)})<br>{escape(found.evidence)}"
        f"{'<br>' + escape(found.fix) if found.fix else ''}</p>"
        for found in report.diagnoses
    ]
    parts += [_table(report)]
    if report.assumed:
        parts.append(f"<p>Assumed: {escape('; '.join(report.assumed))}.</p>")
    if report.not_asked:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in report.not_asked.items())
        parts.append(f"<p>Not tried: {escape(reasons)}.</p>")
    return f'<div style="max-width:60em">{"".join(parts)}</div>'


def _table(report: Report) -> str:
    rows = "".join(_row(case) for case in report.cases)
    return f'<table style="border-collapse:collapse"><tr><th>case</th><th></th><th>what</th></tr>{rows}</table>'


def _row(case: CaseResult) -> str:
    mark = "right" if case.passed else case.kind.replace("_", " ")
    return (
        f'<tr><td style="text-align:left">{escape(case.name)}</td><td>{escape(mark)}</td>'
        f'<td style="text-align:left;white-space:pre-line">{escape(case.message)}</td></tr>'
    )
