"""The first lesson before conv2d: a linear layer, whose three gradients are sums over the same products."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.ops.linear import linear
from convviz.ops.losses import loss_gradient, loss_value

say = sentences("features/linear")

SIZES = {"in_features": (1, 6), "out_features": (1, 6), "batch": (1, 4)}
LESSON_LOSSES = ("half_squared_error", "sum", "mean")
TYPED = ("input", "weight", "bias")
GRADIENTS = ("grad_output", "grad_input", "grad_weight", "grad_bias")


@dataclass(frozen=True)
class LessonSettings:
    """What a person can set in the lesson."""

    in_features: int = 3  # 1 to 6
    out_features: int = 2  # 1 to 6
    batch: int = 2  # 1 to 4
    seed: int = 4
    loss: str = "half_squared_error"  # one of LESSON_LOSSES; the target of the half squared error is 0
    typed: tuple[tuple[str, int, int, float], ...] = ()  # (tensor, row, column, value), written over the drawn numbers

    def __post_init__(self) -> None:
        for name, (least, most) in SIZES.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise ValueError(say("wrong.size", name=name, least=least, most=most, value=f"{value!r:.40}"))
        if self.loss not in LESSON_LOSSES:
            raise ValueError(say("wrong.loss", losses=comma(LESSON_LOSSES), value=f"{self.loss!r:.40}"))
        for name, row, column, _ in self.typed:
            if name not in TYPED or row < 0 or column < 0:
                place = f"{name!r:.40}[{row}, {column}]"
                raise ValueError(say("wrong.typed", tensors=comma(TYPED), place=place))


@dataclass(frozen=True, eq=False)
class LinearLesson:
    """One pass of a linear layer, float32: input [N, C_in], weight [C_out, C_in], output [N, C_out]."""

    input: torch.Tensor
    weight: torch.Tensor
    bias: torch.Tensor
    output: torch.Tensor
    loss: torch.Tensor
    grad_output: torch.Tensor
    grad_input: torch.Tensor
    grad_weight: torch.Tensor
    grad_bias: torch.Tensor
    deviation: float  # of the gradients from autograd through F.linear


def linear_lesson(settings: LessonSettings) -> LinearLesson:
    """Compute the pass by the three rules, and hold it against autograd."""
    input, weight, bias = _tensors(settings)
    with torch.inference_mode(False), torch.no_grad():
        output = linear(input, weight, bias)
        target = torch.zeros_like(output)
        grad_output = loss_gradient(settings.loss, output, target)
        gradients = {
            "grad_output": grad_output,
            "grad_input": grad_output @ weight,
            "grad_weight": grad_output.t() @ input,
            "grad_bias": grad_output.sum(0),
        }
        loss = loss_value(settings.loss, output, target)
    with torch.inference_mode(False), torch.enable_grad():
        leaves = [leaf.clone().requires_grad_() for leaf in (input, weight, bias)]
        through = F.linear(*leaves)
        truth = torch.autograd.grad(loss_value(settings.loss, through, target), (through, *leaves))
    apart = [float((gradients[name] - true).abs().max()) for name, true in zip(GRADIENTS, truth, strict=True)]
    return LinearLesson(input, weight, bias, output, loss, deviation=max(apart), **gradients)


def _tensors(settings: LessonSettings) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return input, weight and bias: whole numbers, which stay when a size changes."""
    generator = torch.Generator().manual_seed(settings.seed)
    (_, most_in), (_, most_out), (_, most_batch) = SIZES.values()
    shapes = {"input": (most_batch, most_in), "weight": (most_out, most_in), "bias": (1, most_out)}
    drawn = {name: torch.randint(-3, 4, shape, generator=generator).float() for name, shape in shapes.items()}
    for name, row, column, value in settings.typed:
        if row < shapes[name][0] and column < shapes[name][1]:
            drawn[name][row, column] = value
    batch, into, out = settings.batch, settings.in_features, settings.out_features
    return drawn["input"][:batch, :into], drawn["weight"][:out, :into], drawn["bias"][0, :out]
