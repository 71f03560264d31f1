"""What a person types, ``convviz.graph``: a notebook shows its value as the interactive view."""

from convviz.features.graph.read_graph import graph as graph
from convviz.features.graph.register_notebook_display import show_interactively

show_interactively()
