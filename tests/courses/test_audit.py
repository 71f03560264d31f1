"""What people's checks would let pass: published ones, right ones, useless ones, from Python and the command line."""

import functools
import json
import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import convviz
import convviz.courses.audit as auditing
from convviz.cases.battery import battery, make_case
from convviz.cases.pooled_geometries import is_ceil
from convviz.cases.tasks import PLANAR, TASKS, truth
from convviz.check.probes.one_hot_probes import recipe_of
from convviz.cli import main
from convviz.courses import audit_functions
from convviz.courses.audit import audit
from convviz.courses.audit_functions import DEFAULTS, Slip, answers, differs, make
from convviz.mistakes.catalogue import catalogue
from tests.check import published_graders
from tests.check.published_graders import gradcheck, means_only, numeric_check
from tests.known_truth import remembered

MEASURED = {id for id in catalogue() if id[0] in "IWB"} - {
    "I27",
    "I28",
    "I29",
}  # those that published checks were tried with
NUMERIC_LETS_PASS = {
    *("I07", "I08", "I09", "I10", "I11", "I12", "I13", "I16", "I17", "I18", "I19", "I21", "I23", "I25"),
    *("W02", "W03", "W04", "W05", "W07", "W08", "W14"),
}


def ids(findings):
    return {one.id for one in findings}


@pytest.fixture(scope="module", autouse=True)
def once():
    """Ask once what is right of the same numbers, and which mistakes a task shows: most tests here ask for the same."""
    with pytest.MonkeyPatch.context() as patch:
        remembered(patch, auditing, audit_functions)
        patch.setattr(auditing, "_slips", functools.cache(auditing._slips))
        yield


@pytest.fixture(scope="module")
def numeric(once):
    return audit(numeric_check, "conv2d_backward", style="cs231n")


def test_a_numeric_check_at_stride_1_lets_every_mistake_of_stride_and_remainder_pass(numeric):
    passing = ids(numeric.missed + numeric.beyond)
    assert (len(MEASURED), len(NUMERIC_LETS_PASS)) == (46, 21)
    assert passing & MEASURED == NUMERIC_LETS_PASS
    (s_zeros,) = (one for one in numeric.missed if one.id == "I08")
    assert s_zeros.passed < s_zeros.ways, "seen at stride 1 if that one has its zero, too"
    assert ids(numeric.beyond) == {"I17", "I18", "I25", "I27", "W14"}, "(dout, cache) knows no dilation and no groups"
    assert ids(numeric.caught) | passing >= MEASURED
    assert (len(numeric.missed), len(numeric.caught)) == (17, 29), "docs/graders.md"


def test_the_cases_to_add_catch_what_it_missed(numeric):
    def longer(fn):
        numeric_check(fn)
        for case in numeric.add:
            spec = case.spec
            shape, pad = spec.input_shape, spec.padding[0][0]
            numeric_check(fn, shape, spec.out_channels, spec.kernel_size, spec.stride[0], pad)

    assert len(numeric.add) == 3, "docs/graders.md"
    assert set().union(*(case.exposes for case in numeric.add)) == ids(numeric.missed)
    again = audit(longer, "conv2d_backward", style="cs231n")
    assert (again.missed, again.add) == ((), ())


def test_what_ones_one_sample_and_stride_1_hide():
    """Counted for docs/check.md: a mistake is hidden where no way of it shows in any case of the battery."""
    task = TASKS["conv2d_backward"]
    mistakes = {id: one for id, one in catalogue().items() if id in MEASURED | {"I27", "I29"}}
    cases = battery("all", 0)
    plain = {
        "kernel of ones": [replace(case, weight=torch.ones_like(case.weight)) for case in cases],
        "batch of one": [make_case(case.name, replace(case.spec, batch=1), 0) for case in cases],
        "stride 1": [make_case(case.name, replace(case.spec, stride=(1, 1)), 0) for case in cases],
    }
    page = Path(convviz.__file__).parents[1].joinpath("docs", "check.md").read_text(encoding="utf-8")
    assert f"{len(mistakes)} mistakes" in page
    for name, tried in plain.items():
        rights = [(case, truth(task, case)) for case in tried]
        hidden = [
            id
            for id, mistake in mistakes.items()
            if not any(
                differs(task, case, Slip(result, way), right)
                for result in task.results
                if recipe_of(task, result) in mistake.of
                for way in mistake.ways
                for case, right in rights
            )
        ]
        assert f"{name} {len(hidden)}" in " ".join(page.split()).replace(" hides ", " "), hidden


def test_means_hide_a_rotated_grad_weight_and_exchanged_channels():
    found = audit(means_only, "conv2d_backward", style="cs231n")
    assert {"W01", "W09"} <= ids(found.missed)
    assert {"I26", "B01"} <= ids(found.caught)


