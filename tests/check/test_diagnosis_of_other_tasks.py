"""Every mistake by its name in the other tasks: Functions, layers, transposed and linear ones, binary weights."""

import itertools

import pytest
import torch
import torch.nn.functional as F

from convviz import ConvSpec
from convviz.cases.battery import make_case
from convviz.check import report
from convviz.check.diagnose.where_and_when_wrong import mark_of
from tests.check.students import IDS, changed, in_backward, mistaken, part_of, plain_backward


def ids(fn, task):
    found = report(fn, task)
    assert not found.passed, f"{task}: the mistake does not show"
    return [diagnosis.id for diagnosis in found.diagnoses]


def function_of(backward):
    """Return an autograd.Function whose backward pass is a student's."""

    class Conv2d(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input, weight, bias, stride, padding, dilation, groups):
            ctx.save_for_backward(input, weight, bias)
            ctx.geometry = (stride, padding, dilation, groups)
            return F.conv2d(input, weight, bias, stride, padding, dilation, groups)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad_output):
            pairs = (each if isinstance(each, tuple) else (each, each) for each in ctx.geometry[:3])
            dx, dw, db = backward(grad_output, *ctx.saved_tensors, *pairs, ctx.geometry[3], "zeros")
            return dx, dw, db if ctx.needs_input_grad[2] else None, None, None, None, None

    return Conv2d


def layer_of(backward):
    function = function_of(backward)

    class Layer(torch.nn.Module):  # without an argument for the border: it is asked for zeros only
        def __init__(
            self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True
        ):
            super().__init__()
            self.layer = torch.nn.Conv2d(
                in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, dtype=torch.float64
            )

        def forward(self, input):
            layer = self.layer
            geometry = (layer.stride, layer.padding, layer.dilation, layer.groups)
            return function.apply(input, layer.weight, layer.bias, *geometry)

    return Layer


@pytest.mark.parametrize(
    ("make", "task", "rounds"), [(function_of, "conv2d_function", 8), (layer_of, "conv2d_module", 3)]
)
def test_mistakes_are_named_through_autograd(make, task, rounds):
    # A result of another shape autograd refuses by itself: those have no numbers, and no name.
    shown = [
        ["I01", "I06", "I11", "I12", "I15", "I22", "I24", "I26"],
        ["W01", "W08", "W10", "W11", "W12", "W13"],
        ["B01", "B06"],
    ]
    for at in range(rounds):
        chosen = [part[at % len(part)] for part in shown]
        wrong = make(in_backward({part_of(id): mistaken(id)[0] for id in chosen}))
        assert sorted(ids(wrong, task)) == sorted(chosen), task
    assert report(make(in_backward({})), task).passed


def test_mistakes_are_named_in_a_transposed_convolution():
    applying = [id for id in IDS if id[0] == "I" and id not in ("I24", "I26", "I27")]
    for id in applying:
        named = ids(transposed_of(mistaken(id)[0]), "conv_transpose2d")
        said = named[:2] if id != "I25" else [*named, id]  # whose shapes do not always meet
        assert id in said, id


def transposed_of(backward):
    """Return a transposed convolution made of a gradient to the input, to whose size output_padding leads."""

    def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        s, p, o, d = (
            each if isinstance(each, tuple) else (each, each) for each in (stride, padding, output_padding, dilation)
        )
        size = [
            (n - 1) * s[axis] - 2 * p[axis] + d[axis] * (weight.shape[2 + axis] - 1) + 1 + o[axis]
            for axis, n in enumerate(input.shape[2:])
        ]
        shape = (input.shape[0], weight.shape[1] * groups, *size)
        found = backward(shape, weight, input, s, p, d, groups, "zeros")
        return found if bias is None else found + bias[:, None, None]

    return conv_transpose2d


