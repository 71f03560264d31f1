"""convviz.explain against real models: the board's numbers are those of the model's own autograd, and nothing moves."""

import copy
import random

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import convviz
from convviz.explanation.layer.crop_window import MAX_SHOWN_CELLS, choose_window, cut
from convviz.explanation.layer.layer_sentences import own_rows
from convviz.explanation.layer.record_run import record_layer
from convviz.ops.stages import stages
from convviz.views.panels import panel
from tests.geometries import reals


class LeNet(nn.Module):
    """Padding, a batch norm, ReLUs in place, a strided and a grouped convolution, and a head."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.norm = nn.BatchNorm2d(6)
        self.features = nn.Sequential(nn.Conv2d(6, 8, 3, stride=2, groups=2), nn.ReLU(inplace=True), nn.Dropout())
        self.head = nn.Linear(8 * 3 * 3, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu_(self.norm(self.conv1(x))), 2)
        return self.head(self.features(x).flatten(1))


class Decoder(nn.Module):
    """Two transposed convolutions: with output_padding, and dilated in groups."""

    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1)
        self.out = nn.ConvTranspose2d(6, 2, (2, 3), stride=(3, 1), padding=(1, 2), dilation=(1, 2), groups=2)

    def forward(self, z):
        return torch.sigmoid(self.out(torch.tanh(self.up(z))))


class Twice(nn.Module):
    """One layer that runs twice."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 3, padding=1)

    def forward(self, x):
        return self.conv(torch.tanh(self.conv(x)))


def seeded(make):
    """Make a model in float64 from numbers of its own, without touching the global generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        return make().double()


LABELS = torch.tensor([3, 7])


def cross_entropy(output):
    return F.cross_entropy(output, LABELS)


def by_autograd(model, layer, x, loss, run=0):
    """Return what the model's own autograd says about a layer: nothing here is ours."""
    kept = []

    def keep(_, args, output):
        kept.append((args[0].detach().clone(), output))
        output.retain_grad()
        leaf = args[0]
        if leaf.requires_grad:
            leaf.retain_grad()
        kept[-1] += (leaf,)
        return output.clone()  # what follows may work in place

    handle = layer.register_forward_hook(keep)
    with torch.random.fork_rng(devices=[]):
        loss(model(x.clone().requires_grad_())).backward()
    handle.remove()
    taken, output, leaf = kept[run]
    found = {
        "input": taken,
        "output": output.detach(),
        "grad_output": output.grad,
        "grad_input": leaf.grad,
        "grad_weight": layer.weight.grad,
        "grad_bias": layer.bias.grad,
    }
    model.zero_grad(set_to_none=True)
    return found


def shown(app, name):
    return panel(app.session.result, app.session.settings.plane, name).tensor


@pytest.fixture
def explain(closing):
    """Return convviz.explain; what it opened is closed at the end."""
    return lambda *arguments, **named: closing(convviz.explain(*arguments, **named))


def story(app):
    """Return the sentences above the app."""
    return app._introduction


# -- whole layers --------------------------------------------------------------------------------------------------

WHOLE = [
    (LeNet, "conv1", (2, 1, 14, 14), cross_entropy),
    (LeNet, "features.0", (2, 1, 14, 14), cross_entropy),
    (Decoder, "up", (2, 4, 3, 4), lambda output: (output**2).mean()),
    (Decoder, "out", (2, 4, 3, 4), lambda output: (output**2).mean()),
]


@pytest.mark.parametrize(("make", "name", "shape", "loss"), WHOLE, ids=[f"{m.__name__} {n}" for m, n, *_ in WHOLE])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_layer_that_fits_is_shown_with_the_models_own_numbers(explain, make, name, shape, loss, training, dtype):
    model = seeded(make).to(dtype).train(training)
    x = reals(shape, 1, dtype)
    layer = model.get_submodule(name)
    truth = by_autograd(model, layer, x, loss)
    app = explain(model, x, layer=name, loss=loss)
    assert app.session.result.weight.dtype is dtype
    for tensor, wanted in truth.items():
        if wanted is not None:  # the gradient by a leaf that nobody asked for
            got = shown(app, tensor).reshape(wanted.shape)
            torch.testing.assert_close(got, wanted, rtol=1e-5 if dtype is torch.float32 else 1e-10, atol=1e-6)
    assert torch.equal(shown(app, "grad_output"), truth["grad_output"])
    assert torch.equal(app.session.result.weight, layer.weight.detach())
    assert "All of it is shown." in story(app)
    assert app._numbers["truth"]["ok"]
    if name == "conv1":
        app.session.apply(app.session.settings.replace(digit=7, dtype="bfloat16"))
        app.set_state(app._start)  # where the page's button Reset leads
        assert torch.equal(shown(app, "input"), truth["input"])


