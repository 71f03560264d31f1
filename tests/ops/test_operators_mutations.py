"""No mistake gets through: the classic ones, put into each of the three methods on purpose, one at a time.

The numbers in brackets (I01, W07, ...) are those of the catalogue of mistakes in conv backward.
`test_stages_mutations.py` does the same to the stages and their truth line; here the comparison with the definition
must name the wrong tensors.
"""

import pytest
import torch.nn.functional as F

from convviz import ConvSpec
from convviz.ops import autograd_functions, by_rotate, by_taps, by_unfold, half_precision, methods
from convviz.ops.methods import Method, one_by_one
from tests.geometries import EDGE_CASES
from tests.operator_cases import METHODS, definition, drawn, results, same

MODULES = {"taps": by_taps, "unfold": by_unfold, "rotate": by_rotate}
TENSORS = ("output", "grad_input", "grad_weight", "grad_bias")
BATTERY = (
    ConvSpec((10, 8), 4, 6, (3, 2), (3, 2), (2, 1), (2, 1), groups=2, batch=2),
    ConvSpec((9, 11), 2, 2, 3, (1, 2), 1, 2, batch=2),
    ConvSpec(8, 2, 3, 3, 2, batch=2),
    ConvSpec(8, 2, 3, 3, 3, 1, batch=2),
    ConvSpec(5, kernel_size=2, padding=2),
    ConvSpec((5, 6), 4, 4, 3, 2, 1, groups=2, batch=2),  # as many channels in as out: a swap keeps the shapes
    ConvSpec((6, 7), 2, 2, (2, 3), padding=1, batch=2),
    EDGE_CASES["remainder wider than dilation"],
    EDGE_CASES["crop larger than dilated grad_output"],
    ConvSpec((5, 4), 2, 2, 3, 2, ((2, 1), (1, 3)), padding_mode="reflect", batch=2),
    ConvSpec((4, 5), 2, 2, (2, 3), 1, 1, padding_mode="circular", batch=2),
)


def wrong_tensors(method, battery=BATTERY):
    """Compare with the definition, each tensor by itself, so that an error in one does not hide the others."""
    wrong = set()
    for number, spec in enumerate(battery):
        x, w, b, g = drawn(spec, number)
        truth = results(lambda *t, spec=spec: definition(*t, spec), (x, w, b), g)
        for position, (name, expected) in enumerate(zip(TENSORS, truth, strict=True)):
            mask = tuple(position == wanted for wanted in (1, 2, 3))
            try:
                if name == "output":
                    found = autograd_functions.convolve(x, w, b, spec, method)
                else:
                    found = autograd_functions.gradients(g, x, w, spec, method, mask)[position - 1]
            except (RuntimeError, IndexError):  # shapes that do not fit are as good as wrong numbers
                wrong.add(name)
            else:
                wrong |= set() if same([found], [expected]) else {name}
    return wrong


@pytest.mark.parametrize("method", METHODS)
def test_without_a_mistake_nothing_is_wrong(method):
    assert wrong_tensors(method) == set()


# Mistakes that fit every method: each changes what goes into one of its three functions, or what comes out.


def replace(patch, method, name, change):
    """Put change(the method's own function) in the place of that function."""
    module = MODULES[method]
    parts = {part: getattr(module, part) for part in ("conv2d", "grad_input", "grad_weight")}
    parts[name] = change(parts[name])
    backward = one_by_one(parts["grad_input"], parts["grad_weight"])
    knows_borders = methods.METHODS[method].knows_borders
    patch.setitem(methods.METHODS, method, Method(parts["conv2d"], backward, knows_borders))


def zero_the_remainder(gradient, spec):
    gradient = gradient.clone()
    gradient[..., gradient.shape[-2] - spec.remainder[0] :, :] = 0
    gradient[..., gradient.shape[-1] - spec.remainder[1] :] = 0
    return gradient


