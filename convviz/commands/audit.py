"""``convviz audit``: which mistakes a check of somebody's own would let pass."""

import argparse

from convviz.commands.exit_with_error import refusing
from convviz.commands.load_function import load

DEFAULT_NAME = "check"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "check",
        metavar="FILE[:NAME]",
        help="a Python file with a function that takes the function to check, and raises or returns False if that is "
        "wrong (default NAME: check); the file is run",
    )
    parser.add_argument(
        "--task",
        default="conv2d_backward",
        help="what the function is to do, such as conv2d_input (default: conv2d_backward)",
    )
    parser.add_argument(
        "--style",
        default="torch",
        help="how the check calls it: torch, by torch's arguments, or cs231n, (dout, cache) (default: torch)",
    )
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="say on stderr which mistake is tried (default: where that is a terminal)",
    )


def run(options: argparse.Namespace) -> int:
    """Return 0 if all is caught, 1 if something passes, 2 if the check cannot be used."""
    from convviz.courses.audit import audit

    with refusing(ValueError, code=2):
        found = audit(load(options.check, DEFAULT_NAME), options.task, style=options.style, progress=options.progress)
    print(found.text())
    return 1 if found.missed else 0
