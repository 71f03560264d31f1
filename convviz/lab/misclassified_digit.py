"""A misclassified digit as the board opens it: the first layer's numbers in that one run, forward and backward."""

import base64
from typing import Any

import torch

from convviz.explanation.layer.crop_window import choose_window, cut
from convviz.explanation.layer.record_run import record_layer
from convviz.facts.words import sentences
from convviz.lab.digits import DEVIATION, MEAN, normalized
from convviz.lab.entrant_training import LOSS, Lane
from convviz.lab.race_error import FAILURES

say = sentences("race")
LAYER = "conv1"
BYTES = {torch.float32: "float32", torch.float64: "float64"}


def opening(lane: Lane, image: torch.Tensor, label: int, one: bool = False) -> dict[str, Any]:
    """Return what the first layer took, had and was sent back when its network misclassified an image ``[28, 28]``.

    The network is asked as the test asks it; the loss is the cross-entropy of this one digit with its label. Of ``one``
    output channel, that with the largest grad_output, or of as many as the board shows. ``scale`` and ``offset`` make
    the layer's input of a byte.
    """
    lane.network.eval()
    batch = normalized(image[None].to(lane.device), lane.dtype)
    target = torch.tensor([label], device=lane.device)
    try:
        made = record_layer(lane.network, batch, LAYER, lambda scores: LOSS(scores, target))
        largest = int(made.grad_output.abs().sum((0, 2, 3)).argmax())
        part = choose_window(made, {"out_channels": largest} if one else None)
        tensors = cut(made, part)
    except FAILURES as error:  # it may be a layer of somebody's own, which can raise anything
        return {"error": say("open.refused", layer=lane.name, why=error)}
    finally:
        lane.network.train()
    return {
        "spec": part.spec.to_dict(),
        "dtype": BYTES[lane.dtype],
        "scale": 1 / (255 * DEVIATION),
        "offset": -MEAN / DEVIATION,
        "channels": [len(part.out_channels), made.output.shape[1]],
        **{name: packed(tensors[name]) for name in ("weight", "bias", "grad_output")},
    }


def packed(tensor: torch.Tensor | None) -> dict[str, Any] | None:
    """Return a tensor as plain data: its shape, and its bytes in base64, the lowest first."""
    if tensor is None:
        return None
    numbers = tensor.detach().cpu().contiguous().numpy()
    little = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False)
    return {"shape": list(tensor.shape), "bytes": base64.b64encode(little.tobytes()).decode()}
