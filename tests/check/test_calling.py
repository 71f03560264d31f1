"""Calling a student's function: signatures, orders of axes, kinds of arrays, and code that does what it should not."""

import ctypes
import errno
import functools
import math
import os
import random
import resource
import signal
import sys
import time
import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz.cases.battery import battery, make_case
from convviz.cases.tasks import TASKS, truth
from convviz.check.api import report
from convviz.check.call_outcome import same
from convviz.check.calling import open_student
from convviz.check.calling.arrays import take_back
from convviz.geometry.spec import ConvSpec
from convviz.sandbox import kernel_limits
from tests.check import students

# Counted below; the one whose height and width differ in everything asks nothing of its own here.
APART = (
    "height and width apart", "all square, no padding", "kernel 1, stride 2, padding 1", "kernel 1, stride 2",
    "stride 1, padding 2", "stride as large as the kernel",
)  # fmt: skip
CASES = [case for case in battery("all", 0) if case.name not in APART]
asked = functools.partial(students.asked, without=APART)
TINY = make_case("tiny", ConvSpec((5, 4), 2, 3, 3, 1, 1, batch=2), 5)
BACKWARD = TASKS["conv2d_backward"]


def gradients(dout, x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    """Return dx, dw, db by torch's own operators."""
    settings = (stride, padding, dilation, groups)
    return (
        torch.nn.grad.conv2d_input(x.shape, w, dout, *settings),
        torch.nn.grad.conv2d_weight(x, w.shape, dout, *settings),
        dout.sum((0, 2, 3)),
    )


def looped(dout, x, w, stride, pad):
    """The three gradients with NumPy, window by window."""
    height, width = x.shape[2:]
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    dpadded, dw = np.zeros_like(padded), np.zeros_like(w)
    for i in range(dout.shape[2]):
        for j in range(dout.shape[3]):
            rows, columns = slice(i * stride, i * stride + w.shape[2]), slice(j * stride, j * stride + w.shape[3])
            dpadded[:, :, rows, columns] += np.einsum("no,ochw->nchw", dout[:, :, i, j], w)
            dw += np.einsum("no,nchw->ochw", dout[:, :, i, j], padded[:, :, rows, columns])
    return dpadded[:, :, pad : pad + height, pad : pad + width], dw, dout.sum((0, 2, 3))


class TestSignatures:
    def test_names_in_any_order_and_by_keyword_alone(self):
        def permuted(kernel, *, stride=1, grad_out, pad=0, images, dilation_rate=1, groups=1, b):
            return gradients(grad_out, images, kernel, b, stride, pad, dilation_rate, groups)

        def with_more(dout, x, w, b, eps=1e-5, **settings):
            settings.pop("padding_mode")
            return gradients(dout, x, w, b, **settings)

        def two(x, k, dy, s, p):
            return gradients(dy, x, k, None, s, p)[:2]

        def keys(dout, x, w, b, stride, padding):
            return dict(zip(("db", "dW", "dx"), gradients(dout, x, w, b, stride, padding)[::-1], strict=True))

        def caffe(bottom, weight, top_diff, stride=1, pad=0):
            return gradients(top_diff, bottom, weight, None, stride, pad)

        def border(x, w, dy, stride=1, border=0):
            return gradients(dy, x, w, None, stride, border)

        for fn in (caffe, border):
            assert asked(fn, "conv2d_backward")[1] == 14
        assert asked(permuted, "conv2d_backward")[1] == 18
        assert asked(two, "conv2d_backward")[0].results == ("grad_input", "grad_weight")
        assert asked(keys, "conv2d_backward")[1] == 14
        student = open_student(with_more, BACKWARD, CASES)
        assert same(student.answer(TINY).results["grad_weight"], truth(BACKWARD, TINY)["grad_weight"])
        assert asked(functools.partial(gradients, stride=1), "conv2d_backward")[1] == 18

    def test_arguments_whose_names_say_nothing_go_by_their_place(self):
        student, count = asked(lambda a1, a2, a3, a4: gradients(a1, a2, a3, a4), "conv2d_backward")
        assert (count, student.assumed[0]) == (2, "positional arguments: grad_output, input, weight, bias")
        for fn, task in ((F.conv2d, "conv2d"), (F.conv_transpose2d, "conv_transpose2d"), (F.linear, "linear")):
            assert asked(fn, task)[1] == (5 if task == "linear" else 18)

    def test_sizes_are_given_as_they_are_asked_for(self):
        def plane(input_size, w, dout, stride, padding):
            height, width = input_size
            shape = (dout.shape[0], w.shape[1], height, width)
            return torch.nn.grad.conv2d_input(shape, w, dout, stride, padding)

        def open_end(dout, w, stride, padding):
            return F.conv_transpose2d(dout, w, None, stride, padding)

        assert asked(torch.nn.grad.conv2d_input, "conv2d_input")[1] == 18
        assert asked(torch.nn.grad.conv2d_weight, "conv2d_weight")[1] == 18
        refused = report(plane, "conv2d_input", cases="public")
        assert refused.question.endswith('case.padding), "conv2d_input")'), "height and width alone are not guessed"
        assert report(
            lambda case: plane(case.input_size[2:], case.weight, case.grad_output, case.stride, case.padding),
            "conv2d_input",
        ).passed
        student, _ = asked(open_end, "conv2d_input")
        remainder = next(case for case in CASES if case.name == "stride 2 with a remainder")
        assert "input's size" in student.takes(remainder)

    def test_a_stride_of_one_number_is_never_given_two(self):
        def numbers(dout, x, w, b, stride, padding):
            return looped(dout, x, w, stride, padding)

        student, count = asked(numbers, "conv2d_backward")
        uneven = make_case("uneven", ConvSpec((6, 5), 2, 3, 3, (2, 1), 1, batch=2), 1)
        assert count == 11
        assert student.takes(uneven) == "it takes one number for stride, and here the axes differ"

        unasked = open_student(numbers, BACKWARD, CASES)
        unasked.learn_pairs()
        assert unasked.nearest(ConvSpec((7, 6), 2, 3, 3, (2, 1), 1)).stride == (2, 2), "random geometries are drawn so"

        def pairs(x, w, b, stride, padding):
            (s, t), (p, q) = stride, padding
            return F.conv2d(x, w, b, (s, t), (p, q))

        assert asked(pairs, "conv2d")[0].plan.pairs == "pair"

        def dilated(x, w_shape, dout, padding="valid", dilation=1):
            rows, columns = ((dilation + 0) * (k - 1) if padding == "same" else 0 for k in w_shape[2:])
            x = F.pad(x, (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2))
            return torch.nn.grad.conv2d_weight(x, w_shape, dout, 1, 0, dilation)

        assert report(dilated, "conv2d_weight").passed

    def test_a_setting_that_is_missing_is_not_asked_for(self):
        student, _ = asked(lambda x, w, b=None, stride=1, padding=0: F.conv2d(x, w, b, stride, padding), "conv2d")
        dilated = next(case for case in CASES if case.name == "dilation 2")
        assert student.takes(dilated) == "it has no argument for dilation"
        student, count = asked(lambda x, w: F.conv2d(x, w, None, 2, 1), "conv2d")  # built in; the bias is added here
        assert count == 4, "stride 2, padding 1, which four cases have"

        def turned(w, dout):  # wrong at any padding: it is asked at the plainest
            return F.conv_transpose2d(dout, w.flip(2, 3))

        assert "stride 1, no padding" in [case.name for case in report(turned, "conv2d_input", cases="public").cases]


class TestCourses:
    def test_what_unpacks_its_settings_is_given_pairs(self):
        def unpacked(x, w, b, stride=(1, 1), padding=(0, 0)):
            return torch.nn.functional.conv3d(x[:, :, None], w[:, :, None], b, (1, *stride), (0, *padding))[:, :, 0]

        assert asked(unpacked, "conv2d")[1] == 14

    def test_a_shape_that_has_the_name_of_an_array_is_asked_back(self):
        def of_sizes(xs, w, g, s=1, p=0):
            return torch.nn.grad.conv2d_input((xs[0], xs[1], xs[2], xs[3]), w, g, s, p)

        found = report(of_sizes, "conv2d_input", cases="public")
        assert found.question.endswith('state it: names={"xs": "input_size"}')
        assert len(report(of_sizes, "conv2d_input", names={"xs": "input_size"}, cases="battery").cases) >= 13
        assert report(of_sizes, "conv2d_input", names={"xs": "input_size"}, cases="battery").passed

    def test_a_cache_with_a_dict(self):
        def backward(dout, cache):
            x, w, _b, conv_param = cache
            return looped(dout, x, w, conv_param["stride"], conv_param["pad"])

        def hidden(dout, saved):  # what it unpacks to is in no tuple of names
            return looped(dout, saved[0], saved[1], saved[3]["stride"], saved[3]["pad"])

        def briefly(dout, cache):
            inp, kern, _, settings_of_it = cache
            return looped(dout, inp, kern, settings_of_it.get("stride", 1), settings_of_it.get("pad", 0))

        for fn in (backward, hidden, briefly):
            student, count = asked(fn, "conv2d_backward")
            assert (count, student.plan.arrays) == (11, "numpy")
            assert student.calls <= 4, "slow code is called as rarely as will do"
            assert "dilation" in student.takes(next(case for case in CASES if case.name == "dilation 2"))

    def test_channels_last_with_a_bias_of_four_axes(self):
        def conv_backward(dZ, cache):
            (A_prev, W, b, hparameters) = cache
            (f, f, _, n_C) = W.shape  # noqa: RUF059 - as the course writes it
            dA, dW, _ = looped(
                dZ.transpose(0, 3, 1, 2),
                A_prev.transpose(0, 3, 1, 2),
                W.transpose(3, 2, 0, 1),
                hparameters["stride"],
                hparameters["pad"],
            )
            db = np.zeros((1, 1, 1, n_C))
            for c in range(n_C):
                db[:, :, :, c] += dZ[..., c].sum() + 0 * b[0, 0, 0, c]
            return dA.transpose(0, 2, 3, 1), dW.transpose(2, 3, 1, 0), db

        student, count = asked(conv_backward, "conv2d_backward")
        assert (count, student.plan.data, student.plan.kernel, student.plan.bias) == (8, "NHWC", "HWIO", "111C")
        assert "one size for both axes" in student.takes(CASES[0])

    def test_linear_layers_found_by_shape(self):
        def affine_backward(dout, cache):
            x, w, _b = cache
            return dout.dot(w.T).reshape(x.shape), x.T.dot(dout), np.sum(dout, 0)

        def columns(dZ, cache):
            A_prev, W, _b = cache
            return np.dot(W.T, dZ), np.dot(dZ, A_prev.T), np.sum(dZ, axis=1, keepdims=True)

        assert asked(affine_backward, "linear_backward")[0].plan.kernel == "IO"
        assert asked(columns, "linear_backward")[0].plan.data == "CN"
        assert asked(lambda x, w, b: x @ w.T + b, "linear")[1] == 5


class TestLayouts:
    def test_every_order_of_axes_is_found(self):
        for data, kernel in (
            ("NCHW", "OIHW"), ("NHWC", "HWIO"), ("NHWC", "OHWI"), ("NHWC", "OIHW"), ("CHW", "OIHW"), ("HWC", "HWIO"),
            ("HWC", "OIHW"), ("NCHW", "HWIO"),
        ):  # fmt: skip
            student, count = asked(ordered(data, kernel), "conv2d_backward")
            assert (student.plan.data, student.plan.kernel, count) == (data, kernel, 18), data
            stated = open_student(ordered(data, kernel), BACKWARD, CASES, layout=data)
            assert stated.plan == student.plan, data
            assert f"layout {data} as stated" in " ".join(stated.assumed)

    def test_a_kernel_with_its_channels_exchanged_is_a_layout_only_where_it_is_stated(self):
        code = ordered("NHWC", "HWOI")
        assert asked(code, "conv2d_backward", layout="NHWC HWOI")[0].plan.kernel == "HWOI"
        student = open_student(code, BACKWARD, CASES, layout="NHWC")
        assert student.plan.kernel != "HWOI"

    def test_one_plane_in_lists(self):
        def plain(x, k, dy):
            dx, dk = [[0.0] * len(x[0]) for _ in x], [[0.0] * len(k[0]) for _ in k]
            for i, line in enumerate(dy):
                for j, value in enumerate(line):
                    for a in range(len(k)):
                        for b in range(len(k[0])):
                            dx[i + a][j + b] += value * k[a][b]
                            dk[a][b] += value * x[i + a][j + b]
            return dx, dk

        student, count = asked(plain, "conv2d_backward")
        assert (student.plan.data, student.plan.arrays, count) == ("HW", "lists", 2)

        def planes(x, k, b, s, p, d):
            return F.conv2d(x[None, None], k[None, None], b.reshape(1), s, p, d)[0, 0]

        assert asked(planes, "conv2d")[1] == 18, "groups are a choice of planes"
        assert (
            asked(
                lambda x, k, b, s, p, op, d: F.conv_transpose2d(x[None, None], k[None, None], b[None], s, p, op, 1, d)[
                    0, 0
                ],
                "conv_transpose2d",
            )[1]
            == 18
        )

    def test_a_wrong_function_has_the_layout_that_its_shapes_say(self):
        right = ordered("NHWC", "HWIO")

        def negative(grad_output, input, weight, bias, stride, padding):
            return tuple(-part for part in right(grad_output, input, weight, bias, stride, padding))

        student = open_student(negative, BACKWARD, CASES)
        answer = student.answer(TINY)
        assert (student.plan.data, answer.kind) == ("NHWC", "ok")
        assert same(-answer.results["grad_weight"], truth(BACKWARD, TINY)["grad_weight"])

    def test_a_layout_that_there_is_not(self):
        with pytest.raises(ValueError, match="layout is one of NCHW, NHWC"):
            open_student(gradients, BACKWARD, layout="NWHC")


def ordered(data, kernel):
    """Return torch's gradients in another order of axes."""

    def to(tensor, order):
        there = [order.index(axis) for axis in "NCHW" if axis in order]
        tensor = tensor.permute(there)
        return tensor if "N" in order else tensor[None]

    def back(tensor, order):
        tensor = tensor if "N" in order else tensor[0]
        have = [axis for axis in "NCHW" if axis in order]
        return tensor.permute([have.index(axis) for axis in order])

    def backward(grad_output, input, weight, bias, stride=1, padding=0, dilation=1, groups=1):
        w = weight.permute([kernel.index(axis) for axis in "OIHW"])
        dx, dw, db = gradients(to(grad_output, data), to(input, data), w, None, stride, padding, dilation, groups)
        return back(dx, data), dw.permute(["OIHW".index(axis) for axis in kernel]), db

    return backward


class Old(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, kernel, b=None, stride=1, padding=0):
        ctx.save_for_backward(x, kernel)
        ctx.settings = stride, padding
        return F.conv2d(x, kernel, b, stride, padding)

    @staticmethod
    def backward(ctx, dout):
        x, kernel = ctx.saved_tensors
        return *gradients(dout, x, kernel, None, *ctx.settings), None, None


class New(torch.autograd.Function):
    @staticmethod
    def forward(input, weight):
        return F.conv2d(input, weight)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, dout):
        return gradients(dout, *ctx.saved_tensors)[:2]


