"""Matrix products: im2col, and col2im on the way back."""

from __future__ import annotations

from convviz.explanation.code.border import copies, give_back, grad_read, pad_input, padded_apart, read_size
from convviz.explanation.code.setting import Setting, numbers, options, rows_and_columns, short
from convviz.explanation.code.shared import FUNCTIONAL, TORCH, bias_added, grad_bias
from convviz.explanation.code.steps import BLANK, GRAD_OUTPUT, GRAD_WEIGHT, OUTPUT, WEIGHT, Step, Value, assign, call

ROWS = Value("rows", WEIGHT.panels)
GRADIENTS = Value("gradients", GRAD_OUTPUT.panels)


def steps(setting: Setting) -> list[Step]:
    """Return the whole snippet."""
    spec = setting.spec
    pad, image, padding = pad_input(spec)
    columns = Value("columns", image.panels)
    window = [short(spec.kernel_size), *options(spec.stride, padding, spec.dilation)]
    return [
        *([TORCH] if copies(spec) else []),
        FUNCTIONAL,
        BLANK,
        *pad,
        *_matrices(setting, image, columns, window),
        assign(OUTPUT, "(", ROWS, " @ ", columns, f").reshape({numbers(spec.output_shape)})", *bias_added(setting)),
        BLANK,
        *_backward(setting, columns, window),
        *(give_back(setting) if padded_apart(spec) else []),
        *grad_bias(setting),
    ]


def _matrices(setting: Setting, image: Value, columns: Value, window: list[str]) -> list[Step]:
    """Write every window as a column and every kernel as a row."""
    spec, groups = setting.spec, setting.spec.groups
    height = setting.in_per_group * spec.kernel_size[0] * spec.kernel_size[1]
    unfolded = call([columns, " = F.unfold"], [image, *window], comment="every window is a column")
    if groups == 1:
        return [unfolded, assign(ROWS, WEIGHT, ".flatten(1)", comment="every kernel is a row")]
    cells = spec.output_size[0] * spec.output_size[1]
    by_group = f".reshape({spec.batch}, {groups}, {height}, {cells})"
    rows = f".reshape({groups}, {setting.out_per_group}, {height})"
    return [
        unfolded,
        assign(columns, columns, by_group, comment="one matrix per group"),
        assign(ROWS, WEIGHT, rows, comment="every kernel is a row"),
    ]


def _backward(setting: Setting, columns: Value, window: list[str]) -> list[Step]:
    """Differentiate the product; then add every entry of a column to the cell that it was copied from."""
    spec, grouped = setting.spec, setting.spec.groups > 1
    cells = spec.output_size[0] * spec.output_size[1]
    flat = f".reshape({spec.batch}, {spec.groups}, {setting.out_per_group}, {cells})" if grouped else ".flatten(2)"
    summed = (").sum(0)" if spec.batch > 1 else ")") + f".reshape({numbers(spec.weight_shape)})"
    left, right = ("(", ").flatten(1, 2)") if grouped else ("", "")
    grad_columns = Value("grad_columns")
    comment = "overlapping windows add up"
    if any(spec.remainder):
        comment += f"; {rows_and_columns(spec.remainder)} that no window read: 0"
    gradient = grad_read(spec, padded_apart(spec))
    return [
        assign(GRADIENTS, GRAD_OUTPUT, flat),
        assign(GRAD_WEIGHT, "(", GRADIENTS, " @ ", columns, ".mT", summed),
        assign(grad_columns, left, ROWS, ".mT @ ", GRADIENTS, right),
        call([gradient, " = F.fold"], [grad_columns, f"({numbers(read_size(spec))})", *window], comment=comment),
    ]
