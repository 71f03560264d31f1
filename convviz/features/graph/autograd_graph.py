"""An autograd graph as plain data: what an app, a page or a test can read without torch's engine."""

from dataclasses import dataclass
from functools import cached_property

from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.features.graph.gradient_paths import path_sentences
from convviz.features.graph.layout import Arrangement, arrange
from convviz.features.graph.nodes_and_edges import Node, Parts
from convviz.features.graph.svg import draw

say = sentences("features/graph")


@dataclass(frozen=True, eq=False)
class Graph(Parts):
    """The graph behind one tensor.

    Attributes:
        nodes: the output first; no node stands before those that use its value.
        edges: in the order of their targets, then of the targets' inputs.
        steps: ids of the nodes in the order in which the backward pass visits them, as far as it came.
        grad_output: the gradient that the pass started with.
        note: sentences about the whole: what is left out, where grad_output comes from, and why the pass stopped if
            it did.
    """

    def node(self, id: str) -> Node:
        """Return the node with this id.

        Raises:
            KeyError: there is none.
        """
        if id not in self._by_id:
            raise KeyError(f"the graph has the nodes {self.nodes[0].id} to {self.nodes[-1].id}: got {id!r}")
        return self._by_id[id]

    @cached_property
    def _by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes}

    def __repr__(self) -> str:
        """Return a line: the numbers of all nodes would fill pages."""
        return f"<Graph: {self.summary}>"

    @property
    def summary(self) -> str:
        """What the graph leads from and to, in a line."""
        functions = sum(node.kind == "function" for node in self.nodes)
        leaves = comma([node.label for node in self.nodes if node.kind == "leaf"]) or say("summary.no_leaf")
        rest = comma([node.label for node in self.nodes if node.kind == "rest"])
        if rest:
            return say("summary.rest", functions=functions, leaves=leaves, rest=rest)
        return say("summary", functions=functions, leaves=leaves)

    @cached_property
    def arrangement(self) -> Arrangement:
        """Where boxes stand and arrows run, in units of one box."""
        return arrange([node.id for node in self.nodes], [(edge.source, edge.target) for edge in self.edges])

    @cached_property
    def paths(self) -> dict[str, str]:
        """Id of a node → a sentence: its gradient as the sum over the paths from the output."""
        return path_sentences(self)

    def layout(self) -> dict[str, tuple[float, float]]:
        """Return id → (x, y), the middle of each box: y grows by 1 a layer from the leaves down to the output.

        Boxes of one layer are at least 1 apart.
        """
        return self.arrangement.positions

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def to_svg(self, *, theme: str = "light") -> str:
        """Return the drawing as one ``<svg>`` element: text stays text, nothing is loaded from elsewhere.

        Each node is a ``<g data-node="id">``, each edge a ``<g data-edge="source target input_slot">``.

        Args:
            theme: ``"light"`` or ``"dark"``.

        Raises:
            ValueError: theme is neither.
        """
        return draw(self, theme, self.summary, self.paths, self.arrangement)