def test_a_layer_alone_needs_no_name_and_no_loss(explain):
    layer = seeded(lambda: nn.Conv2d(2, 3, 3, padding="same", padding_mode="reflect"))
    x = reals((2, 5, 6), 0)  # one sample without N
    app = explain(layer, x)
    assert torch.equal(app.session.result.output[0], layer(x))
    assert torch.equal(app.session.result.grad_output, torch.ones(1, 3, 5, 6, dtype=torch.float64))
    assert app.session.settings.spec.padding_mode == "reflect"
    assert app.scale == "quantity"
    reported = (
        "Until you change one, these are the numbers of your Conv2d: its input, weight and bias, and as grad_output "
        "the gradient of the sum"
    )
    assert story(app).startswith(reported)


def test_a_layer_that_runs_twice_shows_the_run_that_was_asked_for(explain):
    model, x = seeded(Twice), reals((1, 2, 5, 5), 3)

    def loss(output):
        return (output**2).sum()

    for run in (0, 1):
        truth = by_autograd(model, model.conv, x, loss, run)
        app = explain(model, x, layer=model.conv, loss=loss, run=run)
        for name in ("input", "output", "grad_output"):
            torch.testing.assert_close(shown(app, name), truth[name], rtol=1e-10, atol=1e-12)
        assert f"It runs 2 times in the model: this is run {run}, counted from 0" in story(app)
    app = explain(model, x, window={"samples": 0})
    assert "layer 'conv' (Conv2d)" in story(app), "a window speaks of the only convolution"
    assert "this is run 0" in story(app)


@pytest.mark.parametrize(
    "make",
    [
        lambda: convviz.nn.Conv2d(2, 3, 3, stride=2, method="unfold"),
        lambda: convviz.nn.BinaryConv2d(2, 3, 3),
        lambda: convviz.nn.Conv2dShift(2, 3, 3),
        lambda: convviz.nn.ConvTranspose2d(2, 3, 3, stride=2, method="taps"),
        lambda: nn.utils.parametrizations.weight_norm(nn.Conv2d(2, 3, 3)),
        lambda: nn.utils.parametrizations.spectral_norm(nn.Conv2d(2, 3, 3)),
    ],
    ids=["unfold", "binary", "shift", "transposed", "weight norm", "spectral norm"],
)
def test_every_layer_whose_forward_is_a_convolution_is_shown(explain, make):
    layer, x = seeded(make), reals((2, 2, 6, 5), 2)
    state = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    app = explain(layer, x, loss=lambda output: (output**2).sum())
    assert all(torch.equal(state[name], tensor) for name, tensor in layer.state_dict().items())
    output = app.session.result.grad_input if app.session.settings.transposed else app.session.result.output
    with torch.no_grad():
        torch.testing.assert_close(output, layer.eval()(x), rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(app.session.result.loss.isfinite(), torch.tensor(True))
    assert ("weight is the quantised weight" in story(app)) == hasattr(layer, "quantized_weight")


def test_a_computed_weight_is_the_one_that_forward_used(explain):
    layer = seeded(lambda: nn.utils.parametrizations.spectral_norm(nn.Conv2d(2, 3, 3)))
    start = layer.parametrizations.weight[0]._v
    start.copy_(F.normalize(reals(start.shape, 1), dim=0))  # far from where its iteration ends: every look moves it
    x = reals((1, 2, 5, 5), 0)
    truth = copy.deepcopy(layer)(x).detach()
    torch.testing.assert_close(shown(explain(layer, x), "output"), truth, rtol=1e-12, atol=1e-12)


def test_shorter_and_other_dtypes_are_named(explain):
    layer = seeded(lambda: nn.Conv2d(1, 1, 3)).half()
    app = explain(layer, reals((1, 1, 5, 5), 0, torch.float16))
    assert app.session.settings.dtype == "float32"
    assert "The layer computes in float16; the board shows it in float32." in story(app)
    torch.testing.assert_close(app.session.result.weight, layer.weight.detach().float())
    app = explain(layer.bfloat16(), reals((1, 1, 5, 5), 0, torch.bfloat16))
    assert app.session.settings.dtype == "bfloat16"
    assert "computes in" not in story(app)


def test_autocast_of_the_caller(explain):
    layer = nn.Conv2d(1, 2, 3)
    with torch.autocast("cpu", torch.bfloat16):
        app = explain(nn.Sequential(layer, nn.ReLU()), reals((1, 1, 5, 5), 0, torch.float32), layer=layer)
    assert app.session.settings.dtype == "bfloat16"


def test_arguments_by_position_and_by_name(explain):
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 1, 2, dtype=torch.float64)

        def forward(self, x, scale=1.0):
            return {"seen": self.conv(x) * scale}

    x, model = reals((1, 1, 4, 4), 0), Two()
    for batch in ((x, 3.0), {"x": x, "scale": 3.0}):
        app = explain(model, batch, layer="conv", loss=lambda output: output["seen"].sum())
        assert torch.equal(shown(app, "grad_output"), torch.full((1, 1, 3, 3), 3.0, dtype=torch.float64))


