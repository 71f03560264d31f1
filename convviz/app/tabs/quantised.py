"""The tab Quantised: a quantised layer on the board's numbers, its straight-through gradients, and their check."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from convviz.app.session import Session
from convviz.app.tabs.base import Send, Tab
from convviz.explanation.quantised.kinds import KINDS
from convviz.explanation.quantised.quantised import EPS, quantised
from convviz.facts.words import sentences
from convviz.views.panels import panel

say = sentences("app")


class QuantisedTab(Tab):
    """Shows forward, backward and the check of one quantised layer; which one is chosen here, and kept here."""

    slow = True

    def __init__(self, session: Session, send: Send) -> None:
        """Start with binary weights: the layer with the most variants."""
        self.kind, self.variant = "binary", "clip"
        super().__init__(session, send)

    def data(self) -> dict[str, Any]:
        """Return the planes that are shown, as nested lists."""
        settings, result = self.session.settings, self.session.result
        choices = {
            "kinds": [{"name": name, "title": kind.title} for name, kind in KINDS.items()],
            "kind": self.kind,
            "variant": self.variant,
        }
        found = quantised(result, settings.plane, self.kind, self.variant)
        kind = KINDS[self.kind]
        return choices | {
            "sentence": kind.sentence,
            "at": panel(result, settings.plane, "weight").label.removeprefix("weight"),
            "eps": EPS,
            "latents": {name: _plain(plane) for name, plane in found.latents.items()},
            "quantized_weight": _plain(found.quantized_weight),
            "signs": None if found.signs is None else _plain(found.signs),
            "scale": None if found.scale is None else _plain(found.scale),
            "output": _plain(found.output),
            "grad_output": _plain(panel(result, settings.plane, "grad_output").values),
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

    def act(self, message: Mapping[str, Any]) -> None:
        """Choose a layer or one of its variants.

        Raises:
            ValueError: there is no such layer or variant.
        """
        kind = str(message.get("kind", self.kind))
        if message.get("type") != "choose" or kind not in KINDS:
            raise ValueError(say("quantised.kind", kinds=", ".join(KINDS), got=f"{kind!r:.40}"))
        names = KINDS[kind].variants
        # Another layer keeps the variant where it has it.
        variant = str(message.get("variant", self.variant if self.variant in names else next(iter(names))))
        if variant not in names:
            named = {"layer": KINDS[kind].title, "variants": ", ".join(names)}
            raise ValueError(say("quantised.variant", **named, got=f"{variant!r:.40}"))
        self.kind, self.variant = kind, variant
        self.refresh()


def _plain(plane: torch.Tensor) -> list[list[float | None]]:
    """Return a plane as JSON can hold it, to seven digits: None for what is no finite number."""
    rows: list[list[float]] = plane.detach().double().cpu().tolist()
    return [[float(f"{value:.7g}") if math.isfinite(value) else None for value in row] for row in rows]