class Layer(torch.nn.Module):
    def __init__(self, cin, cout, k, s=1, p=0):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.zeros(cout))
        self.filters = torch.nn.Parameter(torch.zeros(k + 0, k + 0, cin, cout))
        self.settings = s, p

    def forward(self, x):
        return F.conv2d(x, self.filters.permute(3, 2, 0, 1), self.shift, *self.settings)


class TestByAutograd:
    def test_functions_and_layers(self):
        student, count = asked(Old, "conv2d_function")
        assert (count, "apply" in " ".join(student.assumed)) == (14, True)
        assert asked(New, "conv2d_function")[0].results == ("output", "grad_input", "grad_weight")
        assert asked(torch.nn.Conv2d, "conv2d_module")[1] == 21
        assert asked(lambda cin, cout, k: torch.nn.Conv2d(cin, cout, k, bias=False), "conv2d_module")[1] == 2
        assert asked(Layer, "conv2d_module")[1] == 8

    def test_what_autograd_cannot_ask_is_said(self):
        class Cut(New):
            @staticmethod
            def backward(ctx, dout):
                return gradients(dout, *ctx.saved_tensors)[0], None

        assert "grad_weight is None" in open_student(Cut, TASKS["conv2d_function"]).answer(CASES[0]).message
        cut = open_student(lambda x, w: F.conv2d(x, w).detach(), TASKS["conv2d_function"]).answer(CASES[0])
        assert (cut.kind, "detach" in cut.message, list(cut.results)) == ("wrong_type", True, ["output"])
        assert "not a torch.nn.Module" in open_student(lambda k: 3, TASKS["conv2d_module"]).answer(TINY).message