# -- what must not move --------------------------------------------------------------------------------------------


def everything(model, x):
    """Return what explain could change, as plain values."""
    return {
        "state": {name: tensor.clone() for name, tensor in model.state_dict().items()},
        "grads": {name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()},
        "wanted": {name: p.requires_grad for name, p in model.named_parameters()},
        "x": x.detach().clone(),
        "rng": torch.get_rng_state(),
    }, {
        "training": [module.training for module in model.modules()],
        "hooks": [(len(m._forward_hooks), len(m._forward_pre_hooks), len(m._backward_hooks)) for m in model.modules()],
        "ids": [id(tensor) for tensor in (*model.parameters(), *model.buffers())],
        "versions": [tensor._version for tensor in (*model.parameters(), *model.buffers(), x)],
    }


def assert_same(one, other):
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            assert_same(one[name], other[name])
    elif isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    else:
        assert one == other


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("around", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_the_model_and_the_batch_stay_as_they_were(explain, training, frozen, around):
    model = nn.Sequential(nn.ReLU(inplace=True), seeded(LeNet)).train(training)
    x = reals((2, 1, 14, 14), 1)
    cross_entropy(model(x.clone())).backward()  # gradients that are there already
    model.requires_grad_(not frozen)
    truth_model = seeded(LeNet).train(training)
    before = everything(model, x)
    with around():
        app = explain(model, x, layer="1.conv1", loss=cross_entropy)
    for was, now in zip(before, everything(model, x), strict=True):
        assert_same(was, now)
    truth = by_autograd(truth_model, truth_model.conv1, x.relu(), cross_entropy)
    torch.testing.assert_close(shown(app, "grad_output"), truth["grad_output"])


def test_a_model_and_a_batch_made_in_inference_mode_are_shown_like_any_other(explain):
    model, x = seeded(LeNet), reals((2, 1, 14, 14), 1)
    truth = by_autograd(model, model.conv1, x, cross_entropy)
    with torch.inference_mode():
        made, batch = seeded(LeNet), x.clone()
    app = explain(made, batch, layer="conv1", loss=cross_entropy)
    for name in ("output", "grad_output"):
        torch.testing.assert_close(shown(app, name), truth[name])


def test_a_model_that_fails_leaves_no_hook_and_says_it_itself():
    model = seeded(LeNet)
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        convviz.explain(model, reals((2, 1, 20, 20), 0), layer="conv1")
    assert not model.conv1._forward_hooks


# -- windows -------------------------------------------------------------------------------------------------------


def random_layers(seed, count):
    """Yield (layer, x), odd on purpose."""
    draw = random.Random(seed)
    while count:
        groups = draw.choice((1, 1, 2, 3))
        kernel, stride, dilation = ([draw.randint(1, 4), draw.randint(1, 4)] for _ in range(3))
        padding = [draw.randint(0, 3), draw.randint(0, 3)]
        mode = draw.choice(("zeros", "zeros", "reflect", "replicate", "circular"))
        transposed = draw.random() < 0.5
        channels = (groups * draw.randint(1, 2), groups * draw.randint(1, 2))
        size = (draw.randint(4, 12), draw.randint(4, 12))
        options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        if transposed:
            extra = [draw.randrange(max(s, d)) for s, d in zip(stride, dilation, strict=True)]
            layer = seeded(
                lambda c=channels, k=kernel, e=extra, o=options: nn.ConvTranspose2d(*c, k, output_padding=e, **o)
            )
        else:
            layer = seeded(lambda c=channels, k=kernel, m=mode, o=options: nn.Conv2d(*c, k, padding_mode=m, **o))
        x = reals((draw.randint(1, 3), channels[0], *size), count)
        try:
            output = layer(x)
        except RuntimeError:
            continue  # the kernel does not fit, or the padding cuts everything off
        if min(output.shape) < 1:
            continue
        yield layer, x, draw
        count -= 1


def window_or_none(made, asked):
    try:
        return choose_window(made, asked)
    except ValueError as error:
        if "some of the input reaches" in str(error):
            return None
        raise


def a_span(draw, count):
    start = draw.randrange(count)
    return slice(start, draw.randint(start + 1, count))


@pytest.mark.parametrize("seed", range(2))
def test_a_window_shows_the_layers_own_output_and_its_share_of_the_gradients(seed):
    shown_windows = 0
    for layer, x, draw in random_layers(seed, 60):
        x.requires_grad_()
        output = layer(x)
        weights = reals(output.shape, 9)
        made = record_layer(layer, x, loss=lambda out, w=weights: (out * w).sum())
        assert torch.equal(made.grad_output, weights)
        asked = {"rows": a_span(draw, output.shape[2]), "columns": a_span(draw, output.shape[3])}
        if draw.random() < 0.5:
            asked["samples"] = draw.randrange(x.shape[0])
        window = window_or_none(made, asked)
        if window is None:
            continue
        shown_windows += 1
        parts = cut(made, window)
        given = (parts[name] for name in ("input", "weight", "bias", "grad_output"))
        result = stages(window.spec, *given, dtype="float64", transposed=made.transposed)
        names = ("grad_input", "output") if made.transposed else ("output", "grad_input")
        torch.testing.assert_close(getattr(result, names[0]), parts["output"], rtol=1e-9, atol=1e-10)
        samples, rows, columns = window.samples, window.rows, window.columns
        place = (
            slice(samples.start, samples.stop),
            slice(None),
            slice(rows.start, rows.stop),
            slice(columns.start, columns.stop),
        )
        torch.testing.assert_close(parts["output"], output[place].detach(), rtol=0, atol=0)
        inside = torch.zeros_like(weights)
        inside[place] = weights[place]
        share = torch.autograd.grad(output, (layer.weight, layer.bias), inside, retain_graph=True)
        torch.testing.assert_close(result.grad_weight, share[0], rtol=1e-9, atol=1e-10)
        torch.testing.assert_close(result.grad_bias, share[1], rtol=1e-9, atol=1e-10)
        if window.border:
            continue
        (own,) = torch.autograd.grad(output, x, weights)
        own = own[place[0], :, window.input_rows.start : window.input_rows.stop]
        own = own[..., window.input_columns.start : window.input_columns.stop]
        whole = (own_rows(made, window, 0), own_rows(made, window, 1))
        inner = (..., slice(whole[0].start, whole[0].stop), slice(whole[1].start, whole[1].stop))
        torch.testing.assert_close(getattr(result, names[1])[inner], own[inner], rtol=1e-9, atol=1e-10)
    assert shown_windows > 40


def test_a_window_near_a_cell_has_it_and_as_much_as_any():
    draw = random.Random(5)
    for make, shape in (
        (lambda: nn.Conv2d(2, 3, 3, padding=1), (2, 2, 7, 8)),
        (lambda: nn.Conv2d(1, 20, 3, padding=1), (12, 1, 90, 30)),
        (lambda: nn.Conv2d(24, 24, 3, stride=2, dilation=3, groups=12), (1, 24, 80, 200)),
        (lambda: nn.ConvTranspose2d(12, 20, 3, stride=2, output_padding=1), (1, 12, 40, 9)),
        (lambda: nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"), (1, 1, 100, 70)),
    ):
        layer = seeded(make)
        made = record_layer(layer, reals(shape, 0))
        most = choose_window(made)
        for _ in range(12):
            near = [draw.randrange(size) for size in made.output.shape]
            window = choose_window(made, near=near)
            spans = (window.samples, window.out_channels, window.rows, window.columns)
            assert all(at in span for at, span in zip(near, spans, strict=True)), (near, spans)
            assert window.is_whole(made) == most.is_whole(made)
            counts = (most.samples, most.out_channels, most.rows, most.columns)
            assert all(len(span) + 2 >= len(all) for span, all in zip(spans, counts, strict=True)), (near, spans)
            parts = cut(made, window)
            given = (parts[name] for name in ("input", "weight", "bias", "grad_output"))
            result = stages(window.spec, *given, dtype="float64", transposed=made.transposed)
            output = result.grad_input if made.transposed else result.output
            if len(window.in_channels) == made.input.shape[1] // made.spec.groups * window.spec.groups:
                torch.testing.assert_close(output, parts["output"], rtol=1e-9, atol=1e-10)


def test_own_rows_are_not_too_few():
    layer, x = seeded(lambda: nn.Conv2d(1, 1, 3, padding=1)), reals((1, 1, 40, 40), 0)
    made = record_layer(layer, x)
    window = choose_window(made, {"rows": slice(10, 20), "columns": slice(0, 40)})
    assert (window.input_rows, own_rows(made, window, 0), own_rows(made, window, 1)) == (
        range(9, 21),
        range(2, 10),
        range(40),
    )


@pytest.mark.parametrize("transposed", [False, True])
def test_a_window_of_channels_is_their_share_of_the_sums(transposed):
    make = nn.ConvTranspose2d if transposed else nn.Conv2d
    layer, x = seeded(lambda: make(20, 30, 3, groups=2)), reals((1, 20, 5, 5), 0)
    window = {"in_channels": slice(12, 15), "out_channels": slice(20, 24)}
    app = convviz.explain(layer, x, window=window)
    with torch.no_grad():
        masked = torch.zeros_like(x)
        masked[:, 12:15] = x[:, 12:15]
        wanted = layer(masked)[:, 20:24]
    result = app.session.result
    torch.testing.assert_close(result.grad_input if transposed else result.output, wanted, rtol=1e-9, atol=1e-10)
    assert "input channels 12 to 14 of 20, output channels 20 to 23 of 30" in story(app)
    assert "output adds up 3 of 10 input channels, so it is not the layer's own." in story(app)
    assert "grad_input adds up 4 of 15 output channels, so it is not the layer's own." in story(app)
    assert "grad_weight is the layer's own." in story(app)
    x.requires_grad_()
    layer(x).sum().backward()
    own = layer.weight.grad[12:15, 5:9] if transposed else layer.weight.grad[20:24, 2:5]
    torch.testing.assert_close(result.grad_weight, own, rtol=1e-9, atol=1e-10)
    app.close()


@pytest.mark.parametrize(
    ("make", "shape", "spec"),
    [
        (lambda: nn.Conv2d(64, 128, 3, stride=2, padding=1), (4, 64, 112, 112), (32, 8, 8, 1, 1)),
        (lambda: nn.Conv2d(3, 64, 7, stride=2, padding=3), (2, 3, 224, 224), (32, 3, 8, 1, 1)),
        (lambda: nn.Conv2d(96, 96, 3, padding=1, groups=96), (1, 96, 56, 56), (56, 8, 8, 8, 1)),
        (lambda: nn.Conv2d(64, 64, 3, groups=4), (1, 64, 20, 20), (20, 8, 8, 1, 1)),
        (lambda: nn.Conv2d(8, 4, 3), (9, 8, 12, 12), (12, 8, 4, 1, 1)),
        (lambda: nn.Conv2d(4, 4, 3), (8, 4, 12, 12), (12, 4, 4, 1, 8)),
        (lambda: nn.Conv2d(2, 2, 1, padding=2, padding_mode="circular"), (1, 2, 80, 80), (32, 2, 2, 1, 1)),
    ],
)
def test_what_is_too_large_opens_on_a_window(explain, make, shape, spec):
    layer = make()
    app = explain(layer, reals(shape, 0, torch.float32))
    got = app.session.settings.spec
    assert (got.input_size[0], got.in_channels, got.out_channels, got.groups, got.batch) == spec
    whole = got.batch == shape[0] and got.out_channels == layer.out_channels and got.input_size == shape[2:]
    assert whole == ("All of it is shown." in story(app))
    assert ("choose another with window=." in story(app)) != whole
    assert app._numbers["truth"]["ok"]
    assert len(app.session.settings.input.values) <= MAX_SHOWN_CELLS
    assert len(app.session.settings.grad.values) <= MAX_SHOWN_CELLS


def test_a_transposed_layer_that_is_too_large_opens_on_a_window(explain):
    layer = nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1)
    x = reals((1, 64, 56, 56), 0, torch.float32)
    app = explain(
        layer, x, window={"in_channels": slice(0, 8), "out_channels": 3, "rows": slice(20, 28), "columns": 111}
    )
    settings = app.session.settings
    assert settings.transposed
    assert settings.output_shape == (1, 1, 8, 1)
    with torch.no_grad():
        masked = torch.zeros_like(x)
        masked[:, :8] = x[:, :8]
        wanted = layer(masked)[:, 3:4, 20:28, 111:]
    torch.testing.assert_close(app.session.result.grad_input, wanted, rtol=1e-4, atol=1e-5)
    assert "output channel 3 of 32, output rows 20 to 27 of 112, output column 111 of 112" in story(app)
    assert explain(layer, x).session.settings.output_shape == (1, 8, 32, 32)


def test_an_output_padding_beyond_the_stride_leaves_out_what_the_board_cannot_hold(explain):
    layer = seeded(lambda: nn.ConvTranspose2d(1, 1, 2, stride=1, output_padding=2, dilation=3))
    x = reals((1, 1, 4, 4), 0)
    app = explain(layer, x)
    whole = layer(x).detach()
    shown_size = app.session.settings.output_shape[2:]
    assert shown_size == (7, 7)
    torch.testing.assert_close(app.session.result.grad_input, whole[..., :7, :7])
    assert "output rows 0 to 6 of 9" in story(app)


def test_a_border_of_copies_is_shown_as_input_in_a_window(explain):
    layer = seeded(lambda: nn.Conv2d(1, 1, 3, padding=1, padding_mode="circular"))
    x = reals((1, 1, 12, 12), 0)
    app = explain(layer, x, window={"rows": slice(0, 4), "columns": slice(8, 12)})
    torch.testing.assert_close(app.session.result.output, layer(x).detach()[..., :4, 8:])
    assert torch.equal(shown(app, "input")[0, 0, 0, :5], x[0, 0, -1, 7:])
    assert "input includes the border that padding_mode='circular' copies" in story(app)


# -- bad input -----------------------------------------------------------------------------------------------------


class Detached(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.conv, self.how = nn.Conv2d(1, 1, 3), how

    def forward(self, x):
        if self.how == "no_grad":
            with torch.no_grad():
                return self.conv(x)
        if self.how == "unused":
            self.conv(x)
            return x * torch.ones(1, requires_grad=True)
        y = self.conv(x)
        return {"tuple": lambda: (y, y), "argmax": y.argmax}[self.how]()


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 3)

    def forward(self, x):
        return F.conv2d(x, self.conv.weight)


X = torch.zeros(1, 1, 5, 5)
CONV = nn.Conv2d(1, 1, 3)
GRAPH = "the loss must depend differentiably on the layer's output"
BAD = {
    "a function": ((F.conv2d, X), {"layer": "0"}, TypeError,
                   "module must be a torch.nn.Module, a layer or a model: got builtin"),
    "a Linear": ((nn.Linear(2, 2), X), {"window": {"rows": 0}}, ValueError,
                 "explain shows nn.Conv2d and nn.ConvTranspose2d: module is a Linear; there is none in it"),
    "over one axis": ((nn.Conv1d(1, 1, 3), X), {"window": {"rows": 0}}, ValueError,
                      "module is a Conv1d, a convolution over one axis"),
    "several": ((LeNet(), X), {"window": {"rows": 0}}, ValueError,
                "LeNet has 2 convolutions, and explain shows one: choose one with layer='conv1', 'features.0'"),
    "no such layer": ((LeNet(), X), {"layer": "conv3"}, ValueError,
                      "layer is the name of a layer in LeNet: got 'conv3'; choose one with layer='conv1'"),
    "another model's layer": ((LeNet(), X), {"layer": CONV}, ValueError, "layer must be a part of the module: Conv2d"),
    "no convolution": ((LeNet(), X), {"layer": "norm"}, ValueError, "layer 'norm' is a BatchNorm2d; choose one with"),
    "not called": ((Unused(), X), {"layer": "conv"}, ValueError,
                   "conv did not run: the model's forward does not call it for this x"),
    "no run": ((CONV, X), {"run": "1"}, ValueError, "run counts the runs of a layer from 0: got '1'; for"),
    "a run before the first": ((CONV, X), {"run": -1}, ValueError, "run counts the runs of a layer from 0: got -1"),
    "fewer runs": ((CONV, X), {"run": 1}, ValueError, "run counts the runs of Conv2d from 0: got 1, and it ran 1"),
    "wrong channels": ((CONV, torch.zeros(1, 2, 5, 5)), {}, ValueError,
                       r"x must be \[N, 1, H, W\], the layer's in_channels in second place: got \[1, 2, 5, 5\]"),
    "whole numbers": ((CONV, X.long()), {}, ValueError, "x must have the weight's dtype, torch.float32: got torch.i"),
    "meta x": ((CONV, X.to("meta")), {}, ValueError, "x is on the meta device, which has shapes but no numbers"),
    "lazy": ((nn.LazyConv2d(1, 3), X), {}, ValueError, "weight has no numbers yet, because its layer is lazy"),
    "complex": ((nn.Conv2d(1, 1, 3, dtype=torch.complex64), X), {}, ValueError,
                "explain shows weights of real floating-point numbers: weight of module is torch.complex64"),
    "no_grad": ((Detached("no_grad"), X), {"layer": "conv"}, ValueError, GRAPH),
    "unused": ((Detached("unused"), X), {"layer": "conv"}, ValueError, GRAPH),
    "argmax": ((Detached("argmax"), X), {}, ValueError, "loss must be a real floating-point number .* torch.int64"),
    "a tuple": ((Detached("tuple"), X), {}, ValueError, "the sum of the output needs a tensor: the model returns a t"),
    "a loss of many": ((CONV, X), {"loss": lambda output: output}, ValueError,
                       r"loss returns one number, a tensor with one entry: got shape \[1, 1, 3, 3\]"),
    "a loss by name": ((CONV, X), {"loss": "mse"}, TypeError, "loss is a function from the model's output to a number"),
    "nan": ((CONV, X / 0), {}, ValueError, "input must hold finite numbers below 1e.300 here"),
    "xnor": ((convviz.nn.XNORConv2d(1, 2, 3), reals((1, 1, 5, 5), 0, torch.float32)), {}, ValueError,
             r"the convolution of their input with their weight: that of the layer \(XNORConv2d\) is not"),
    "a large kernel": ((nn.Conv2d(1, 1, 13), torch.zeros(1, 1, 20, 20)), {}, ValueError, "kernel_size up to 11"),
    "a long reach": ((nn.Conv2d(1, 1, 6, dilation=16), torch.zeros(1, 1, 99, 99)), {}, ValueError,
                     "the board shows up to 64 rows: these 1 rows of the output read 81 of the input"),
    "a window of nothing": ((CONV, X), {"window": {"rows": slice(3, 9)}}, ValueError,
                            r"window\['rows'\] must hold some of the 3 there are, counted from 0: got slice"),
    "a window with steps": ((CONV, X), {"window": {"rows": slice(0, 3, 2)}}, ValueError, "a slice without a step"),
    "a window by another name": ((CONV, X), {"window": {"row": 1}}, ValueError,
                                 "window is a dict with any of samples, in_channels, out_channels, rows, columns"),
    "too large a window": ((CONV, torch.zeros(1, 1, 99, 99)), {"window": {"rows": slice(0, 90)}}, ValueError,
                           "the board shows up to 64 rows: these 90 rows of the output read 92 of the input; ask for"),
    "parts of groups": ((nn.Conv2d(4, 4, 3, groups=2), torch.zeros(1, 4, 5, 5)),
                        {"window": {"out_channels": slice(1, 3)}}, ValueError,
                        "with groups=2 a window takes channels of one group, or whole groups of 2 in and 2 out"),
    "only padding": ((nn.Conv2d(1, 1, 1, padding=3), X), {"window": {"rows": 0}}, ValueError,
                     "a window needs rows of the output that some of the input reaches: these lie in the padding"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "named", "kind", "message"), BAD.values(), ids=BAD)
@pytest.mark.filterwarnings("ignore:Lazy modules", "ignore:Complex modules")
def test_bad_input_is_one_sentence_with_the_rule(arguments, named, kind, message):
    hooks = [len(m._forward_hooks) for m in arguments[0].modules()] if isinstance(arguments[0], nn.Module) else []
    with pytest.raises(kind, match=message) as caught:
        convviz.explain(*arguments, **named)
    assert "\n" not in str(caught.value)
    if hooks:
        assert hooks == [len(m._forward_hooks) for m in arguments[0].modules()]
