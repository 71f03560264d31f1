"""Anybody's quantiser with a straight-through gradient: held against what it states, its faults apart from the layer's.

With q the quantiser of a tensor and s its surrogate, a layer computes as if each quantised tensor t were
``q(t) + s(t) - s(t0)`` at t = t0: its value is q(t0), its slope that of s. What differs from the gradients of that is
either in the quantisers or in the convolution between them, and is looked for in one after the other.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F

from convviz.facts import facts
from convviz.nn.straight_through import SURROGATES
from convviz.ops.to_tensor import cell_at

Map = Callable[[torch.Tensor], torch.Tensor]
Tensors = Mapping[str, torch.Tensor]
QUANTISED = ("input", "weight", "output")


def _same(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


# What a kernel, or a gradient of one, may be taken as: ids of the catalogue, in grad_input and in grad_weight.
TURNED: Mapping[str, tuple[str, Map]] = {
    "I01": ("W01", lambda kernel: kernel.flip(-2, -1)),
    "I03": ("", lambda kernel: kernel.flip(-2)),  # of the rotated kernel the one half is left
    "I04": ("", lambda kernel: kernel.flip(-1)),
    "I05": ("", lambda kernel: kernel.mT.flip(-2, -1)),
}
FACTORS: Mapping[str, Callable[[int], float]] = {
    "G05": lambda batch: 2,
    "G06": lambda batch: 0.5,
    "G07": lambda batch: -1,
    "I24": lambda batch: 1 / batch,
}


@dataclass(frozen=True)
class Model:
    """What a layer is said to compute: a convolution of quantised tensors."""

    convolution: Callable[..., torch.Tensor]  # of (input, weight, bias)
    forward: Mapping[str, Map]  # which of ``QUANTISED`` are quantised, and how
    surrogate: Mapping[str, Map]

    def output(self, tensors: Tensors) -> torch.Tensor:
        """Return the output, whose gradients are those of the surrogates."""
        given = [self._through(name, tensors[name]) if name in tensors else None for name in ("input", "weight")]
        return self._through("output", self.convolution(*given, tensors.get("bias")))

    def gradients(self, tensors: Tensors, sent: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the gradients of every tensor, for what is sent back."""
        with torch.enable_grad():
            leaves = {name: value.detach().requires_grad_() for name, value in tensors.items()}
            sums = torch.autograd.grad(self.output(leaves), list(leaves.values()), sent, materialize_grads=True)
        return dict(zip(leaves, sums, strict=True))

    def _through(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        if name not in self.forward:
            return tensor
        slope = self.surrogate[name](tensor)
        return self.forward[name](tensor.detach()) + slope - slope.detach()


def check_own(
    layer: Callable[..., Any],
    tensors: Tensors,
    forward: Map | Mapping[str, Map],
    surrogate: str | Map | Mapping[str, str | Map],
    convolution: Callable[..., torch.Tensor] | None,
    atol: float,
    rtol: float,
) -> None:
    """Raise unless a layer's, or a function's, output and gradients are those of the quantisers that are stated.

    The arguments are those of ``surrogate_check``, the tensors by name.

    Raises:
        AssertionError: something is wrong; says in the quantiser or in the convolution, and what.
    """
    call, tensors = _called(layer, tensors)
    plain = convolution or _convolution_of(layer)
    with torch.enable_grad():
        leaves = {name: value.detach().requires_grad_() for name, value in tensors.items()}
        output = call(leaves)
        sent = torch.randn(output.shape, generator=torch.Generator().manual_seed(0), dtype=output.dtype)
        given = torch.autograd.grad(output, list(leaves.values()), sent, materialize_grads=True)
    got = dict(zip(leaves, given, strict=True))

    def close(one: torch.Tensor, other: torch.Tensor) -> bool:
        return one.shape == other.shape and torch.allclose(one, other, rtol, atol * max(1, float(other.abs().max())))

    model = _stated(plain, forward, surrogate, tensors, lambda one: close(output.detach(), one))
    if model is None:
        raise AssertionError(_other_output(plain, forward, tensors, output.detach(), close))
    for name, right in model.gradients(tensors, sent).items():
        if not close(got[name], right):
            raise AssertionError(_reason(model, tensors, sent, name, got[name], right, close))


def _called(layer: Callable[..., Any], tensors: Tensors) -> tuple[Callable[[Tensors], torch.Tensor], Tensors]:
    """Return what is called with the tensors, all of them by name, in float64 on the CPU."""
    exact = {name: value.detach().to("cpu", torch.float64, copy=True) for name, value in tensors.items()}
    if not isinstance(layer, torch.nn.Module):
        return lambda given: layer(*given.values()), exact
    twin = copy.deepcopy(layer).to("cpu", torch.float64)
    own = dict(twin.named_parameters())
    if unknown := sorted(set(own) - {"weight", "bias"}):
        raise TypeError(f"the layer's parameters are weight and bias: got {', '.join(unknown)}; check it as a function")

    def call(given: Tensors) -> torch.Tensor:
        named = {name: value for name, value in given.items() if name != "input"}
        result: torch.Tensor = torch.func.functional_call(twin, named, (given["input"],))
        return result

    return call, {**exact, **{name: value.detach() for name, value in own.items()}}


def _convolution_of(layer: Any) -> Callable[..., torch.Tensor]:
    """Return the plain operator of a layer: torch's convolution in its geometry, or its linear one."""
    if isinstance(layer, torch.nn.Linear):
        return F.linear
    if isinstance(layer, torch.nn.Conv2d) and layer.padding_mode != "zeros":
        return layer._conv_forward
    plain = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}
    settings = {name: getattr(layer, name, default) for name, default in plain.items()}
    return lambda input, weight, bias: F.conv2d(input, weight, bias, **settings)


