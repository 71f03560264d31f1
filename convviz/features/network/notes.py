"""What a picture of a network leaves out, and what one should know to read its numbers."""

import math

from convviz.facts.words import sentences
from convviz.features.network.finding import Said
from convviz.features.network.operations import Run
from convviz.features.network.run_facts import layers

say = sentences("features/network")


def notes_of(run: Run) -> list[str]:
    """Return the notes in the caller's language."""
    return [say(note.id, **note.args) for note in notes(run)]


def reduced(run: Run, max_channels: int, max_side: int) -> list[Said]:
    """Return what a picture leaves out."""
    operations, made = run.operations, []
    if any(len(each.shape) > 1 and each.shape[0] > max_channels for each in operations):
        made.append(Said("said.channels", {"count": max_channels}))
    if any(len(each.shape) > 1 and max(each.shape[1:]) > max_side for each in operations):
        made.append(Said("said.averaged", {"side": max_side}))
    if not all(math.isfinite(each.rms) for each in operations):
        made.append(Said("said.not_finite"))
    return made


def notes(run: Run) -> list[Said]:
    """Return what one should know to read the numbers."""
    operations, made = run.operations, []
    if run.batch > 1:
        made.append(Said("said.sample", {"sample": run.sample, "batch": run.batch}))
    if run.one_sample:
        made.append(Said("said.one_sample", {"sample": run.sample}))
    frozen = [each for each in layers(operations) if each.weight is not None and not each.weight.trained]
    if frozen:
        made.append(Said("said.frozen", {"count": len(frozen), "name": frozen[0].label}))
    if run.idle:
        made.append(Said("said.idle", {"count": len(run.idle), "name": run.idle[0]}))
    several = [each.label for each in operations if each.module and " #" in each.label and each.weight is not None]
    if several:
        made.append(Said("said.several_runs", {"name": several[0].partition(" #")[0]}))
    unknown = [each.label for each in operations if each.reads["how"] == "unknown" and each.sources and each.shape]
    if unknown:
        made.append(Said("said.unknown", {"count": len(unknown), "name": unknown[0]}))
    return made
