"""From the settings to the numbers that follow from them."""

import torch

from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.ops.stages import Stages, stages
from convviz.settings.state import Settings
from convviz.settings.tensor_display_names import shown_name
from convviz.settings.tensors import bias_tensor, grad_tensor, input_tensor, target_tensor, weight_tensor

say = sentences("rules")

# In the order in which one follows from the other, in the words of the page; all other stages are copies of these.
COMPUTED: list[str] = facts("settings")["computed"]


def compute(settings: Settings, *, compare: bool = True) -> Stages:
    """Compute every stage on the settings' device; to ``compare``, run autograd as well."""
    result = stages(
        settings.spec,
        input_tensor(settings),
        weight_tensor(settings),
        bias_tensor(settings),
        grad_tensor(settings),
        settings.loss,
        target_tensor(settings),
        settings.device,
        settings.dtype,
        compare=compare,
        transposed=settings.transposed,
    )
    _check_finite(result, settings.dtype)
    return result


def _check_finite(result: Stages, dtype: str) -> None:
    """Refuse what the board can neither colour nor hand on."""
    refused = "refused.finite" if dtype == "float64" else "refused.finite_in_float64"
    for name in COMPUTED:
        tensor: torch.Tensor | None = getattr(result, shown_name(name, result.transposed))
        if tensor is not None:
            check_finite(name, tensor, refused)


def check_finite(name: str, tensor: torch.Tensor, refused: str = "refused.finite") -> None:
    if not bool(tensor.isfinite().all()):
        value = tensor[~tensor.isfinite()].flatten()[0].item()
        raise ValueError(say(refused, dtype=str(tensor.dtype).removeprefix("torch."), value=value, name=name))
