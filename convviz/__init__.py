"""convviz: an interactive explanation of the backward pass of a 2-D convolution."""

import importlib
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from convviz.optional_dependencies import needs

__version__ = "1.0.0"
# The stub is the one list of names. What needs torch, two seconds and 200 MiB for which a server and `--help` have no
# use, is imported when it is first touched.
_STUB = files("convviz").joinpath("__init__.pyi").read_text(encoding="utf-8")
_NAMES = re.findall(r"^from convviz([\w.]*) import \w+ as (\w+)$", _STUB, re.MULTILINE)
# A feature's folder may be gone, and with it what one types of it.
_HOMES = {
    name: f"convviz{module}"
    for module, name in _NAMES
    if files("convviz").joinpath(module[1:].rpartition(".")[0].replace(".", "/")).is_dir()
}
__all__ = sorted([*_HOMES, "check"])


def __getattr__(name: str) -> Any:
    """Load torch, layers, graph and app on first use: who serves or grades never pays for what is not touched."""
    with needs(f"convviz.{name}"):
        return _load(name)


def _load(name: str) -> Any:
    if name in ("check", "lab", "nn"):
        return importlib.import_module(f"convviz.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'convviz' has no attribute {name!r}")
    found = getattr(importlib.import_module(_HOMES[name]), name)
    if name in ("App", "explain", "lesson"):
        from convviz.app.app import App

        App.page_maker = _make_page  # both stand on one layer: this is the only place that knows the two
        App.still_maker = _make_still
    return found


def __dir__() -> list[str]:
    """Return the names that a person can type, those that are not loaded yet as well."""
    return sorted({*globals(), *__all__})


def _make_page(state: Mapping[str, Any], intro: str) -> bytes:
    from convviz.export.page import page_bytes

    return page_bytes(state, intro=intro)


def _make_still(result: Any, settings: Any) -> str:
    """Return what an app shows as a still picture; its code is loaded with the first of them."""
    from convviz.export.still_picture import still_pictures

    return still_pictures(result, settings.plane, settings.input_view, settings.scale)