def _stated(
    plain: Callable[..., torch.Tensor],
    forward: Map | Mapping[str, Map],
    surrogate: str | Map | Mapping[str, str | Map],
    tensors: Tensors,
    fits: Callable[[torch.Tensor], bool],
) -> Model | None:
    """Return the model as it is stated; of one quantiser alone by which tensors it explains the output."""
    slopes = surrogate if isinstance(surrogate, Mapping) else dict.fromkeys(QUANTISED, surrogate)
    named = {name: SURROGATES[each] if isinstance(each, str) else each for name, each in slopes.items()}
    if isinstance(forward, Mapping):
        choices: list[Mapping[str, Map]] = [forward]
    else:
        several = [itertools.combinations(("weight", "input", "output"), count) for count in (1, 2, 3)]
        choices = [dict.fromkeys(names, forward) for names in itertools.chain(*several)]
    for each in choices:
        model = Model(plain, each, {name: named.get(name, _same) for name in each})
        if fits(model.output(tensors).detach()):
            return model
    return None


def _other_output(
    plain: Callable[..., torch.Tensor],
    forward: Map | Mapping[str, Map],
    tensors: Tensors,
    output: torch.Tensor,
    close: Callable[[torch.Tensor, torch.Tensor], bool],
) -> str:
    if close(output, plain(tensors["input"], tensors["weight"], tensors.get("bias"))):
        return "in the quantiser: nothing is quantised, the output is that of the plain convolution"
    quantisers = forward if isinstance(forward, Mapping) else dict.fromkeys(("input", "weight"), forward)
    for names in (("weight",), ("input", "weight")):
        given = {name: quantisers[name](tensors[name]) for name in names if name in quantisers}
        given = {**tensors, **given, "weight": TURNED["I01"][1](given.get("weight", tensors["weight"]))}
        if close(output, plain(given["input"], given["weight"], given.get("bias"))):
            return f"in the convolution: {_title('F01')} (F01, output)"
    return (
        "the output is not the convolution of tensors that forward quantises: state each quantiser, "
        'forward={"input": ..., "weight": ...}, and the geometry by convolution=, a function of (input, weight, bias)'
    )


