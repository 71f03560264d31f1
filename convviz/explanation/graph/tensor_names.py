"""What the caller calls the tensors of a graph: leaves and results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from convviz.explanation.graph.forward_values import Place


@dataclass(frozen=True, eq=False)
class Names:
    """Names of leaves by their id, of results by function and number of its output."""

    leaves: dict[int, str] = field(default_factory=dict)
    results: dict[Place, str] = field(default_factory=dict)


def read_names(params: Any) -> Names:
    """Return the names in a dict of tensors; a tensor that has two gets both."""
    names = Names()
    if params is None:
        return names
    if not isinstance(params, Mapping):
        raise TypeError(
            f'params must be a dict of names and tensors, such as {{"x": x}}: got {type(params).__name__}; for a '
            "model use dict(model.named_parameters(remove_duplicate=False))"
        )
    for name, tensor in params.items():
        if not isinstance(name, str):
            raise TypeError(f"params must have texts as names: got {name!r}; use {str(name)!r}")
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"params[{name!r}] must be a torch.Tensor: got {type(tensor).__name__}; leave it out")
        if tensor.grad_fn is None:
            _add(names.leaves, id(tensor), name)
        else:  # by its place in the graph: two tensors that the same function made as one output are one value
            _add(names.results, (tensor.grad_fn, tensor.output_nr), name)
    return names


def _add(names: dict[Any, str], key: Any, name: str) -> None:
    names[key] = f"{names[key]} = {name}" if key in names else name
