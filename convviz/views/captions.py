"""What stands under a still picture: each equation in the words of Python, and the loss."""

from convviz.facts.format_numbers import MINUS, format_long
from convviz.facts.words import sentences
from convviz.geometry.shown_plane import Plane
from convviz.ops.stages import Stages
from convviz.settings.tensor_display_names import panel_name, shown_name

say = sentences("picture")


def formula(stages: Stages, plane: Plane, name: str, input_view: str = "window") -> str:
    if name == "bias":
        return say("formula.bias")
    spec, transposed = stages.spec, stages.transposed
    ins, outs = spec.in_channels // spec.groups, spec.out_channels // spec.groups
    o, c = plane.out_channel, plane.in_channel
    k, j = c % ins, o % outs
    # A sum counts within the group, as the weight's second axis does; elsewhere the group's first channel is added.
    first = {"from_c": f"{c - k} + " if c > k else "", "from_o": f"{o - j} + " if o > j else ""}
    left = "grad_input" if stages.grad_padded_input is None else "grad_padded_input"
    row = {"input": "window" if input_view == "window" else "stamps"}.get(name, name)
    several = {"forward": ins, "weight": spec.batch}.get(name, outs) > 1
    # Rows and columns that the remainder would add to grad_weight.
    cut = name == "weight" and any(rest >= step for rest, step in zip(spec.remainder, spec.dilation, strict=True))
    id = f"formula.{'layer.' * transposed}{row}{'.sum' * several}{'.cut' * cut}"
    height, width = spec.kernel_size
    no = _index(spec.batch * spec.out_channels, plane.sample, o)
    pairs = {"no": no, "nc": _index(spec.batch * spec.in_channels, plane.sample, c), "at": no and f"{no[1:-1]}, ",
             "ok": _index(spec.out_channels * ins, o, k), "cj": _index(spec.in_channels * outs, c, j)}  # fmt: skip
    text = say(id, n=plane.sample, o=o, c=c, k=k, j=j, **pairs, **first, left=shown_name(left, transposed),
               kernel=panel_name("dilated_grad_output", spec, transposed),
               height=height, width=width, down=_stamp_at(stages, 0), across=_stamp_at(stages, 1))  # fmt: skip
    if stages.bias is None or name != ("input" if transposed else "forward"):
        return text
    return say("formula.plus_bias", formula=text, channel=_index(len(stages.bias), c if transposed else o))


def _index(planes: int, *at: int) -> str:
    return str([*at]) if planes > 1 else ""


def _stamp_at(stages: Stages, axis: int) -> str:
    stride, letter = stages.spec.stride[axis], "ij"[axis]
    before = stages.spec.padding[axis][0] if stages.grad_padded_input is None else 0
    return (f"{stride}{letter}" if stride > 1 else letter) + (f" {MINUS} {before}" if before else "")


def loss(stages: Stages) -> str:
    return say(f"loss.{stages.loss_kind}", value=format_long(float(stages.loss)))