def affine(dx=lambda dx: dx, dw=lambda dw: dw, db=lambda db: db):
    """Return cs231n's affine_backward, but for what is done to its results."""

    def affine_backward(dout, cache):
        x, w, _ = cache
        return dx(dout @ w.T), dw(x.T @ dout), db(dout.sum(0))

    return affine_backward


def test_mistakes_of_a_linear_layer():
    wrong = {
        "I24": affine(dx=lambda dx: dx / dx.shape[0]),
        "I26": affine(dx=lambda dx: -dx),
        "W12": affine(dw=lambda dw: dw / 2),
        "B05": affine(db=lambda db: db.sum()),
    }
    assert report(affine(), "linear_backward").passed
    for id, fn in wrong.items():
        named = ids(fn, "linear_backward")
        assert id in named or id == "W12", f"{id}: {named}"


def binary(mask=True, through=True, kept=False, zero=1.0):
    """Return a Function with the signs of the weights, right unless told otherwise."""

    class Binary(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input, weight, bias, stride, padding, dilation, groups):
            signs = torch.where(weight > 0, 1.0, torch.where(weight < 0, -1.0, zero)).to(weight)
            ctx.save_for_backward(input, weight, signs)
            ctx.geometry = (stride, padding, dilation, groups)
            return F.conv2d(input, signs, bias, stride, padding, dilation, groups)

        @staticmethod
        def backward(ctx, grad_output):
            input, weight, signs = ctx.saved_tensors
            used = weight if kept else signs
            with torch.enable_grad():
                x, w = input.detach().requires_grad_(), used.detach().requires_grad_()
                out = F.conv2d(x, w, None, *ctx.geometry)
            dx, dw = torch.autograd.grad(out, (x, w), grad_output)
            dw = dw * (weight.abs() <= 1) if mask else dw
            return dx, dw if through else torch.zeros_like(dw), grad_output.sum((0, 2, 3)), None, None, None, None

    return Binary


def test_mistakes_of_binary_weights():
    assert report(binary(), "binary_conv2d").passed
    assert report(binary(zero=0.0), "binary_conv2d").passed, "the sign of 0 is a convention"
    wrong = {"Q01": binary(through=False), "Q02": binary(mask=False), "Q05": binary(kept=True)}
    for id, fn in wrong.items():
        assert ids(fn, "binary_conv2d")[:1] == [id], id


def test_binary_weights_that_go_in_as_other_numbers_are_said_with_them():
    def layer(used):
        class Binary(torch.nn.Conv2d):
            def forward(self, x):
                soft = self.weight.clamp(-1, 1)
                return self._conv_forward(x, soft + (used(self.weight) - soft).detach(), self.bias)

        return Binary

    for task, words, used in (
        ("binary_conv2d", "goes in as 0; it should go in as -1", lambda w: (w > 0).to(w.dtype)),
        ("scaled_binary_conv2d", "its own mean of |w|", lambda w: w.sign() * w.abs().mean()),
    ):
        found = report(layer(used), task)
        assert words in found.diagnoses[0].title, found.text()


def test_what_a_call_did_besides_is_named():
    def in_place(grad_output, input, weight, bias, stride, padding, dilation, groups, padding_mode):
        found = in_backward({})(grad_output, input, weight, bias, stride, padding, dilation, groups, padding_mode)
        weight.mul_(0.5)
        return found

    def other_order(*given):
        dx, dw, db = in_backward({})(*given)
        return dw, dx, db

    for id, fn in {"I28": in_place, "G03": other_order, "G05": changed(dw=lambda dw: 2 * dw)}.items():
        assert ids(fn, "conv2d_backward")[:1] == [id], id


