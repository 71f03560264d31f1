"""Learn: one step of gradient descent on the board, held against torch.optim.SGD."""

import copy
import itertools

import pytest
import torch
import torch.nn.functional as F

from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec
from convviz.settings.compute import compute
from convviz.settings.link import from_link
from convviz.settings.state import Settings
from convviz.settings.tensors import input_tensor, target_tensor
from tests.autograd_truth import loss_of, pad
from tests.browser.app_page import cell, repaint
from tests.random_states import random_states

say = sentences("gradient_descent")
RATES = (0.001, 0.05, 0.5)
PARABOLA = {"loss": "half_squared_error"}
# Inputs of ever larger numbers, and the largest rate that is safe there, if any is.
LARGE = {"size=5&input=ramp": 0.01, "size=8&input=ramp": 0.0005, "size=32&input=whole": None}


@pytest.fixture
def learner(opened):
    """The 8 × 8 digit of an exported page, with Learn open at a rate that its link names."""
    return opened("v=1&lr=0.05", (1400, 900))


def states(count, **changes):
    return [{**state, **changes} for state in random_states(13, count)]


def numbers_of(js, state):
    (seen,) = js.walk(state, numbers=True)
    return seen["state"], seen["numbers"]


def sgd(settings, lr, steps=1):
    """The settings after some steps of torch.optim.SGD in float64, and the loss before each and after the last."""
    losses = []
    for _ in range(steps):
        result = compute(settings)
        losses.append(float(result.loss))
        names = ["weight", *(["bias"] if settings.bias is not None else [])]
        given = [getattr(result, name).detach().clone().requires_grad_() for name in names]
        for tensor, name in zip(given, names, strict=True):
            tensor.grad = getattr(result, f"grad_{name}").clone()
        torch.optim.SGD(given, lr=lr).step()
        made = {
            name: {"kind": "values", "values": tensor.flatten().tolist(), "shape": list(tensor.shape)}
            for name, tensor in zip(names, given, strict=True)
        }
        settings = Settings.from_dict({**settings.to_dict(), **made})
    return settings, [*losses, float(compute(settings).loss)]


def parameters(settings):
    result = compute(settings)
    return [tensor for tensor in (result.weight, result.bias) if tensor is not None]


def press(page, name):
    with repaint(page):
        page.get_by_role("button", name=say(name), exact=True).click()


def shown_weight(page):
    places = itertools.product(range(3), repeat=2)
    return [float(cell(page, "weight", *place).get_attribute("data-value")) for place in places]


def weight_after(steps, lr=0.05):
    settings, losses = sgd(Settings(dtype="float64"), lr, steps)
    return compute(settings).weight.flatten().tolist(), losses


def test_a_step_is_that_of_torch_optim_sgd(js):
    """Every geometry, loss and border; a transposed layer's weights, and the bias, as well."""
    for index, state in enumerate(states(30)):
        lr = RATES[index % len(RATES)]
        settings, stages = numbers_of(js, state)
        [[made, notices]] = js("numbers/gradient_step.js", "gradientStep", [[settings, stages, lr]])
        assert notices == []
        wanted, _ = sgd(Settings.from_dict(state), lr)
        got = Settings.from_dict({name: value for name, value in made.items() if name != "version"})
        for mine, theirs in zip(parameters(got), parameters(wanted), strict=True):
            assert torch.allclose(mine, theirs, rtol=1e-12, atol=1e-12), (lr, state)
        unmoved = {name: made[name] for name in settings if name not in ("weight", "bias")}
        assert unmoved == {name: settings[name] for name in unmoved}, state


def test_the_lowest_point_of_a_step_is_where_the_loss_turns(js):
    for state in states(25, **PARABOLA):
        settings, stages = numbers_of(js, state)
        (lowest,) = js("numbers/gradient_step.js", "lowestAlong", [[settings, stages]])
        start = compute(Settings.from_dict(state))
        if lowest is None:
            assert not start.grad_weight.any(), state
            continue
        _, (before, least) = sgd(Settings.from_dict(state), lowest)
        for part in (0.9, 1.1):
            assert sgd(Settings.from_dict(state), part * lowest)[1][1] >= least, (part, state)
        assert sgd(Settings.from_dict(state), 2 * lowest)[1][1] == pytest.approx(before, rel=1e-6), state


