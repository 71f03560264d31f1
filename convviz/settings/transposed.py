"""A transposed convolution by its own sizes: its input and output_padding are set, its output's size follows."""

from collections.abc import Sequence
from typing import Any

from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec, Pair

say = sentences("rules")
WINDOW = ("kernel_size", "stride", "padding", "dilation")  # what each axis has beside its size
AXES = ("axis.height", "axis.width")


def layer_pair(spec: ConvSpec, name: str) -> Any:
    own = {"input_size": spec.output_size, "output_padding": spec.remainder}
    return own[name] if name in own else getattr(spec, name)


def layer_spec(spec: ConvSpec, input_size: Sequence[int], output_padding: Sequence[int], **changes: Any) -> ConvSpec:
    """Return the geometry of the layer with these sizes, (H, W), and other fields in full form."""
    changed = {name: changes.get(name, getattr(spec, name)) for name in WINDOW}
    for axis in (0, 1):
        if not 0 <= output_padding[axis] < changed["stride"][axis]:
            got = {"value": output_padding[axis], "axis": say(AXES[axis]), "stride": changed["stride"][axis]}
            raise ValueError(say("refused.output_padding", **got))
    size = output_size(input_size, output_padding, **changed)
    if min(size) < 1:
        raise ValueError(say("refused.output", size=list(size)))
    return spec.replace(input_size=size, **changes)


def output_size(input_size: Sequence[int], output_padding: Sequence[int], **spec: Any) -> Pair:
    """Return the layer's (H_out, W_out); below 1 the padding cuts everything off."""
    fields = (spec[name] for name in WINDOW)
    rows, columns = (
        (size - 1) * stride - sum(sides) + dilation * (kernel - 1) + 1 + extra
        for size, extra, kernel, stride, sides, dilation in zip(input_size, output_padding, *fields, strict=True)
    )
    return rows, columns
