"""``convviz check``: what is wrong with an implementation of somebody's own."""

import argparse
import json
from typing import Any

from convviz.commands.exit_with_error import refusing
from convviz.commands.load_function import load

DEFAULT_NAME = "backward"
# Options that are given on as they stand, and those that are JSON.
PLAIN, AS_JSON = ("cases", "seed", "layout", "arrays"), ("names", "scope")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "function",
        metavar="FILE[:NAME]",
        help=f"a Python file with the function or class (default NAME: {DEFAULT_NAME}); the file is run",
    )
    parser.add_argument(
        "--task",
        help="what it is to do, such as conv2d_input (default: the task of that name, else conv2d_backward)",
    )
    parser.add_argument("--cases", default="all", help="all, battery or public (default: all)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the numbers (default: 0)")
    parser.add_argument(
        "--at",
        action="append",
        type=_json,
        metavar="JSON",
        help='a geometry of your own, such as {"input": [2, 3, 32, 32], "weight": [8, 3, 5, 5]}; may be repeated',
    )
    parser.add_argument("--layout", help="order of axes, such as NHWC")
    parser.add_argument("--arrays", help="torch, numpy or lists")
    parser.add_argument("--names", type=_json, metavar="JSON", help='your own names: {"filters": "out_channels"}')
    parser.add_argument(
        "--scope", type=_json, metavar="JSON", help='what it is meant for: {"stride": [1, 2]}, or "all"'
    )


def run(options: argparse.Namespace) -> int:
    """Return 0 if all is right, 1 if something is wrong, 2 if nothing can be asked."""
    from convviz.cases.tasks import TASKS
    from convviz.check.api import report

    name = options.function.rpartition(":")[2]
    task = options.task or (name if name in TASKS else "conv2d_backward")

    given = {name: getattr(options, name) for name in (*PLAIN, *AS_JSON, "at")}
    with refusing(ValueError, code=2):
        found = report(load(options.function, DEFAULT_NAME), task, **given)
    print(found.text())
    return 0 if found.passed else 1


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if text == "all":
            return text
        raise argparse.ArgumentTypeError(f"this is no JSON: {text!r} ({error})") from error