def most_curved(settings):
    """The largest eigenvalue of the loss's Hessian in weight and bias together, by torch's layers and autograd."""
    result, spec = compute(settings), settings.spec
    given = [tensor.double() for tensor in (result.weight, result.bias) if tensor is not None]
    x, size = input_tensor(settings).double(), given[0].numel()
    geometry = {"groups": spec.groups, "dilation": spec.dilation}
    (top, _), (left, _) = spec.padding

    def loss(flat):
        w, b = flat[:size].view_as(given[0]), flat[size:] if len(given) > 1 else None
        if settings.transposed:
            whole = F.conv_transpose2d(x, w, b, spec.stride, output_padding=spec.remainder, **geometry)
            output = whole[..., top : top + spec.input_size[0], left : left + spec.input_size[1]]
        else:
            output = F.conv2d(pad(x, spec), w, b, spec.stride, **geometry)
        return loss_of(settings.loss, output, {"target": target_tensor(settings).double()})

    hessian = torch.autograd.functional.hessian(loss, torch.cat([tensor.flatten() for tensor in given]))
    return torch.linalg.eigvalsh(hessian).max().item()


def test_a_safe_rate_is_within_the_curvature_in_every_direction(js):
    for loss in ("half_squared_error", "cross_entropy"):
        for state in states(15, loss=loss):
            settings, _ = numbers_of(js, state)
            (rate,) = js("numbers/gradient_step.js", "safeRate", [[settings]])
            curved = most_curved(Settings.from_dict(state))
            assert curved <= 1e-12 if rate is None else rate * curved <= 2 * (1 + 1e-9), state  # none: infinite


def test_with_the_rate_that_learn_opens_with_the_loss_never_rises(js):
    large = {f"v=2&loss=half_squared_error&{link}": rate for link, rate in LARGE.items()}
    pictures = [from_link(link)[0].replace(dtype="float64").to_dict() for link in large]
    rates = []
    for state in (*pictures, *states(12, **PARABOLA), *states(6, loss="cross_entropy"), *states(3)):
        settings, _ = numbers_of(js, state)
        rates += js("numbers/gradient_step.js", "safeChoice", [[settings]])
        if rates[-1] is None:
            continue  # Learn says so
        _, losses = sgd(Settings.from_dict(state), rates[-1], steps=8)
        for before, after in itertools.pairwise(losses):
            assert after <= before + 1e-9 * max(1, abs(before)), (losses, state)
    assert rates[: len(large)] == list(large.values())
    assert None not in rates[len(large) :]


def test_a_loss_of_torch_is_off_by_less_than_what_counts_as_rounding(js):
    for dtype in ("float32", "bfloat16"):
        for loss in ("half_squared_error", "cross_entropy"):
            for state in states(12, loss=loss):
                settings, stages = numbers_of(js, state)
                (slope,) = js("numbers/gradient_step.js", "slopeAt", [[{**settings, "dtype": dtype}, stages]])
                exact, rounded = (
                    float(compute(Settings.from_dict({**state, "dtype": each})).loss) for each in ("float64", dtype)
                )
                assert abs(exact - rounded) <= slope["rounding"], (dtype, state)


def test_weights_that_leave_all_numbers_are_refused(js):
    weight = {"kind": "values", "values": [-9e299], "shape": [1, 1, 1, 1]}
    state = Settings(spec=ConvSpec((8, 8), kernel_size=1), loss="weighted_sum").to_dict()
    settings, stages = numbers_of(js, {**state, "weight": weight})
    stages = copy.deepcopy(stages)
    stages["grad_weight"]["data"] = [9e299]
    (found,) = js.tried("numbers/gradient_step.js", "gradientStep", [[settings, stages, 5]])
    assert found["refused"] == sentences("rules")("refused.learn", most="1e+300", lr=5)


def test_steps_on_the_board_are_those_of_sgd_and_go_back(learner):
    page = learner
    assert page.locator(".cv-learn[open]").count() == 1, "the link opens it"
    for count in (1, 2, 3):
        press(page, "step")
        wanted, losses = weight_after(count)
        assert shown_weight(page) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    first, last = (f"{loss:.3g}" for loss in (losses[0], losses[-1]))
    assert page.locator(".cv-learn-loss").text_content() == say("fell", first=first, last=last, count=3)
    assert len(page.locator(".cv-learn-path").get_attribute("points").split()) == 4
    press(page, "back")
    assert shown_weight(page) == pytest.approx(weight_after(2)[0], rel=1e-9, abs=1e-9)
    press(page, "back")
    press(page, "back")
    assert page.locator(".cv-set-preset select").input_value() == "sobel_x", "the first kernel has its name again"
    assert page.locator(".cv-learn-loss").text_content() == say("start", loss=first)


def test_the_sum_of_a_weight_is_read(learner):
    page = learner
    grad = float(cell(page, "grad_weight", 0, 2).get_attribute("data-value"))
    page.locator(".cv-learn-maps .cv-panel").nth(1).locator("[data-cell='0,2']").hover()
    sign, size = ("+", -grad) if grad < 0 else ("\u2212", grad)
    parts = page.locator(".cv-learn-sum").text_content().split()
    assert parts[:6] == ["w[0,2]", "=", "1", sign, "0.05", "\u00b7"]
    assert float(parts[6]) == pytest.approx(size, rel=0.01)
    assert float(parts[8].replace("\u2212", "-")) == pytest.approx(1 - 0.05 * grad, abs=0.01)


