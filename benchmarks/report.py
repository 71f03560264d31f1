"""Figures beside their targets, and the command line that all parts share."""

import argparse
import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One measured number.

    Attributes:
        part: Which part of the benchmark measured it.
        name: What it is.
        value: The number.
        unit: Its unit; "×" for a ratio.
        target: The most it may be; None for a figure without a promise.
        detail: What it was made of.
    """

    part: str
    name: str
    value: float
    unit: str
    target: float | None = None
    detail: str = ""

    @property
    def missed(self):
        return self.target is not None and not self.value <= self.target  # nan misses too


def main(*parts):
    """Measure the parts, print the table, and exit 1 if a target is missed.

    Args:
        parts: Functions that take a function for progress lines and return lists of Figure.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument("--no-fail", action="store_true", help="exit 0 even if a target is missed")
    parser.add_argument("--before", metavar="PATH", help="a tree of an older convviz, measured beside this one")
    options = parser.parse_args()
    if options.before:
        os.environ["CONVVIZ_BEFORE"] = options.before
    about = machine()
    print(about, flush=True)
    figures = [figure for part in parts for figure in part(_say)]
    print(table(figures))
    if options.json:
        content = {"machine": about, "figures": [asdict(f) | {"missed": f.missed} for f in figures]}
        options.json.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    missed = [figure for figure in figures if figure.missed]
    print(f"\n{len(missed)} of {sum(f.target is not None for f in figures)} targets missed." if missed else "")
    sys.exit(bool(missed) and not options.no_fail)


def table(figures):
    """Return the figures as lines of text, one a figure."""
    rows = [(f.name, _number(f.value, f.unit), _target(f), _mark(f), f.detail) for f in figures]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines, part = [], None
    for figure, (name, value, target, mark, detail) in zip(figures, rows, strict=True):
        if figure.part != part:
            part = figure.part
            lines += ["", part]
        line = f"  {name:<{widths[0]}}  {value:>{widths[1]}}  {target:<{widths[2]}} {mark}  {detail}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def machine():
    """Return one line about where this runs."""
    import torch

    from tests.chromium import find_chromium

    chromium = subprocess.run([find_chromium(), "--version"], capture_output=True, text=True, check=False)
    words = chromium.stdout.split()
    browser = next((f"Chromium {word}" for word in words if word[0].isdigit()), "Chromium ?")
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{load}; Python {platform.python_version()}, "
        f"torch {torch.__version__}, {browser}, headless, no GPU"
    )


def _say(line):
    print(f"  … {line}", file=sys.stderr, flush=True)


def _number(value, unit):
    digits = 0 if unit in ("", "bytes") else 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:,.{digits}f} {unit}".rstrip() if unit != "×" else f"{value:.2f}×"


def _target(figure):
    return "" if figure.target is None else f"(≤ {_plain(figure.target)})"


def _plain(target):
    return f"{target:,.0f}" if target == int(target) else f"{target:g}"


def _mark(figure):
    return " " if figure.target is None else "✗" if figure.missed else "✓"
