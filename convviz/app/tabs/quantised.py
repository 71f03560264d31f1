"""The tab Quantised: a quantised layer on the board's numbers, its straight-through gradients, and their check."""

import math
from collections.abc import Mapping
from typing import Any

import torch

from convviz.app.asking import check_keys, one_of
from convviz.explanation.quantised.kinds import KINDS
from convviz.explanation.quantised.quantised import EPS, quantised
from convviz.ops.stages import Stages
from convviz.settings.state import Settings
from convviz.views.panels import panel

FIRST = ("binary", "clip")  # the layer with the most variants


def data(settings: Settings, stages: Stages, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return forward, backward and the check of one quantised layer: the planes that are shown, as nested lists.

    Raises:
        ValueError: there is no such layer or variant, or it cannot be shown.
    """
    name, variant_name = _choice(check_keys("choices", choices, ("kind", "variant")))
    chosen = {
        "kinds": [{"name": each, "title": kind.title} for each, kind in KINDS.items()],
        "kind": name,
        "variant": variant_name,
    }
    found = quantised(stages, settings.plane, name, variant_name)
    kind = KINDS[name]
    return chosen | {
        "sentence": kind.sentence,
        "at": panel(stages, settings.plane, "weight").label.removeprefix("weight"),
        "eps": EPS,
        "latents": {name: _plain(plane) for name, plane in found.latents.items()},
        "quantized_weight": _plain(found.quantized_weight),
        "signs": None if found.signs is None else _plain(found.signs),
        "scale": None if found.scale is None else _plain(found.scale),
        "output": _plain(found.output),
        "grad_output": _plain(panel(stages, settings.plane, "grad_output").values),
        "grad_quantized_weight": _plain(found.grad_quantized_weight),
        "variants": [
            {
                "name": variant.name,
                "parameter": kind.variants[variant.name].parameter,
                "sentence": kind.variants[variant.name].sentence,
                "mask": _plain(variant.mask),
                "gradient": _plain(variant.gradient),
            }
            for variant in found.variants
        ],
        "stairs": _plain(found.stairs),
        "surrogate": _plain(found.surrogate),
        "at_kink": found.at_kink,
        "gradcheck_passes": found.gradcheck_passes,
        "surrogate_complaint": found.surrogate_complaint,
    }


def _choice(choices: Mapping[str, Any]) -> tuple[str, str]:
    """Return the layer and its variant; a layer that has no such variant takes its first."""
    kind = one_of(choices, "kind", list(KINDS), FIRST[0])
    variant = one_of(choices, "variant", [name for each in KINDS.values() for name in each.variants], FIRST[1])
    return kind, variant if variant in KINDS[kind].variants else next(iter(KINDS[kind].variants))


def _plain(plane: torch.Tensor) -> list[list[float | None]]:
    """Return a plane as JSON can hold it, to seven digits: None for what is no finite number."""
    rows: list[list[float]] = plane.detach().double().cpu().tolist()
    return [[float(f"{value:.7g}") if math.isfinite(value) else None for value in row] for row in rows]
