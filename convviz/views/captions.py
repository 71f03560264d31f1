"""The sentences on the page that depend on the numbers."""

from __future__ import annotations

import dataclasses

from convviz.ops.by_rotate import backward_padding
from convviz.ops.device import device_name
from convviz.ops.stages import Stages
from convviz.plane import Plane
from convviz.settings.names import in_layers_words
from convviz.spec import ConvSpec, Pair
from convviz.views.remainder import LINES, inner_gaps
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
        return _gaps_note(stages)
    if name == "input":
        return _stamps_note(stages) if input_view == "stamps" else _padding_note(stages)
    if name == "weight":
        return _exchange_note(stages)
    return ""


def truth(stages: Stages) -> tuple[str, bool]:
    """Return the line that always tells the truth, and whether it is good news."""
    deviation = stages.deviation_from_autograd
    where = f"({device_name(stages.input.device)}, {str(stages.input.dtype).removeprefix('torch.')})"
    if deviation is None:
        return f"not compared with autograd {where}", True
    if deviation.value == 0:
        return f"equals autograd exactly {where}", True
    largest = _short(deviation.value)
    if deviation.within_rounding:
        return f"equals autograd within rounding: largest difference {largest} {where}", True
    if not deviation.index:
        return f"differs from autograd: its {deviation.tensor} has another shape {where}", False
    place = ", ".join(str(i) for i in deviation.index)
    return f"differs from autograd by {largest} at {deviation.tensor}[{place}] {where}", False


def loss(stages: Stages) -> str:
    """Return the loss as an equation with its value."""
    forms = {
        "sum": "Σ output",
        "mean": "mean of output",
        "half_squared_error": f"½ Σ (output {MINUS} target)²",
        "weighted_sum": "Σ grad_output · output",
    }
    return f"loss = {forms[stages.loss_kind]} = {format_long(float(stages.loss))}"


def _short(value: float) -> str:
    return f"{value:.1e}".replace("e-0", f"e{MINUS}").replace("e-", f"e{MINUS}").replace("e+0", "e")


def _cells(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def _gaps_note(stages: Stages) -> str:
    between, inside = inner_gaps(stages.spec)
    causes = (
        ("The stride leaves gaps between the windows", between),
        ("The dilation leaves holes inside the windows", inside),
    )
    return " ".join(f"{cause}: {_unread(counts)}" for cause, counts in causes if any(counts))


def _unread(counts: Pair) -> str:
    parts = [_cells(count, what) for count, what in zip(counts, LINES, strict=True) if count]
    verb = "is" if sum(counts) == 1 else "are"
    return f"{' and '.join(parts)} of the input {verb} never read, with a gradient of exactly 0."


def _padding_note(stages: Stages) -> str:
    spec = stages.spec
    parts = []
    if max(spec.weight_shape[:2]) > 1:
        grouped = " within each group" if spec.groups > 1 else ""
        parts.append(
            f"rotated_weight[c, o] is weight[o, c]{grouped}, turned by 180°: the channels change places as well"
        )
    if spec.stride != (1, 1):
        parts.append("the stride's zeros stand between the cells of grad_output")
    padding = backward_padding(spec)
    before, after = ([side[i] for side in padding] for i in (0, 1))
    same = before[0] == before[1] and after[0] == after[1]
    size = f"{before[0]} before, {after[0]} after" if same else f"{padding[0]} rows, {padding[1]} columns"
    reads = "d(k−1)−p" if stages.grad_padded_input is None else "d(k−1)"
    parts.append(
        f"padded by {reads}: {size.replace('-', MINUS)}" + (", the remainder included" if any(spec.remainder) else "")
    )
    if min(*before, *after) < 0:
        parts.append("a negative padding crops: those windows lay wholly in the padding")
    text = "; ".join(parts)
    return text[0].upper() + text[1:] + "."


def _stamp_place(stages: Stages) -> str:
    """Where the stamp of grad_output[i, j] has its first row and column."""

    def line(name: str, axis: int) -> str:
        stride = stages.spec.stride[axis]
        before = stages.spec.padding[axis][0] if stages.grad_padded_input is None else 0
        return (f"{stride}{name}" if stride > 1 else name) + (f" {MINUS} {before}" if before else "")

    return f"({line('i', 0)}, {line('j', 1)})"


def _stamps_note(stages: Stages) -> str:
    spec = stages.spec
    parts = ["Each cell of grad_output stamps the kernel as it lies, times its own value; overlapping stamps add up"]
    if stages.grad_padded_input is None and any(map(any, spec.padding)):
        parts.append("what falls on the padding is dropped")
    if any(spec.remainder):
        parts.append("no stamp reaches the remainder")
    return "; ".join(parts) + "."


def _exchange_note(stages: Stages) -> str:
    spec = stages.spec
    if spec.stride == (1, 1) and spec.dilation == (1, 1):
        return "Nothing is rotated here."
    exchanged = "Stride and dilation change places"
    told = f"{exchanged}: the forward stride spreads grad_output, the forward dilation is the step."
    more = " and ".join(_cells(count, what) for count, what in zip(_overhang(spec), LINES, strict=True) if count)
    height, width = spec.kernel_size
    return told + (f" Cut to the kernel's {height} × {width}, because the remainder would add {more}." if more else "")


def _overhang(spec: ConvSpec) -> list[int]:
    """Return how many rows and columns the remainder would add to grad_weight, if nobody cut them off."""
    return [rest // step for rest, step in zip(spec.remainder, spec.dilation, strict=True)]


def _transposed_note(stages: Stages, name: str, input_view: str) -> str:
    """The same facts in the words of a transposed convolution, whose remainder is its output_padding."""
    spec = stages.spec
    if name == "forward":
        return "Nothing is rotated here: the gradient to the input is an ordinary conv2d of grad_output."
    if name == "weight":
        return in_layers_words(_exchange_note(stages))
    if name != "input":
        return ""
    text = in_layers_words(_stamps_note(stages) if input_view == "stamps" else _padding_note(stages))
    text = text.replace("reaches the remainder", "reaches output_padding").replace("the remainder", "output_padding")
    gaps = [(len(spec.unread_rows), "row"), (len(spec.unread_columns), "column")]
    bare = " and ".join(_cells(count, what) for count, what in gaps if count)
    filled = "hold the bias alone" if stages.bias is not None else "are exactly 0"
    return text + (f" No input cell reaches {bare} of output: they {filled}." if bare else "") + _size_note(stages)


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
        return f" Output size: {rows}."
    return f" Output size: {rows} rows; {columns} columns."