def test_what_no_catalogue_has_is_read_off_the_products():
    shifted = changed(dx=lambda dx: F.pad(dx, (1, -1)))
    found = report(shifted, "conv2d_backward").diagnoses[0]
    assert (found.id, found.of) == ("?", "grad_input")
    assert found.title == "Everything is 1 column to the right of where it belongs."

    def first_row_twice(tensor):
        return tensor * torch.tensor([2.0, *[1.0] * (tensor.shape[2] - 1)])[:, None]

    found = report(changed(dx=first_row_twice), "conv2d_backward").diagnoses[0]
    assert found.title == "Row 0 of grad_input counts 2 times instead of once."

    def first_output_row_twice(grad_output, *rest):
        twice = first_row_twice(grad_output)
        return in_backward({})(twice, *rest)[0], *in_backward({})(grad_output, *rest)[1:]

    found = report(first_output_row_twice, "conv2d_backward").diagnoses[0]
    assert found.title == "Row 0 of grad_output counts 2 times instead of once."

    def channels_summed(grad_output, *rest):
        summed = grad_output.sum(1, keepdim=True).expand_as(grad_output)
        return in_backward({})(summed, *rest)[0], *in_backward({})(grad_output, *rest)[1:]

    found = report(channels_summed, "conv2d_backward").diagnoses[0]
    assert found.title == "With one output channel everything is right, with two it is not."

    def one_cell_at_stride_3(grad_output, input, weight, bias, stride, *rest):
        dx, dw, db = in_backward({})(grad_output, input, weight, bias, stride, *rest)
        if stride in (3, (3, 3)):
            dx = dx.clone()
            dx[..., 2, 1] = 0
        return dx, dw, db

    found = report(one_cell_at_stride_3, "conv2d_backward").diagnoses[0]
    assert "grad_input[2,1] is never filled" in found.title, "not the channels: it is so with one"
    assert "stride 3" in found.evidence

    def adds_once(input_size, weight, grad_output, stride=1, padding=0):
        n, c, height, width = input_size
        dx = grad_output.new_zeros(n, c, height + 2 * padding, width + 2 * padding)
        rows = (stride * torch.arange(grad_output.shape[2])[:, None] + torch.arange(weight.shape[2])).ravel()
        for window, cell in itertools.product(range(grad_output.shape[3]), range(weight.shape[3])):
            taps = torch.einsum("nfi,fck->ncik", grad_output[..., window], weight[..., cell])
            dx[:, :, rows, stride * window + cell] += taps.flatten(2)
        return dx[:, :, padding : padding + height, padding : padding + width]

    def read_in_another_order(input_size, weight, grad_output, stride=1, padding=0, dilation=1):
        table = weight.permute(0, 2, 3, 1).flatten(1)
        columns = table.T @ grad_output.flatten(2)
        return F.fold(columns, input_size[2:], weight.shape[2:], dilation, padding, stride)

    def mixed_by(table):
        def weight(input, weight_size, grad_output, stride=1, padding=0):
            columns = F.unfold(input, weight_size[2:], padding=padding, stride=stride)
            return (table(grad_output.flatten(2)) @ columns.permute(0, 2, 1).flatten(0, 1)).reshape(weight_size)

        return weight

    for sent, words in (
        (lambda g: g.permute(1, 2, 0).flatten(1), "Samples and positions are flattened in one order"),
        (lambda g: g.flatten(1).reshape(-1, g.shape[1]).T, "Output channels and positions are flattened in one order"),
    ):
        assert words in report(mixed_by(sent), "conv2d_weight").text(), words

    def only_the_first(input, weight_size, grad_output, stride=1, padding=0):
        first = input[:1].expand_as(input)
        return torch.nn.grad.conv2d_weight(first, weight_size, grad_output, stride, padding)

    text = report(only_the_first, "conv2d_weight").text()
    assert "grad_output[1, 0, 0, 0] acts as if it were at [0, 0, 0, 0]" in text

    def from_the_sample_before(input_size, weight, grad_output, stride=1, padding=0):
        dx = torch.nn.grad.conv2d_input(input_size, weight, grad_output, stride, padding)
        return torch.cat([0 * dx[:1], dx[:-1]])

    assert "nothing arrives: grad_input is 0" in report(from_the_sample_before, "conv2d_input").text()
    assert "+= gets an index twice" in report(adds_once, "conv2d_input").diagnoses[0].title
    found = report(read_in_another_order, "conv2d_input").diagnoses[0]
    assert "the order [C_out, kH, kW, C_in] and read in the order [C_out, C_in, kH, kW]" in found.title

    without_a_row = changed(dx=lambda dx: dx.index_fill(2, torch.tensor([0]), 0.0))
    found = report(without_a_row, "conv2d_backward").diagnoses[0]
    assert found.title.startswith("Row 0 of grad_input is never filled: ")


