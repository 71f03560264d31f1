"""What hooks at the tensors of a run keep of each backward pass through it."""

from collections.abc import Callable

import torch

from convviz.features.network.measure import Stats, has_batch, measure

Came = dict[int, tuple[torch.Tensor, Stats | None]]  # by operation; its size where not all of it is kept


class Keeper:
    """The gradients of one backward pass, as they come. It knows nothing of autograd's graph, which holds its hooks."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.batch: int | None = None
        self.sample = 0
        self.copies = False  # because a Function in Python may write into the gradient that it is handed
        self.begin(one_sample=False)

    def begin(self, one_sample: bool) -> None:
        """Forget the last pass; ``one_sample``: keep only the drawn one of this."""
        self._came: Came = {}
        self._bytes, self._one_sample = 0, one_sample

    def end(self) -> Came:
        came, self._came = self._came, {}
        return came

    def hook(self, place: list[int]) -> Callable[[torch.Tensor | None], None]:
        """Return a hook of a tensor; ``place`` has the index of its operation, which may still change."""

        def keep(gradient: torch.Tensor | None) -> None:
            if gradient is not None:
                self._came[place[0]] = self._kept(gradient.detach())

        return keep

    def _kept(self, gradient: torch.Tensor) -> tuple[torch.Tensor, Stats | None]:
        self._bytes += gradient.numel() * gradient.element_size()
        if has_batch(gradient.shape, self.batch) and (self._one_sample or self._bytes > self.max_bytes):
            part = gradient[self.sample : self.sample + 1].clone()
            return part, measure(part if self._one_sample else gradient)
        return (gradient.clone() if self.copies else gradient), None
