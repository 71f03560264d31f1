"""The index formula of a convolution, for one axis.

``i = o * stride - padding + k * dilation`` stands here and nowhere else in Python.
"""

from convviz.facts import facts

PADDING_MODES = tuple(facts("settings")["fields"]["padding_mode"]["words"])


def source(position: int, size: int, padding_mode: str) -> int | None:
    """Return the input row that a padded row, counted from the input's first, is a copy of; None for a zero."""
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
    """List the taps of one axis: triples ``(o, k, i)``, output row o receives ``weight[k] * input[i]``.

    ``padding`` counts the rows before the input. Taps on a padding zero are left out: they add
    nothing to any sum of finite numbers.
    """
    first, end = 0, output_size
    if padding_mode == "zeros":  # only windows that reach the input: the border may be far larger
        reach = dilation * (kernel_size - 1)
        first = max(first, -((reach - padding) // stride))
        end = min(end, (input_size - 1 + padding) // stride + 1)
    table = []
    for o in range(first, end):
        for k in range(kernel_size):
            i = source(o * stride - padding + k * dilation, input_size, padding_mode)
            if i is not None:
                table.append((o, k, i))
    return table
