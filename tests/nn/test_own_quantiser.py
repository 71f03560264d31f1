"""surrogate_check with anybody's quantiser: what it does is kept apart from what is wrong in the convolution."""

import pytest
import torch
import torch.nn.functional as F

from convviz.nn import surrogate_check

grad = torch.nn.grad


def draw(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


def fixed(tensor):
    """A fixed-point quantiser: eighths between -1 and 7/8."""
    return (tensor * 8).round().clamp(-8, 7) / 8


def ternary(tensor):
    return torch.where(tensor.abs() > 0.4, tensor.sign(), 0.0)


class Quantise(torch.autograd.Function):
    """Anybody's: straight through, within the range or everywhere, or not at all."""

    @staticmethod
    def forward(ctx, tensor, how):
        ctx.save_for_backward(tensor)
        ctx.how = how
        return fixed(tensor)

    @staticmethod
    def backward(ctx, gradient):
        (tensor,) = ctx.saved_tensors
        slopes = {"identity": 1.0, "clip": (tensor.abs() <= 1).double(), "nothing": 0.0, "double": 2.0}
        return gradient * slopes[ctx.how], None


class Layer(torch.nn.Conv2d):
    """A convolution of quantised weights, and of quantised inputs if asked for."""

    def __init__(self, how="identity", inputs=False):
        super().__init__(2, 3, (3, 2), stride=(1, 2), padding=1, dtype=torch.float64)
        self.how, self.inputs = how, inputs
        with torch.no_grad():
            self.weight.copy_(draw(3, 2, 3, 2))

    def forward(self, input):
        input = Quantise.apply(input, self.how) if self.inputs else input
        return self._conv_forward(input, Quantise.apply(self.weight, self.how), self.bias)


def function(kernel=lambda w: w, of_weight=lambda dw: dw, quantised=fixed, out=lambda y: y, kept=False):
    """Return a Function that quantises within, as quantised training libraries write it."""

    class Conv(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w, b):
            ctx.save_for_backward(x, w)
            return out(F.conv2d(quantised(x), quantised(w), b))

        @staticmethod
        def backward(ctx, dy):
            x, w = ctx.saved_tensors
            used = w if kept else quantised(w)
            dx = grad.conv2d_input(x.shape, kernel(used), dy)
            return dx, of_weight(grad.conv2d_weight(quantised(x), w.shape, dy)), dy.sum((0, 2, 3))

    return Conv.apply


IMAGE, TENSORS = draw(2, 2, 5, 6), (draw(2, 2, 5, 6), draw(3, 2, 3, 3), draw(3))


def complaint(layer, given, **stated):
    with pytest.raises(AssertionError) as raised:
        surrogate_check(layer, given, **stated)
    return str(raised.value)


class TestRight:
    @pytest.mark.parametrize("inputs", [False, True])
    @pytest.mark.parametrize("how", ["identity", "clip"])
    def test_a_layer_whichever_of_its_tensors_are_quantised(self, how, inputs):
        assert surrogate_check(Layer(how, inputs), IMAGE, forward=fixed, surrogate=how)

    def test_a_function_that_quantises_within(self):
        assert surrogate_check(function(), TENSORS, forward=fixed)
        assert surrogate_check(function(out=fixed), TENSORS, forward=fixed), "its output as well"
        assert surrogate_check(function(quantised=ternary), TENSORS, forward={"weight": ternary, "input": ternary})

    def test_a_surrogate_and_a_convolution_of_ones_own(self):
        def smooth(x, w):
            q = ternary(w).detach() + torch.tanh(2 * w) - torch.tanh(2 * w).detach()
            return F.conv2d(x, q, stride=2, dilation=2)

        def plain(x, w, b):
            return F.conv2d(x, w, stride=2, dilation=2)

        stated, given = {"forward": ternary, "convolution": plain}, (draw(2, 2, 7, 7), draw(3, 2, 3, 3))
        assert surrogate_check(smooth, given, surrogate=lambda w: (2 * w).tanh(), **stated)
        assert "gradient of weight is wrong" in complaint(smooth, given, surrogate="tanh", **stated)

    def test_a_linear_layer(self):
        class Linear(torch.nn.Linear):
            def forward(self, input):
                return F.linear(input, Quantise.apply(self.weight, "identity"), self.bias)

        assert surrogate_check(Linear(4, 3, dtype=torch.float64), draw(5, 4), forward=fixed)

    def test_the_layer_and_the_random_state_stay_as_they_were(self):
        layer, state = Layer(), torch.get_rng_state()
        before = layer.weight.detach().clone()
        surrogate_check(layer, IMAGE, forward=fixed)
        assert torch.equal(layer.weight, before)
        assert layer.weight.grad is None
        assert torch.equal(torch.get_rng_state(), state)


class TestConvolution:
    """What is wrong there has the name that it has without a quantiser."""

    @pytest.mark.parametrize(
        ("wrong", "sentence"),
        [
            ({"kernel": lambda w: w.flip(2, 3)}, "in the convolution: The kernel is not rotated (I01)"),
            ({"kernel": lambda w: w.flip(2)}, "The kernel is flipped from left to right only (I03)"),
            ({"kernel": lambda w: w.flip(3)}, "The kernel is flipped from top to bottom only (I04)"),
            ({"of_weight": lambda dw: dw.flip(2, 3)}, "is rotated by 180° (W01)"),
            ({"of_weight": lambda dw: dw / 2}, "in the convolution: "),
            ({"of_weight": lambda dw: -dw}, "The sign of the gradient is wrong (G07)"),
        ],
    )
    def test_a_mistake_of_the_catalogue(self, wrong, sentence):
        said = complaint(function(**wrong), TENSORS, forward=fixed)
        assert sentence in said
        assert "in the quantiser" not in said

    def test_the_forward_pass(self):
        def flipped(x, w):
            return F.conv2d(x, fixed(w).flip(2, 3))

        assert "in the convolution" in complaint(flipped, TENSORS[:2], forward=fixed)


class TestQuantiser:
    @pytest.mark.parametrize(
        ("how", "stated", "sentence"),
        [
            ("nothing", "identity", "in the quantiser: No gradient passes the sign (Q01)"),
            ("clip", "identity", "its gradient is that of surrogate='clip'"),
            ("identity", "clip", "its gradient is that of surrogate='identity'"),
        ],
    )
    def test_another_straight_through_gradient(self, how, stated, sentence):
        said = complaint(Layer(how), IMAGE, forward=fixed, surrogate=stated)
        assert sentence in said
        assert "in the convolution" not in said

    def test_what_is_computed_with_the_kept_weight(self):
        said = complaint(function(kept=True), TENSORS, forward=fixed)
        assert "the gradient of input is computed with the weight as it is kept" in said

    def test_a_gradient_that_is_quantised_itself(self):
        said = complaint(function(of_weight=fixed), TENSORS, forward=fixed)
        assert "the gradient itself is quantised" in said

    def test_nothing_and_something_else_in_the_output(self):
        assert "nothing is quantised" in complaint(F.conv2d, TENSORS, forward=fixed)
        assert "state each quantiser" in complaint(function(quantised=ternary), TENSORS, forward=fixed)

    def test_both_at_once(self):
        def both(x, w):
            class Conv(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, w):
                    ctx.save_for_backward(x, w)
                    return F.conv2d(x, fixed(w))

                @staticmethod
                def backward(ctx, dy):
                    x, w = ctx.saved_tensors
                    return grad.conv2d_input(x.shape, w.flip(2, 3), dy), grad.conv2d_weight(x, w.shape, dy)

            return Conv.apply(x, w)

        said = complaint(both, TENSORS[:2], forward=fixed)
        assert "in the convolution: The kernel is not rotated (I01); and in the quantiser" in said


def test_what_cannot_be_stated():
    with pytest.raises(ValueError, match="surrogate is one of identity, clip, tanh"):
        surrogate_check(Layer(), IMAGE, forward=fixed, surrogate="straight")
    with pytest.raises(TypeError, match="forward= and surrogate="):
        surrogate_check(Layer(), IMAGE)