def answer_of(fn, case=TINY, **given):
    return open_student(fn, BACKWARD, **given).answer(case)


class TestFailures:
    def test_each_has_its_kind_and_a_sentence(self):
        def missing(dout, x, w, b, padding):
            return gradients(dout, x, w, b, padding=padding)[:2]

        def nothing(dout, x, w, b, padding):
            pass

        def word(dout, x, w, b, padding):
            return "dx", 1, 2

        def fails(dout, x, w, b, padding):
            return 1 // 0

        def leaves(dout, x, w, b, padding):
            sys.exit(3)

        def interrupts(dout, x, w, b, padding):
            raise KeyboardInterrupt

        def endless(dout, x, w, b, padding):
            return endless(dout, x, w, b, padding)

        def empty(dout, x, w, b, padding):
            return tuple(part / 0 for part in gradients(dout, x, w, b, padding=padding))

        def in_place(dout, x, w, b, padding):
            found = gradients(dout, x, w, b, padding=padding)
            x *= 2
            return found

        def hostile(dout, x, w, b, padding):
            raise Unspeakable

        total = {}

        def adds_up(dout, x, w, b, padding):
            dx, dw, db = gradients(dout, x, w, b, padding=padding)
            total[dw.shape] = total.get(dw.shape, 0) + dw
            return dx, total[dw.shape], db

        for fn, kind, words in (
            (missing, "wrong_type", "It returned 2 results, the task has 3: grad_input, grad_weight, grad_bias."),
            (nothing, "wrong_type", "It returned 0 results"),
            (word, "wrong_type", "grad_input is not an array of numbers"),
            (fails, "raised", "ZeroDivisionError: integer division or modulo by zero (line"),
            (fails, "raised", "return 1 // 0"),
            (leaves, "raised", "exit()"),
            (interrupts, "raised", "KeyboardInterrupt"),
            (endless, "raised", "RecursionError"),
            (empty, "not_finite", "grad_input contains "),
            (in_place, "changed_input", "(input)"),
            (adds_up, "keeps_state", "(grad_weight): it adds to what the call before left"),
            (hostile, "raised", "Unspeakable"),
            (None, "not_defined", "not defined"),
            (3, "wrong_type", "type is int"),
            (torch.nn.Identity(), "wrong_type", "Pass the class itself"),
        ):
            answer = answer_of(fn)
            assert (answer.kind, words in answer.message) == (kind, True), f"{fn}: {answer.kind} {answer.message}"
        assert answer_of(empty).results["grad_bias"].shape == (3,), "what came is there to be looked at"

    def test_a_ctrl_c_ends_the_check_and_the_process_that_is_asked(self):
        def waits(dout, x, w, b, padding):
            os.write(written, str(os.getpid()).encode())
            os.kill(os.getppid(), signal.SIGINT)
            time.sleep(60)

        def pressed(dout, x, w, b, padding):
            os.kill(os.getpid(), signal.SIGINT)

        heard, written = os.pipe()
        found = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
        try:
            for fn, given in ((waits, {}), (pressed, {"time_limit": math.inf})):
                with pytest.raises(KeyboardInterrupt):
                    answer_of(fn, **given)
        finally:
            signal.signal(signal.SIGINT, found)
        assert not os.path.exists(f"/proc/{os.read(heard, 100).decode()}")
        os.close(heard), os.close(written)


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class TestWhatIsLeftBehind:
    def test_everything_is_as_it_was(self, tmp_path):
        def state():
            draws = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
            return [*draws, os.getcwd(), dict(os.environ), sys.path, torch.get_default_dtype(), F.conv2d, print]

        def vandal(dout, x, w, b, padding):
            found = gradients(dout, x, w, b, padding=padding)
            random.seed(1), np.random.seed(1), torch.manual_seed(1)
            os.chdir(tmp_path)
            os.environ["CONVVIZ_VANDAL"] = "1"
            sys.path = ["/nowhere"]
            warnings.simplefilter("error")
            torch.set_default_dtype(torch.float16)
            F.conv2d = torch.conv2d = lambda *a, **k: torch.ones(1)
            __builtins__["print"] = None
            return found

        before = state()
        answer = answer_of(vandal)
        assert state() == before
        assert answer.kind in ("ok", "keeps_state"), answer.message
        assert same(answer.results["grad_weight"], truth(BACKWARD, TINY)["grad_weight"])

    def test_here_the_random_numbers_go_on_as_if_nothing_had_drawn(self):
        def draws(dout, x, w, b, padding):
            random.seed(1), np.random.seed(1), torch.manual_seed(1)
            return gradients(dout, x, w, b, padding=padding)

        before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
        assert answer_of(draws, time_limit=math.inf).kind == "ok"
        assert (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()) == before

    def test_nothing_reaches_stdout_or_stderr(self, capfd):
        def loud(dout, x, w, b, padding):
            print("to stdout")
            print("to stderr", file=sys.stderr)
            print("to the first stderr", file=sys.__stderr__)
            os.write(2, b"to the file itself\n")
            ctypes.CDLL(None).write(1, b"from C\n", 7)
            warnings.warn("a warning", stacklevel=1)
            return gradients(dout, x, w, b, padding=padding)

        answer = answer_of(loud)
        assert capfd.readouterr() == ("", "")
        assert answer.kind == "ok", answer.message


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="a time limit needs os.fork")


