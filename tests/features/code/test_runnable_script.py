"""The file that is copied: it runs by itself, and with a board's numbers it computes what the board shows."""

import ast
import math

import numpy as np
import pytest
import torch

from convviz import ConvSpec, stages
from convviz.features.code.runnable_script import (
    FULL_PRECISION,
    MAX_WRITTEN_NUMBERS,
    RESULTS,
    exact,
    literal,
    snippet_file,
    too_large,
)
from convviz.settings.tensor_display_names import shown_name
from tests.features.code.test_snippets import all_ways
from tests.geometries import EDGE_CASES, random_specs

HARD = ConvSpec((7, 6), 2, 4, (3, 2), (3, 2), ((2, 1), (0, 1)), 2, 2, "reflect", 2)
SPECS = [ConvSpec((8, 8), stride=2, padding=1), HARD, *EDGE_CASES.values(), *random_specs(44, 30)]
DTYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16}


def board(spec, bias, dtype, transposed=False):
    """Return the stages of a setting, and the tensors that its code is given."""
    generator = torch.Generator().manual_seed(5)
    into, channels = (spec.output_shape, spec.in_channels) if transposed else (spec.input_shape, spec.out_channels)
    drawn = [torch.randn(shape, generator=generator) for shape in (into, spec.weight_shape, (channels,))[: 2 + bias]]
    result = stages(spec, *drawn, loss="mean", dtype=dtype, compare=False, transposed=transposed)
    names = ("input", "weight", "bias", "grad_output") if bias else ("input", "weight", "grad_output")
    return result, {name: getattr(result, shown_name(name, transposed)) for name in names}


def run(text):
    namespace = {"__name__": "__file__", "print": lambda *values, sep: printed.extend(values)}
    printed = []
    exec(compile(text, "copied", "exec"), namespace)
    return namespace, printed


def small(spec):
    return max(map(math.prod, (spec.input_shape, spec.weight_shape, spec.output_shape))) <= MAX_WRITTEN_NUMBERS


@pytest.fixture
def quick_gradcheck(monkeypatch):
    """Take gradcheck's answer for given; on a hundred snippets it is asked by tests.features.code.test_snippets."""
    monkeypatch.setattr(torch.autograd, "gradcheck", lambda function, tensors, **_: torch.is_tensor(function(*tensors)))


def test_the_boards_numbers_pass_gradcheck():
    for dtype in ("float64", "float32"):
        _, tensors = board(HARD.replace(input_size=(5, 4)), True, dtype)
        (snippet,) = (
            each for each in all_ways(HARD.replace(input_size=(5, 4)), dtype=dtype) if each.name == "function"
        )
        run(snippet_file(snippet, tensors).text)


