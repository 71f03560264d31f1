"""What is added to a result, or takes the place of a factor, known number for number: nothing needs to be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch

from convviz.check.call_outcome import ratio_of
from convviz.check.diagnosis import Diagnosis, Seen
from convviz.facts.words import sentences
from convviz.mistakes.catalogue import compute

say = sentences("check")

SEVERAL = 6  # numbers that are all the same multiple of others by no chance: one number always is
# What the gradient of a penalty is a multiple of.
PENALTIES: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {"weight": lambda each: each, "sign": torch.sign}


def penalty(of: str, wrong: Sequence[Seen]) -> Diagnosis | None:
    """Return that a gradient is right but for a penalty's, the same multiple of the weight in all wrong cases."""
    for name, form in PENALTIES.items() if of == "grad_weight" and _several(wrong) else ():
        factor = _one([_off(one, form(one.case.weight)) for one in wrong])
        if factor:
            words = {"result": of, "factor": f"{factor:.6g}"}
            return Diagnosis("?", of, say(f"penalty.{name}", **words), say("penalty.seen", **words), "")
    return None


def early_update(of: str, wrong: Sequence[Seen]) -> Diagnosis | None:
    """Return that grad_input is made with a weight that its gradient is already subtracted from."""
    factors = []
    for one in wrong if of == "grad_input" and _several(wrong) else ():
        gradient = compute("grad_weight", {}, one.case)
        moved = None if gradient is None else compute(of, {}, one.case.with_tensor("weight", gradient))
        factors.append(None if moved is None else _off(one, moved))
    if not factors or None in factors or 0 in factors:
        return None
    words = {"result": of, "rate": f"{abs(factors[0] or 0):.6g}", "sign": "−" if (factors[0] or 0) < 0 else "+"}
    fix = say("updated.fix", result=of)
    same = _one(factors) is not None
    return Diagnosis("?", of, say("updated", **words), say("updated.seen" if same else "updated.varies", **words), fix)


def _several(wrong: Sequence[Seen]) -> bool:
    return sum(one.right.numel() for one in wrong) >= SEVERAL


def _off(one: Seen, added: torch.Tensor) -> float | None:
    """Return which multiple of a tensor is all that a result has too much; None if that is not all."""
    if one.got is None or one.got.shape != one.right.shape or one.right.shape != added.shape or not added.any():
        return None
    return ratio_of(one.got.double() - one.right.double(), added.double())


def _one(factors: Sequence[float | None]) -> float | None:
    """Return the one factor in all cases; None where there are several, or one case has none."""
    known = [factor for factor in factors if factor is not None]
    if len(known) < len(factors) or not known:
        return None
    return known[0] if max(known) - min(known) <= 1e-6 * abs(known[0]) else None
