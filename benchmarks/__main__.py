"""`python -m benchmarks`: every part, in one table."""

from benchmarks import app, memory, stages
from benchmarks.report import main

if __name__ == "__main__":
    main(stages.measure, app.measure, memory.measure)