def test_gradcheck_sees_what_stride_1_shows():
    found = audit(gradcheck, "conv2d_function")
    assert {"I01", "I20", "W01"} <= ids(found.caught)
    assert {"I10", "I14", "W07", "W10", "F02"} <= ids(found.missed)
    assert not found.beyond


def through(fn, task, case):
    """Call a function for a case as a person would who writes in torch's style, and return its results by name."""
    spec = case.spec
    values = {
        "stride": spec.stride, "padding": (spec.padding[0][0], spec.padding[1][0]), "dilation": spec.dilation,
        "groups": spec.groups, "padding_mode": spec.padding_mode, "output_padding": spec.remainder,
        "input_size": spec.input_shape, "weight_size": list(spec.weight_shape), "in_channels": spec.in_channels,
        "out_channels": spec.out_channels, "kernel_size": spec.kernel_size,
        "ceil_mode": is_ceil(spec), "count_include_pad": case.rule != "average inside",
        **{name: task.tensor(case, name) for name in ("input", "weight", "bias", "grad_output")},
    }  # fmt: skip
    if task.name.startswith("linear"):
        values |= {name: values[name].flatten(1) for name in ("input", "weight", "grad_output")}
    if task.is_transposed:
        values |= {"in_channels": spec.out_channels, "out_channels": spec.in_channels}
    if task.kind == "function":
        given = fn(**{name: values[name] for name in task.arguments})
        return dict(zip(task.results, given if len(task.results) > 1 else (given,), strict=True))
    given = [values[name].clone().requires_grad_() for name in ("input", "weight", "bias")]
    if task.kind == "Module":
        layer = fn(*(True if name == "bias" else values[name] for name in task.arguments)).double()
        layer.load_state_dict({"weight": given[1], "bias": given[2]})
        output, given[1:] = layer(given[0]), list(layer.parameters())
    else:
        output = fn.apply(*given, *(values[name] for name in task.arguments[3:]))
    return dict(zip(task.results, (output, *torch.autograd.grad(output, given, values["grad_output"])), strict=True))


@pytest.mark.parametrize("name", PLANAR)
def test_what_is_handed_over_is_right_and_a_check_of_the_whole_battery_catches_everything(name):
    task = TASKS[name]
    cases = battery("all", 3, linear=name.startswith("linear"), rule=task.rule)
    if "padding_mode" not in task.arguments:
        cases = [case for case in cases if case.spec.padding_mode == "zeros"]
    tried = [(case, truth(task, case)) for case in cases]

    def check(fn):
        for at, (case, right) in enumerate(tried):
            try:
                for result, value in through(fn, task, case).items():
                    torch.testing.assert_close(value, right[result], msg=f"{result} of {case.name}")
            except Exception:
                # What showed one mistake shows most others: it is asked first next time. What is right is asked in all.
                tried.insert(0, tried.pop(at))
                raise

    found = audit(check, name)
    assert found.missed == ()
    assert found.caught
    assert name == "conv2d_bias" or not found.beyond


def test_defaults_kinds_and_dtypes_are_those_of_torch():
    task = TASKS["conv2d_backward"]
    case = battery("public", 0)[0]
    right = truth(task, case)
    fn = make(task, "torch")
    for convert in (lambda t: t, lambda t: t.float(), lambda t: t.numpy(), lambda t: t.numpy().astype(np.float32)):
        given = [convert(case.tensor(name)) for name in ("grad_output", "input", "weight")]
        grad_input, grad_weight, grad_bias = fn(*given)
        assert type(grad_input) is type(given[0])
        assert grad_input.dtype == given[0].dtype
        assert grad_bias is None, "where no bias is, there is no gradient of it"
        torch.testing.assert_close(torch.as_tensor(grad_weight).double(), right["grad_weight"], rtol=1e-4, atol=1e-4)
    alone, *_ = fn(case.grad_output[0], case.input[0], case.weight, stride=1)
    torch.testing.assert_close(alone, right["grad_input"][0])
    with pytest.raises(TypeError, match="weight"):
        fn(case.grad_output, case.input)
    assert set(DEFAULTS) >= set(task.arguments[3:])
    output = make(TASKS["conv2d"], "torch")(case.input, case.weight, case.bias, 2, "valid")
    torch.testing.assert_close(output, F.conv2d(case.input, case.weight, case.bias, 2))


def test_a_recipe_that_comes_to_nothing_crashes_as_the_code_would():
    case = next(case for case in battery("all", 0) if case.spec.in_channels != case.spec.out_channels)
    with pytest.raises(ValueError, match="do not fit together"):
        answers(TASKS["conv2d_input"], case, Slip("grad_input", {"channels": "kept"}))


def refuses(fn):
    raise RuntimeError("no such device\nsecond line")


