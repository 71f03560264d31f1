"""Which of PyTorch's convolutions a call really runs, forward and backward: asked, and watched running."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.geometry.whole_numbers import count, pair, unwrapped
from convviz.ops.record_torch_ops import watch

say = sentences("backend")
# Name, as in torch's enum → the op that only this backend runs forward; facts/data/words/backend.json explains it.
BACKENDS: dict[str, str | None] = {name: row.get("op") for name, row in facts("torch_backends")["backends"].items()}
BACKWARD_OF = {"NnpackSpatial": "SlowDilated2d"}  # every other one has a backward pass of its own
SELECT, PROFILER = "torch._C._select_conv_backend", "profiler"


@dataclass(frozen=True)
class Backend:
    """What torch does with one call of conv2d, as plain data.

    Attributes:
        forward: name of the backend of the forward pass, one of ``BACKENDS``; ``"unknown (23)"`` when torch gives
            only that number, ``"unknown"`` when no op that ran identifies it.
        backward: likewise for the backward pass.
        algorithm: what the forward backend is, in a sentence.
        found_by: ``"torch._C._select_conv_backend"`` when torch was asked, ``"profiler"`` when it could not be and
            the names follow from the ops that ran.
        forward_ops: every op that the forward pass ran, in the order of its first start, each name once; an op
            stands before those that it calls.
        backward_ops: likewise for ``output.backward()`` with the gradients of input, weight and bias.
        forward_tree: what called what in the forward pass: a line for each op, two spaces deeper than its caller's,
            with ``× 3`` after an op that ran three times.
        backward_tree: likewise for the backward pass.
        grad_fn: name of the output's node in the autograd graph.
        chain: from ``"nn.Conv2d"`` over the convolution ops that ran to ``"aten::convolution_backward"``.
        notes: what the names do not say, a sentence or two each.
    """

    forward: str
    backward: str
    algorithm: str
    found_by: str
    forward_ops: tuple[str, ...]
    backward_ops: tuple[str, ...]
    forward_tree: tuple[str, ...]
    backward_tree: tuple[str, ...]
    grad_fn: str
    chain: tuple[str, ...]
    notes: tuple[str, ...]


class _Call(NamedTuple):
    input: torch.Tensor
    weight: torch.Tensor
    bias: torch.Tensor | None = None
    stride: int | Sequence[int] = 1
    padding: int | str | Sequence[int] = 0
    dilation: int | Sequence[int] = 1
    groups: int = 1
    transposed: bool = False
    output_padding: int | Sequence[int] = 0


def which_backend(  # noqa: D417 - F.conv2d documents the rest
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | str | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    *,
    transposed: bool = False,
    output_padding: int | Sequence[int] = 0,
) -> Backend:
    """Find out which backend handles this call of conv2d, by running it once forward and once backward.

    The arguments are those of ``torch.nn.functional.conv2d`` (``conv_transpose2d`` when transposed). The answer is
    for these very tensors, as when every one needs its gradient, and for the switches of ``torch.backends`` and
    autocast as they are now. The tensors and their ``.grad`` stay as they are.

    Args:
        weight: ``[C_out, C_in / groups, kH, kW]``; transposed: ``[C_in, C_out / groups, kH, kW]``.
        padding: cells of zeros on each side; also ``"same"`` or ``"valid"`` unless transposed.
        transposed: whether the call is conv_transpose2d.
        output_padding: rows and columns added at the end of a transposed convolution's output.

    Returns:
        The names of the backends, and of the ops that ran.

    Raises:
        TypeError: input, weight or bias is not a tensor of real floating-point numbers.
        ValueError: torch refuses the call; the message states the rule, both shapes and torch's own words.
        RuntimeError: the caller's own profiler is running.
    """
    for name, tensor in {"input": input, "weight": weight, "bias": bias}.items():
        if tensor is not None or name != "bias":
            _check_numbers(name, tensor)
    extra = pair("output_padding", unwrapped(output_padding), 0)
    if not transposed and any(extra):
        raise ValueError(
            f"output_padding belongs to a transposed convolution: got output_padding={output_padding!r} with "
            "transposed=False; leave it 0, or set transposed=True"
        )
    steps, gaps = pair("stride", unwrapped(stride)), pair("dilation", unwrapped(dilation))
    border = padding if isinstance(padding, str) else pair("padding", unwrapped(padding), 0)
    with torch.inference_mode(False), torch.enable_grad():
        x, w, b = _leaf(input), _leaf(weight), None if bias is None else _leaf(bias)
        call = _Call(x, w, b, steps, border, gaps, count("groups", groups), transposed, extra)
        output, forward_ops, forward_tree = watch(lambda: _convolve(call))
        grad_output = torch.ones_like(output)
        _, backward_ops, backward_tree = watch(lambda: output.backward(grad_output))
        asked = _select(call)
    forward = asked or _infer(call, forward_ops)
    return Backend(
        forward=forward,
        backward=BACKWARD_OF.get(forward, forward),
        algorithm=described(forward),
        found_by=SELECT if asked else PROFILER,
        forward_ops=forward_ops,
        backward_ops=backward_ops,
        forward_tree=forward_tree,
        backward_tree=backward_tree,
        grad_fn=output.grad_fn.name() if output.grad_fn is not None else "",
        chain=_chain(forward_ops, backward_ops, transposed),
        notes=tuple(say(f"note.{at}") for at in range(5)),
    )


def select_backend(*arguments: Any, **options: Any) -> tuple[str, str] | None:
    """Return the backends' names, forward and backward, without running them; None where torch does not say."""
    name = _select(_Call(*arguments, **options))
    return None if name is None else (name, BACKWARD_OF.get(name, name))


