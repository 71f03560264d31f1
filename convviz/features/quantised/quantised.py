"""A quantised layer on the numbers of one pass: what forward uses, what backward returns, and what is true of both."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as F
from torch.autograd.gradcheck import GradcheckError

from convviz.explanation.central_differences import Loss, central_differences
from convviz.facts.words import sentences
from convviz.features.quantised.layers_and_variants import KINDS, Kind
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.nn import surrogate_check
from convviz.nn.conv2d import PaddingMode
from convviz.nn.quantized_conv2d import QuantizedConv2d
from convviz.nn.straight_through import binarize
from convviz.ops.padding import pad_input
from convviz.ops.stages import Stages

say = sentences("features/quantised")

MAX_QUANTISED_PRODUCTS = 200_000_000  # of all runs together: about half a second
EPS = 1e-6  # as in torch.autograd.gradcheck


@dataclass(frozen=True, eq=False)
class ShownFilter:
    """The filter that is shown, by itself: one output channel and the input channels of its group, float64."""

    spec: ConvSpec  # of these channels alone
    input: torch.Tensor  # [N, C_in / groups, H, W]
    weight: torch.Tensor  # [1, C_in / groups, kH, kW]
    bias: torch.Tensor | None
    grad_output: torch.Tensor  # [N, 1, H_out, W_out]
    sample: int
    channel: int


@dataclass(frozen=True, eq=False)
class Variant:
    """One straight-through variant of a layer, or one parameter of it."""

    name: str
    parameter: str
    sentence: str
    mask: torch.Tensor  # [kH, kW], from the gradient of the quantised weight to that of the latent one
    gradient: torch.Tensor  # [kH, kW], of the latent weight


@dataclass(frozen=True, eq=False)
class Quantised:
    """One quantised layer with the shown planes of a pass, float64; each tensor is [kH, kW] if nothing else is said."""

    latents: dict[str, torch.Tensor]  # what is learned: the weight, or shift and sign
    quantized_weight: torch.Tensor  # what forward convolves with
    signs: torch.Tensor | None  # the binarised input [H, W], with the border
    scale: torch.Tensor | None  # K, which gives the input's sizes back, [H_out, W_out]
    output: torch.Tensor  # [H_out, W_out]
    grad_quantized_weight: torch.Tensor
    variants: tuple[Variant, ...]
    stairs: torch.Tensor  # central differences of the layer itself by the chosen variant's latent weight
    surrogate: torch.Tensor  # central differences of the smooth function that the variant states
    at_kink: bool  # some latent weight lies where that function has a kink
    gradcheck_passes: bool
    surrogate_complaint: str  # of convviz.nn.surrogate_check; empty when all is well


def quantised(stages: Stages, plane: Plane, kind: str, variant: str) -> Quantised:
    """Put a quantised layer in the place of the convolution, for the one filter that is shown."""
    seen = _shown_filter(stages, plane)
    layers = {name: _layer(KINDS[kind], name, seen) for name in KINDS[kind].variants}
    layer, parameter = layers[variant], KINDS[kind].variants[variant].parameter
    output = layer(seen.input).detach()
    # The identity hands the gradient of the quantised weight on as it is.
    plain = KINDS[kind].plain
    to_quantized = _gradient(layers[plain], KINDS[kind].variants[plain].parameter, seen)
    at = (0, seen.channel)
    value = layer.get_parameter(parameter).detach()
    run, smooth = (_of_plane(function, layer, parameter, seen) for function in (_run, _smooth))
    with torch.no_grad():
        stairs, surrogate = (central_differences(loss, value[at], EPS) for loss in (run, smooth))
    binarises = KINDS[kind].binarises_input
    return Quantised(
        latents={name: getattr(layer, name).detach()[at] for name in KINDS[kind].latents},
        quantized_weight=layer.quantized_weight.detach()[at],
        signs=binarize(pad_input(seen.input, seen.spec))[seen.sample, seen.channel] if binarises else None,
        scale=_input_scale(seen) if KINDS[kind].scales_input else None,
        output=output[seen.sample, 0],
        grad_quantized_weight=to_quantized[at],
        variants=tuple(_variant(KINDS[kind], name, each, seen) for name, each in layers.items()),
        stairs=stairs,
        surrogate=surrogate,
        at_kink=_at_kink(variant, layer, at),
        gradcheck_passes=_gradcheck(run, value[at]),
        surrogate_complaint=_surrogate_complaint(layer, seen),
    )


def _shown_filter(stages: Stages, plane: Plane) -> ShownFilter:
    spec = stages.spec
    if stages.transposed:
        raise ValueError(say("refused.transposed"))
    if any(before != after for before, after in spec.padding):
        raise ValueError(say("refused.padding", padding=spec.padding))
    at, per_group = plane.within(spec), spec.in_channels // spec.groups
    channels = slice(at.in_channel // per_group * per_group, (at.in_channel // per_group + 1) * per_group)
    own = spec.replace(in_channels=per_group, out_channels=1, groups=1)
    cells = math.prod(own.kernel_size)
    if own.products * 6 * cells > MAX_QUANTISED_PRODUCTS:
        raise ValueError(say("refused.products", cells=cells, millions=f"{own.products / 10**6:.1f}"))

    def double(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().to("cpu", torch.float64)

    filters = slice(at.out_channel, at.out_channel + 1)
    return ShownFilter(
        own,
        double(stages.input)[:, channels],
        double(stages.weight)[filters],
        None if stages.bias is None else double(stages.bias)[filters],
        double(stages.grad_output)[:, filters],
        at.sample,
        at.in_channel % per_group,
    )


def _layer(kind: Kind, variant: str, seen: ShownFilter) -> QuantizedConv2d:
    spec = seen.spec
    keywords = kind.keywords | kind.variants[variant].keywords
    with torch.random.fork_rng(devices=[]):  # a layer draws its first parameters, which are not used here
        layer = kind.layer(
            spec.in_channels,
            1,
            spec.kernel_size,
            spec.stride,
            (spec.padding[0][0], spec.padding[1][0]),
            spec.dilation,
            bias=seen.bias is not None,
            padding_mode=cast(PaddingMode, spec.padding_mode),
            dtype=torch.float64,
            **keywords,
        )
    weight = seen.weight
    with torch.no_grad():
        if "shift" in kind.latents:
            layer.get_parameter("shift").copy_(weight.abs().log2().clamp(*layer.exponent_range))  # type: ignore[misc]
            layer.get_parameter("sign").copy_(weight.sign())
        else:
            layer.weight.copy_(weight)
        if layer.bias is not None and seen.bias is not None:
            layer.bias.copy_(seen.bias)
    return layer


def _variant(kind: Kind, name: str, layer: QuantizedConv2d, seen: ShownFilter) -> Variant:
    parameter = kind.variants[name].parameter
    mask = torch.ones_like(seen.weight) if parameter == "sign" else layer.ste_mask.detach()
    at = (0, seen.channel)
    return Variant(name, parameter, say(f"variant.{name}"), mask[at], _gradient(layer, parameter, seen)[at])


def _gradient(layer: QuantizedConv2d, parameter: str, seen: ShownFilter) -> torch.Tensor:
    with torch.enable_grad():
        # Not grad_outputs=: to compare two shapes torch would load sympy, half a second.
        weighted = (seen.grad_output * layer(seen.input)).sum()
        gradients = torch.autograd.grad(weighted, layer.get_parameter(parameter))
    return gradients[0]


def _run(layer: QuantizedConv2d, parameter: str, moved: torch.Tensor, seen: ShownFilter) -> torch.Tensor:
    output: torch.Tensor = torch.func.functional_call(layer, {parameter: moved}, (seen.input,))
    return (seen.grad_output * output).sum()


def _smooth(layer: QuantizedConv2d, parameter: str, moved: torch.Tensor, seen: ShownFilter) -> torch.Tensor:
    parameters = {name: value.detach() for name, value in layer.named_parameters()} | {parameter: moved}
    return (seen.grad_output * layer.surrogate(seen.input, seen.input, parameters)).sum()


def _of_plane(function: Callable[..., torch.Tensor], layer: QuantizedConv2d, parameter: str, seen: ShownFilter) -> Loss:
    value, place = layer.get_parameter(parameter).detach(), (torch.tensor(0), torch.tensor(seen.channel))
    return lambda cells: function(layer, parameter, value.index_put(place, cells), seen)


def _gradcheck(loss: Loss, cells: torch.Tensor) -> bool:
    try:
        return torch.autograd.gradcheck(loss, cells.clone().requires_grad_(), eps=EPS)
    except GradcheckError:
        return False


def _surrogate_complaint(layer: QuantizedConv2d, seen: ShownFilter) -> str:
    """Return what surrogate_check says of the input's first windows; empty if all is well."""
    spec = seen.spec
    rows, columns = (
        max(dilation * (kernel - 1) + 1 + stride, padding + 1)
        for dilation, kernel, stride, (padding, _) in zip(
            spec.dilation, spec.kernel_size, spec.stride, spec.padding, strict=True
        )
    )
    part = seen.input[seen.sample : seen.sample + 1, :, :rows, :columns]
    try:
        surrogate_check(layer, part, eps=EPS)
    except AssertionError as error:
        return str(error)
    return ""


def _at_kink(variant: str, layer: QuantizedConv2d, at: tuple[int, int]) -> bool:
    """Return whether a shown latent weight is ±1 where it is clipped, or 0 where |w| counts."""
    if variant not in ("clip", "scaled_sign"):
        return False
    sizes = layer.weight.detach()[at].abs()
    return bool((sizes == 1).any() or (variant == "scaled_sign" and (sizes == 0).any()))


def _input_scale(seen: ShownFilter) -> torch.Tensor:
    """Return K ``[H_out, W_out]``: the mean of |input|, border included, over channels and window."""
    spec = seen.spec
    sizes = pad_input(seen.input[seen.sample : seen.sample + 1], spec).abs().mean(1, keepdim=True)
    box = torch.full((1, 1, *spec.kernel_size), 1 / math.prod(spec.kernel_size), dtype=sizes.dtype)
    return F.conv2d(sizes, box, None, spec.stride, 0, spec.dilation)[0, 0]
