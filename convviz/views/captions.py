"""The sentences on the page that depend on the numbers."""

from __future__ import annotations

import dataclasses

from convviz.ops.by_rotate import backward_padding
from convviz.ops.stages import Stages
from convviz.plane import Plane
from convviz.settings.names import in_layers_words, shown_letter, shown_name
from convviz.spec import ConvSpec, Pair
from convviz.views.say import clauses, if_there, lines, say
from convviz.views.theme import MINUS, format_long


def formula(stages: Stages, plane: Plane, name: str, input_view: str = "window") -> str:
    """Return an equation in the words of Python, for the plane that is shown."""
    if stages.transposed and name != "bias":
        convolution = dataclasses.replace(stages, transposed=False, bias=None)
        text = in_layers_words(formula(convolution, plane, name, input_view))
        return text + (f" + bias[{plane.in_channel}]" if name == "input" and stages.bias is not None else "")
    spec = stages.spec
    n, o, c = plane.sample, plane.out_channel, plane.in_channel
    ins, outs = spec.in_channels // spec.groups, spec.out_channels // spec.groups
    k, j = c % ins, o % outs
    # A sum counts within the group, as the weight's second axis does; elsewhere the group's first channel is added.
    every_c, every_o = _counted("c", c - k), _counted("o", o - j)
    if name == "forward":
        many = f"Σ_c padded_input[{n}, {every_c}] ⊛ weight[{o}, c]"
        term = many if ins > 1 else f"padded_input[{n}, {c}] ⊛ weight[{o}, {k}]"
        return f"output[{n}, {o}] = {term}" + (f" + bias[{o}]" if stages.bias is not None else "")
    if name == "input":
        left = "grad_input" if stages.grad_padded_input is None else "grad_padded_input"
        if input_view == "stamps":
            over, one = ("oij", every_o) if outs > 1 else ("ij", str(o))
            term = f"Σ_{over} grad_output[{n}, {one}, i, j] · weight[{one}, {k}]"
            return f"{left}[{n}, {c}] = {term} laid at {_stamp_place(stages)}"
        term = (
            f"Σ_o padded_grad_output[{n}, {every_o}] ⊛ rotated_weight[{c}, o]"
            if outs > 1
            else f"padded_grad_output[{n}, {o}] ⊛ rotated_weight[{c}, {j}]"
        )
        return f"{left}[{n}, {c}] = {term}"
    if name == "weight":
        sample = "n" if spec.batch > 1 else str(n)
        term = f"padded_input[{sample}, {c}] ⊛ dilated_grad_output[{sample}, {o}]"
        if any(_overhang(spec)):
            term = f"({term})[:{spec.kernel_size[0]}, :{spec.kernel_size[1]}]"
        return f"grad_weight[{o}, {k}] = " + (f"Σ_n {term}" if spec.batch > 1 else term)
    return "grad_bias[o] = Σ grad_output[n, o, i, j] over n, i and j"


def _counted(letter: str, first: int) -> str:
    return f"{first} + {letter}" if first else letter


def note(stages: Stages, name: str, input_view: str = "window") -> str:
    """Return what is worth saying about an equation for this geometry; may be empty."""
    if stages.transposed:
        return _transposed_note(stages, name, input_view)
    if name == "forward":
        return " ".join(filter(None, [_gaps_note(stages), _loss_note(stages)]))
    if name == "input":
        return _stamps_note(stages) if input_view == "stamps" else _padding_note(stages)
    if name == "weight":
        return _exchange_note(stages)
    return ""


def loss(stages: Stages) -> str:
    """Return the loss as an equation with its value."""
    return say(f"loss.{stages.loss_kind}", value=format_long(float(stages.loss)))


def _loss_note(stages: Stages) -> str:
    """Say how grad_output follows from the loss, where its formula does not show it."""
    cells = (stages.grad_input if stages.transposed else stages.output).numel()
    return if_there(f"loss_note.{stages.loss_kind}", cells=cells, count=stages.spec.batch)


def _gaps_note(stages: Stages) -> str:
    between, inside = inner_gaps(stages.spec)
    causes = (("gaps.stride", between), ("gaps.dilation", inside))
    return " ".join(say(cause, count=sum(counts), lines=lines(counts)) for cause, counts in causes if any(counts))


def _padding_note(stages: Stages) -> str:
    spec, transposed = stages.spec, stages.transposed
    parts = []
    if max(spec.weight_shape[:2]) > 1:
        o, c = (shown_letter(each, transposed) for each in "oc")
        parts.append(say("padding.channels_grouped" if spec.groups > 1 else "padding.channels", o=o, c=c))
    if spec.stride != (1, 1):
        parts.append(say("padding.zeros", grad_output=shown_name("grad_output", transposed)))
    formula = "d(k−1)−p" if stages.grad_padded_input is None else "d(k−1)"
    padded = "padding.padded"
    if any(spec.remainder):
        padded = "padding.padded_output_padding" if transposed else "padding.padded_remainder"
    parts.append(say(padded, formula=formula, sides=_sides(spec)))
    if min(min(sides) for sides in backward_padding(spec)) < 0:
        parts.append(say("padding.cropped"))
    return clauses(parts)


