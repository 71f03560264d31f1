"""Which channel stands where another belongs: whole planes are compared, and nothing is asked."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from convviz.check.call_outcome import same
from convviz.check.diagnosis import Seen
from convviz.facts.words import sentences
from convviz.mistakes.grad_weight import grad_weight

say = sentences("check")

# The axis of a result that is one of channels, and its name.
CHANNELS = {"output": ((1, "channel"),), "grad_input": ((1, "channel"),), "grad_weight": ((0, "out"), (1, "in"))}


def exchanged_channels(of: str, wrong: Sequence[Seen]) -> str:
    """Return in a sentence in which order right channels come; empty where it is not just another order."""
    for axis, name in CHANNELS.get(of, ()):
        orders = [_order(of, one, axis) for one in wrong]
        if orders and all(order is not None and order != sorted(order) for order in orders):
            shown = ", ".join(map(str, orders[0] or ()))
            return say("channels.order", result=of, axis=say(f"axis.{name}"), order=shown)
    return ""


def _order(of: str, one: Seen, axis: int) -> list[int] | None:
    """Return which right channel comes in the place of each; None where one is none of them, or several are alike."""
    if one.got is None or one.got.shape != one.right.shape or one.right.dim() != 4:
        return None
    # A bias may have been added before the channels were exchanged, or after it.
    for bias in (torch.zeros(()), one.case.bias[:, None, None]) if of == "output" else (torch.zeros(()),):
        right = (one.right - bias).unbind(axis)
        found = [[at for at, each in enumerate(right) if same(plane, each)] for plane in (one.got - bias).unbind(axis)]
        order = [places[0] for places in found if len(places) == 1]
        if sorted(order) == list(range(len(right))):
            return order
    return None


def paired_wrongly(wrong: Sequence[Seen]) -> str:
    """Return in a sentence which channels one plane of grad_weight is made of instead of its own; empty for none.

    Every plane has to be a pair of channels, so that it is this and nothing else.
    """
    said = ""
    for one in wrong:
        spec = one.case.spec
        every = grad_weight({}, spec.replace(groups=1), one.case.grad_output, one.case.input)
        if one.got is None or every is None or one.got.shape != one.right.shape or one.got.dim() != 4:
            return ""
        for out, into in torch.cartesian_prod(*map(torch.arange, one.got.shape[:2])).tolist():
            own = (out, out // (spec.out_channels // spec.groups) * (spec.in_channels // spec.groups) + into)
            planes = [own, *torch.cartesian_prod(*map(torch.arange, every.shape[:2])).tolist()]
            pair = next((tuple(each) for each in planes if same(one.got[out, into], every[tuple(each)])), None)
            if pair is None:
                return ""
            if pair != own and not said:
                words = {"out": out, "into": into, "sent": pair[0], "read": pair[1], "own": own[0], "right": own[1]}
                said = say("channels.pair", **words)
    return said