def test_what_no_product_explains_is_said_as_what_it_is():
    """Numbers that are clipped, rounded, added to or moved: each is said, and no mistake of the catalogue is named."""

    def weight_by(change):
        def fn(grad_output, input, weight, bias, stride, padding):
            dx, dw, db = plain_backward(grad_output, input, weight, bias, stride, padding)
            return dx, change(dw, input, weight, grad_output), db

        return fn

    kept = {}

    def kept_by_size(dw, input, weight, grad_output):
        return kept.setdefault((input.shape, dw.shape, grad_output.shape), dw).clone()

    reshaped = weight_by(lambda dw, *_: dw.permute(1, 2, 3, 0).reshape(dw.shape))
    assert "in the wrong places: a reshape" in report(reshaped, "conv2d_backward", cases="public").text()
    said = {
        "has only the digits of float16": lambda dw, *_: dw.half().double(),
        "about a thousandth": lambda dw, *_: (
            dw * (1 + 1e-3 * torch.sin(torch.arange(dw.numel()) + 1.0).reshape(dw.shape))
        ),
        "multiples of 1/64": lambda dw, *_: (dw * 64).round() / 64,
        "only on the signs of input": lambda dw, x, _, g: dw.new_ones(dw.shape) * (x.sign().sum() * g.sum()),
        "does not depend on input": lambda _, __, weight, grad_output: weight * grad_output.sum(),
        "0.01 · weight is added to": lambda dw, _, weight, __: dw + 0.01 * weight,
        "depends on weight, of which it is not made": lambda dw, _, weight, __: dw + 0.01 * weight**2,
        "Large numbers are clipped": lambda dw, *_: dw.clamp(-1, 1),
        "divided by its own size": lambda dw, *_: dw / dw.norm().clamp_min(1e-9),
        "Positive and negative numbers": lambda dw, *_: dw * (dw > 0),
        "a factor that depends on the setting": lambda dw, _, __, grad_output: dw / grad_output.shape[2],
        "axes: it is [C_out, C_in, kW, kH]": lambda dw, *_: dw.mT,
        "Every output channel of grad_weight is there": lambda dw, *_: dw.roll(1, 0),
        "in the wrong places": lambda dw, *_: dw.permute(1, 2, 3, 0).reshape(dw.shape),
        "only the first input channel is wrong": lambda dw, *_: dw * (torch.arange(dw.shape[1]) > 0)[:, None, None],
        "zeros among its numbers is wrong": lambda dw, _, weight, __: dw * weight / weight,
    }
    kept_one = report(weight_by(kept_by_size), "conv2d_backward", time_limit=20).diagnoses[0]  # in its own process
    assert (kept_one.id, "after other calls it does not" in kept_one.evidence) == ("I28", True)
    for words, change in said.items():
        found = report(weight_by(change), "conv2d_backward")
        titles = [each.title for each in found.diagnoses]
        assert [each.id for each in found.diagnoses] == ["?"], (words, titles)
        assert words in titles[0], titles
        assert titles[0] in found.text()


