"""Has a notebook show a graph as the interactive view. Loads no widget before the first graph is shown."""

import importlib.util
import sys
from typing import Any

from convviz.features.graph.autograd_graph import Graph


def show_interactively() -> None:
    """Register the view with the kernel's IPython where that can show widgets; elsewhere the picture stays."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is None or importlib.util.find_spec("anywidget") is None:
        return
    shell.display_formatter.mimebundle_formatter.for_type(Graph, _bundle)


def _bundle(graph: Graph, include: Any = None, exclude: Any = None) -> Any:
    """Return the view; IPython adds the picture, for those without a kernel."""
    from convviz.features.graph.graph_widget import GraphView

    return GraphView(graph)._repr_mimebundle_(include=include, exclude=exclude)
