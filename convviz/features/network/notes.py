"""What a picture of a network leaves out, and what one should know to read its numbers."""

import math
from typing import TYPE_CHECKING

from convviz.facts.words import sentences
from convviz.features.network.finding import Said

if TYPE_CHECKING:
    from convviz.features.network.network import Network

say = sentences("features/network")


def told(network: "Network") -> list[str]:
    """Return the notes in the caller's language."""
    return [say(note.id, **note.args) for note in notes(network)]


def reduced(network: "Network", max_channels: int, max_side: int) -> list[Said]:
    """Return what a picture leaves out."""
    operations, made = network.operations, []
    if any(len(each.shape) > 1 and each.shape[0] > max_channels for each in operations):
        made.append(Said("said.channels", {"count": max_channels}))
    if any(len(each.shape) > 1 and max(each.shape[1:]) > max_side for each in operations):
        made.append(Said("said.averaged", {"side": max_side}))
    if not all(math.isfinite(each.rms) for each in operations):
        made.append(Said("said.not_finite"))
    return made


def notes(network: "Network") -> list[Said]:
    """Return what one should know to read the numbers."""
    operations, made = network.operations, []
    if network.one_sample:
        made.append(Said("said.one_sample", {"sample": network.sample}))
    frozen = [each for each in operations if each.weight is not None and not each.weight.trained]
    if frozen:
        made.append(Said("said.frozen", {"count": len(frozen), "name": frozen[0].label}))
    if network.idle:
        made.append(Said("said.idle", {"count": len(network.idle), "name": network.idle[0]}))
    several = [each.label for each in operations if each.module and " #" in each.label and each.weight is not None]
    if several:
        made.append(Said("said.several_runs", {"name": several[0].partition(" #")[0]}))
    unknown = [each.label for each in operations if each.reads["how"] == "unknown" and each.sources and each.shape]
    if unknown:
        made.append(Said("said.unknown", {"count": len(unknown), "name": unknown[0]}))
    return made
