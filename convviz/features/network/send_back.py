"""The way back through a recorded run: as often as asked for while autograd's graph is kept."""

from collections import defaultdict
from collections.abc import Callable, Sequence

import torch
from torch.autograd.graph import GradientEdge

from convviz.facts.words import sentences
from convviz.features.network.measure import Stats, has_batch, measure
from convviz.features.network.watch_operations import Watch

say = sentences("features/network")

Gradients = Sequence[torch.Tensor | None]
Came = dict[int, tuple[torch.Tensor, Stats | None]]


class WayBack:
    """Autograd's graph of one run, and where its operations stand in it."""

    def __init__(self, watch: Watch, value: torch.Tensor, output: object, inputs: list[torch.Tensor]) -> None:
        self.value, self.output = value, output
        self.edges = [seen.edge for seen in watch.seen]
        self._like = [(seen.shape, seen.value.dtype, seen.value.device) for seen in watch.seen]
        self.weights = {
            seen.index: seen.weight for seen in watch.seen if seen.weight is not None and seen.weight.requires_grad
        }
        parameters = [each for each in watch.model.parameters() if each.requires_grad and not each.is_inference()]
        wanted = [*self.weights.values(), *inputs, *parameters, *watch.leaves.values()]
        self._wanted = list({id(each): each for each in wanted}.values())
        # Not self in the hooks: nodes of autograd that hold themselves are never freed.
        self._keeper = _Keeper(watch)
        slots: dict[int, list[tuple[int, int]]] = defaultdict(list)
        nodes = {}
        for index, edge in enumerate(self.edges):
            if edge is not None:
                slots[id(edge.node)].append((edge.output_nr, index))
                nodes[id(edge.node)] = edge.node
        for id_, node in nodes.items():
            # Before the node, and after all hooks of its tensors: what torch.autograd.grad returns for them.
            node.register_prehook(self._keeper.hook(slots[id_]))

    def zeros(self, index: int) -> torch.Tensor:
        """Return zeros of the shape of an operation's output, all samples."""
        shape, dtype, device = self._like[index]
        return torch.zeros(shape, dtype=dtype, device=device)

    def send(
        self,
        start: GradientEdge | torch.Tensor,
        gradient: torch.Tensor | None = None,
        *,
        keep: bool = True,
        one_sample: bool = False,
    ) -> tuple[Came, dict[int, torch.Tensor]]:
        """Return what comes back to each operation and weight when a gradient is sent back from one place.

        ``keep`` the graph for another time; ``one_sample``: only the drawn one was asked about.
        """
        self._keeper.begin(one_sample)
        try:
            found = torch.autograd.grad(
                [start],  # type: ignore[list-item]
                self._wanted,
                None if gradient is None else [gradient],
                retain_graph=keep,
                allow_unused=True,
            )
        except RuntimeError as error:
            if "modified by an inplace operation" not in str(error):
                raise
            raise ValueError(say("refuse.changed_since")) from error
        finally:
            came = self._keeper.end()
        by_id = dict(zip(map(id, self._wanted), found, strict=True))
        weights = {index: by_id[id(weight)] for index, weight in self.weights.items()}
        return came, {index: each.detach() for index, each in weights.items() if each is not None}


class _Keeper:
    """What the hooks at autograd's nodes keep of a backward pass."""

    def __init__(self, watch: Watch) -> None:
        self._copy = watch.own_functions  # which may write into the gradient that they are handed
        self._sample, self._batch, self._max_bytes = watch.sample, watch.batch, watch.max_bytes
        self.begin(one_sample=False)

    def begin(self, one_sample: bool) -> None:
        self._came: Came = {}
        self._bytes, self._one_sample = 0, one_sample

    def end(self) -> Came:
        came, self._came = self._came, {}
        return came

    def hook(self, slots: list[tuple[int, int]]) -> Callable[[Gradients], None]:
        """Return what is called with the gradients of a node; ``slots``: which of them belong to which operation."""

        def keep(gradients: Gradients) -> None:
            for number, index in slots:
                gradient = gradients[number]
                if gradient is not None:
                    self._came[index] = self._kept(gradient.detach())

        return keep

    def _kept(self, gradient: torch.Tensor) -> tuple[torch.Tensor, Stats | None]:
        """Return what is kept of a gradient, and its size where that is not all of it."""
        self._bytes += gradient.numel() * gradient.element_size()
        if has_batch(gradient.shape, self._batch) and (self._one_sample or self._bytes > self._max_bytes):
            part = gradient[self._sample : self._sample + 1].clone()
            return part, measure(part if self._one_sample else gradient)
        return (gradient.clone() if self._copy else gradient), None
