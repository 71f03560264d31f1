"""The losses: each stands in one place a language; cross-entropy in every size and format. Gradients: test_stages."""

from contextlib import closing
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from traitlets import TraitError

from convviz import ConvSpec, stages
from convviz.app.app import App
from convviz.facts import facts
from convviz.facts.loss_inputs import GIVEN, TAKES, losses_with
from convviz.ops.losses import LOSSES, loss_gradient, loss_value
from convviz.settings.link import from_link
from convviz.settings.state import CHOICES, KINDS, Settings
from tests.autograd_truth import one_hot
from tests.geometries import reals

PACKAGE = Path(__file__).parents[2] / "convviz"


# -- one place a language ------------------------------------------------------------------------------------------


def test_the_entries_are_the_facts():
    assert list(LOSSES) == CHOICES["loss"]
    assert TAKES.keys() <= LOSSES.keys()
    for loss, taken in TAKES.items():
        assert taken.keys() <= set(GIVEN), loss
        assert all(set(kinds) <= set(KINDS[given]) for given, kinds in taken.items()), loss
    words = facts("words/picture")
    assert [loss for loss in LOSSES if f"loss.{loss}" not in words] == []
    assert [loss for loss in losses_with("target") if f"caption.loss.{loss}" not in words] == []
    differences = facts("settings")["losses_of_a_difference"]
    assert [
        loss for loss in losses_with("target") if f"cell.target.{loss}" not in words and loss not in differences
    ] == []
    assert losses_with("target") == ["half_squared_error", "cross_entropy"]
    assert losses_with("target", "random") == ["half_squared_error"]
    assert losses_with("grad") == ["weighted_sum"]


def test_a_loss_is_named_where_it_is_said_and_computed_and_nowhere_else():
    """A further loss then takes these files and no other; a docstring may give an example of a name."""
    named = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*")
        if path.parent.name not in ("lessons", "network")  # which may be about one
        and path.suffix in (".py", ".js", ".json", ".css")
        and "cross_entropy" in path.read_text(encoding="utf-8")
    }
    assert named == {
        "facts/data/settings.json",
        "facts/data/names.json",
        "facts/data/words/picture.json",
        "ops/losses.py",
        "web/numbers/losses.js",
    }


# -- the numbers of cross-entropy ----------------------------------------------------------------------------------


def test_a_batch_has_the_mean_and_a_loss_of_each_sample():
    spec = ConvSpec(5, 2, 3, batch=4)
    output, target = reals(spec.output_shape, 1), one_hot(spec.output_shape, 2)
    target[1:3] = target[1:3].flip(1)  # other cells in some samples
    index = target.flatten(1).argmax(1)
    leaf = output.clone().requires_grad_()
    value = F.cross_entropy(leaf.flatten(1), index)
    (expected,) = torch.autograd.grad(value, leaf)
    assert loss_value("cross_entropy", output, target).item() == pytest.approx(value.item(), rel=1e-14)
    torch.testing.assert_close(loss_gradient("cross_entropy", output, target), expected, rtol=1e-13, atol=1e-15)
    alone = [loss_gradient("cross_entropy", output[n : n + 1], target[n : n + 1]) for n in range(4)]
    torch.testing.assert_close(torch.cat(alone) / 4, expected, rtol=1e-13, atol=1e-15)