@needs_fork
class TestTheSecondCall:
    """It has the same numbers in another order in memory, other random numbers, and something in between."""

    def test_it_finds_what_the_first_hides(self):
        def in_memory(x, w, b, stride, padding):
            flat = torch.as_strided(x, (x.numel(),), (1,))
            return F.conv2d(flat.reshape(x.shape), w, b, stride, padding)

        def drops(x, w, b, stride, padding):
            return F.dropout(F.conv2d(x, w, b, stride, padding), 0.5)

        def views(x, w, b, stride, padding):
            return F.conv2d(x.view(x.shape), w.contiguous().view(w.shape), b, stride, padding)

        own = np.random.default_rng(1)  # no seed of ours reaches it

        def flips(x, w, b, stride, padding):
            return F.conv2d(x.flip(3) if own.random() < 0.4 else x, w, b, stride, padding)

        text = report(flips, "conv2d", cases="public").text()
        assert "drawn at random" in text or "draws random numbers" in text, text
        said = {in_memory: "another order in memory", drops: "draws random numbers", views: ""}
        for fn, words in said.items():
            answer = open_student(fn, TASKS["conv2d"], CASES).answer(TINY)
            assert (words in answer.message, answer.kind == "ok") == (True, fn is views), fn.__name__

    def test_a_function_keeps_nothing_on_its_class(self):
        class Kept(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, w, b, stride, padding):
                Kept.geometry = (stride, padding)
                ctx.save_for_backward(x, w)
                return F.conv2d(x, w, b, stride, padding)

            @staticmethod
            def backward(ctx, dout):
                x, w = ctx.saved_tensors
                return *gradients(dout, x, w, None, *Kept.geometry), None, None

        class Wrong(New):
            @staticmethod
            def backward(ctx, dout):
                dx, dw = gradients(dout, *ctx.saved_tensors)[:2]
                return dx, dw if ctx.needs_input_grad[0] else None

        for fn, kind, words in ((Kept, "keeps_state", ""), (Wrong, "wrong_type", "needs_input_grad")):
            answer = open_student(fn, TASKS["conv2d_function"], CASES).answer(CASES[0])
            assert (answer.kind, words in answer.message) == (kind, True), answer.message

    def test_a_layer_shares_nothing_keeps_no_old_weights_and_learns_its_bias(self):
        class Op(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, w, settings):
                Op.saved, ctx.settings = (x, w), settings
                return F.conv2d(x, w, None, *settings)

            @staticmethod
            def backward(ctx, dout):
                return *gradients(dout, *Op.saved, None, *ctx.settings)[:2], None

        class Layer(torch.nn.Module):
            def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.zeros(out_channels, in_channels, *kernel_size))
                self.settings = stride, padding

            def forward(self, x):
                return Op.apply(x, self.weight, self.settings)

        class Cached(Layer):
            def forward(self, x):
                self.old = getattr(self, "old", self.weight.detach().clone())
                return F.conv2d(x, self.old + (self.weight - self.weight.detach()), None, *self.settings)

        class Buffered(Layer):
            def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0):
                super().__init__(in_channels, out_channels, kernel_size, stride, padding)
                self.register_buffer("bias", torch.zeros(out_channels))

            def forward(self, x):
                return F.conv2d(x, self.weight, self.bias, *self.settings)

        class Unused(Buffered):
            def forward(self, x):
                return F.conv2d(x, self.weight, None, *self.settings)

        class Biased(Layer):
            def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0):
                super().__init__(in_channels, out_channels, kernel_size, stride, padding)
                self.bias = torch.nn.Parameter(torch.zeros(out_channels))

            def forward(self, x):
                return F.conv2d(x, self.weight, self.bias, *self.settings)

        class Overwriting(Biased):
            def forward(self, x):
                output = super().forward(x)
                self.weight.data = self.weight.data.sign()
                return output

        class Cut(Biased):
            def forward(self, x):
                return F.conv2d(x, self.weight.data, self.bias, *self.settings)

        said = {
            Layer: "second layer",
            Cached: "its weights",
            Buffered: "bias gets no gradient",
            Overwriting: "overwrites the layer's own weight",
            Cut: "grad_weight is None",
        }
        for made, words in said.items():
            answer = open_student(made, TASKS["conv2d_module"], CASES).answer(CASES[0])
            assert (answer.kind != "ok", words in answer.message) == (True, True), (made, answer.message)
        assert same(answer.results["output"], truth(TASKS["conv2d_module"], CASES[0])["output"]), "with its own bias"
        for made in (Unused, Biased):
            student = open_student(made, TASKS["conv2d_module"], CASES)
            assert student.answer(CASES[0]).kind == "ok"
            assert ("no bias" in " ".join(student.assumed)) is (made is Unused), "a layer's bias is seen in the layer"


