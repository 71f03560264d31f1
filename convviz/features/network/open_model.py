"""What ``convviz.explain(model, x)`` opens: the network that a notebook shows."""

from collections.abc import Callable
from typing import Any

import torch

from convviz.features.network.network_view import NetworkView
from convviz.features.network.record import record


def open_model(
    module: torch.nn.Module,
    x: Any,
    *,
    loss: Callable[[Any], torch.Tensor] | None = None,
    theme: str = "auto",
    lang: str | None = None,
) -> NetworkView:
    """Record a run of a model, and return the view of all its operations."""
    return NetworkView(record(module, x, loss), module, x, loss, theme=theme, lang=lang)