def test_what_was_not_asked_or_explains_one_case_of_several_is_not_named():
    def clamped(input_size, weight, grad_output, stride=1, padding=0):
        height, width = input_size[2:]
        sent = grad_output.new_zeros(*grad_output.shape[:2], *((o - 1) * stride + 1 for o in grad_output.shape[2:]))
        sent[..., ::stride, ::stride] = grad_output
        top, left = (max(k - 1 - padding, 0) for k in weight.shape[2:])
        rest = (width + weight.shape[3] - 1 - left - sent.shape[3], height + weight.shape[2] - 1 - top - sent.shape[2])
        sent = F.pad(sent, (left, max(rest[0], 0), top, max(rest[1], 0)))
        return F.conv2d(sent, weight.flip(2, 3).transpose(0, 1))[..., :height, :width]

    def columns_by_stride(input, weight, stride=1, padding=0, dilation=1):
        (s, t), (p, q), (d, e) = ((v, v) if isinstance(v, int) else v for v in (stride, padding, dilation))
        (n, _, h, w), (_, c, kh, kw) = input.shape, weight.shape
        out = input.new_zeros(n, c, (h - 1) * s + d * (kh - 1) + 1, (w - 1) * t + e * (kw - 1) + 1)
        for a, b in itertools.product(range(kh), range(kw)):
            column = b * min(e, t)
            taps = torch.einsum("ncij,co->noij", input, weight[..., a, b])
            out[..., a * d : a * d + (h - 1) * s + 1 : s, column : column + (w - 1) * t + 1 : t] += taps
        return out[..., p : out.shape[2] - p, q : out.shape[3] - q]

    assert ids(clamped, "conv2d_input") == ["I19"], "no dilation, and no pair, was ever given"
    found = report(columns_by_stride, "conv_transpose2d").diagnoses
    assert [each.id for each in found] == ["?"]
    assert "The kernel's columns are 1 apart instead of 2" in found[0].title


