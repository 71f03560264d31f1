"""One run of a model, forward and backward, with what one convolution in it took, gave and was sent back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from convviz.explanation.layer.find_layer import find_layer
from convviz.explanation.run_model import arguments, call_with_copies, check_loss, loss_value, undisturbed
from convviz.geometry.spec import ConvSpec
from convviz.geometry.whole_numbers import is_whole
from convviz.ops import half_precision
from convviz.ops.deviation import compare
from convviz.ops.padding import pad_input

TF32 = 2.0**13  # how much coarser its rounding is than that of float32


@dataclass(frozen=True, eq=False)
class Recorded:
    """What one convolution did in one run of a model, in the shapes of its layer; input to grad_output are 4-D."""

    name: str  # in the model; empty for the model itself
    kind: str  # the name of its class
    transposed: bool
    spec: ConvSpec  # of a transposed one that of the convolution whose input is its output
    input: torch.Tensor
    weight: torch.Tensor  # of a quantised layer the quantised one
    bias: torch.Tensor | None
    output: torch.Tensor
    grad_output: torch.Tensor
    runs: int  # how often it ran
    run: int  # which of these was recorded
    quantised: bool  # weight is not the parameter itself
    sent: str = ""  # whose gradient it is, if not that of the loss: a cell of the network, such as "conv2[0, 3, 3]"


def record_layer(
    module: torch.nn.Module,
    x: Any,
    layer: str | torch.nn.Module | None = None,
    loss: Callable[[Any], torch.Tensor] | None = None,
    run: int = 0,
) -> Recorded:
    """Run a model forward and backward on a batch, and return what one convolution in it did, as ``explain`` does.

    The model is left as it was: no gradient is added to a parameter, running statistics and torch's random numbers go
    back to where they were, and x is not written to.
    """
    module = getattr(module, "_orig_mod", module)  # torch.compile's wrapper: what it wraps can be watched
    name, found = find_layer(module, layer)
    check_loss(loss)
    if found is module:
        _check_batch(found, x)
    if not is_whole(run, 0):
        raise ValueError(f"run counts the runs of a layer from 0: got {run!r}; for example run=0")
    watcher = _Watcher(found, run)
    with undisturbed(module):
        handle = found.register_forward_hook(watcher, with_kwargs=True, prepend=True)
        try:
            output = call_with_copies(module, *arguments(x))
        finally:
            handle.remove()
        watcher.check_run(name or type(found).__name__)
        grad_output = _grad_output(output, loss, watcher.output)
    return _recorded(name, found, watcher, grad_output)


class _Watcher:
    """A forward hook that keeps what one run took and gave, and starts the graph at its output."""

    def __init__(self, layer: torch.nn.Module, run: int) -> None:
        self.run = run
        self._layer: Any = layer
        self.runs = 0

    def __call__(
        self, _: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: torch.Tensor
    ) -> torch.Tensor | None:
        self.runs += 1
        if self.runs != self.run + 1:
            return None
        weight = getattr(self._layer, "quantized_weight", self._layer.weight)
        bias = self._layer.bias
        with torch.inference_mode(False):
            self.input, self.weight, self.output = (
                tensor.detach().clone() for tensor in (args[0] if args else kwargs["input"], weight, output)
            )
            self.bias = bias.detach().clone() if isinstance(bias, torch.Tensor) else None
        self.output.requires_grad_()
        return self.output.clone()  # not the leaf itself: the next layer may write into it

    def check_run(self, name: str) -> None:
        if not self.runs:
            raise ValueError(
                f"{name} did not run: the model's forward does not call it for this x; choose a layer that it calls"
            )
        if self.run >= self.runs:
            raise ValueError(
                f"run counts the runs of {name} from 0: got {self.run!r}, and it ran {self.runs} times for this x"
            )


def _grad_output(output: Any, loss: Callable[[Any], torch.Tensor] | None, leaf: torch.Tensor) -> torch.Tensor:
    value = loss_value(output, loss)
    gradient = torch.autograd.grad(value, leaf, allow_unused=True)[0] if value.requires_grad else None
    if gradient is None:
        raise ValueError(
            "the loss must depend differentiably on the layer's output: after the layer the model leaves the graph "
            "(no_grad, inference_mode, detach, argmax or a conversion to whole numbers), or does not use it"
        )
    return gradient.detach()


def _recorded(name: str, layer: torch.nn.Module, watcher: _Watcher, grad_output: torch.Tensor) -> Recorded:
    batch = [tensor if tensor.dim() == 4 else tensor[None] for tensor in (watcher.input, watcher.output.detach())]
    transposed = isinstance(layer, torch.nn.ConvTranspose2d)
    made = Recorded(
        name,
        type(layer).__name__,
        transposed,
        _spec(layer, batch[1] if transposed else batch[0]),
        batch[0],
        watcher.weight,
        watcher.bias,
        batch[1],
        grad_output.reshape(batch[1].shape),
        watcher.runs,
        watcher.run,
        hasattr(layer, "quantized_weight"),
    )
    _check_is_a_convolution(made)
    return made


def _spec(layer: Any, image: torch.Tensor) -> ConvSpec:
    transposed = isinstance(layer, torch.nn.ConvTranspose2d)
    channels = (layer.out_channels, layer.in_channels) if transposed else (layer.in_channels, layer.out_channels)
    height, width = image.shape[-2:]
    return ConvSpec(
        (height, width),
        *channels,
        layer.kernel_size,
        layer.stride,
        layer.padding,
        layer.dilation,
        layer.groups,
        layer.padding_mode,
        image.shape[0],
    )


def _check_is_a_convolution(made: Recorded) -> None:
    """Hold the output against the convolution of the input: somebody's own class may do more."""
    with torch.no_grad():
        ours = _convolution(made, made.input, made.weight, made.bias)
        size = _convolution(made, made.input.abs(), made.weight.abs(), None if made.bias is None else made.bias.abs())
    terms = made.weight[0].numel() * (made.spec.out_channels if made.transposed else 1) + 1
    found = compare("output", ours, made.output, size, terms, folded=True)
    coarser = TF32 if made.output.device.type == "cuda" and made.output.dtype is torch.float32 else 1.0
    if not found.value <= found.tolerance * coarser:
        off = f"it differs by {found.value:.2g}" if found.index else "its shape differs"
        raise ValueError(
            f"explain shows layers whose output is the convolution of their input with their weight: that of "
            f"{made.name or 'the layer'} ({made.kind}) is not, {off}; explain a plain convolution instead"
        )


