"""surrogate_check: gradcheck for layers whose gradient is not their derivative."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from convviz.nn.own_quantiser import Map, check_own
from convviz.nn.quantized_conv2d import QuantizedConv2d
from convviz.nn.straight_through import STES, check_ste
from convviz.ops.to_tensor import cell_at

Values = Mapping[str, torch.Tensor]


def surrogate_check(
    layer: Callable[..., Any],
    input: torch.Tensor | Sequence[torch.Tensor],
    *,
    forward: Map | Mapping[str, Map] | None = None,
    surrogate: str | Map | Mapping[str, str | Map] = "identity",
    convolution: Callable[..., torch.Tensor] | None = None,
    eps: float = 1e-6,
    atol: float = 1e-6,
    rtol: float = 1e-4,
) -> bool:
    """Hold the gradients of a quantised layer against those of the surrogate that is stated for it.

    torch.autograd.gradcheck must fail for these layers, by design: forward is a staircase, so its finite differences
    are 0 almost everywhere and huge on a step, while backward returns the slope of another function, the surrogate.
    What can be checked is that backward returns the surrogate's slope and no other. ``layer.surrogate`` is the layer
    with each quantiser q(w) replaced near the present w0 by ``q(w0) + s(w) - s(w0)``; it is differentiated here by
    central differences, cell by cell. At a kink (|w| = 1 under ``"clip"``) every value between the slopes on its two
    sides is right.

    Any other layer or function is checked by its quantiser: ``forward`` is q and ``surrogate`` the s whose slope its
    straight-through gradient is. Then what is wrong is said to be in the quantiser or in the convolution, and a known
    mistake of either by its name.

    The work is done on a copy, in float64 and on the CPU: the layer, its gradients and the random state stay as they
    were. Hooks are not called.

    Args:
        layer: Conv2dShift, BinaryConv2d, XNORConv2d or another ``QuantizedConv2d`` that states its surrogate; with
            ``forward`` any module with a weight and perhaps a bias, or a function of (input, weight[, bias]).
        input: ``[N, C_in, H, W]`` or one sample; small, for each cell costs two forward passes. For a function its
            tensors, (input, weight) or (input, weight, bias).
        forward: the quantiser of your own, a function of a tensor, of whichever of input, weight and output explain the
            output; or a dict such as ``{"weight": to_ternary}``.
        surrogate: ``"identity"``, ``"clip"``, ``"tanh"``, a function of a tensor that autograd differentiates, or a
            dict of these by tensor.
        convolution: what is computed of quantised tensors, a function of (input, weight, bias); by default torch's
            conv2d in the layer's geometry, or its linear.
        eps: the step to either side.
        atol: largest difference that is allowed beside rtol's.
        rtol: largest difference that is allowed, as a share of the finite difference.

    Returns:
        True.

    Raises:
        TypeError: the layer states no surrogate, and there is no ``forward``.
        ValueError: there is no such surrogate.
        AssertionError: a gradient is wrong; names the parameter, the index and both numbers.
    """
    if forward is not None:
        for each in surrogate.values() if isinstance(surrogate, Mapping) else [surrogate]:
            if not callable(each):
                check_ste("surrogate", each, STES)
        several = (input,) if isinstance(input, torch.Tensor) else input
        tensors = dict(zip(("input", "weight", "bias"), several, strict=False))
        with torch.inference_mode(False):
            check_own(layer, tensors, forward, surrogate, convolution, atol, rtol)
        return True
    if not isinstance(layer, QuantizedConv2d) or not isinstance(input, torch.Tensor):
        raise TypeError(
            f"layer must be a quantised one, such as BinaryConv2d: got {type(layer).__name__}; "
            "for a layer that is its own derivative use torch.autograd.gradcheck, and for a quantiser of your own "
            "forward= and surrogate="
        )
    with torch.inference_mode(False), torch.enable_grad():  # whatever the caller is in
        twin = copy.deepcopy(layer).to("cpu", torch.float64).requires_grad_()
        point = {"input": input.detach().to("cpu", torch.float64, copy=True).requires_grad_()}
        point |= dict(twin.named_parameters())
        output = twin.forward(point["input"])
        generator = torch.Generator().manual_seed(0)
        # One random grad_output instead of one pass per output cell: a wrong gradient would have to hide from it.
        grad_output = torch.randn(output.shape, generator=generator, dtype=torch.float64)
        gradients = torch.autograd.grad(output, list(point.values()), grad_output, materialize_grads=True)
    with torch.no_grad():
        here = {name: value.detach() for name, value in point.items()}

        def smooth(moved: Values) -> torch.Tensor:
            parameters = {name: value for name, value in moved.items() if name != "input"}
            return twin.surrogate(here["input"], moved["input"], parameters)

        own = smooth(here)
        if output.shape != own.shape or not torch.allclose(output, own, rtol, atol):
            raise AssertionError("the surrogate must have the layer's value at the point itself: it has another")
        for name, gradient in zip(here, gradients, strict=True):
            slopes = _slopes(lambda moved: (grad_output * smooth(moved)).sum(), here, name, eps)
            _compare(name, gradient, slopes, atol, rtol)
    return True


def _slopes(loss: Callable[[Values], torch.Tensor], here: Values, name: str, eps: float) -> torch.Tensor:
    """Return ``[2, ...]``: the loss's slopes to the left and right of every cell of one tensor."""
    middle = loss(here)
    slopes = here[name].new_empty(2, here[name].numel())
    for cell in range(here[name].numel()):
        for side, step in enumerate((-eps, eps)):
            moved = here[name].clone(memory_format=torch.contiguous_format)
            moved.view(-1)[cell] += step
            slopes[side, cell] = (loss({**here, name: moved}) - middle) / step
    return slopes.reshape(2, *here[name].shape)


def _compare(name: str, gradient: torch.Tensor, slopes: torch.Tensor, atol: float, rtol: float) -> None:
    central = slopes.mean(0)
    allowed = atol + rtol * central.abs()
    beyond = torch.maximum(slopes.amin(0) - gradient, gradient - slopes.amax(0)) - allowed
    beyond = beyond.nan_to_num(nan=torch.inf)  # a nan is as wrong as can be
    if beyond.numel() and beyond.max() > 0:
        index = cell_at(int(beyond.argmax()), beyond.shape)
        raise AssertionError(
            f"the gradient of {name}{list(index)} must be the slope of the surrogate: backward gives "
            f"{float(gradient[index]):.9g}, the finite difference is {float(central[index]):.9g}"
        )
