"""The way back through a recorded run: as often as asked for while autograd's graph is kept."""

import torch
from torch.autograd.graph import GradientEdge

from convviz.facts.words import sentences
from convviz.features.network.keep_gradients import Came
from convviz.features.network.watch_operations import Watch

say = sentences("features/network")


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
        self._keeper = watch.keeper
        self._sent = False

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
                [start],  # type: ignore[arg-type]
                self._wanted,
                None if gradient is None else [gradient],
                retain_graph=keep,
                allow_unused=True,
            )
        except RuntimeError as error:
            if "modified by an inplace operation" not in str(error):
                raise
            sentence = say("refuse.changed_since") if self._sent else say("refuse.written_over", said=error)
            raise ValueError(sentence) from error
        finally:
            came = self._keeper.end()
        self._sent = True
        by_id = dict(zip(map(id, self._wanted), found, strict=True))
        weights = {index: by_id[id(weight)] for index, weight in self.weights.items()}
        return came, {index: each.detach() for index, each in weights.items() if each is not None}
