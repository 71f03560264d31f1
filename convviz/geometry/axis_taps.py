"""The index formula of a convolution, for one axis.

``i = o * stride - padding + k * dilation`` stands here and nowhere else in Python.
"""

from convviz.facts import facts

PADDING_MODES = tuple(facts("settings")["fields"]["padding_mode"]["words"])


def source(position: int, size: int, padding_mode: str) -> int | None:
    """Which input row (or column) a padded row is a copy of.

    Args:
        position: row of the padded input counted from the first row of the input, so the rows above it are
            negative and the rows below it are ``size`` and more.
        size: number of rows of the input.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.

    Returns:
        The input row whose value stands there, or None where a padding zero stands.
    """
    if 0 <= position < size:
        return position
    if padding_mode == "reflect":
        return -position if position < 0 else 2 * (size - 1) - position
    if padding_mode == "replicate":
        return 0 if position < 0 else size - 1
    if padding_mode == "circular":
        return position % size
    return None


def axis_taps(
    input_size: int,
    output_size: int,
    kernel_size: int,
    stride: int,
    padding: int,
    dilation: int,
    padding_mode: str,
) -> list[tuple[int, int, int]]:
    """List the taps of one axis.

    Args:
        input_size: rows of the input, without padding.
        output_size: rows of the output.
        kernel_size: rows of the kernel.
        stride: step of the window, in rows of the padded input.
        padding: rows added *before* the input; those after it follow from ``output_size``.
        dilation: distance between two neighbouring kernel rows, in rows of the padded input.
        padding_mode: how the border is filled.

    Returns:
        Triples ``(o, k, i)``: output row o receives ``weight[k] * input[i]``. Taps that fall on a padding
        zero are left out, because they add nothing to any sum.
    """
    table = []
    for o in range(output_size):
        for k in range(kernel_size):
            i = source(o * stride - padding + k * dilation, input_size, padding_mode)
            if i is not None:
                table.append((o, k, i))
    return table
