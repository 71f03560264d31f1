"""The quantised layers and their variants, each with one sentence."""

from dataclasses import dataclass, field
from typing import Any

from convviz.facts.words import sentences
from convviz.nn import BinaryConv2d, Conv2dShift, XNORConv2d

say = sentences("quantised")


@dataclass(frozen=True)
class VariantOf:
    """One column of the tab: a straight-through variant, or one of several parameters."""

    what: str
    keywords: dict[str, Any] = field(default_factory=dict)
    parameter: str = "weight"

    @property
    def sentence(self) -> str:
        return say(self.what)


@dataclass(frozen=True)
class Kind:
    """One quantised layer."""

    title: str
    how: str  # id of the sentence on how it quantises
    layer: type[Conv2dShift] | type[BinaryConv2d] | type[XNORConv2d]
    variants: dict[str, VariantOf]
    keywords: dict[str, Any] = field(default_factory=dict)
    latents: tuple[str, ...] = ("weight",)  # the parameters that are learned in the weight's place
    binarises_input: bool = False
    scales_input: bool = False
    plain: str = "identity"  # the variant that hands the gradient of the quantised weight on unchanged

    @property
    def sentence(self) -> str:
        return say(self.how)


_STES = {
    "identity": VariantOf("variant.identity", {"ste": "identity"}),
    "clip": VariantOf("variant.clip", {"ste": "clip"}),
    "tanh": VariantOf("variant.tanh", {"ste": "tanh"}),
}
_SCALED = {
    "scaled_sign": VariantOf("variant.scaled_sign", {"ste": "scaled_sign"}),
    **_STES,
}

KINDS = {
    "shift_q": Kind("Conv2dShift, variant Q", "kind.shift_q", Conv2dShift, _STES),
    "shift_ps": Kind(
        "Conv2dShift, variant PS",
        "kind.shift_ps",
        Conv2dShift,
        {
            "shift": VariantOf("variant.shift", {}, "shift"),
            "sign": VariantOf("variant.sign", {}, "sign"),
        },
        {"variant": "PS"},
        latents=("shift", "sign"),
        plain="sign",
    ),
    "binary": Kind("BinaryConv2d", "kind.binary", BinaryConv2d, _SCALED),
    "xnor": Kind(
        "XNORConv2d",
        "kind.xnor",
        XNORConv2d,
        _SCALED,
        binarises_input=True,
        scales_input=True,
    ),
    "bnn": Kind(
        "XNORConv2d, scaled=False",
        "kind.bnn",
        XNORConv2d,
        _STES,
        {"scaled": False},
        binarises_input=True,
    ),
}
