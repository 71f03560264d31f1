"""linear, with its three rules written out: a convolution without windows."""

import math
from typing import Any

import torch

from convviz.ops.arguments import cast_for_autocast, check_shape, check_tensors, in_given_dtype
from convviz.ops.autograd_functions import run
from convviz.ops.half_precision import widened
from convviz.ops.methods import check_method

SPARSE = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


def linear(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, *, method: str = "rotate"
) -> torch.Tensor:
    """Multiply by a matrix: ``torch.nn.functional.linear`` with the gradients written out.

    One of input and weight may be sparse, as in torch; output and gradients are dense. It saves no memory here, because
    the products are those of dense matrices. Two sparse ones are refused: torch makes a sparse output of them, with
    gradients in some layouts only.

    Args:
        input: ``[..., C_in]``, with any axes before.
        weight: ``[C_out, C_in]``, or ``[C_in]`` for one output channel without an axis of its own.
        bias: ``[C_out]``, a scalar for such a weight, or None.
        method: ``"taps"`` adds up products one by one, by the definition. The others are one matrix product: where
            there are no windows, there is nothing to unfold or to rotate.

    Returns:
        output ``[..., C_out]`` or ``[...]``; entry o is ``bias[o]`` plus the sum of ``weight[o, i] * input[i]`` over i.

    Raises:
        ValueError: the shapes do not fit together, or the devices differ.
        TypeError: something is no tensor of real floating-point numbers, or the dtypes differ.
    """
    check_method(method)
    sparse = [isinstance(tensor, torch.Tensor) and tensor.layout in SPARSE for tensor in (input, weight)]
    if sparse == [True, False]:
        input = run(Dense, input)
    elif sparse == [False, True]:
        weight = run(Dense, weight)
    input, weight, bias = cast_for_autocast(input, weight, bias)  # type: ignore[assignment]
    check_tensors(input=input, weight=weight, bias=bias)
    if weight.dim() == 1:
        check_shape("bias", bias, (), "one number, for one output channel has no axis")
        return linear(input, weight[None], None if bias is None else bias[None], method=method).squeeze(-1)
    if weight.dim() != 2 or input.dim() < 1 or input.shape[-1] != weight.shape[1]:
        raise ValueError(
            "weight must be [C_out, C_in] and input [..., C_in]: got the weight "
            f"{list(weight.shape)} for the input {list(input.shape)}"
        )
    check_shape("bias", bias, (weight.shape[0],), "one number for every output channel, [C_out]")
    rows = input.reshape(math.prod(input.shape[:-1]), weight.shape[1])  # [N, C_in]; N spelled out: C_in may be 0
    output: torch.Tensor = run(Product, rows, weight.t(), bias, method == "taps")  # [N, C_out]
    return output.reshape(*input.shape[:-1], weight.shape[0])


class Dense(torch.autograd.Function):
    """A sparse matrix made dense. Its gradient stays dense, as in torch: cells that are not stored have one too."""

    generate_vmap_rule = True

    @staticmethod
    def forward(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to_dense()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[torch.Tensor], output: torch.Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


class Product(torch.autograd.Function):
    """The matrix product with the bias in every row, ``left @ right + bias``. Its two gradients are products again."""

    generate_vmap_rule = True

    @staticmethod
    def forward(left: torch.Tensor, right: torch.Tensor, bias: torch.Tensor | None, one_by_one: bool) -> torch.Tensor:
        with in_given_dtype(left):
            if not one_by_one:
                return left @ right if bias is None else torch.addmm(bias, left, right)
            sums = (widened(left)[:, :, None] * right[None]).sum(1)
            return (sums if bias is None else sums + bias).to(left.dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        left, right, _, ctx.one_by_one = inputs
        ctx.save_for_backward(left, right)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        left, right = ctx.saved_tensors
        wants_left, wants_right, wants_bias, _ = ctx.needs_input_grad
        to_left = Product.apply(gradient, right.t(), None, ctx.one_by_one) if wants_left else None
        # In this order the gradient lies in memory as the weight, and autograd does not have to turn it round.
        to_right = Product.apply(gradient.t(), left, None, ctx.one_by_one).t() if wants_right else None
        return to_left, to_right, gradient.sum(0) if wants_bias else None, None
