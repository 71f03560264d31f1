"""Where a tensor comes from: a name that makes it, or its own numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Source:
    """Where a tensor comes from: a name that makes it, or its own numbers."""

    kind: str  # "values" and "image" carry numbers, "one_hot" the indices of its 1, which each sample of a target has
    values: tuple[float, ...] = ()  # flat
    shape: tuple[int, ...] = ()

    @classmethod
    def of(cls, tensor: torch.Tensor, kind: str = "values") -> Source:
        return cls(kind, tuple(tensor.double().flatten().tolist()), tuple(tensor.shape))

    def tensor(self) -> torch.Tensor:
        import torch  # whoever reads or writes a link needs none of its two seconds

        return torch.tensor(self.values, dtype=torch.float64).reshape(self.shape)

    def to_dict(self) -> dict[str, Any]:
        """Return the source as plain data, without empty fields."""
        fields = {"kind": self.kind, "values": list(self.values), "shape": list(self.shape)}
        return {name: value for name, value in fields.items() if value or name == "kind"}