def test_too_large_a_rate_rises_and_says_why(learner):
    page = learner
    for _ in range(3):
        page.locator(".cv-set-lr input").press("ArrowRight")
    press(page, "step")
    before, after = weight_after(1, lr=0.5)[1]
    assert after > before
    reported = page.locator(".cv-learn-verdict")
    assert reported.get_attribute("data-rose") == "true"
    assert reported.text_content().startswith(f"The loss rose from {before:.3g} to {after:.3g}, because \u03b7 = 0.5 ")
    press(page, "back")
    assert reported.get_attribute("data-rose") == "false"
    press(page, "step")
    page.get_by_text("More", exact=True).click()
    with repaint(page):
        page.locator(".cv-set-loss_kind select").select_option("weighted_sum")
    assert len(page.locator(".cv-learn-path").get_attribute("points").split()) == 1, "another picture begins anew"
    assert reported.text_content() == say("endless")


def test_where_no_rate_is_safe_learn_says_so(opened):
    page = opened("v=2&size=32&input=whole&loss=half_squared_error")
    page.locator(".cv-learn summary").click()
    page.locator(".cv-learn[open] .cv-learn-path[points]").wait_for(state="attached")
    said = page.locator(".cv-learn-verdict").text_content()
    assert said.startswith("Even the smallest \u03b7, 0.0001, may make the loss rise here")


def test_it_plays_until_it_is_paused(learner):
    page = learner
    page.get_by_role("button", name=say("play"), exact=True).click()
    page.wait_for_function(
        "() => document.querySelector('.cv-learn-path').getAttribute('points').split(' ').length > 4"
    )
    page.get_by_role("button", name=say("pause"), exact=True).click()
    steps = len(page.locator(".cv-learn-path").get_attribute("points").split()) - 1
    wanted, losses = weight_after(steps)
    assert shown_weight(page) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert losses == sorted(losses, reverse=True)
    assert page.get_by_role("button", name=say("play"), exact=True).count() == 1
    with repaint(page):
        page.get_by_role("button", name="Undo").click()
    assert page.locator(".cv-set-preset select").input_value() == "sobel_x", "what was played is one step back"


def test_opened_it_learns_towards_a_target_in_one_step_and_offers_it_where_a_loss_was_chosen(opened):
    """The single 1 that was sent back is where the 1 is wanted; a target that somebody chose stays."""
    given = {
        "v=2": {"kind": "one_hot", "values": [0, 0, 1, 1]},
        "v=1&loss=sum&target=random": {"kind": "random", "values": []},
    }
    for link, target in given.items():
        before = from_link(link)[0].replace(dtype="float64")
        page = opened(link)
        page.locator(".cv-learn summary").click()
        reported = page.locator(".cv-learn-verdict")
        loss = page.locator(".cv-set-loss_kind select")
        page.locator(".cv-learn[open] .cv-learn-path[points]").wait_for(state="attached")
        if link == "v=2":  # the loss that it begins with
            assert page.locator(".cv-notice").text_content() == say("chosen"), link
        else:
            assert (loss.input_value(), reported.text_content()) == (before.loss, say("endless")), link
            press(page, "choose")
        learns = Settings.from_dict({**before.to_dict(), "loss": "half_squared_error", "target": target})
        (wanted, losses) = sgd(learns, float(page.locator(".cv-set-lr .cv-number").text_content()))
        assert reported.text_content() != say("endless"), link
        assert not page.get_by_role("button", name=say("choose")).is_visible(), link
        press(page, "step")
        page.wait_for_function("document.querySelector('.cv-learn-path').getAttribute('points').includes(' ')")
        assert losses[1] < losses[0], link
        plane = compute(wanted).weight[0, 0].flatten().tolist()
        assert shown_weight(page)[: len(plane)] == pytest.approx(plane, rel=1e-9, abs=1e-9), link
        page.get_by_role("button", name="Undo").click()
        assert loss.input_value() == "half_squared_error", link
        page.get_by_role("button", name="Undo").click()
        assert loss.input_value() == before.loss, f"{link}: one step back"


def test_in_the_app_it_learns_from_torchs_numbers(app):
    app.locator(".cv-learn summary").click()
    app.locator(".cv-learn[open] .cv-learn-path[points]").wait_for(state="attached")
    lr = float(app.locator(".cv-set-lr .cv-number").text_content())
    press(app, "step")
    press(app, "step")
    assert app.locator(".cv-board").get_attribute("data-from") == "torch"
    assert shown_weight(app) == pytest.approx(weight_after(2, lr)[0], rel=1e-5, abs=1e-5)
    app.locator(".cv-learn summary").click()
