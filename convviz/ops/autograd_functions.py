"""The convolution as autograd sees it: two nodes that are each other's derivative.

A convolution is linear in the input and in the weight. So its backward pass is made of convolutions: these two
Functions cover every derivative of every order, by every method.

The recipe, each line of which answers a mistake that is in circulation: ``setup_context`` apart from ``forward`` and
``generate_vmap_rule`` for torch.func; only inputs are saved; ``backward`` is written with Functions, so that it is
differentiable itself; gradients that nobody asked for are not computed; tensors are cast for autocast and checked
before ``apply``, where the caller's names are still known.
"""

from typing import Any

import torch

from convviz.geometry.spec import ConvSpec
from convviz.ops.arguments import in_given_dtype
from convviz.ops.by_aten import Gradients
from convviz.ops.memory_format import in_layout_of
from convviz.ops.methods import METHODS, Mask
from convviz.ops.padding import fold_padding, pad_input

Context = Any  # torch's own type, FunctionCtx, does not know the attributes that one hangs on it


def convolve(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, spec: ConvSpec, method: str
) -> torch.Tensor:
    """Return the output ``[N, C_out, H_out, W_out]``, differentiable; the arguments are checked already."""
    if not _knows_border(spec, method):
        input, spec = run(Pad, input, spec), _without_border(spec)
    output: torch.Tensor = run(Convolution, input, weight, bias, spec, method)
    return output


def gradients(
    grad_output: torch.Tensor,
    input: torch.Tensor | None,
    weight: torch.Tensor | None,
    spec: ConvSpec,
    method: str,
    output_mask: Mask,
) -> Gradients:
    """Return (grad_input, grad_weight, grad_bias), None where the mask is False, differentiable.

    The arguments are checked already; without grad_weight input may be None, without grad_input weight.
    """
    if _knows_border(spec, method):
        return _backward(grad_output, input, weight, spec, method, output_mask)
    padded = None if input is None else run(Pad, input, spec)
    inner = _without_border(spec)
    to_padded, to_weight, to_bias = _backward(grad_output, padded, weight, inner, method, output_mask)
    return None if to_padded is None else Fold.apply(to_padded, spec), to_weight, to_bias


def _backward(
    grad_output: torch.Tensor,
    input: torch.Tensor | None,
    weight: torch.Tensor | None,
    spec: ConvSpec,
    method: str,
    output_mask: Mask,
) -> Gradients:
    """Apply ``ConvolutionBackward`` and put its results back in their places."""
    if not any(output_mask):
        return None, None, None
    found = iter(run(ConvolutionBackward, grad_output, input, weight, spec, method, output_mask))
    to_input, to_weight, to_bias = (next(found) if wanted else None for wanted in output_mask)
    return to_input, to_weight, to_bias


def run(function: type[torch.autograd.Function], *arguments: Any) -> Any:
    """Apply the Function; where no graph is recorded, as in most backward passes, ``apply`` would only take time.

    No Function here has a ``jvp``: torch.compile would refuse it, and torch calls a jvp with forward mode off, so that
    jacfwd of jacfwd would be 0, silently.
    """
    try:
        return function.apply(*arguments) if torch.is_grad_enabled() else function.forward(*arguments)
    except NotImplementedError as error:
        if "jvp" not in str(error):
            raise
        raise NotImplementedError(
            "convviz differentiates in reverse mode only: got a tensor in forward mode (by torch.func.jvp, jacfwd or "
            "hessian, or a dual one); use torch.func.vjp or jacrev, or torch's own operator; docs/four_ways.md says why"
        ) from error


