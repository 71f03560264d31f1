"""convviz: an interactive explanation of the backward pass of a 2-D convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convviz.ops.stages import Stages, stages
from convviz.spec import ConvSpec
from convviz.taps import taps

if TYPE_CHECKING:
    from convviz.app.app import App

__version__ = "0.1.0"
__all__ = ["App", "ConvSpec", "Stages", "stages", "taps"]


def __getattr__(name: str) -> Any:
    """Load the app, and with it the widgets, on first use: graders and scripts never pay for them."""
    if name == "App":
        from convviz.app.app import App

        return App
    raise AttributeError(f"module 'convviz' has no attribute {name!r}")
