"""`python -m benchmarks`: every part, in one table."""

from benchmarks import app, check, live, memory, operators, page, pointing, race, site, stages, twice
from benchmarks.report import main

if __name__ == "__main__":
    main(
        *(part.measure for part in (twice, stages, operators, race, check, app, live, site, pointing, page, memory)),
    )