def _sides(spec: ConvSpec) -> str:
    """Say what the backward pass pads by; a negative number crops."""
    rows, columns = ([str(cells).replace("-", MINUS) for cells in sides] for sides in backward_padding(spec))
    if rows == columns:
        return say("padding.sides", before=rows[0], after=rows[1])
    return say("padding.axes", top=rows[0], bottom=rows[1], left=columns[0], right=columns[1])


def _stamp_place(stages: Stages) -> str:
    """Where the stamp of grad_output[i, j] has its first row and column."""

    def line(name: str, axis: int) -> str:
        stride = stages.spec.stride[axis]
        before = stages.spec.padding[axis][0] if stages.grad_padded_input is None else 0
        return (f"{stride}{name}" if stride > 1 else name) + (f" {MINUS} {before}" if before else "")

    return f"({line('i', 0)}, {line('j', 1)})"


def _stamps_note(stages: Stages) -> str:
    spec, transposed = stages.spec, stages.transposed
    parts = [say("stamps.each", grad_output=shown_name("grad_output", transposed))]
    if stages.grad_padded_input is None and any(map(any, spec.padding)):
        parts.append(say("stamps.dropped"))
    if any(spec.remainder):
        parts.append(say("stamps.output_padding" if transposed else "stamps.remainder"))
    return clauses(parts)


def _exchange_note(stages: Stages) -> str:
    spec = stages.spec
    if spec.stride == (1, 1) and spec.dilation == (1, 1):
        return say("exchange.none")
    steps = say("exchange.steps", grad_output=shown_name("grad_output", stages.transposed))
    height, width = spec.kernel_size
    more = lines(_overhang(spec))
    return f"{steps} {say('exchange.cut', height=height, width=width, lines=more)}" if more else steps


def _overhang(spec: ConvSpec) -> list[int]:
    """Return how many rows and columns the remainder would add to grad_weight, if nobody cut them off."""
    return [rest // step for rest, step in zip(spec.remainder, spec.dilation, strict=True)]


def _transposed_note(stages: Stages, name: str, input_view: str) -> str:
    """The same facts in the words of a transposed convolution, whose remainder is its output_padding."""
    spec = stages.spec
    if name == "forward":
        return say("layer.no_rotation")
    if name == "weight":
        return _exchange_note(stages)
    if name != "input":
        return ""
    parts = [_stamps_note(stages) if input_view == "stamps" else _padding_note(stages)]
    if bare := lines((len(spec.unread_rows), len(spec.unread_columns))):
        parts.append(say("layer.bare" if stages.bias is None else "layer.bare_bias", lines=bare))
    return " ".join(filter(None, [*parts, _size_note(stages), _loss_note(stages)]))


def _size_note(stages: Stages) -> str:
    """Say how the output's size follows from the input's."""
    spec = stages.spec

    def sum_of(axis: int) -> str:
        before, after = spec.padding[axis]
        padding = f"2·{before}" if before == after else f"({before} + {after})"
        kernel = f"{spec.dilation[axis]}·({spec.kernel_size[axis]} {MINUS} 1)"
        start = f"({spec.output_size[axis]} {MINUS} 1)·{spec.stride[axis]} {MINUS} {padding} + {kernel}"
        return f"{start} + output_padding {spec.remainder[axis]} + 1 = {spec.input_size[axis]}"

    rows, columns = sum_of(0), sum_of(1)
    if rows == columns:
        return say("layer.size", size=rows)
    return say("layer.size_axes", rows=rows, columns=columns)


def inner_gaps(spec: ConvSpec) -> tuple[Pair, Pair]:
    """Return how many rows and columns of the input lie unread between windows, and how many inside them.

    Those behind the last window, which are the remainder, count as neither.
    """
    places = [_places(spec, axis) for axis in (0, 1)]
    (top, left), (holes_down, holes_across) = zip(*places, strict=True)
    return (top, left), (holes_down, holes_across)


def _places(spec: ConvSpec, axis: int) -> Pair:
    end = spec.padded_size[axis] - spec.remainder[axis]
    unread = [i + spec.padding[axis][0] for i in (spec.unread_rows, spec.unread_columns)[axis]]
    before_end = [at for at in unread if at < end]
    # The last window that starts at or before a line is the one that reaches furthest: it covers it, or none does.
    starts = [min(at // spec.stride[axis], spec.output_size[axis] - 1) * spec.stride[axis] for at in before_end]
    inside = sum(at < start + spec.effective_kernel[axis] for at, start in zip(before_end, starts, strict=True))
    return (len(before_end) - inside, inside)
