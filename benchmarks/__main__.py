"""Every part, in one table."""

from importlib import import_module

from benchmarks.report import main

PARTS = (
    "source_size",
    "stages",
    "operators",
    "training_step",
    "check",
    "app",
    "static_site",
    "served_page",
    "dragging",
    "exported_page",
    "notebook_size_and_leaks",
    "class_load",
)

if __name__ == "__main__":
    main(*(import_module(f"benchmarks.{part}").measure for part in PARTS))