class TestInAProcessOfItsOwn:
    def test_it_gives_what_it_gives_here(self):
        F.conv2d(torch.randn(8, 16, 64, 64), torch.randn(16, 16, 3, 3))  # the parent has had its threads

        def cropped(dout, x, w, b, stride, padding):  # empty where there is no padding
            dx, dw, db = gradients(dout, x, w, b, stride, padding)
            return dx[..., 0:0, 0:0], dw.float(), db

        empty = answer_of(cropped, CASES[0], time_limit=60)
        assert (empty.kind, empty.results["grad_input"].shape) == ("ok", (4, 2, 0, 0)), empty.message
        assert empty.results["grad_weight"].dtype == torch.float32
        for fn, task in ((gradients, "conv2d_backward"), (Old, "conv2d_function"), (torch.nn.Conv2d, "conv2d_module")):
            student, _ = asked(fn, task, time_limit=60)
            here = open_student(fn, TASKS[task], time_limit=math.inf)
            assert student.plan == here.plan
            assert student.answer(CASES[0]).kind == here.answer(CASES[0]).kind == "ok"

    @pytest.mark.parametrize("id", ["I01", "I11", "I24", "W08", "W10", "B01"])
    def test_a_report_is_the_same_in_both(self, id):
        """Most tests of reports ask in their own process: see conftest.py."""
        wrong = students.in_backward({students.part_of(id): students.mistaken(id)[0]})
        apart, here = (report(wrong, "conv2d_backward", time_limit=limit) for limit in (None, math.inf))
        assert not here.passed
        assert apart.text() == here.text()

    def test_a_loop_without_end_is_ended_with_all_it_started(self):
        def forever(dout, x, w, b, padding):
            if os.fork() == 0:
                os.setsid()  # out of the group that is killed
                while True:
                    time.sleep(0.01)
            os.write(written, f"{os.getpid()} {os.getuid()} ".encode())
            while True:
                pass

        heard, written = os.pipe()
        student = open_student(forever, BACKWARD, time_limit=0.5)
        answer = student.answer(TINY)
        assert (answer.kind, "0.5 s" in answer.message) == ("timeout", True)
        pid, user = map(int, os.read(heard, 1000).split())  # one: what did not end once is not waited for again
        assert not os.path.exists(f"/proc/{pid}")
        if os.getuid() == 0:
            assert user != 0, "root becomes a user who may not read root's files"
            assert not kernel_limits._pids_of(user), "what left the process group is gone as well"
        os.close(heard), os.close(written)

    def test_processes_and_memory_are_bounded(self):
        def bomb(dout, x, w, b, padding):
            started = []
            try:
                for _ in range(64):
                    pid = os.fork()
                    if pid == 0:
                        time.sleep(60)
                        os._exit(0)
                    started.append(pid)
            except BlockingIOError:
                raise ValueError(f"no more than {len(started)}") from None
            return gradients(dout, x, w, b, padding=padding)

        def glutton(dout, x, w, b, padding):
            return [np.empty(1 << 26) for _ in range(64)]

        def tensors(dout, x, w, b, padding):
            return torch.ones(1 << 34)

        answer = answer_of(bomb, time_limit=30)
        assert (answer.kind, "no more than " in answer.message) == ("raised", True), answer.message
        for fn in (glutton, tensors):
            answer = answer_of(fn, time_limit=30)
            assert (answer.kind, "out of memory" in answer.message) == ("crashed", True), answer.message
        assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY, "the parent is not bounded"

    def test_a_process_that_the_system_does_not_start_is_said_to_be_one(self, monkeypatch):
        def refused():
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

        monkeypatch.setattr("os.fork", refused)
        answer = answer_of(gradients, time_limit=30)
        assert (answer.kind, "The system cannot start another process (Resource" in answer.message) == ("crashed", True)

    def test_an_end_without_a_word_is_said_to_be_one(self):
        def ends(dout, x, w, b, padding):
            os._exit(7)

        def shot(dout, x, w, b, padding):
            os.kill(os.getpid(), signal.SIGSEGV)

        assert "exited with code 7" in answer_of(ends, time_limit=20).message
        answer = answer_of(shot, time_limit=20)
        assert (answer.kind, "SIGSEGV" in answer.message) == ("crashed", True)

    def test_a_crash_costs_one_case_and_a_debugger_hears_where_it_can_go(self):
        def once(dout, x, w, b, padding):
            if x.shape[0] == 3:
                os._exit(1)
            return gradients(dout, x, w, b, padding=padding)

        def stops(dout, x, w, b, padding):
            breakpoint()

        student = open_student(once, BACKWARD, CASES)
        kinds = [student.answer(make_case("batch", TINY.spec.replace(batch=count), 0)).kind for count in (2, 3, 2)]
        assert kinds == ["ok", "crashed", "ok"]
        assert "time_limit=math.inf" in answer_of(stops).message

    def test_beside_a_gpu_it_is_asked_in_this_process(self, monkeypatch):
        def where(dout, x, w, b, padding):
            seen.add(os.getpid())
            return gradients(dout, x, w, b, padding=padding)

        seen = set()
        assert answer_of(where).kind == "ok"
        assert not seen, "a child's memory is its own"
        monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
        assert answer_of(where).kind == "ok"
        assert seen == {os.getpid()}

    def test_a_limit_that_is_none(self):
        for limit in (0, -1, True, "1", 1e9, math.nan):
            with pytest.raises(ValueError, match="time_limit is a positive number of seconds"):
                open_student(gradients, BACKWARD, time_limit=limit)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64])
def test_truth_values_and_whole_numbers_of_torch_are_wrong_numbers_and_no_crash(dtype):
    def whole(input, weight, bias=None, stride=1, padding=0):
        return F.conv2d(input, weight, bias, stride, padding).to(dtype)

    found = report(whole, "conv2d")
    assert {case.kind for case in found.cases} == {"wrong_value"}, found.text()
    assert [take_back([torch.ones(2, dtype=dtype)]).dtype, take_back(torch.ones(2).half()).dtype] == [
        torch.float64,
        torch.float16,
    ]