def keeps(seen=[]):  # noqa: B006
    def check(fn):
        seen.append(1)
        fn(torch.ones(1, 1, 2, 2))
        if len(seen) > 3:
            pytest.fail("I have seen enough")

    return check


@pytest.mark.parametrize(
    ("check", "task", "style", "message"),
    [
        (numeric_check, "conv2d_backwards", "torch", "task is one of"),
        (numeric_check, "conv2d_backward", "cs231", "style is one of 'torch', 'cs231n': got 'cs231'"),
        (numeric_check, "conv2d_input", "cs231n", "the task conv2d_backward: got the task 'conv2d_input'"),
        (None, "conv2d_input", "torch", "takes the function to check: got NoneType"),
        (refuses, "conv2d_input", "torch", "correct function.*RuntimeError: no such device. It received fn"),
        (lambda fn: False, "conv2d_input", "torch", "it returns False"),
        (lambda fn: None, "conv2d_input", "torch", "never calls the function"),
        (keeps(), "conv2d_bias", "torch", "after it has seen wrong ones.*seen enough"),
    ],
)  # fmt: skip
def test_what_cannot_be_audited_is_said_in_one_sentence(check, task, style, message):
    with pytest.raises(ValueError, match=message) as refused:
        audit(check, task, style=style)
    assert "\n" not in str(refused.value)


def test_a_check_draws_the_same_numbers_each_time_and_disturbs_nobody(capsys):
    seen = []

    def check(fn):
        print("checking")
        seen.append((random.random(), np.random.rand(), torch.rand(()).item()))
        fn(torch.ones(1, 2, 3, 3))

    before = (random.getstate(), torch.get_rng_state())
    audit(check, "conv2d_bias")
    assert len(set(seen)) == 1
    assert random.getstate() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])
    assert capsys.readouterr().out == ""


def test_an_audit_can_be_read_as_text_data_and_html(numeric):
    text = numeric.text()
    assert f"catches {len(numeric.caught)} of {len(numeric.caught) + len(numeric.missed)} mistakes" in text
    assert "I10  The remainder is forgotten" in text
    assert "stride=2, padding=0" in text
    data = json.loads(json.dumps(numeric.to_dict()))
    assert {one["id"] for one in data["missed"]} == ids(numeric.missed)
    assert convviz.ConvSpec.from_dict(data["add"][0]["spec"]) == numeric.add[0].spec
    assert "  I10" in numeric._repr_html_()
    assert convviz.audit is audit
    assert isinstance(numeric, convviz.Audit)


def test_the_command_reports_it_and_its_exit_code_says_whether_something_passes(capsys, tmp_path):
    file = published_graders.__file__
    assert main(["audit", f"{file}:numeric_check", "--style", "cs231n"]) == 1
    assert "would pass" in capsys.readouterr().out
    strict = tmp_path / "strict.py"
    strict.write_text(
        "from beside import right\n"
        "def check(fn):\n"
        "    import torch\n"
        "    x = torch.arange(36.0, dtype=torch.float64).reshape(2, 3, 2, 3)\n"
        "    assert torch.equal(fn(x), right(x))\n"
    )
    (tmp_path / "beside.py").write_text("def right(x): return x.sum((0, 2, 3))")
    assert main(["audit", str(strict), "--task", "conv2d_bias"]) == 0
    said = capsys.readouterr()
    assert "0 pass" in said.out
    assert said.err == "", "no terminal is there"
    assert main(["audit", str(strict), "--task", "conv2d_bias", "--progress"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith(f"1 of {len(lines)}: B01  ")
    assert lines[-1].startswith(f"{len(lines)} of {len(lines)}: ")


def test_at_a_terminal_an_audit_says_what_it_tries(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    audit(lambda fn: fn(torch.ones(1, 1, 2, 2)), "conv2d_bias", progress=False)
    assert capsys.readouterr().err == ""
    audit(lambda fn: fn(torch.ones(1, 1, 2, 2)), "conv2d_bias")
    assert "B01" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        (None, "no.py", "there is no file"),
        ("x = 1", "tests.py", "has no function check"),
        ("def mine(fn): fn", "tests.py:other", "it has mine"),
        ("1 / 0", "tests.py", "does not run: ZeroDivisionError"),
        ("raise SystemExit(3)", "tests.py", "does not run: SystemExit"),
        ("def check(fn): return False", "tests.py", "rejects a correct function"),
    ],
)
def test_the_command_says_in_one_sentence_what_it_cannot_read(text, given, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "tests.py").write_text(text)
    assert main(["audit", given]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_check_that_asks_in_another_process_has_called_the_function():
    convviz.check(make(TASKS["conv2d_bias"], "torch"), "conv2d_bias", cases="all")
    with_ours = audit(lambda fn: convviz.check(fn, "conv2d_bias", cases="public"), "conv2d_bias")
    assert (with_ours.missed, len(with_ours.caught)) == ((), 9), "each by the three public cases"
