"""`python -m benchmarks`: every part, in one table."""

from importlib import import_module

from benchmarks import app, check, dragging, live, memory, operators, page, pointing, race, site, stages, twice
from benchmarks.report import main

whole_class = import_module("benchmarks.class")  # a keyword, to Python

if __name__ == "__main__":
    parts = (twice, stages, operators, race, check, app, live, site, pointing, dragging, page, memory, whole_class)
    main(*(part.measure for part in parts))
