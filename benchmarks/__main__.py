"""Every part, in one table."""

from importlib import import_module

from benchmarks.report import main

PARTS = (
    "house",
    "stages",
    "operators",
    "race",
    "check",
    "app",
    "site",
    "served",
    "dragging",
    "page",
    "notebook_app",
    "class",
)

if __name__ == "__main__":
    main(*(import_module(f"benchmarks.{part}").measure for part in PARTS))
