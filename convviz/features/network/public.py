"""What a person types, ``convviz.network``: a whole model, forward and backward, as data."""

from collections.abc import Callable
from typing import Any

import torch

from convviz.features.network.network import Network
from convviz.features.network.record import record


def network(
    model: torch.nn.Module,
    x: Any,
    loss: Callable[[Any], torch.Tensor] | None = None,
    *,
    sample: int = 0,
    live: bool = True,
) -> Network:
    """Run a model forward and backward on a batch, and return every operation with what came back to it.

    ``print`` it for a table and a sentence that says what the gradients prove. The model, its gradients, its running
    statistics, torch's random numbers and x stay as they were.

    Args:
        model: any ``nn.Module``.
        x: a batch, or whatever the model takes; a tuple of arguments, or a dict of named ones.
        loss: a function from the model's output to a number; default: the sum of the output.
        sample: which sample of the batch is drawn, and which one fields and single cells speak of.
        live: whether to keep autograd's graph, so that ``back`` can send a 1 back from any cell later.

    Returns:
        A ``Network``: ``operations``, ``gradients`` (each equal to ``torch.autograd.grad`` by that operation's output),
        ``finding``, ``receptive_field``, ``projective_field``, ``back`` and ``to_svg``.

    Raises:
        TypeError: an argument is of another type.
        ValueError: no gradient leads from the number back into the model, or it cannot be run or watched.

    Example:
        >>> import torch, convviz
        >>> model = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Conv2d(4, 2, 3))
        >>> made = convviz.network(model, torch.ones(1, 1, 8, 8))
        >>> [operation.kind for operation in made.operations]
        ['input', 'conv2d', 'relu', 'conv2d']
        >>> int(made.receptive_field("2", (0, 0, 0)).masks[0].sum())
        25
    """
    return record(model, x, loss, live=live, sample=sample)
