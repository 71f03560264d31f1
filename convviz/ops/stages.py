"""Every intermediate of forward and backward, by name, held against autograd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from convviz.facts.loss_inputs import kinds_taken, losses_with
from convviz.geometry.spec import ConvSpec
from convviz.ops import by_rotate as rotate
from convviz.ops import half_precision
from convviz.ops.conv2d_bias import conv2d_bias
from convviz.ops.deviation import Deviation, from_autograd
from convviz.ops.devices_and_dtypes import check_device, check_dtype, common_dtype, full_precision
from convviz.ops.losses import LOSSES, loss_gradient, loss_value
from convviz.ops.padding import fold_padding, pad_input
from convviz.ops.to_tensor import TensorLike, real_tensor


@dataclass(frozen=True, eq=False)  # tensors have no one answer to ==
class Stages:
    """Every tensor of one forward and backward pass of a 2-D convolution, by name.

    Shapes: input and grad_input ``[N, C_in, H, W]``; padded_input with the border; weight and grad_weight
    ``[C_out, C_in / groups, kH, kW]``; rotated_weight ``[C_in, C_out / groups, kH, kW]``; output and grad_output
    ``[N, C_out, H_out, W_out]``; dilated_grad_output with the stride's zeros; padded_grad_output with the
    backward pass's border as well; bias and grad_bias ``[C_out]`` or None; loss 0-d; target None unless the loss
    has one. grad_padded_input is None when the padding is zeros: then the border's gradient is never computed.
    deviation_from_autograd is None when the comparison was left out.

    With transposed set these are the stages of a transposed convolution, and every name is that of the tensor in the
    convolution that it reads the other way: grad_output is then the layer's input, grad_input its output (with the
    bias, ``[C_in]`` of the spec), input its grad_output and output its grad_input.
    """

    spec: ConvSpec
    loss_kind: str
    input: torch.Tensor
    padded_input: torch.Tensor
    weight: torch.Tensor
    bias: torch.Tensor | None
    output: torch.Tensor
    target: torch.Tensor | None
    loss: torch.Tensor
    grad_output: torch.Tensor
    dilated_grad_output: torch.Tensor
    padded_grad_output: torch.Tensor
    rotated_weight: torch.Tensor
    grad_padded_input: torch.Tensor | None
    grad_input: torch.Tensor
    grad_weight: torch.Tensor
    grad_bias: torch.Tensor | None
    deviation_from_autograd: Deviation | None
    transposed: bool = False

    @property
    def deviation(self) -> float:
        """Largest |difference| from autograd on the same device and dtype.

        Where a difference is more than rounding, the gradient whose difference exceeds rounding most counts.

        Raises:
            ValueError: the stages were computed with ``compare=False``.
        """
        if self.deviation_from_autograd is None:
            raise ValueError("the deviation is known only after a comparison: call stages(..., compare=True)")
        return self.deviation_from_autograd.value


def stages(
    spec: ConvSpec,
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    grad_output: TensorLike | None = None,
    loss: str | None = None,
    target: TensorLike | None = None,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype | None = None,
    *,
    compare: bool = True,
    transposed: bool = False,
) -> Stages:
    """Compute one forward and backward pass the way the pictures show it.

    The gradients come from the pictures' own operations: zero-insert, pad, rotate and correlate for the input;
    correlate with the dilated grad_output for the weight. Autograd is what they are held against.

    Args:
        spec: the geometry.
        input: ``[N, C_in, H, W]``, anything that ``torch.as_tensor`` takes.
        weight: ``[C_out, C_in / groups, kH, kW]``.
        bias: ``[C_out]`` or None.
        grad_output: ``[N, C_out, H_out, W_out]``, the derivative of the loss with respect to the output, set by
            hand; the loss is then the sum of the output weighted by it.
        loss: a name of ``ops.losses.LOSSES``; default: ``"weighted_sum"`` with a grad_output, else ``"sum"``.
        target: of grad_output's shape, for a loss that takes one: ``"half_squared_error"``.
        device: ``"cpu"`` or the machine's accelerator; default: the cpu.
        dtype: float32, float64 or bfloat16; default: that of the tensors and arrays, the widest where they differ,
            and float32 for lists, whole numbers and float16.
        compare: also run autograd and record the deviation from it.
        transposed: the pass is that of a transposed convolution, and spec, padded with zeros, the geometry of the
            convolution that is read the other way: input is of spec.output_shape, grad_output and target are of
            spec.input_shape, weight is ``[C_in, C_out / groups, kH, kW]``.

    Raises:
        ValueError: a tensor does not have the shape that the geometry asks for, or loss, target and grad_output
            contradict each other; the message names the argument, both shapes and the rule.
    """
    if transposed and spec.padding_mode != "zeros":
        raise ValueError(
            "a transposed convolution has padding_mode='zeros' only, as in torch: got "
            f"padding_mode={spec.padding_mode!r}; use 'zeros'"
        )
    on = check_device(device)
    as_type = check_dtype(common_dtype(input, weight, bias, grad_output, target) if dtype is None else dtype, on)
    kind = choose_loss(loss, grad_output, target)
    ends = spec.input_shape, spec.output_shape
    into, out = ends[::-1] if transposed else ends

    def tensor(name: str, value: Any, shape: tuple[int, ...]) -> torch.Tensor:
        own = real_tensor(name, value)
        if tuple(own.shape) != shape:
            raise ValueError(
                f"{name} must have the shape {list(shape)} that the geometry asks for: got {list(own.shape)}; "
                "reshape it, or change the geometry"
            )
        return own.to(device=on, dtype=as_type, copy=True)  # a result keeps its numbers

    # Autograd cannot be asked inside torch.inference_mode, which may be the caller's.
    with torch.inference_mode(False), full_precision(on):
        x, w = tensor("input", input, into), tensor("weight", weight, spec.weight_shape)
        b = None if bias is None else tensor("bias", bias, out[1:2])
        name, value = ("target", target) if target is not None else ("grad_output", grad_output)
        other = None if value is None else tensor(name, value, out)
        with torch.no_grad():
            result = _compute(spec, kind, x, w, b, other, transposed)
        return Stages(**result, deviation_from_autograd=from_autograd(result, other) if compare else None)


def _compute(
    spec: ConvSpec,
    kind: str,
    x: torch.Tensor,
    w: torch.Tensor,
    b: torch.Tensor | None,
    other: torch.Tensor | None,
    transposed: bool,
) -> dict[str, Any]:
    """Return all but the deviation; transposed, x is what the spec calls grad_output."""
    rotated = rotate.rotate_weight(w, spec.groups)

    def slide(image: torch.Tensor, bias: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        padded = pad_input(image, spec)
        return padded, half_precision.correlate(padded, w, bias, spec.stride, 0, spec.dilation, spec.groups)

    def send_back(
        gradient: torch.Tensor, *bias: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        dilated = rotate.dilate_grad_output(gradient, spec.stride)
        padded = rotate.pad_grad_output(dilated, spec)
        return dilated, padded, rotate.correlate(padded, rotated, spec, *bias)

    if transposed:
        dilated, padded, gradient = send_back(x, b)
        made, sent = gradient, loss_gradient(kind, gradient, other)
        padded_input, output = slide(sent, None)
    else:
        padded_input, output = slide(x, b)
        made, sent = output, loss_gradient(kind, output, other)
        dilated, padded, gradient = send_back(sent)
    folds = spec.padding_mode != "zeros"
    return {
        "spec": spec,
        "loss_kind": kind,
        "input": sent if transposed else x,
        "padded_input": padded_input,
        "weight": w,
        "bias": b,
        "output": output,
        "target": other if kinds_taken(kind, "target") else None,
        "loss": loss_value(kind, made, other),
        "grad_output": x if transposed else sent,
        "dilated_grad_output": dilated,
        "padded_grad_output": padded,
        "rotated_weight": rotated,
        "grad_padded_input": gradient if folds else None,
        "grad_input": fold_padding(gradient, spec) if folds else gradient,
        "grad_weight": rotate.correlate_with_grad_output(padded_input, dilated, spec),
        "grad_bias": None if b is None else conv2d_bias(sent),
        "transposed": transposed,
    }


def choose_loss(loss: str | None, grad_output: Any, target: Any) -> str:
    """Return the kind of the loss."""
    kind = (losses_with("grad")[0] if grad_output is not None else "sum") if loss is None else loss
    if not isinstance(kind, str) or kind not in LOSSES:
        raise ValueError(f"loss is one of {', '.join(LOSSES)}: got {loss!r}")
    for name, given, value in (("grad_output", "grad", grad_output), ("target", "target", target)):
        if bool(kinds_taken(kind, given)) != (value is not None):
            beside = "without a" if value is None else "together with a"
            owners = " or ".join(map(repr, losses_with(given)))
            raise ValueError(
                f"a {name} belongs to loss={owners}: got loss={kind!r} {beside} {name}; give both, or neither"
            )
    return kind
