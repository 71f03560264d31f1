"""A recorded run of a whole model: where the gradient goes, and which cells see which."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from convviz.features.network.backs import send_from_cell, send_from_output
from convviz.features.network.fields import Field, projective_field, receptive_field
from convviz.features.network.finding import Said, find, sentence
from convviz.features.network.operations import Back, Operation, Run
from convviz.features.network.send_back import WayBack
from convviz.features.network.svg import draw
from convviz.features.network.table import table


@dataclass(frozen=True, eq=False)
class Network(Run):
    """One run of a model, forward and backward, as data."""

    _way: WayBack | None = field(repr=False)  # None where it is not live

    @property
    def gradients(self) -> tuple[torch.Tensor | None, ...]:
        """What came back to the output of each operation: equal to ``torch.autograd.grad`` by it; None: nothing did."""
        return self.backs[0].gradients

    @property
    def live(self) -> bool:
        """Whether the run's graph is kept, so that ``back`` works."""
        return self._way is not None

    def __getitem__(self, name: int | str) -> Operation:
        """Return an operation by its index or by its label."""
        return self.operations[self._index(name)]

    def receptive_field(self, operation: int | str | Operation, cell: Sequence[int]) -> Field:
        """Return which cells a cell of an operation's output reads, in all operations before it.

        Args:
            operation: its index, its label such as ``"layer1.0.conv1"``, or itself.
            cell: an index into its output without the batch: ``(channel, row, column)``, or ``(feature,)``.

        Returns:
            Masks by operation. They are exact for convolutions, pooling, skips, concatenations and slices; a batch
            norm's statistics count as fixed. ``stopped`` names what could not be followed.
        """
        return receptive_field(self.operations, self._index(operation), cell)

    def projective_field(self, operation: int | str | Operation, cell: Sequence[int]) -> Field:
        """Return which cells of all later operations read a cell; see ``receptive_field``."""
        return projective_field(self.operations, self._index(operation), cell)

    def back(self, operation: int | str | Operation | None = None, cell: Sequence[int] | int | None = None) -> Back:
        """Send a gradient back from the output, or a single 1 from one cell, and return what comes to each operation.

        Args:
            operation: where from; ``"sum"``: the sum of the model's output; default: as when it was recorded, from the
                loss or the sum.
            cell: an index into its output without the batch; the 1 stands in the drawn sample.

        Raises:
            ValueError: the network was recorded with ``live=False``, there is no such cell, no gradient leads back
                from it, or the model's weights have changed since.
        """
        if operation is None:
            return self.backs[0]
        if operation in ("sum", "loss") and cell is None:
            return send_from_output(self._way, self.operations, str(operation), self.backs[0])
        at = self.operations[self._index(operation)]
        chosen = (cell,) if isinstance(cell, int) else tuple(cell or ())
        return send_from_cell(self._way, self.operations, at, chosen, self.sample)

    @property
    def found(self) -> Said | None:
        """The one sentence that the numbers prove, as an id of ``words.json`` and its arguments."""
        return find(self.operations, self.backs[0])

    @property
    def finding(self) -> str:
        """What the gradients say, in a sentence."""
        return sentence(self)

    def to_svg(self, theme: str = "light") -> str:
        """Return the sizes of the gradients as a drawing, for a paper: an SVG without scripts."""
        return draw(self, theme)

    def _repr_svg_(self) -> str:
        """What a notebook shows."""
        return self.to_svg()

    def __str__(self) -> str:
        """Return a table of all operations."""
        return table(self)

    def _index(self, operation: int | str | Operation) -> int:
        if isinstance(operation, Operation):
            return operation.index
        labels = [each.label for each in self.operations]
        if isinstance(operation, str):
            if operation not in labels:
                near = difflib.get_close_matches(operation, labels, n=5, cutoff=0.3) or labels[:5]
                raise ValueError(
                    f"operation is a label of this network: got {operation!r}; for example {', '.join(map(repr, near))}"
                )
            return labels.index(operation)
        if not 0 <= operation < len(labels):
            raise ValueError(f"operation is an index from 0 to {len(labels) - 1}: got {operation!r}")
        return operation
