"""``convviz audit``: which mistakes a check of somebody's own would let pass."""

import argparse
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from convviz.commands.exit_with_error import refusing
from convviz.facts.words import sentences

say = sentences("audit")

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
    from convviz.check.audit import audit

    with refusing(ValueError, code=2):
        found = audit(_load(options.check), options.task, style=options.style, progress=options.progress)
    print(found.text())
    return 1 if found.missed else 0


def _load(given: str) -> Callable[[Any], Any]:
    path, colon, name = given.rpartition(":")
    if not colon or not path or Path(given).is_file():
        path, name = given, DEFAULT_NAME
    file = Path(path)
    if not file.is_file():
        raise ValueError(say("file.missing", path=path))
    module_spec = importlib.util.spec_from_file_location(file.stem, file)
    if module_spec is None or module_spec.loader is None:
        raise ValueError(say("file.not_python", path=path))
    module = importlib.util.module_from_spec(module_spec)
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)  # a check imports what stands beside it
    try:
        module_spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ValueError(say("file.fails", path=path, why=f"{type(error).__name__}: {error}")) from error
    finally:
        sys.path.remove(folder)
    found = getattr(module, name, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise ValueError(say("file.no_name", path=path, name=name, known=", ".join(known) or "-"))
    return found
