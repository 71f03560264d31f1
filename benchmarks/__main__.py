"""Every part, in one table."""

from importlib import import_module

from benchmarks.figures_and_targets import main

PARTS = (
    "source_size",
    "stages_and_import_time",
    "operators",
    "training_step",
    "network",
    "diagnosis_accuracy",
    "app_beside_alternatives",
    "static_site_load",
    "served_page_use",
    "dragging",
    "exported_page",
    "notebook_size_and_leaks",
    "class_load",
)

if __name__ == "__main__":
    main(*(import_module(f"benchmarks.{part}").measure for part in PARTS))