def described(name: str) -> str:
    """Return what a backend is, in a sentence."""
    return say(f"is.{name}" if name in BACKENDS else "is.unknown")


def _check_numbers(name: str, value: Any) -> None:
    got = f"dtype {value.dtype}" if isinstance(value, torch.Tensor) else type(value).__name__
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        raise TypeError(
            f"{name} must be a torch tensor of real floating-point numbers, which have gradients: got {got}; "
            f"use torch.as_tensor({name}, dtype=torch.float32)"
        )


def _leaf(tensor: torch.Tensor) -> torch.Tensor:
    # Autograd refuses the memory of a tensor made in inference mode; any other is shared, for nothing writes to it.
    return (tensor.clone() if tensor.is_inference() else tensor).detach().requires_grad_()


def _convolve(call: _Call) -> torch.Tensor:
    x, w, b, stride, padding, dilation, groups, transposed, output_padding = call
    convolution: Any = F.conv_transpose2d if transposed else F.conv2d
    last = (output_padding, groups, dilation) if transposed else (dilation, groups)
    try:
        with warnings.catch_warnings():
            # 'same' with an even kernel warns that the input may be copied: here that copy is part of the answer.
            warnings.simplefilter("ignore")
            output: torch.Tensor = convolution(x, w, b, stride, padding, *last)
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            f"{_broken_rule(call)}: got input {list(x.shape)}, weight {list(w.shape)}, stride={stride!r}, "
            f"padding={padding!r}, dilation={dilation!r}, groups={groups!r}; correct the one that is wrong "
            f"(torch says: {str(error).splitlines()[0]})"
        ) from error
    return output


def _broken_rule(call: _Call) -> str:
    x, w, groups = call.input, call.weight, call.groups
    axes = "[C_in, C_out / groups, kH, kW]" if call.transposed else "[C_out, C_in / groups, kH, kW]"
    if x.dim() not in (3, 4) or w.dim() != 4:
        return f"input is [N, C_in, H, W], or [C_in, H, W] for one sample, and weight is {axes}"
    if w.shape[0] % groups:
        return f"groups divides the first axis of the weight, {axes}"
    channels, outputs = w.shape[1] * groups, w.shape[0]
    if call.transposed:
        channels, outputs = outputs, channels
    if channels != x.shape[-3]:
        return f"the weight, {axes}, reads {channels} channels, and the input must have as many"
    if call.bias is not None and call.bias.shape != (outputs,):
        return f"bias has the shape [{outputs}], a number for each output channel, not {list(call.bias.shape)}"
    special = "padding is 'same' only with stride 1"
    if call.transposed:
        special = f"output_padding (here {call.output_padding!r}) is below stride or dilation"
    return (
        f"input, weight and bias have one dtype and one device; {special}; the dilated kernel fits into the padded "
        "input"
    )


def _select(call: _Call) -> str | None:
    """Return the backend's name from torch, or None where this torch cannot be asked."""
    x, device = call.input if call.input.dim() == 4 else call.input.unsqueeze(0), call.input.device.type
    if device != "meta" and torch.is_autocast_enabled(device):
        return None  # the convolution gets other tensors than these
    stride, dilation, output_padding = _pair(call.stride), _pair(call.dilation), _pair(call.output_padding)
    if isinstance(call.padding, str):
        same = call.padding == "same"
        totals = [d * (k - 1) if same else 0 for d, k in zip(dilation, call.weight.shape[-2:], strict=True)]
        padding = [total // 2 for total in totals]
        x = F.pad(x, (0, totals[1] % 2, 0, totals[0] % 2))  # the odd row or column comes last, as in torch
    else:
        padding = _pair(call.padding)
    geometry = (stride, padding, dilation, call.transposed, output_padding, call.groups)
    try:
        return _name(torch._C._select_conv_backend(x, call.weight, call.bias, *geometry))
    except (AttributeError, TypeError, RuntimeError):  # it is private: it may go, or ask for something else
        return None


def _name(found: Any) -> str:
    name = str(getattr(found, "name", "???")).rstrip(",")  # 2.13 calls one "MpsTranspose,"
    if name != "???":
        return name
    # 2.13 forgot to name MkldnnTranspose, the value after Mkldnn.
    return "MkldnnTranspose" if int(found) == 9 else f"unknown ({int(found)})"


def _pair(value: int | Sequence[int]) -> list[int]:
    numbers = [value] if isinstance(value, int) else list(value)
    return numbers * 2 if len(numbers) == 1 else numbers


def _infer(call: _Call, forward_ops: tuple[str, ...]) -> str:
    if not call.input.numel():
        return "Empty"
    for name, op in BACKENDS.items():
        if op in forward_ops:
            return name
    return "MkldnnTranspose" if call.transposed and call.input.device.type == "cpu" else "unknown"


def _chain(forward_ops: tuple[str, ...], backward_ops: tuple[str, ...], transposed: bool) -> tuple[str, ...]:
    def convolutions(ops: tuple[str, ...]) -> list[str]:
        return [op for op in ops if "conv" in op.lower() and not op.startswith("autograd::engine")]

    backward, last = convolutions(backward_ops), "aten::convolution_backward"
    start = ("nn.ConvTranspose2d", "F.conv_transpose2d") if transposed else ("nn.Conv2d", "F.conv2d")
    return (*start, *convolutions(forward_ops), *backward[: backward.index(last)], last)
