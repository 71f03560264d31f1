"""Which plane of the tensors one looks at: a sample, an output channel and an input channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convviz.facts import facts
from convviz.geometry.spec import ConvSpec

# What the two leading axes of every tensor count: n samples, o output channels, c input channels.
PANEL_AXES: dict[str, tuple[str, str]] = {
    name: (first, second) for name, (first, second) in facts("settings")["panel_axes"].items()
}


@dataclass(frozen=True)
class Plane:
    """Which plane of the tensors is shown; both channels are of one group, and counted over all groups."""

    sample: int = 0
    out_channel: int = 0
    in_channel: int = 0

    def within(self, spec: ConvSpec) -> Plane:
        """Return the nearest plane that the geometry has, in_channel moved into out_channel's group."""
        out_channel = min(max(self.out_channel, 0), spec.out_channels - 1)
        per_group = spec.in_channels // spec.groups
        group = out_channel // (spec.out_channels // spec.groups)
        in_channel = group * per_group + min(max(self.in_channel, 0), spec.in_channels - 1) % per_group
        return Plane(min(max(self.sample, 0), spec.batch - 1), out_channel, in_channel)

    def of(self, panel: str, shape: Sequence[int]) -> tuple[int, int]:
        """Return the shown indices of a panel's two leading axes; a weight counts its channels within the group."""
        first, second = map(self.index, PANEL_AXES[panel])
        return first, second % shape[1]

    def index(self, axis: str) -> int:
        """Return the chosen index of an axis: n, o or c."""
        return {"n": self.sample, "o": self.out_channel, "c": self.in_channel}[axis]