def test_what_the_failing_cases_share_is_said_whole_and_zeros_are_not_blamed_by_chance():
    specs = [ConvSpec((6, 5), 2, 3, size, stride, batch=2) for size, stride in ((1, 2), (3, 1), (3, 2))]
    wrong, *right = (make_case(str(spec), spec, 1) for spec in specs)
    assert "of one cell or with a stride larger than the kernel" in mark_of([wrong], right)

    def wide(dout, x, w, b, stride=1, padding=0):
        dx, dw, db = plain_backward(dout, x, w, b, stride, padding)
        return dx, dw.roll(1, 1) if dw.shape[2] < dw.shape[3] else dw, db

    text = report(wide, "conv2d_backward", cases="battery").text()
    assert ("zeros among the numbers" in text, "zeros among its numbers" in text) == (True, False), text

    def turned(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        return F.conv_transpose2d(input, weight.flip(2, 3), bias, stride, padding, output_padding, groups, dilation)

    text = report(turned, "conv_transpose2d", cases="battery").text()
    assert ("not rotated" in text, "dx[window]" in text, "the wrong way round" in text) == (False, False, True), text


def test_what_goes_in_wrongly_is_said_with_its_factor():
    """A sample that is left out, a mean for a sum, float32 on the way, and a forward pass without a gradient."""

    def without_the_odd_one(dout, x, w, b, stride, padding):
        dx, _, db = plain_backward(dout, x, w, b, stride, padding)
        even = len(x) - len(x) % 2 or 1
        return dx, plain_backward(dout[:even], x[:even], w, b, stride, padding)[1], db

    def averaged(dout, x, w, b, stride, padding):
        dx, dw, db = plain_backward(dout, x, w, b, stride, padding)
        ones = [torch.ones_like(each) for each in (dout[:, :1], w[:1, :1])]
        return (
            dx / torch.nn.grad.conv2d_input((len(x), 1, *x.shape[2:]), ones[1], ones[0], stride, padding).clamp(1),
            dw,
            db,
        )

    def rounded(dout, x, w, b, stride, padding):
        return (*plain_backward(dout.float().double(), x, w, b, stride, padding)[:2], dout.sum((0, 2, 3)))

    for fn, words in (
        (without_the_odd_one, "sample 2 of grad_output is left out"),
        (averaged, "a mean is used instead of a sum"),
        (rounded, "right but for its last digits"),
    ):
        assert words in report(fn, "conv2d_backward").text(), words


def test_whole_numbers_a_reshape_and_a_buffer_that_is_not_zeroed_have_names():
    def whole(input, weight_size, grad_output, stride=1, padding=0):
        return torch.nn.grad.conv2d_weight(input, weight_size, grad_output, stride, padding).trunc()

    def reshaped(input, weight_size, grad_output, stride=1, padding=0):
        columns = F.unfold(input, weight_size[2:], padding=padding, stride=stride)
        rows = grad_output.reshape(weight_size[0], -1)
        return (rows @ columns.permute(0, 2, 1).reshape(-1, columns.shape[1])).reshape(weight_size)

    def not_zeroed(input, weight_size, grad_output, stride=1, padding=0):
        dw = torch.empty(weight_size, dtype=input.dtype)
        dw += torch.nn.grad.conv2d_weight(input, weight_size, grad_output, stride, padding) + 1
        return dw

    def filled(input, weight_size, grad_output, stride=1, padding=0):
        dw = torch.empty(weight_size, dtype=input.dtype)
        dw.fill_(0)
        dw += torch.nn.grad.conv2d_weight(input, weight_size, grad_output, stride, padding) + 1
        return dw

    for id, fn in {"G08": whole, "G10": reshaped, "G09": not_zeroed, "?": filled}.items():
        assert [each.id for each in report(fn, "conv2d_weight").diagnoses] == [id], fn.__name__


def test_what_a_forward_pass_does_otherwise_is_read_off_its_products():
    def padded_with(mode):
        def fn(x, w, b, stride, padding):
            return F.conv2d(F.pad(x, (padding,) * 4, mode=mode), w, b, stride)

        return fn

    def every_row(x, w, b, stride, padding):
        return F.conv2d(x, w, b, (1, stride), padding)[:, :, : (x.shape[2] + 2 * padding - w.shape[2]) // stride + 1]

    for words, fn in {
        "read the edge": padded_with("replicate"),
        "enter at the other side": padded_with("circular"),
        "Neighbouring windows are 1 row apart instead of 2": every_row,
    }.items():
        assert words in report(fn, "conv2d").text(), words


def test_a_report_says_whole_sentences_of_what_is_there():
    def exchanged_where_they_agree(input_size, weight, grad_output, stride, padding, dilation, groups):
        blocks = weight.chunk(groups)
        if weight.shape[1] * groups == weight.shape[0]:
            weight = torch.cat([block.transpose(0, 1) for block in blocks])
        return torch.nn.grad.conv2d_input(input_size, weight, grad_output, stride, padding, dilation, groups)

    def first_images(dout, x, w, b, stride, padding):
        dx, dw, _ = plain_backward(dout, x, w, b, stride, padding)
        return dx, dw, dout[:2].sum((0, 2, 3))

    def last_position(dout, x, w, b, stride, padding):
        dx, dw, _ = plain_backward(dout, x, w, b, stride, padding)
        return dx, dw, dout[:, :, -1, -1].sum(0)

    def two_at_once(input, weight_size, grad_output, stride, padding):
        dw = torch.nn.grad.conv2d_weight(input, weight_size, grad_output, stride, padding)
        return dw.flip(2, 3) / len(input)

    for fn, task, words in (
        (
            exchanged_where_they_agree,
            "conv2d_input",
            "(grad_input, I20)\nThis mistake gives exactly your numbers in all",
        ),
        (first_images, "conv2d_backward", "The parts of the samples 2, 3, 4, 5 of grad_output are left out"),
        (last_position, "conv2d_backward", "Of grad_output only [3,5] is used: = stands where += belongs"),
        (last_position, "conv2d_backward", "1 of 20 cases is right"),
        (two_at_once, "conv2d_weight", "Also: The gradient is divided by the batch size (grad_weight, W12)."),
        (transposed_of(mistaken("I12")[0]), "conv_transpose2d", "(output, I12)"),
    ):
        assert words in report(fn, task).text(), words
