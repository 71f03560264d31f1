"""`python -m benchmarks`: every part, in one table."""

from benchmarks import app, memory, operators, page, pointing, stages
from benchmarks.report import main

if __name__ == "__main__":
    main(stages.measure, operators.measure, app.measure, pointing.measure, page.measure, memory.measure)
