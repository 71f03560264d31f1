"""The quantised layers and their variants, whose sentences have their names."""

from dataclasses import dataclass, field
from typing import Any

from convviz.nn import BinaryConv2d, Conv2dShift, XNORConv2d


@dataclass(frozen=True)
class VariantOf:
    """One column of the tab: a straight-through variant, or one of several parameters."""

    keywords: dict[str, Any] = field(default_factory=dict)
    parameter: str = "weight"


@dataclass(frozen=True)
class Kind:
    """One quantised layer."""

    title: str
    layer: type[Conv2dShift] | type[BinaryConv2d] | type[XNORConv2d]
    variants: dict[str, VariantOf]
    keywords: dict[str, Any] = field(default_factory=dict)
    latents: tuple[str, ...] = ("weight",)  # the parameters that are learned in the weight's place
    binarises_input: bool = False
    scales_input: bool = False
    plain: str = "identity"  # the variant that hands the gradient of the quantised weight on unchanged


_STES = {name: VariantOf({"ste": name}) for name in ("identity", "clip", "tanh")}
_SCALED = {"scaled_sign": VariantOf({"ste": "scaled_sign"})} | _STES

KINDS = {
    "shift_q": Kind("Conv2dShift, variant Q", Conv2dShift, _STES),
    "shift_ps": Kind(
        "Conv2dShift, variant PS",
        Conv2dShift,
        {name: VariantOf(parameter=name) for name in ("shift", "sign")},
        {"variant": "PS"},
        latents=("shift", "sign"),
        plain="sign",
    ),
    "binary": Kind("BinaryConv2d", BinaryConv2d, _SCALED),
    "xnor": Kind("XNORConv2d", XNORConv2d, _SCALED, binarises_input=True, scales_input=True),
    "bnn": Kind("XNORConv2d, scaled=False", XNORConv2d, _STES, {"scaled": False}, binarises_input=True),
}
