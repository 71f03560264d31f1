"""convviz: an interactive explanation of the backward pass of a 2-D convolution."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from convviz.geometry.spec import ConvSpec
from convviz.geometry.taps import taps
from convviz.optional_dependencies import needs

if TYPE_CHECKING:
    from convviz import lab, nn
    from convviz.app.app import App
    from convviz.app.explain import explain
    from convviz.app.open_lesson import lesson
    from convviz.check import package as check
    from convviz.check.api import grade, report
    from convviz.check.audit import Audit, audit
    from convviz.check.exercise_sheet import Exercise
    from convviz.check.find_exercise import exercise
    from convviz.check.report import CheckFailed
    from convviz.explanation.graph.read_graph import graph
    from convviz.export.es_module import export_module
    from convviz.export.page import export_html
    from convviz.export.picture import export_picture
    from convviz.ops.conv2d import conv2d
    from convviz.ops.conv2d_bias import conv2d_bias
    from convviz.ops.conv2d_input import conv2d_input
    from convviz.ops.conv2d_weight import conv2d_weight
    from convviz.ops.conv_transpose2d import conv_transpose2d
    from convviz.ops.convolution_backward import convolution_backward
    from convviz.ops.detect_torch_backend import which_backend
    from convviz.ops.linear import linear
    from convviz.ops.stages import Stages, stages
    from convviz.settings.state import Settings

__version__ = "0.1.0"
__all__ = [
    "App",
    "Audit",
    "CheckFailed",
    "ConvSpec",
    "Exercise",
    "Stages",
    "audit",
    "check",
    "conv2d",
    "conv2d_bias",
    "conv2d_input",
    "conv2d_weight",
    "conv_transpose2d",
    "convolution_backward",
    "exercise",
    "explain",
    "export_html",
    "export_module",
    "export_picture",
    "grade",
    "graph",
    "lab",
    "lesson",
    "linear",
    "nn",
    "report",
    "stages",
    "taps",
    "which_backend",
]


# Where the names live that need torch: two seconds and 200 MiB, for which a server and `--help` have no use.
_HOMES = {
    "App": "app.app",
    "Audit": "check.audit",
    "CheckFailed": "check.report",
    "Exercise": "check.exercise_sheet",
    "Stages": "ops.stages",
    "audit": "check.audit",
    "conv2d": "ops.conv2d",
    "conv2d_bias": "ops.conv2d_bias",
    "conv2d_input": "ops.conv2d_input",
    "conv2d_weight": "ops.conv2d_weight",
    "conv_transpose2d": "ops.conv_transpose2d",
    "convolution_backward": "ops.convolution_backward",
    "exercise": "check.find_exercise",
    "explain": "app.explain",
    "export_html": "export.page",
    "export_module": "export.es_module",
    "export_picture": "export.picture",
    "grade": "check.api",
    "graph": "explanation.graph.read_graph",
    "lesson": "app.open_lesson",
    "linear": "ops.linear",
    "report": "check.api",
    "stages": "ops.stages",
    "which_backend": "ops.detect_torch_backend",
}


if not TYPE_CHECKING:  # a checker has the names above, and refuses others

    def __getattr__(name: str) -> Any:
        """Load torch, layers, graph and app on first use: who serves or grades never pays for what is not touched."""
        with needs(f"convviz.{name}"):
            return _load(name)


def _load(name: str) -> Any:
    if name in ("check", "lab", "nn"):
        return importlib.import_module(f"convviz.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'convviz' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"convviz.{_HOMES[name]}"), name)
    if name == "graph":
        from convviz.app.register_notebook_display import show_interactively

        show_interactively()
    if name in ("App", "explain", "lesson"):
        from convviz.app.app import App

        App.page_maker = _make_page  # both stand on one layer: this is the only place that knows the two
        App.still_maker = _make_still
    return found


def __dir__() -> list[str]:
    """Return the names that a person can type, those that are not loaded yet as well."""
    return sorted({*globals(), *__all__})


def _make_page(state: Mapping[str, Any]) -> bytes:
    from convviz.export.page import page_bytes

    return page_bytes(state)


def _make_still(result: Stages, settings: Settings) -> str:
    """Return what an app shows as a still picture; its code is loaded with the first of them."""
    from convviz.export.still_picture import still_pictures

    return still_pictures(result, settings.plane, settings.input_view, settings.scale)
