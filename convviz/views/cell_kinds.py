"""What the cells of each panel are: data, padding, an inserted zero, the remainder, never read; by rows and columns."""

from dataclasses import dataclass

from convviz.geometry.spec import ConvSpec
from convviz.ops.by_rotate import backward_padding

DATA, PADDING, COPY, INSERTED, REMAINDER = "d", "p", "c", "i", "r"


@dataclass(frozen=True)
class Roles:
    """The roles of a panel's rows and columns, a letter each.

    d data, p padding with zeros, c a border of copies, i inserted zero, r padding that the remainder adds.
    """

    rows: str
    columns: str
    unread_rows: tuple[int, ...] = ()  # that no window ever reads
    unread_columns: tuple[int, ...] = ()


def roles(spec: ConvSpec, name: str, shape: tuple[int, int]) -> Roles:
    """Return the roles of the panel that shows a stage of that many rows and columns."""
    (rows, unread_rows), (columns, unread_columns) = (_lines(spec, name, axis, shape[axis]) for axis in (0, 1))
    return Roles(rows, columns, unread_rows, unread_columns)


def _lines(spec: ConvSpec, name: str, axis: int, size: int) -> tuple[str, tuple[int, ...]]:
    dilated = (INSERTED * (spec.stride[axis] - 1)).join(DATA * spec.output_size[axis])
    if name in ("padded_input", "grad_padded_input"):
        before, after = spec.padding[axis]
        # Without padding every row of the padded input is an input row, so the taps name those that are read.
        bare = spec.replace(input_size=spec.padded_size, padding=0, padding_mode="zeros")
        border = PADDING if spec.padding_mode == "zeros" else COPY
        return border * before + DATA * spec.input_size[axis] + border * after, (
            bare.unread_rows,
            bare.unread_columns,
        )[axis]
    if name in ("padded_grad_output", "dilated_grad_output"):
        return (_padded(spec, axis, dilated) if name == "padded_grad_output" else dilated), ()
    return DATA * size, (spec.unread_rows, spec.unread_columns)[axis] if name in ("input", "grad_input") else ()


def _padded(spec: ConvSpec, axis: int, dilated: str) -> str:
    before, after = backward_padding(spec)[axis]
    own = after - spec.remainder[axis]  # what would be padded (or cropped) here without a remainder
    text = PADDING * max(before, 0) + dilated
    # The remainder is the outermost part of the padding after the data; a crop eats it first.
    text += PADDING * min(max(own, 0), max(after, 0)) + REMAINDER * (max(after, 0) - max(own, 0))
    return text[max(-before, 0) : len(text) - max(-after, 0)]
