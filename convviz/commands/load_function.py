"""A function of somebody's own Python file, as ``FILE:NAME`` on the command line."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from convviz.facts.words import sentences

say = sentences("audit")


def load(given: str, default: str) -> Callable[..., Any]:
    """Run a file and return what it has under a name, the default one where none is given.

    Raises:
        ValueError: there is no such file, it does not run, or it has nothing of the name that can be called.
    """
    path, colon, name = given.rpartition(":")
    if not colon or not path or Path(given).is_file():
        path, name = given, default
    file = Path(path)
    if not file.is_file():
        raise ValueError(say("file.missing", path=path))
    module_spec = importlib.util.spec_from_file_location(file.stem, file)
    if module_spec is None or module_spec.loader is None:
        raise ValueError(say("file.not_python", path=path))
    module = importlib.util.module_from_spec(module_spec)
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)  # it imports what stands beside it
    try:
        module_spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ValueError(say("file.fails", path=path, why=f"{type(error).__name__}: {error}")) from error
    finally:
        sys.path.remove(folder)
    found: Callable[..., Any] | None = getattr(module, name, None)
    if found is None or not callable(found):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise ValueError(say("file.no_name", path=path, name=name, known=", ".join(known) or "-"))
    return found
