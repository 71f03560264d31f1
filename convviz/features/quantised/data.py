"""The tab Quantised: a quantised layer on the board's numbers, its straight-through gradients, and their check."""

from collections.abc import Mapping
from typing import Any

from convviz.app.to_json import plain
from convviz.app.validate_request import one_of
from convviz.facts.words import sentences
from convviz.features.quantised.layers_and_variants import KINDS
from convviz.features.quantised.quantised import EPS, quantised
from convviz.ops.stages import Stages
from convviz.settings.state import Settings
from convviz.views.panels import panel

say = sentences("features/quantised")

FIRST = ("binary", "clip")  # the layer with the most variants
CHOICES = ("kind", "variant")


def data(settings: Settings, stages: Stages, choices: Mapping[str, Any]) -> dict[str, Any]:
    name, variant_name = _choice(choices)
    found: dict[str, Any] = plain(quantised(stages, settings.plane, name, variant_name), digits=7)
    return found | {
        "kinds": [{"name": each, "title": other.title} for each, other in KINDS.items()],
        "kind": name,
        "variant": variant_name,
        "sentence": say(f"kind.{name}"),
        "at": panel(stages, settings.plane, "weight").label.removeprefix("weight"),
        "eps": EPS,
        "grad_output": plain(panel(stages, settings.plane, "grad_output").values, digits=7),
    }


def _choice(choices: Mapping[str, Any]) -> tuple[str, str]:
    """Return the layer and its variant; a layer that has no such variant takes its first."""
    kind = one_of(choices, "kind", list(KINDS), FIRST[0])
    variant = one_of(choices, "variant", [name for each in KINDS.values() for name in each.variants], FIRST[1])
    return kind, variant if variant in KINDS[kind].variants else next(iter(KINDS[kind].variants))