def next_group(weight, spec):
    return weight.roll(spec.out_channels // spec.groups, 0)


ANYWHERE = {
    "grad_input of the wrong sign (I26)": ("grad_input", lambda f: lambda g, w, s: -f(g, w, s)),
    "kernel not rotated (I01)": ("grad_input", lambda f: lambda g, w, s: f(g, w.flip(-2, -1), s)),
    "kernel rotated on one axis only (I03)": ("grad_input", lambda f: lambda g, w, s: f(g, w.flip(-1), s)),
    "another group's kernels (I25)": ("grad_input", lambda f: lambda g, w, s: f(g, next_group(w, s), s)),
    "remainder of zeros (I11)": ("grad_input", lambda f: lambda g, w, s: zero_the_remainder(f(g, w, s), s)),
    "remainder dropped (I10)": (
        "grad_input",
        lambda f: lambda g, w, s: f(g, w, s)[..., : s.input_size[0] - s.remainder[0], :],
    ),
    "grad_input divided by the batch (I24)": ("grad_input", lambda f: lambda g, w, s: f(g, w, s) / len(g)),
    "grad_weight of the wrong sign (I26)": ("grad_weight", lambda f: lambda x, g, s: -f(x, g, s)),
    "grad_weight rotated (W01)": ("grad_weight", lambda f: lambda x, g, s: f(x, g, s).flip(-2, -1)),
    "only the last sample (W11)": ("grad_weight", lambda f: lambda x, g, s: f(x[-1:], g[-1:], s)),
    "mean over the samples (W12)": ("grad_weight", lambda f: lambda x, g, s: f(x, g, s) / len(x)),
    "another group's images (W14)": (
        "grad_weight",
        lambda f: lambda x, g, s: f(x.roll(s.in_channels // s.groups, 1), g, s),
    ),
    "bias forgotten": ("conv2d", lambda f: lambda x, w, b, s: f(x, w, None, s)),
    "forward with the kernel rotated": ("conv2d", lambda f: lambda x, w, b, s: f(x, w.flip(-2, -1), b, s)),
}
TENSOR_OF = {"conv2d": "output", "grad_input": "grad_input", "grad_weight": "grad_weight"}


@pytest.mark.parametrize("method", MODULES)
@pytest.mark.parametrize("mistake", ANYWHERE)
def test_a_mistake_that_fits_every_method_is_caught(mistake, method, monkeypatch):
    name, change = ANYWHERE[mistake]
    replace(monkeypatch, method, name, change)
    assert wrong_tensors(method) == {TENSOR_OF[name]}


# Mistakes inside one method.


class Other:
    """A module with some of its functions replaced."""

    def __init__(self, module, **changed):
        self.module = module
        self.__dict__.update(changed)

    def __getattr__(self, name):
        return getattr(self.module, name)


def rotate_only_channels(patch):
    rotate = by_rotate.rotate_weight
    patch.setattr(by_rotate, "rotate_weight", lambda weight, groups: rotate(weight.flip(-2, -1), groups))


def rotate_only_cells(patch):
    patch.setattr(by_rotate, "rotate_weight", lambda weight, groups: weight.flip(-2, -1))


def swap_channels_globally(patch):
    def rotate(weight, groups):
        out_channels, in_per_group, *size = weight.shape
        return weight.flip(-2, -1).transpose(0, 1).reshape(groups * in_per_group, out_channels // groups, *size)

    patch.setattr(by_rotate, "rotate_weight", rotate)


def change_backward_padding(change):
    def mistake(patch):
        correct = by_rotate.backward_padding

        def padding(spec):
            rows, columns = (change(*sides, spec.remainder[axis]) for axis, sides in enumerate(correct(spec)))
            return rows, columns

        patch.setattr(by_rotate, "backward_padding", padding)

    return mistake


def change_the_sub_kernels(change):
    """Give the sub-kernels of a stride another weight: change(weight, spec)."""

    def put_in(patch):
        correct = by_rotate._by_sub_kernels
        patch.setattr(by_rotate, "_by_sub_kernels", lambda g, w, spec: correct(g, change(w, spec), spec))

    return put_in


@change_the_sub_kernels
def first_sub_kernel_alone(weight, spec):
    kept = weight.new_zeros(weight.shape)
    cells = (..., slice(None, None, spec.stride[0]), slice(None, None, spec.stride[1]))
    kept[cells] = weight[cells]
    return kept


@change_the_sub_kernels
def exchange_sub_kernels(weight, spec):
    return weight.roll((1, 1), (-2, -1))


def first_samples_alone(patch):
    patch.setattr(by_rotate, "SAMPLES", 1)
    correct = by_rotate._sum_over_samples
    seen = []

    def once(input, *others):
        found = correct(input, *others)
        new = not any(input.untyped_storage().data_ptr() == one.untyped_storage().data_ptr() for one in seen)
        seen.append(input)
        return found if new else found.new_zeros(found.shape)

    patch.setattr(by_rotate, "_sum_over_samples", once)


def change_the_correlation_of(name, change):
    """Change the conv2d by which by_rotate computes one of its gradients: change(conv2d, spec) is another."""

    def mistake(patch):
        def within(compute):
            def changed(first, second, spec):
                with pytest.MonkeyPatch.context() as inner:
                    inner.setattr(
                        by_rotate,
                        "half_precision",
                        Other(half_precision, correlate=change(half_precision.correlate, spec)),
                    )
                    return compute(first, second, spec)

            return changed

        replace(patch, "rotate", name, within)

    return mistake


def not_exchanged(conv2d, spec):
    def correlate(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        return conv2d(input, weight, bias, spec.stride, padding, spec.dilation, groups)

    return correlate


def without_padding(conv2d, spec):
    def correlate(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        return conv2d(input, weight, bias, stride, 0, dilation, groups)

    return correlate


def without_dilation(conv2d, spec):
    def correlate(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        return conv2d(input, weight, bias, stride, padding, 1, groups)

    return correlate


def from_the_wrong_end(conv2d, spec):
    def correlate(*args, **keywords):
        return conv2d(*args, **keywords)[..., -spec.kernel_size[0] :, -spec.kernel_size[1] :]

    return correlate


def fold_overwrites(patch):
    def fold(columns, size, kernel_size, dilation, padding, stride):
        edges = [length + 2 * border for length, border in zip(size, padding, strict=True)]
        spans = [d * (k - 1) + 1 for k, d in zip(kernel_size, dilation, strict=True)]
        counts = [(edge - span) // s + 1 for edge, span, s in zip(edges, spans, stride, strict=True)]
        cells = columns.unflatten(-1, counts).unflatten(1, (-1, *kernel_size))
        canvas = columns.new_zeros(*cells.shape[:2], *edges)
        for u in range(kernel_size[0]):
            for v in range(kernel_size[1]):
                starts = (u * dilation[0], v * dilation[1])
                rows, across = (
                    slice(start, start + (count - 1) * s + 1, s)
                    for start, count, s in zip(starts, counts, stride, strict=True)
                )
                canvas[:, :, rows, across] = cells[:, :, u, v]  # where F.fold has +=
        return canvas[..., padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]

    patch.setattr(by_unfold, "F", Other(F, fold=fold))


def change_the_window(**others):
    def mistake(patch):
        window = by_unfold._window
        patch.setattr(by_unfold, "_window", lambda spec: window(spec) | {k: f(spec) for k, f in others.items()})

    return mistake


def rows_in_another_order(patch):
    rows = by_unfold._rows
    patch.setattr(by_unfold, "_rows", lambda weight, spec: rows(weight.permute(0, 2, 3, 1), spec))


def chunks_left_out(patch):
    chunks = by_unfold._chunks
    patch.setattr(by_unfold, "CPU_BYTES", 1)
    patch.setattr(by_unfold, "_chunks", lambda tensor, spec: list(chunks(tensor, spec))[:1])


def overwrite_instead_of_adding(patch):
    def last_one(products, cell, size):
        sums = products.new_zeros(*products.shape[:-1], size[0] * size[1])
        sums[..., cell] = products
        return sums

    patch.setattr(by_taps, "_sums", last_one)


def change_the_table(change):
    def mistake(patch):
        table = by_taps._table
        patch.setattr(by_taps, "_table", lambda spec, like: change(spec, *table(spec, like)))

    return mistake


def table_of_another_geometry(**others):
    def mistake(patch):
        taps = by_taps.taps
        patch.setattr(by_taps, "taps", lambda spec: taps(spec.replace(**{k: f(spec) for k, f in others.items()})))

    return mistake


def fold_the_border_nowhere(patch):
    def crop(gradient, spec):
        (top, _), (left, _) = spec.padding
        return gradient[..., top : top + spec.input_size[0], left : left + spec.input_size[1]]

    patch.setattr(autograd_functions, "fold_padding", crop)


def mean_in_grad_bias(patch):
    correct = methods.conv2d_bias
    patch.setattr(methods, "conv2d_bias", lambda grad_output: correct(grad_output) / len(grad_output))


ALL = {"output", "grad_input", "grad_weight"}
INSIDE = {
    ("rotate", "only the channels are swapped (I01)"): (rotate_only_channels, {"grad_input"}),
    ("rotate", "only the cells are rotated (I20)"): (rotate_only_cells, {"grad_input"}),
    ("rotate", "channels swapped globally (I25)"): (swap_channels_globally, {"grad_input"}),
    ("rotate", "crop dropped (I19)"): (change_backward_padding(lambda a, b, r: (max(a, 0), max(b, 0))), {"grad_input"}),
    ("rotate", "sub-kernels but the first left out"): (first_sub_kernel_alone, {"grad_input"}),
    ("rotate", "sub-kernels in each other's place"): (exchange_sub_kernels, {"grad_input"}),
    ("rotate", "samples but the first few left out"): (first_samples_alone, {"grad_weight"}),
    ("rotate", "kernel not dilated (I18)"): (
        change_the_correlation_of("grad_input", without_dilation),
        {"grad_input"},
    ),
    ("rotate", "stride and dilation not exchanged (W03)"): (
        change_the_correlation_of("grad_weight", not_exchanged),
        {"grad_weight"},
    ),
    ("rotate", "input not padded (W06)"): (change_the_correlation_of("grad_weight", without_padding), {"grad_weight"}),
    ("rotate", "stride not turned into dilation (W02)"): (
        change_the_correlation_of("grad_weight", without_dilation),
        {"grad_weight"},
    ),
    ("rotate", "cropped from the wrong end (W08)"): (
        change_the_correlation_of("grad_weight", from_the_wrong_end),
        {"grad_weight"},
    ),
    ("unfold", "fold overwrites (I22)"): (fold_overwrites, {"grad_input"}),
    ("unfold", "padding forgotten"): (change_the_window(padding=lambda spec: (0, 0)), ALL),
    ("unfold", "stride and dilation exchanged"): (
        change_the_window(stride=lambda spec: spec.dilation, dilation=lambda spec: spec.stride),
        ALL,
    ),
    ("unfold", "height and width exchanged (I21)"): (change_the_window(stride=lambda spec: spec.stride[::-1]), ALL),
    ("unfold", "rows in another order than the columns"): (rows_in_another_order, {"output", "grad_input"}),
    ("unfold", "all chunks but the first left out"): (chunks_left_out, ALL),
    ("taps", "overwritten instead of added (I22)"): (overwrite_instead_of_adding, ALL),
    ("taps", "kernel read backwards"): (
        change_the_table(lambda spec, o, k, i: (o, spec.kernel_size[0] * spec.kernel_size[1] - 1 - k, i)),
        ALL,
    ),
    ("taps", "a row of the table missing"): (change_the_table(lambda spec, o, k, i: (o[1:], k[1:], i[1:])), ALL),
    ("taps", "stride forgotten"): (table_of_another_geometry(stride=lambda spec: 1), ALL),
    ("taps", "dilation forgotten"): (table_of_another_geometry(dilation=lambda spec: 1), ALL),
    ("taps", "padding forgotten"): (table_of_another_geometry(padding=lambda spec: 0), ALL),
    ("unfold", "border not folded (I27)"): (fold_the_border_nowhere, {"grad_input"}),
    ("rotate", "border not folded (I27)"): (fold_the_border_nowhere, {"grad_input"}),
    ("taps", "grad_bias averaged (B06)"): (mean_in_grad_bias, {"grad_bias"}),
    ("unfold", "grad_bias averaged (B06)"): (mean_in_grad_bias, {"grad_bias"}),
    ("rotate", "grad_bias averaged (B06)"): (mean_in_grad_bias, {"grad_bias"}),
}


@pytest.mark.parametrize(("method", "mistake"), INSIDE)
def test_a_mistake_inside_a_method_is_caught(method, mistake, monkeypatch):
    put_in, expected = INSIDE[method, mistake]
    put_in(monkeypatch)
    assert wrong_tensors(method) == expected
    assert wrong_tensors("aten") == ({"grad_input"} if "border" in mistake else set())


def test_a_plain_test_sees_none_of_three_mistakes(monkeypatch):
    """docs/four_ways.md: stride 1, one channel, a padding smaller than the kernel; a larger one shows the crop."""
    plain = [ConvSpec((6, 5), kernel_size=k, padding=p, batch=2) for k in (1, 2, 3) for p in range(k)]
    larger = [ConvSpec(5, kernel_size=2, padding=2)]
    mistakes = {
        "remainder": lambda patch: replace(patch, "rotate", *ANYWHERE["remainder dropped (I10)"]),
        "crop": INSIDE["rotate", "crop dropped (I19)"][0],
        "channels": swap_channels_globally,
    }
    for name, put_in in mistakes.items():
        with monkeypatch.context() as patch:
            put_in(patch)
            assert wrong_tensors("rotate", plain) == set(), name
            assert wrong_tensors("rotate", larger) == ({"grad_input"} if name == "crop" else set()), name
            assert wrong_tensors("rotate") == {"grad_input"}, name
