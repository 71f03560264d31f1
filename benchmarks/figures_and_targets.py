"""Figures beside their targets, and the command line that all parts share."""

import argparse
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass

BEFORE = "CONVVIZ_BEFORE"  # names a tree of an older convviz, as `--before` does


@dataclass(frozen=True)
class Figure:
    """One measured number."""

    name: str
    value: float
    unit: str  # "×" for a ratio
    target: float | None = None  # the most it may be, where that is promised
    detail: str = ""  # what it was made of

    @property
    def missed(self):
        return self.target is not None and not self.value <= self.target  # nan misses too


def main(*parts):
    """Call the parts, functions of modules with a ``PART``, print their Figures, and exit 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--no-fail", action="store_true", help="exit 0 even if a target is missed")
    parser.add_argument("--before", metavar="PATH", help="a tree of an older convviz, measured beside this one")
    options = parser.parse_args()
    if options.before:
        os.environ[BEFORE] = options.before
    print(machine(), flush=True)
    measured = {sys.modules[part.__module__].PART: list(part(progress)) for part in parts}
    print(table(measured))
    figures = [figure for part in measured.values() for figure in part]
    missed = [figure for figure in figures if figure.missed]
    print(f"\n{len(missed)} of {sum(f.target is not None for f in figures)} targets missed." if missed else "")
    sys.exit(bool(missed) and not options.no_fail)


def progress(line):
    print(f"  … {line}", file=sys.stderr, flush=True)


def p95(values):
    return statistics.quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


def table(measured):
    """Return {part: figures} as lines of text, one a figure."""
    rows = {
        part: [(f.name, _number(f.value, f.unit), _target(f), f.detail) for f in figures]
        for part, figures in measured.items()
    }
    widths = [max((len(row[column]) for each in rows.values() for row in each), default=0) for column in range(3)]
    lines = []
    for part, each in rows.items():
        lines += ["", part]
        for name, value, target, detail in each:
            lines.append(f"  {name:<{widths[0]}}  {value:>{widths[1]}}  {target:<{widths[2]}}  {detail}".rstrip())
    return "\n".join(lines)


def machine():
    import torch

    from tests.chromium import find_chromium

    chromium = subprocess.run([find_chromium(), "--version"], capture_output=True, text=True, check=False)
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{load}; Python {platform.python_version()}, "
        f"torch {torch.__version__}, {chromium.stdout.strip() or 'Chromium ?'}, headless"
    )


def _number(value, unit):
    digits = 0 if unit in ("", "bytes") else 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:,.{digits}f} {unit}".rstrip() if unit != "×" else f"{value:.2f}×"


def _target(figure):
    if figure.target is None:
        return ""
    target = f"{figure.target:,.0f}" if figure.target == int(figure.target) else f"{figure.target:g}"
    return f"(≤ {target}) {'✗' if figure.missed else '✓'}"
