"""The PyTorch tab: which backend runs for the present setting, what it ran, and why."""

from collections.abc import Mapping
from typing import Any

from convviz.facts.words import sentences
from convviz.features.pytorch.asked_call import AskedCall
from convviz.features.pytorch.explain_backend import BackendStory, backend_story
from convviz.features.pytorch.other_devices import note
from convviz.features.pytorch.torch_sources import READ_AT
from convviz.ops.detect_torch_backend import SELECT
from convviz.ops.devices_and_dtypes import is_out_of_memory
from convviz.ops.stages import Stages
from convviz.settings.state import Settings

say = sentences("features/pytorch")


def data(settings: Settings, stages: Stages, choices: Mapping[str, Any]) -> dict[str, Any]:
    try:
        story = backend_story(AskedCall.of(settings))
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise
        raise ValueError(say("failed", why=error)) from error
    return _plain(story) | {"on": f"{settings.dtype}, {settings.device}"}


def _plain(story: BackendStory) -> dict[str, Any]:
    backend = story.backend
    own = [line for line in backend.chain if line.startswith("aten::") or line.endswith("Backward0")]
    return {
        "forward": backend.forward,
        "backward": backend.backward,
        "algorithm": backend.algorithm,
        "call": story.call,
        "border": story.border,
        "why": list(story.why),
        "trees": {"forward": list(backend.forward_tree), "backward": list(backend.backward_tree)},
        "convolutions": own,
        "grad_fn": backend.grad_fn,
        "changes": [[change.what, change.forward, change.backward] for change in story.changes],
        "found": say("asked", name=SELECT) if backend.found_by == SELECT else say("watched"),
        "notes": list(backend.notes),
        "machine": [list(pair) for pair in story.machine],
        "elsewhere": [[each.device, each.backend, each.why, each.file] for each in story.elsewhere],
        "rules": note() if story.elsewhere else "",
        "files": [list(pair) for pair in story.files],
        "read": READ_AT,
    }