@pytest.mark.usefixtures("quick_gradcheck")
@pytest.mark.parametrize("transposed", [False, True])
def test_with_the_boards_numbers_it_computes_what_the_board_shows(transposed):
    """Of a few settings: that the code is right for all, test_snippets.py holds."""
    chosen = [spec for spec in SPECS if small(spec) and (not transposed or spec.padding_mode == "zeros")]
    chosen = [spec for spec in chosen if math.prod(spec.output_shape) * math.prod(spec.weight_shape) <= 1200]
    assert len(chosen) >= 12
    for place, spec in enumerate(chosen[:14]):
        bias, dtype = place % 2 == 0, ("float64", "float32")[place // 2 % 2]
        result, tensors = board(spec, bias, dtype, transposed)
        for snippet in all_ways(spec, bias=bias, dtype=dtype, transposed=transposed):
            about = (spec, snippet.name)
            file = snippet_file(snippet, tensors)
            found, printed = run(file.text)
            shown = [each for each in RESULTS if bias or each != "grad_bias"]
            for given, tensor in tensors.items():
                assert torch.equal(torch.as_tensor(found[given]), tensor), (*about, given)
            near = 1e-10 if dtype == "float64" else 2e-5
            for value, each in zip(printed, shown, strict=True):
                assert value is found[each], (*about, each)
                expected, value = getattr(result, shown_name(each, transposed)), torch.as_tensor(value).detach()
                assert value.dtype == expected.dtype, (*about, each)
                assert torch.allclose(value, expected, near, near), (*about, each)
            lines = file.text.splitlines()
            first = {lines[number - 1].partition(" = ")[0]: panels for number, panels in file.lines[::-1]}
            for name in tensors:
                assert first[name] == (shown_name(name, transposed),), (*about, name)


def test_with_the_boards_numbers_of_bfloat16_the_same_operations_give_the_same_digits():
    result, tensors = board(SPECS[0], True, "bfloat16")
    written = {each.name: each for each in all_ways(SPECS[0], dtype="bfloat16")}
    found, _ = run(snippet_file(written["rotate"], tensors).text)
    for name in (*tensors, *RESULTS):
        assert torch.equal(found[name], getattr(result, name)), name
    numpy, _ = run(snippet_file(written["numpy"], tensors).text)  # the same input, computed in float32
    assert all(torch.equal(torch.as_tensor(numpy[name]), tensor.float()) for name, tensor in tensors.items())


@pytest.mark.parametrize("dtype", list(DTYPES))
@pytest.mark.parametrize("numpy", [False, True])
def test_a_literal_is_the_same_tensor(dtype, numpy):
    generator = torch.Generator().manual_seed(3)
    awkward = torch.tensor([0.1, -0.0, 1e-30, 3e38, 1 / 3, math.inf, -math.inf, 16777217.0, 5e-45, 100.0])
    drawn = torch.randn(2, 3, 4, 10, generator=generator, dtype=torch.float64) ** 9
    for tensor in (awkward.to(DTYPES[dtype]), drawn.to(DTYPES[dtype]), drawn[:1, :1, :1, :1].to(DTYPES[dtype])):
        lines = literal("given", tensor, numpy=numpy)
        assert max(map(len, lines)) <= 88
        namespace = {"torch": torch, "np": np}
        exec("\n".join(lines), namespace)
        found = torch.as_tensor(namespace["given"])
        assert found.dtype == (torch.float32 if numpy and dtype == "bfloat16" else DTYPES[dtype])
        assert torch.equal(found, tensor.to(found.dtype))
        assert torch.equal(found.signbit(), tensor.signbit())


def test_a_number_has_no_more_digits_than_its_format():
    tenth = torch.tensor([0.1, 2.0])
    assert exact(tenth) == ["0.1", "2.0"]
    assert exact(tenth.double()) == ["0.10000000149011612", "2.0"]
    assert exact(tenth.bfloat16()) == ["0.1", "2.0"]
    assert exact(torch.tensor([math.nan, math.inf])) == ['float("nan")', 'float("inf")']


def test_a_row_begins_on_a_new_line():
    picture = torch.arange(16.0).reshape(1, 1, 2, 8) / 3
    assert literal("input", picture.double().round(decimals=4)) == [
        "input = torch.tensor([",
        "    0.0, 0.3333, 0.6667, 1.0, 1.3333, 1.6667, 2.0, 2.3333,",
        "    2.6667, 3.0, 3.3333, 3.6667, 4.0, 4.3333, 4.6667, 5.0,",
        "], dtype=torch.float64).reshape(1, 1, 2, 8)",
    ]
    assert literal("bias", torch.tensor([0.5, -1.0])) == ["bias = torch.tensor([0.5, -1.0])"]


def test_without_numbers_it_is_the_snippet_with_its_own_tensors():
    for spec in (SPECS[0], HARD):
        for snippet in all_ways(spec, dtype="float64"):
            file = snippet_file(snippet)
            found, _ = run(file.text)
            alone = {}
            exec(snippet.preamble + snippet.code, alone)
            for name in (*RESULTS, "input", "weight", "bias", "grad_output"):
                assert torch.equal(torch.as_tensor(found[name]), torch.as_tensor(alone[name]))


@pytest.mark.parametrize("with_numbers", [False, True])
def test_imports_come_first_and_once_and_the_rest_is_tidy(with_numbers):
    for spec in [spec for spec in SPECS if small(spec)]:
        _, tensors = board(spec, True, "float32")
        for snippet in all_ways(spec):
            text = snippet_file(snippet, tensors if with_numbers else None).text
            body = ast.parse(text).body
            kinds = [isinstance(node, ast.Import | ast.ImportFrom) for node in body]
            assert kinds == sorted(kinds, reverse=True), text
            imports = [ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
            assert len(imports) == len(set(imports))
            assert text.endswith("\n")
            assert not text.startswith("\n")
            assert "\n\n\n\n" not in text
            assert all(line == line.rstrip() for line in text.splitlines())
            assert max(map(len, text.splitlines())) <= 88


@pytest.mark.parametrize("with_numbers", [False, True])
def test_lines_keep_their_panels_and_the_tensors_have_theirs(with_numbers):
    _, tensors = board(HARD, True, "float32")
    for snippet in all_ways(HARD):
        file = snippet_file(snippet, tensors if with_numbers else None)
        lines = file.text.splitlines()
        first, last = file.tensors
        of_code = [(lines[number - 1], panels) for number, panels in file.lines if number > last]
        assert of_code == [line for line in snippet.written if line[1]]
        given = [(number, panels) for number, panels in file.lines if number <= last]
        assert {panel for _, panels in given for panel in panels} == set(tensors)
        for number, panels in given:
            begins = lines[number - 1].partition(" = ")[0]
            assert first <= number
            assert begins not in tensors or panels == (begins,)
        made = ast.parse("\n".join(lines[first - 1 : last])).body
        assert set(tensors) <= {ast.unparse(node.targets[0]) for node in made if isinstance(node, ast.Assign)}


def test_a_tensor_drawn_over_several_lines_has_its_panel_on_each():
    spec = ConvSpec((20, 20))
    snippet = all_ways(spec, dtype="bfloat16", device="cuda:1", transposed=True)[0]
    file = snippet_file(snippet)
    lines, panels = file.text.splitlines(), dict(file.lines)
    first = lines.index("grad_output = torch.randn(") + 1
    assert [panels[number] for number in range(first, first + 3)] == [("input",)] * 3
    assert lines[first + 1] == ').to("cuda:1")'


def test_tensors_that_nobody_could_read_are_refused_in_words():
    _, tensors = board(ConvSpec(17, 1, 2), False, "float32")
    message = "Tensors of up to 256 numbers can be written out in the code: input has 289, grad_output has 450."
    assert too_large(tensors).startswith(message)
    assert too_large({"input": torch.zeros(16, 16)}) == ""


class OnCuda(torch.Tensor):
    """A tensor that says it is on a device which this machine need not have."""

    device = torch.device("cuda")


def test_on_cuda_float32_keeps_its_digits():
    _, tensors = board(SPECS[0], False, "float32")
    there = {name: tensor.as_subclass(OnCuda) for name, tensor in tensors.items()}
    texts = {each.name: snippet_file(each, there).text for each in all_ways(SPECS[0], bias=False, device="cuda")}
    for name, text in texts.items():
        assert (FULL_PRECISION in text) == (name != "numpy")
        assert text.count('.to("cuda")') == (0 if name == "numpy" else len(tensors))
    _, tensors = board(SPECS[0], False, "float64")
    assert FULL_PRECISION not in snippet_file(all_ways(SPECS[0])[0], tensors).text
