"""The sentences on the page that depend on the numbers."""

from __future__ import annotations

from convviz.ops.by_rotate import backward_padding
from convviz.ops.stages import Stages
from convviz.plane import Plane
from convviz.views.theme import MINUS, format_number


def formula(stages: Stages, plane: Plane, name: str) -> str:
    """Return an equation in the words of Python, for the plane that is shown."""
    spec = stages.spec
    n, o, c = plane.sample, plane.out_channel, plane.in_channel
    k, j = c % (spec.in_channels // spec.groups), o % (spec.out_channels // spec.groups)
    if name == "forward":
        sum_c = spec.in_channels // spec.groups > 1
        term = f"Σ_c padded_input[{n}, c] ⊛ weight[{o}, c]" if sum_c else f"padded_input[{n}, {c}] ⊛ weight[{o}, {k}]"
        return f"output[{n}, {o}] = {term}" + (f" + bias[{o}]" if stages.bias is not None else "")
    if name == "input":
        sum_o = spec.out_channels // spec.groups > 1
        left = "grad_input" if stages.grad_padded_input is None else "grad_padded_input"
        term = (
            f"Σ_o padded_grad_output[{n}, o] ⊛ rotated_weight[{c}, o]"
            if sum_o
            else f"padded_grad_output[{n}, {o}] ⊛ rotated_weight[{c}, {j}]"
        )
        return f"{left}[{n}, {c}] = {term}"
    if name == "weight":
        sample = "n" if spec.batch > 1 else str(n)
        term = f"padded_input[{sample}, {c}] ⊛ dilated_grad_output[{sample}, {o}]"
        return f"grad_weight[{o}, {k}] = " + (f"Σ_n {term}" if spec.batch > 1 else term)
    return "grad_bias[o] = Σ grad_output[n, o, i, j] over n, i and j"


def note(stages: Stages, name: str) -> str:
    """Return what is worth saying about an equation for this geometry; may be empty."""
    if name == "forward":
        return _remainder_note(stages)
    if name == "input":
        return _padding_note(stages)
    if name == "weight":
        return _exchange_note(stages)
    return ""


def truth(stages: Stages) -> tuple[str, bool]:
    """Return the line that always tells the truth, and whether it is good news."""
    deviation = stages.deviation_from_autograd
    where = f"({stages.input.device.type}, {str(stages.input.dtype).removeprefix('torch.')})"
    if deviation is None:
        return f"not compared with autograd {where}", True
    if deviation.value == 0:
        return f"equals autograd exactly {where}", True
    largest = _short(deviation.value)
    if deviation.within_rounding:
        return f"equals autograd: largest difference {largest} {where}", True
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
    return f"loss = {forms[stages.loss_kind]} = {format_number(float(stages.loss))}"


def _short(value: float) -> str:
    return f"{value:.1e}".replace("e-0", f"e{MINUS}").replace("e-", f"e{MINUS}").replace("e+0", "e")


def _cells(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def _last(count: int, what: str) -> str:
    return f"the last {what}" if count == 1 else f"the last {count} {what}s"


def _remainder_note(stages: Stages) -> str:
    spec = stages.spec
    rows, columns = spec.remainder
    parts = [_last(count, what) for count, what in ((rows, "row"), (columns, "column")) if count]
    note = ""
    if parts:
        note = f"Remainder: no window reaches {' and '.join(parts)} of padded_input (hatched)."
    gaps = len(spec.unread_rows) + len(spec.unread_columns)
    if gaps:
        rows_text = _cells(len(spec.unread_rows), "row")
        columns_text = _cells(len(spec.unread_columns), "column")
        note += f" Of the input itself {rows_text} and {columns_text} are never read: their gradient is exactly 0."
    if parts:
        note += f" {_sizes_that_share_the_output(stages)}"
    return note.strip()


def _sizes_that_share_the_output(stages: Stages) -> str:
    """Say which inputs have an output as large as this one's, and what tells them apart."""
    spec = stages.spec

    def sizes(axis: int) -> str:
        smallest = spec.input_size[axis] - spec.remainder[axis]
        numbers = [str(size) for size in range(max(smallest, 1), smallest + spec.stride[axis])]
        return " or ".join([", ".join(numbers[:-1]), numbers[-1]] if len(numbers) > 1 else numbers)

    high, wide = sizes(0), sizes(1)
    which = f"size {high}" if high == wide else f"height {high} and width {wide}"
    rows, columns = spec.remainder
    told = str(rows) if rows == columns else f"({rows}, {columns})"
    return f"Inputs of {which} share this output size; output_padding={told} leads conv_transpose2d back to this one."


def _padding_note(stages: Stages) -> str:
    spec = stages.spec
    parts = []
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


def _exchange_note(stages: Stages) -> str:
    spec = stages.spec
    if spec.stride == (1, 1) and spec.dilation == (1, 1):
        return "Nothing is rotated here."
    return (
        "Stride and dilation change places: the forward stride spreads grad_output, the forward dilation is the step."
    )
