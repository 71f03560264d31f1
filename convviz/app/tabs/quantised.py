"""The tab Quantised: a quantised layer on the board's numbers, its straight-through gradients, and their check."""

import functools
from collections.abc import Mapping
from typing import Any

from convviz.app.plain import plain
from convviz.app.validate_request import check_keys, one_of
from convviz.explanation.quantised.kinds import KINDS
from convviz.explanation.quantised.quantised import EPS, quantised
from convviz.ops.stages import Stages
from convviz.settings.state import Settings
from convviz.views.panels import panel

FIRST = ("binary", "clip")  # the layer with the most variants


def data(settings: Settings, stages: Stages, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return forward, backward and the check of one quantised layer: the shown planes."""
    name, variant_name = _choice(check_keys("choices", choices, ("kind", "variant")))
    chosen = {
        "kinds": [{"name": each, "title": kind.title} for each, kind in KINDS.items()],
        "kind": name,
        "variant": variant_name,
    }
    found = quantised(stages, settings.plane, name, variant_name)
    kind = KINDS[name]
    rounded = functools.partial(plain, digits=7)
    return chosen | {
        "sentence": kind.sentence,
        "at": panel(stages, settings.plane, "weight").label.removeprefix("weight"),
        "eps": EPS,
        "latents": {name: rounded(plane) for name, plane in found.latents.items()},
        "quantized_weight": rounded(found.quantized_weight),
        "signs": None if found.signs is None else rounded(found.signs),
        "scale": None if found.scale is None else rounded(found.scale),
        "output": rounded(found.output),
        "grad_output": rounded(panel(stages, settings.plane, "grad_output").values),
        "grad_quantized_weight": rounded(found.grad_quantized_weight),
        "variants": [
            {
                "name": variant.name,
                "parameter": kind.variants[variant.name].parameter,
                "sentence": kind.variants[variant.name].sentence,
                "mask": rounded(variant.mask),
                "gradient": rounded(variant.gradient),
            }
            for variant in found.variants
        ],
        "stairs": rounded(found.stairs),
        "surrogate": rounded(found.surrogate),
        "at_kink": found.at_kink,
        "gradcheck_passes": found.gradcheck_passes,
        "surrogate_complaint": found.surrogate_complaint,
    }


def _choice(choices: Mapping[str, Any]) -> tuple[str, str]:
    """Return the layer and its variant; a layer that has no such variant takes its first."""
    kind = one_of(choices, "kind", list(KINDS), FIRST[0])
    variant = one_of(choices, "variant", [name for each in KINDS.values() for name in each.variants], FIRST[1])
    return kind, variant if variant in KINDS[kind].variants else next(iter(KINDS[kind].variants))
