"""What happens at each step of the backward pass, in a sentence."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from convviz.facts import words
from convviz.facts.join_lists import listed
from convviz.features.graph.autograd_graph import Graph
from convviz.features.graph.box_text import numbers
from convviz.features.graph.nodes_and_edges import Edge, Node, Snapshot

say = words.sentences("features/graph")

GRADIENTS = ("grad_input", "grad_weight", "grad_bias")  # what a convolution hands on, in the order of its inputs


def sentences(graph: Graph) -> tuple[str, ...]:
    """Return a sentence for each of ``graph.steps``: what the node receives and hands on; names stand in backticks."""
    writer = _SentenceWriter(graph)
    return tuple(writer.write(graph.node(id)) for id in graph.steps)


def sentence(graph: Graph, id: str) -> str:
    return _SentenceWriter(graph).write(graph.node(id))


class _SentenceWriter:
    """One graph, with what its sentences look up."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.step = {id: number for number, id in enumerate(graph.steps, start=1)}
        self.labels = Counter(node.label for node in graph.nodes)
        self.into: dict[str, list[Edge]] = defaultdict(list)
        for edge in graph.edges:
            self.into[edge.target].append(edge)
        self.users = Counter((edge.source, edge.output_slot) for edge in graph.edges)

    def write(self, node: Node) -> str:
        if node.kind == "output":
            start, (edge,) = _amount(self.graph.grad_output), self.into[node.id]
            return say("step.output", label=node.label, amount=start, to=self.name(edge))
        arrived = self.arrived(node)
        if node.kind == "leaf":
            grad = f"{node.label}.grad" if node.label.isidentifier() else ".grad"
            return say("step.leaf", label=node.label, arrived=arrived, grad=grad)
        handed = [edge for edge in self.into[node.id] if edge.gradient is not None]
        if not handed:
            return say("step.last", label=node.label, arrived=arrived)
        return say("step.function", label=node.label, arrived=arrived, handed=listed(self.hands(node, handed)))

    def arrived(self, node: Node) -> str:
        """Return what came for the node's outputs, and whether it is a sum."""
        parts = []
        for slot in node.slots:
            came, count = _amount(slot.gradient), self.users[node.id, slot.number]
            if count > 1 and slot.gradient is not None:
                came = say("amount.sum", amount=came, count=count)
            parts.append(came if len(node.slots) == 1 else say("amount.of_output", amount=came, output=slot.number))
        return say("arrived.gradient" if node.spec is None else "arrived.grad_output", amounts=listed(parts))

    def hands(self, node: Node, handed: Sequence[Edge]) -> list[str]:
        names = GRADIENTS if node.spec is not None else ()
        found = []
        for edge in handed:
            amount, to = _amount(edge.gradient), self.name(edge)
            if edge.input_slot < len(names):
                found.append(say("handed.named", name=names[edge.input_slot], amount=amount, to=to))
            else:
                found.append(say("handed", amount=amount, to=to))
        return found

    def name(self, edge: Edge) -> str:
        """Return the name of the node that a gradient goes to, with its step where others are named so."""
        node = self.graph.node(edge.source)
        if self.labels[node.label] == 1 or node.id not in self.step:
            return f"`{node.label}`"
        return say("step.node", label=node.label, step=self.step[node.id])


def _amount(snapshot: Snapshot | None) -> str:
    if snapshot is None:
        return say("amount.nothing")
    return numbers(snapshot) if not snapshot.shape else str(list(snapshot.shape))