def _reason(
    model: Model,
    tensors: Tensors,
    sent: torch.Tensor,
    name: str,
    got: torch.Tensor,
    right: torch.Tensor,
    close: Callable[[torch.Tensor, torch.Tensor], bool],
) -> str:
    """Return where a wrong gradient comes from: the convolution, a quantiser, or both; else the cell furthest off."""
    index = cell_at(int((got - right).abs().nan_to_num(nan=torch.inf).argmax()), got.shape)
    numbers = f"backward gives {float(got[index]):.9g}, by the surrogate it is {float(right[index]):.9g}"
    seen = f"the gradient of {name} is wrong at {list(index)}: {numbers}"
    if not bool(got.any()):
        return f"{seen}; in the quantiser: {_title('Q01')} (Q01)"
    for quantiser, other in (("", model), *_other_quantisers(model, name)):
        for id, found in _other_convolutions(other, tensors, sent, name):
            if (quantiser or id) and close(got, found):
                where = filter(None, (id and f"in the convolution: {_title(id)} ({id})", quantiser))
                return f"{seen}; {'; and '.join(where)}"
    whole = model.forward.get(name, model.forward.get("weight", _same))
    if close(got, whole(right)):
        return f"{seen}; in the quantiser: the gradient itself is quantised"
    return (
        f"{seen}; neither a known mistake of the convolution nor another straight-through gradient gives these numbers"
    )


def _other_quantisers(model: Model, name: str) -> Iterator[tuple[str, Model]]:
    """Yield what else a quantiser may do on the way back, with the model that does it."""
    for of, ste in itertools.product(model.forward, SURROGATES):
        other = replace(model, surrogate={**model.surrogate, of: SURROGATES[ste]})
        yield f"in the quantiser of {of}: its gradient is that of surrogate={ste!r}, another than is stated", other
    for of in model.forward:
        if of not in (name, "output"):
            kept = {each: forward for each, forward in model.forward.items() if each != of}
            said = f"in the quantiser: the gradient of {name} is computed with the {of} as it is kept, not quantised"
            yield said, replace(model, forward=kept)


def _other_convolutions(
    model: Model, tensors: Tensors, sent: torch.Tensor, name: str
) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield a gradient as it is, and as each mistake in the convolution gives it, with the mistake's id."""
    right, batch, convolution = model.gradients(tensors, sent)[name], len(tensors["input"]), model.convolution
    yield "", right
    for id, factor in FACTORS.items():
        yield id, factor(batch) * right
    for id, (of_weight, turned) in TURNED.items() if right.dim() == 4 else ():
        if name == "weight" and of_weight:
            yield of_weight, _turned(model, tensors, sent)
        elif name == "input" and turned(tensors["weight"]).shape == tensors["weight"].shape:
            other = replace(model, convolution=lambda x, w, b, turned=turned: convolution(x, turned(w), b))
            yield id, other.gradients(tensors, sent)[name]
    if name == "weight":
        first = {**tensors, "input": tensors["input"][:1]}
        yield "W10", model.gradients(first, sent[:1])[name]


def _turned(model: Model, tensors: Tensors, sent: torch.Tensor) -> torch.Tensor:
    """Return a gradient of the weight that the convolution rotates before the quantiser's slope is applied."""
    turned = TURNED["I01"][1]
    whole = replace(model, surrogate={**model.surrogate, "weight": _same})
    slope = {**tensors, "weight": tensors["weight"].detach().requires_grad_()}
    with torch.enable_grad():
        passed = model.surrogate.get("weight", _same)(slope["weight"])
        (factor,) = torch.autograd.grad(passed, slope["weight"], turned(whole.gradients(tensors, sent)["weight"]))
    return factor


def _title(id: str) -> str:
    return str(next(each["title"] for each in facts("mistakes") if each["id"] == id)).rstrip(".")