def _convolution(made: Recorded, input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    spec, dtype = made.spec, made.output.dtype
    # Autocast rounds what the layer takes to the format of its output.
    x, w, b = (None if tensor is None else tensor.to(dtype) for tensor in (input, weight, bias))
    assert x is not None
    assert w is not None
    if not made.transposed:
        return half_precision.correlate(pad_input(x, spec), w, b, spec.stride, 0, spec.dilation, spec.groups)
    padding = (spec.padding[0][0], spec.padding[1][0])
    extra = [
        made.output.shape[2 + axis]
        - ((x.shape[2 + axis] - 1) * spec.stride[axis] - 2 * padding[axis] + spec.effective_kernel[axis])
        for axis in (0, 1)
    ]
    x, w, b = (None if tensor is None else half_precision.widened_on_cpu(tensor) for tensor in (x, w, b))
    assert x is not None
    assert w is not None
    whole = F.conv_transpose2d(x, w, b, spec.stride, padding, extra, spec.groups, spec.dilation)
    return whole.to(dtype)


def _check_batch(layer: torch.nn.Module, x: Any) -> None:
    """Refuse a batch that the layer cannot take, before torch does so in words of its own."""
    if isinstance(x, (tuple, dict)):
        return
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"x is a batch as a tensor, [N, C_in, H, W]: got {type(x).__name__}; use torch.as_tensor")
    weight, channels = next(layer.parameters()), layer.in_channels
    if x.is_meta:
        raise ValueError("x is on the meta device, which has shapes but no numbers: pass a batch with numbers")
    if x.dim() not in (3, 4) or x.shape[-3] != channels:
        raise ValueError(
            f"x must be [N, {channels}, H, W], the layer's in_channels in second place: got {list(x.shape)}"
        )
    if x.dtype != weight.dtype and not torch.is_autocast_enabled(x.device.type):
        raise ValueError(f"x must have the weight's dtype, {weight.dtype}: got {x.dtype}; convert it with x.to(...)")
    if x.device != weight.device:
        raise ValueError(f"x must be on the weight's device, {weight.device}: got {x.device}; move one of them")