def test_a_target_of_shares_is_as_torch_takes_it():
    """Of the board it is a one-hot; who asks for stages may give any weights, and they need not add up to 1."""
    output, target = reals((2, 3, 4, 5), 3), reals((2, 3, 4, 5), 4)
    leaf = output.clone().requires_grad_()
    (expected,) = torch.autograd.grad(F.cross_entropy(leaf.flatten(1), target.flatten(1)), leaf)
    torch.testing.assert_close(loss_gradient("cross_entropy", output, target), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("scale", [1e4, 1e30])
def test_huge_logits_stay_finite_and_equal_torchs(dtype, scale):
    output, target = (reals((3, 2, 4, 4), 5) * scale).to(dtype), one_hot((3, 2, 4, 4), 6).to(dtype)
    leaf = output.double().clone().requires_grad_()
    value = F.cross_entropy(leaf.flatten(1), target.flatten(1).argmax(1))
    (expected,) = torch.autograd.grad(value, leaf)
    ours = loss_gradient("cross_entropy", output, target)
    assert ours.dtype is dtype
    assert ours.isfinite().all()
    eps = torch.finfo(dtype).eps
    assert float((ours.double() - expected).abs().max()) <= 4 * eps
    assert float(loss_value("cross_entropy", output, target)) == pytest.approx(value.item(), rel=4 * eps)


def test_bfloat16_is_no_further_off_than_torchs():
    worse = 0
    for seed in range(60):
        output, target = (tensor.bfloat16() for tensor in (3 * reals((2, 3, 5, 4), seed), one_hot((2, 3, 5, 4), seed)))
        index = target.flatten(1).argmax(1)
        exact, narrow = output.double().requires_grad_(), output.clone().requires_grad_()
        truth_here = F.cross_entropy(exact.flatten(1), index)
        torchs = F.cross_entropy(narrow.flatten(1), index)
        (expected,), (theirs,) = torch.autograd.grad(truth_here, exact), torch.autograd.grad(torchs, narrow)
        own = float((loss_gradient("cross_entropy", output, target).double() - expected).abs().max())
        worse += own > float((theirs.double() - expected).abs().max())
        off = abs(float(loss_value("cross_entropy", output, target)) - truth_here.item())
        assert off <= abs(torchs.item() - truth_here.item()) + 1e-12
    assert worse == 0


@pytest.mark.parametrize("transposed", [False, True])
def test_a_gradient_that_forgets_the_batch_or_the_target_is_seen(transposed, monkeypatch):
    spec = ConvSpec((6, 7), 2, 2, stride=2, padding=1, batch=2)
    into, out = (spec.output_shape, spec.input_shape) if transposed else (spec.input_shape, spec.output_shape)
    given = {"input": reals(into, 1), "weight": reals(spec.weight_shape, 2), "target": one_hot(out, 3)}
    right = LOSSES["cross_entropy"]
    for wrong in (lambda y, t: 2 * right.gradient(y, t), lambda y, t: right.gradient(y, t) + t / 2,
                  lambda y, t: right.gradient(y, t) + 1e-4):  # fmt: skip
        monkeypatch.setitem(LOSSES, "cross_entropy", type(right)(right.value, wrong, "curved", right.magnitude))
        made = stages(spec, **given, loss="cross_entropy", transposed=transposed)
        assert not made.deviation_from_autograd.within_rounding


# -- what a person sees and hands on -------------------------------------------------------------------------------


def test_a_link_to_a_target_that_the_loss_does_not_take_says_so():
    reported = "target is one of one_hot where loss=cross_entropy: got 'ones'; one_hot is used."
    assert from_link("v=1&loss=cross_entropy&target=ones") == (Settings(loss="cross_entropy"), [reported])


def test_a_tensor_is_taken_as_the_cell_it_marks():
    target = one_hot((2, 1, 4, 4), 9)
    cell = tuple(map(float, target[0].nonzero()[0].tolist()))
    spec = ConvSpec((8, 8), stride=2, padding=1, batch=2)
    with closing(App(spec, loss="cross_entropy", target=target)) as app:
        assert app.state()["target"] == {"kind": "one_hot", "values": [0.0, *cell]}
        app.target = target.roll(1, 3)
        assert app.loss == "cross_entropy"
        assert torch.equal(app.target.double(), target.roll(1, 3))
        for wrong in (torch.ones(2, 1, 4, 4), 2 * target, torch.cat([target[:1], target[:1].roll(1, 3)])):
            with pytest.raises(TraitError, match="takes a target that is 1 at one cell, the same in every sample"):
                app.target = wrong
        with pytest.raises(TraitError, match="takes a target of the kind 'one_hot': got 'zeros'; set another loss"):
            app.target = "zeros"
        app.loss = "sum"
        app.target = target
        assert app.loss == "half_squared_error", "the first loss that has a target"
