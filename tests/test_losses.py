"""The losses: that each stands in one place a language, and cross-entropy against torch and finite differences."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from traitlets import TraitError

from convviz import ConvSpec, stages
from convviz.app.app import App
from convviz.explanation.code.snippet_file import RESULTS, snippet_file
from convviz.explanation.code.snippets import snippets
from convviz.facts import facts
from convviz.facts.losses import GIVEN, TAKES, kinds_taken, losses_with
from convviz.ops.losses import LOSSES, loss_gradient, loss_value
from convviz.ops.stages_transposed import stages_transposed
from convviz.settings.as_python import as_python
from convviz.settings.compute import compute
from convviz.settings.link import from_link, to_link
from convviz.settings.names import shown_name
from convviz.settings.source import Source
from convviz.settings.state import CHOICES, KINDS, Settings
from tests.geometries import EDGE_CASES, conv2d_by_definition, random_specs, reals
from tests.truth import given_to, one_hot, truth, truth_transposed

PACKAGE = Path(__file__).parents[1] / "convviz"
SPECS = [*EDGE_CASES.values(), *random_specs(seed=71, count=80)]
ZEROS = [spec for spec in SPECS if spec.padding_mode == "zeros"]


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
        if path.parent.name != "lessons"  # which may be about one
        and path.suffix in (".py", ".js", ".json", ".css")
        and "cross_entropy" in path.read_text(encoding="utf-8")
    }
    assert named == {
        "facts/settings.json",
        "facts/names.json",
        "facts/words/picture.json",
        "ops/losses.py",
        "board/js/numbers/losses.js",
    }


def test_no_comparison_with_the_name_of_a_loss_is_left():
    names = "|".join(LOSSES.keys() - {"sum", "mean"})
    compared = re.compile(rf"""[=!]==? ?["'](?:{names})["']|["'](?:{names})["'] ?[=!]=""")
    found = [
        str(path)
        for path in (*PACKAGE.rglob("*.py"), *PACKAGE.joinpath("board", "js").rglob("*.js"))
        if compared.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


# -- the numbers of cross-entropy ----------------------------------------------------------------------------------


def drawn(spec, seed, transposed=False):
    into, out = (spec.output_shape, spec.input_shape) if transposed else (spec.input_shape, spec.output_shape)
    given = {"input": reals(into, seed), "weight": reals(spec.weight_shape, seed + 1)}
    given["bias"] = reals((out[1],), seed + 2) if seed % 3 else None
    return given | given_to("cross_entropy", out, seed + 3)


@pytest.mark.parametrize("transposed", [False, True])
def test_every_gradient_is_that_of_torchs_cross_entropy(transposed):
    run, found_by = (stages_transposed, truth_transposed) if transposed else (stages, truth)
    for number, spec in enumerate(ZEROS if transposed else SPECS):
        given = drawn(spec, number, transposed)
        target, grad = given["target"], given.pop("grad")
        assert grad is None
        result = run(spec, **given, loss="cross_entropy", dtype="float64")
        assert torch.equal(result.target, target)
        for name, tensor in found_by(spec, "cross_entropy", given).items():
            torch.testing.assert_close(getattr(result, name), tensor.detach(), rtol=1e-11, atol=1e-11, msg=str(spec))
        assert result.deviation_from_autograd.within_rounding, spec
        grad_output = result.input if transposed else result.grad_output
        assert grad_output.sum((1, 2, 3)).abs().max() < 1e-14, "what softmax gives too much elsewhere, it lacks here"


def test_every_gradient_is_the_slope_of_the_definition():
    """Central differences of the definition, in float64: exp and log cell by cell, nothing of torch's softmax."""
    step = 1e-4
    for number, spec in enumerate(random_specs(seed=72, count=10)):
        given = drawn(spec, number)
        result = stages(spec, given["input"], given["weight"], given["bias"], None, "cross_entropy", given["target"],
                        dtype="float64")  # fmt: skip

        def loss(spec=spec, given=given, **changed):
            tensors = given | changed
            output = conv2d_by_definition(tensors["input"], tensors["weight"], tensors["bias"], spec)
            return by_definition(output, given["target"])

        assert float(result.loss) == pytest.approx(float(loss()), rel=1e-13)
        for name in ("input", "weight", *(["bias"] if given["bias"] is not None else [])):
            slopes = torch.empty_like(given[name])
            for cell in range(slopes.numel()):
                shift = torch.zeros_like(slopes)
                shift.view(-1)[cell] = step
                apart = loss(**{name: given[name] + shift}) - loss(**{name: given[name] - shift})
                slopes.view(-1)[cell] = apart / (2 * step)
            torch.testing.assert_close(getattr(result, f"grad_{name}"), slopes, rtol=1e-6, atol=1e-6)


def by_definition(output, target):
    """Return the mean over the samples of −log of the share that the target's cell has of all exponentials."""
    shares = [cells.exp() / cells.exp().sum() for cells in output]
    return -sum((share[aim == 1]).log() for share, aim in zip(shares, target, strict=True)) / len(output)


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
    for seed in range(200):
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


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
def test_rounding_is_within_rounding_at_every_size(dtype):
    """The share of the target's cell may be 1 but for rounding: what is left of it is no false alarm."""
    for number, spec in enumerate(SPECS):
        given = drawn(spec, number)
        given["input"] *= 10.0 ** (number % 9 - 4)
        for run, made in ((stages, given), (stages_transposed, drawn(spec, number, True))):
            if run is stages_transposed and spec.padding_mode != "zeros":
                continue
            plain = {name: made[name] for name in ("input", "weight", "bias", "target")}
            found = run(spec, **plain, loss="cross_entropy", dtype=dtype).deviation_from_autograd
            assert found.within_rounding, (spec, run.__name__, found)


@pytest.mark.parametrize("transposed", [False, True])
def test_a_gradient_that_forgets_the_batch_or_the_target_is_seen(transposed, monkeypatch):
    spec = ConvSpec((6, 7), 2, 2, stride=2, padding=1, batch=2)
    given = {name: tensor for name, tensor in drawn(spec, 1, transposed).items() if name != "grad"}
    run = stages_transposed if transposed else stages
    right = LOSSES["cross_entropy"]
    for wrong in (lambda y, t: 2 * right.gradient(y, t), lambda y, t: right.gradient(y, t) + t / 2,
                  lambda y, t: right.gradient(y, t) + 1e-4):  # fmt: skip
        monkeypatch.setitem(LOSSES, "cross_entropy", type(right)(right.value, wrong, "curved", right.magnitude))
        assert not run(spec, **given, loss="cross_entropy").deviation_from_autograd.within_rounding


# -- what a person sees and hands on -------------------------------------------------------------------------------


def test_links_states_and_python_lead_back_to_the_cell():
    settings = Settings(spec=ConvSpec(7), loss="cross_entropy", target=Source("one_hot", (0.0, 0.0, 2.0, 3.0)))
    assert to_link(settings) == "v=1&size=7&stride=1&padding=0&loss=cross_entropy&target=one_hot:0,0,2,3"
    assert from_link(to_link(settings)) == (settings, [])
    assert from_link("v=1&loss=cross_entropy") == (Settings(loss="cross_entropy"), [])
    told = "target is one of one_hot where loss=cross_entropy: got 'ones'; one_hot is taken."
    assert from_link("v=1&loss=cross_entropy&target=ones") == (Settings(loss="cross_entropy"), [told])
    assert Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    with closing(App(state=settings.to_dict())) as app:
        namespace = {}
        exec(as_python(settings).replace("convviz.App(", "app = convviz.App("), namespace)
        assert namespace["app"].state() == app.state() == settings.to_dict()
        namespace["app"].close()


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


@pytest.mark.parametrize("transposed", [False, True])
def test_the_code_runs_and_has_the_boards_numbers_in_every_way(transposed):
    spec = ConvSpec((5, 4), 2, 2, (3, 2), (2, 1), 1, batch=2)
    settings = Settings(spec, Source("random"), weight=Source("random"), loss="cross_entropy", dtype="float64",
                        bias=Source("values", (0.5, -1.0), (2,)), transposed=transposed)  # fmt: skip
    board = compute(settings)
    named = ("input", "weight", "bias", "grad_output")
    tensors = {each: getattr(board, shown_name(each, transposed)) for each in named}
    made = snippets(spec, dtype="float64", transposed=transposed)
    assert len(made) == 7
    for snippet in made:
        namespace = {"__name__": "__file__", "print": lambda *_, sep: None}
        exec(compile(snippet_file(snippet, tensors).text, "copied", "exec"), namespace)
        for result in RESULTS:
            found = torch.as_tensor(namespace[result]).detach()
            assert torch.allclose(found, getattr(board, shown_name(result, transposed)), 1e-10, 1e-10), result


def test_kinds_of_a_loss_without_any_are_none():
    assert kinds_taken("sum", "target") == kinds_taken("no such", "grad") == []
