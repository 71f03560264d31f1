"""A geometry as it is said."""

from __future__ import annotations

from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec, Pair

say = sentences("check")


def setting_in_words(spec: ConvSpec) -> str:
    """Return kernel, stride and padding of a geometry, and dilation and border where they are not the plain ones."""
    height, width = spec.kernel_size
    padding = _written((spec.padding[0][0], spec.padding[1][0]))
    padding = str(spec.padding) if any(before != after for before, after in spec.padding) else padding
    said = [say("setting", height=height, width=width, stride=_written(spec.stride), padding=padding)]
    if spec.dilation != (1, 1):
        said.append(say("setting.dilation", dilation=_written(spec.dilation)))
    if spec.padding_mode != "zeros":
        said.append(say("setting.border", mode=spec.padding_mode))
    return comma(said)


def probe_in_words(what: str, spec: ConvSpec) -> str:
    """Return a geometry of one channel with its size, which is that of what is called input or output."""
    height, width = spec.input_size
    return comma([say("setting.size", what=what, height=height, width=width), setting_in_words(spec)])


def _written(pair: Pair) -> str:
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]}×{pair[1]}"