class Convolution(torch.autograd.Function):
    """The forward pass, (input, weight, bias) to the output."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, spec: ConvSpec, method: str
    ) -> torch.Tensor:
        if input.shape[0] == 0:
            return input.new_zeros(0, *spec.output_shape[1:])
        with in_given_dtype(input):
            return in_layout_of(METHODS[method].conv2d(input, weight, bias, spec), input, weight)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        input, weight, _, ctx.spec, ctx.method = inputs
        ctx.save_for_backward(input, weight)

    @staticmethod
    def backward(ctx: Context, grad_output: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        input, weight = ctx.saved_tensors
        wanted = ctx.needs_input_grad[:3]
        return *_backward(grad_output, input, weight, ctx.spec, ctx.method, wanted), None, None


class ConvolutionBackward(torch.autograd.Function):
    """The backward pass, (grad_output, input, weight) to (grad_input, grad_weight, grad_bias).

    Only the gradients that are wanted are in the result: torch.compile takes no None among the outputs.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(
        grad_output: torch.Tensor,
        input: torch.Tensor | None,
        weight: torch.Tensor | None,
        spec: ConvSpec,
        method: str,
        output_mask: Mask,
    ) -> tuple[torch.Tensor, ...]:
        if grad_output.shape[0] == 0:
            shapes = ((0, *spec.input_shape[1:]), spec.weight_shape, (spec.out_channels,))
            return tuple(
                grad_output.new_zeros(shape) for shape, wanted in zip(shapes, output_mask, strict=True) if wanted
            )
        with in_given_dtype(grad_output):
            to_input, to_weight, to_bias = METHODS[method].backward(grad_output, input, weight, spec, output_mask)
        # grad_output counts where it stands in for one of them: as conv_transpose2d's input, in a second derivative.
        like = (input, weight) if input is not None and weight is not None else (input, weight, grad_output)
        to_input = None if to_input is None else in_layout_of(to_input, *like)
        to_weight = None if to_weight is None else in_layout_of(to_weight, *like)
        return tuple(gradient for gradient in (to_input, to_weight, to_bias) if gradient is not None)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        grad_output, input, weight, ctx.spec, ctx.method, ctx.output_mask = inputs
        ctx.save_for_backward(grad_output, input, weight)
        ctx.set_materialize_grads(False)  # a result that was not used costs nothing: its gradient comes as None

    @staticmethod
    def backward(ctx: Context, *above: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        """Differentiate grad_input, linear in (G, weight), grad_weight, in (input, G), and grad_bias, in G."""
        grad_output, input, weight = ctx.saved_tensors
        wants_grad_output, wants_input, wants_weight, *_ = ctx.needs_input_grad
        found = iter(above)
        above_input, above_weight, above_bias = (next(found) if given else None for given in ctx.output_mask)
        here = (ctx.spec, ctx.method)
        terms, to_input, to_weight = [], None, None
        if wants_grad_output and above_input is not None:
            terms.append(Convolution.apply(above_input, weight, None, *here))
        if wants_grad_output and above_weight is not None:
            terms.append(Convolution.apply(input, above_weight, None, *here))
        if wants_grad_output and above_bias is not None:
            terms.append(above_bias[:, None, None].expand_as(grad_output))
        if wants_input and above_weight is not None:
            to_input, _, _ = _backward(grad_output, None, above_weight, *here, (True, False, False))
        if wants_weight and above_input is not None:
            _, to_weight, _ = _backward(grad_output, above_input, None, *here, (False, True, False))
        return sum(terms[1:], terms[0]) if terms else None, to_input, to_weight, None, None, None


class Pad(torch.autograd.Function):
    """Adding the border that the padding mode asks for; its derivative is ``Fold``."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
        return pad_input(input, spec).to(input.dtype)  # on a CPU autocast makes float32 of a reflected border

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        _, ctx.spec = inputs

    @staticmethod
    def backward(ctx: Context, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return Fold.apply(gradient, ctx.spec), None


class Fold(torch.autograd.Function):
    """Giving the border's gradient to the cells that it copies; its derivative is ``Pad``."""

    generate_vmap_rule = True

    @staticmethod
    def forward(grad_padded_input: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
        return fold_padding(grad_padded_input, spec).to(grad_padded_input.dtype)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        _, ctx.spec = inputs

    @staticmethod
    def backward(ctx: Context, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return Pad.apply(gradient, ctx.spec), None


def _knows_border(spec: ConvSpec, method: str) -> bool:
    symmetric = all(before == after for before, after in spec.padding)
    plain = spec.padding_mode == "zeros" or not any(map(any, spec.padding))
    return METHODS[method].knows_borders or (symmetric and plain)


def _without_border(spec: ConvSpec) -> ConvSpec:
    return spec.replace(input_size=spec.padded_size, padding=0, padding_mode="zeros")
