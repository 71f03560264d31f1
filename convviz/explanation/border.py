"""Where torch's operators pad by themselves, and where the border needs a step of its own."""

from convviz.geometry.spec import ConvSpec, Pair


def has_border(spec: ConvSpec) -> bool:
    return any(map(any, spec.padding))


def copies(spec: ConvSpec) -> bool:
    """Whether the border is made of copies, whose gradients have to be folded back."""
    return has_border(spec) and spec.padding_mode != "zeros"


def padded_apart(spec: ConvSpec) -> bool:
    """Whether the border needs a step of its own: an operator pads zeros, as many before as after."""
    return copies(spec) or any(before != after for before, after in spec.padding)


def own_padding(spec: ConvSpec) -> Pair:
    return (0, 0) if padded_apart(spec) else (spec.padding[0][0], spec.padding[1][0])
