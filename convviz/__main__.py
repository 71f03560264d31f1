"""Run the command line with `python -m convviz`."""

import sys

from convviz.cli import main

sys.exit(main())
