"""The snippets run by themselves, are right for hundreds of settings, and hold only the steps that a setting needs."""

import ast
import functools
import math
import re
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

from convviz import ConvSpec, stages
from convviz.explanation.snippet_setting import Setting
from convviz.features.code import read_template
from convviz.features.code.read_template import PANELS, Writer
from convviz.features.code.snippets import WAYS, Snippet, snippets
from convviz.features.code.template_values import values
from convviz.ops.by_rotate import backward_padding
from convviz.settings.tensor_display_names import shown_name
from tests.geometries import EDGE_CASES, MODES, random_specs
from tests.operator_cases import torch_conv2d

SPECS = [*EDGE_CASES.values(), *random_specs(20261121, 100)]
TRANSPOSABLE = [spec for spec in SPECS if spec.padding_mode == "zeros"]
SIMPLE = ConvSpec(6)
HARD = ConvSpec((10, 11), 4, 6, (3, 2), (3, 2), ((2, 1), (0, 3)), 2, 2, "reflect", 2)
PANELS_OF_ROTATE = {"dilated_grad_output", "padded_grad_output", "rotated_weight"}
GRADIENTS = ("grad_input", "grad_weight", "grad_bias")
# Of pure Python, and of gradcheck, only what takes no more than milliseconds.
FEW_TAPS, FEW_ENTRIES = 150, 700


@functools.cache
def _written(spec: ConvSpec, options: tuple) -> tuple[Snippet, ...]:
    return snippets(Setting(spec, **dict(options)))


def all_ways(spec: ConvSpec, bias: bool = True, dtype: str = "float32", **more) -> tuple[Snippet, ...]:
    """All ways at once, written once for all tests that look at one of them: writing takes longer than running."""
    return _written(spec, tuple(sorted({"bias": bias, "dtype": dtype, **more}.items())))


def some(transposed: bool, *specs: ConvSpec) -> list[ConvSpec]:
    """Return geometries, of a transposed convolution in the one padding mode that it has."""
    return [spec.replace(padding_mode="zeros") for spec in specs] if transposed else list(specs)


def by_name(spec: ConvSpec, **options) -> dict[str, Snippet]:
    return {snippet.name: snippet for snippet in all_ways(spec, **options)}


def with_panels(snippet: Snippet) -> list[tuple[int, tuple[str, ...]]]:
    """Return the lines that belong to panels, by number."""
    return [(number, panels) for number, (_, panels) in enumerate(snippet.written, 1) if panels]


def run(snippet: Snippet) -> dict:
    """Run the preamble and the code in an empty namespace; a warning is an error."""
    namespace = {"__name__": "__snippet__"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(snippet.preamble + snippet.code, snippet.name, "exec"), namespace)
    return namespace


def tensor(value) -> torch.Tensor:
    return torch.as_tensor(value).detach()


def truth(spec: ConvSpec, given: dict, transposed: bool) -> dict[str, torch.Tensor]:
    """Compute output and gradients by autograd, for the tensors that the preamble drew."""
    bias = "bias" in given
    leaves = [tensor(given[name]).double().requires_grad_() for name in ("input", "weight", "bias")[: 2 + bias]]
    with_bias = (*leaves[:2], leaves[2] if bias else None)
    if transposed:  # torch's layer without padding, then the padding cut off
        whole = F.conv_transpose2d(*with_bias, spec.stride, 0, spec.remainder, spec.groups, spec.dilation)
        (top, _), (left, _) = spec.padding
        output = whole[..., top : top + spec.input_size[0], left : left + spec.input_size[1]]
    else:
        output = torch_conv2d(*with_bias, spec)
    found = torch.autograd.grad(output, leaves, tensor(given["grad_output"]).double())
    return {"output": output.detach(), **dict(zip(GRADIENTS, found, strict=False))}


def assert_right(spec, snippet, found, transposed, rtol=1e-9, atol=1e-9) -> None:
    for name, expected in truth(spec, found, transposed).items():
        ours = tensor(found[name])
        assert ours.shape == expected.shape, (spec, snippet.name, name)
        assert torch.allclose(ours.double(), expected, rtol, atol), (spec, snippet.name, name, snippet.code)


def products(spec: ConvSpec) -> int:
    return math.prod((*spec.output_shape, *spec.weight_shape[1:]))


@pytest.fixture
def quick_gradcheck(monkeypatch):
    """Count the calls of gradcheck and look at its arguments, without the seconds that it takes."""
    calls = []

    def gradcheck(function, tensors, fast_mode=False):
        assert all(leaf.is_leaf and leaf.requires_grad and leaf.dtype == torch.float64 for leaf in tensors)
        function(*tensors).sum().backward()
        calls.append(function)
        return True

    monkeypatch.setattr(torch.autograd, "gradcheck", gradcheck)
    return calls


both = pytest.mark.parametrize("transposed", [False, True])
BOTH = [*((False, name) for name in WAYS), *((True, name) for name in WAYS)]


@pytest.mark.parametrize(("transposed", "name"), BOTH)
def test_every_way_is_right_for_hundreds_of_settings(transposed, name, quick_gradcheck):
    chosen = TRANSPOSABLE if transposed else SPECS
    if name == "definition":  # a loop in Python
        chosen = [spec for spec in chosen if products(spec) <= FEW_TAPS]
        assert {spec.padding_mode for spec in chosen} == ({"zeros"} if transposed else set(MODES))
    assert len(chosen) >= 30
    assert any(spec.groups > 1 and spec.in_channels > spec.groups < spec.out_channels for spec in chosen)
    for place, spec in enumerate([*chosen, *some(transposed, HARD)]):
        bias = place % 2 == 0
        snippet = by_name(spec, bias=bias, dtype="float64", transposed=transposed)[name]
        found = run(snippet)
        assert ("bias" in found, "grad_bias" in found) == (bias, bias)
        assert_right(spec, snippet, found, transposed)
    assert bool(quick_gradcheck) == (name == "function")


def test_gradcheck_passes_for_real():
    def entries(spec):
        return math.prod(spec.output_shape) * (math.prod(spec.input_shape) + math.prod(spec.weight_shape))

    chosen = [spec for spec in SPECS if entries(spec) <= FEW_ENTRIES]
    assert len(chosen) >= 30
    for spec in [*chosen, SIMPLE, HARD]:
        run(by_name(spec, dtype="float64")["function"])


@both
@pytest.mark.parametrize(("dtype", "rtol", "atol"), [("float32", 1e-4, 1e-4), ("bfloat16", 0.1, 0.5)])
def test_other_dtypes(transposed, dtype, rtol, atol):
    for spec in (SIMPLE, *some(transposed, HARD), EDGE_CASES["grouped" if transposed else "circular to the limit"]):
        for snippet in all_ways(spec, dtype=dtype, transposed=transposed):
            if snippet.name == "definition" and dtype == "bfloat16" and spec is not SIMPLE:
                continue  # a loop that adds thousands of numbers up in bfloat16 has no digit left
            found = run(snippet)
            expected = "float32" if snippet.name == "numpy" else dtype
            assert str(found["grad_input"].dtype).removeprefix("torch.") == expected
            assert_right(spec, snippet, found, transposed, rtol, atol)


@both
def test_the_function_can_be_transformed_and_differentiated_twice(transposed):
    for spec in (SIMPLE, *some(transposed, HARD.replace(batch=1)), EDGE_CASES["grouped"], EDGE_CASES["causal"]):
        found = run(by_name(spec, dtype="float64", transposed=transposed)["function"])
        function = found.get("conv2d") or found["ConvTranspose2dFunction" if transposed else "Conv2dFunction"].apply
        assert torch.autograd.gradgradcheck(function, found["tensors"], fast_mode=True)
        image, weight, bias = (leaf.detach() for leaf in found["tensors"])

        def loss(image, weight, bias, function=function, found=found):
            return (function(image, weight, bias) * found["grad_output"]).sum()

        assert torch.allclose(torch.func.grad(loss, argnums=1)(image, weight, bias), found["grad_weight"])
        images = torch.stack([image, 2 * image])
        per_image = torch.func.vmap(torch.func.grad(loss, argnums=(0, 1)), (0, None, None))(images, weight, bias)
        assert torch.allclose(per_image[0][1], found["grad_input"])
        assert torch.allclose(per_image[1][1], 2 * found["grad_weight"])


def test_gradients_that_nobody_wants_are_not_computed():
    found = run(by_name(SIMPLE)["function"])
    calls = []
    found["F"] = SimpleNamespace(conv2d=lambda *arguments: calls.append(arguments) or F.conv2d(*arguments))
    weight = found["weight"].clone().requires_grad_()
    output = found["Conv2dFunction"].apply(found["input"], weight, found["bias"])
    output.backward(found["grad_output"])
    assert torch.equal(weight.grad, found["grad_weight"])
    assert len(calls) == 2  # forward and to the weight; a step to the input would even miss F.pad


def test_the_given_tensors_are_left_alone():
    for snippet in all_ways(HARD):
        if snippet.name == "numpy":
            continue
        before, after = {}, {}
        exec(snippet.preamble, before)
        exec(snippet.preamble + snippet.code, after)
        for name in ("input", "weight", "bias", "grad_output"):
            assert torch.equal(before[name], after[name])
            assert not after[name].requires_grad


def test_nothing_needs_convviz(monkeypatch):
    written = [*all_ways(SIMPLE), *all_ways(HARD), *all_ways(EDGE_CASES["causal"], bias=False)]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("convviz", "tests")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError):
        exec("from convviz.geometry.spec import ConvSpec")
    for snippet in written:
        run(snippet)
        assert "convviz" not in snippet.preamble + snippet.code


def test_numpy_needs_no_torch_and_the_others_nothing_but_torch():
    for spec in (SIMPLE, HARD):
        for snippet in all_ways(spec):
            nodes = list(ast.walk(ast.parse(snippet.preamble + snippet.code)))
            modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
            modules |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
            packages = {module.partition(".")[0] for module in modules}
            assert packages - {"itertools"} == {"numpy" if snippet.name == "numpy" else "torch"}
    written = [by_name(SIMPLE, transposed=True)["numpy"], *(by_name(spec)["numpy"] for spec in (SIMPLE, HARD))]
    code = "".join(snippet.preamble + snippet.code for snippet in written)
    code += "import sys\nprint('torch' in sys.modules, grad_input.shape)\n"
    done = subprocess.run([sys.executable, "-I", "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False (2, 4, 10, 11)\n", "")


def test_the_simplest_setting_has_the_simplest_code():
    assert by_name(SIMPLE)["rotate"].code == (
        "import torch.nn.functional as F\n"
        "\n"
        "output = F.conv2d(input, weight, bias)\n"
        "\n"
        "# zeros around grad_output: kernel size - 1\n"
        "padded_grad_output = F.pad(grad_output, (2, 2, 2, 2))\n"
        "rotated_weight = weight.flip(-2, -1)\n"
        "grad_input = F.conv2d(padded_grad_output, rotated_weight)\n"
        "\n"
        "grad_weight = F.conv2d(input, grad_output)\n"
        "grad_bias = grad_output.sum((0, 2, 3))\n"
    )
    lines = {name: len(snippet.code.splitlines()) for name, snippet in by_name(SIMPLE).items()}
    assert lines == {"definition": 17, "unfold": 11, "einsum": 14, "rotate": 11, "aten": 9, "function": 39, "numpy": 14}


def test_the_hardest_setting_is_still_readable():
    code = by_name(HARD)["rotate"].code
    for line in (
        'padded_input = F.pad(input, (0, 3, 2, 1), mode="reflect")  # left, right, top, bottom',
        "output = F.conv2d(padded_input, weight, bias, stride=(3, 2), dilation=2, groups=2)",
        "dilated_grad_output[..., ::3, ::2] = grad_output",
        "# and after it the remainder: 2 rows and 1 column that no window read",
        "padded_grad_output = F.pad(dilated_grad_output, (2, 2 + 1, 4, 4 + 2))",
        "source_rows = 9 - abs(9 - abs(torch.arange(-2, 11)))",
        "# the window went on over the remainder: 1 row too many",
        "grad_weight = grad_weight.transpose(0, 1)[..., :3, :]",
    ):
        assert f"\n{line}\n" in code
    assert len(code.splitlines()) <= 40


def test_the_gradient_of_a_bias_is_asked_for_only_where_there_is_one():
    assert "[1], *geometry, [True, True, True]" in by_name(SIMPLE)["aten"].code
    assert "None, *geometry, [True, True, False]" in by_name(SIMPLE, bias=False)["aten"].code
    for snippet in all_ways(HARD, bias=False):
        names = {node.id for node in ast.walk(ast.parse(snippet.code)) if isinstance(node, ast.Name)}
        assert names.isdisjoint({"bias", "grad_bias"})


def test_a_crop_is_said_to_be_one_and_comes_after_the_padding_where_it_has_to():
    negative = by_name(ConvSpec((4, 5), padding=((3, 0), (0, 3))))["rotate"].code
    assert "padded_grad_output = F.pad(grad_output, (2, -1, -1, 2))\n" in negative
    assert "# a negative number crops: those windows lay wholly in the padding\n" in negative
    late = by_name(EDGE_CASES["crop larger than dilated grad_output"])["rotate"].code
    assert "padded_grad_output = F.pad(grad_output, (0, 4, 0, 4))\n" in late
    assert "padded_grad_output = padded_grad_output[..., 2:, 2:]\n" in late
    assert "# below zero that is a crop: those windows lay wholly in the padding\n" in late


def test_a_setting_has_only_the_steps_that_it_needs():
    for spec in SPECS:
        codes = {name: snippet.code for name, snippet in by_name(spec).items()}
        rotate, unfold, numpy = codes["rotate"], codes["unfold"], codes["numpy"]
        spread = any(step > 1 < cells for step, cells in zip(spec.stride, spec.output_size, strict=True))
        border = any(map(any, spec.padding))
        copied = border and spec.padding_mode != "zeros"
        apart = copied or any(before != after for before, after in spec.padding)
        late = any(left >= step for left, step in zip(spec.remainder, spec.dilation, strict=True))
        for code in (rotate, unfold, codes["function"]):
            assert ("padded_input = F.pad(" in code) == apart
        assert ("groups=" in rotate) == (spec.groups > 1)
        assert (".reshape" in rotate) <= (spec.groups > 1)
        assert ("per group" in unfold) == (spec.groups > 1)
        assert ("dilated_grad_output" in rotate) == spread
        assert ("dilation=" in rotate) == (max(spec.dilation) > 1 or max(spec.stride) > 1)
        assert ("dilation=" in unfold) == (max(spec.dilation) > 1)
        assert ("remainder" in rotate) == any(spec.remainder)
        assert ("too many" in rotate) == late
        assert ("crop" in rotate) == any(cells < 0 for side in backward_padding(spec) for cells in side)
        assert ("that no window read: 0" in unfold) == any(spec.remainder)
        assert ("stride and dilation change places" in rotate) == (spec.stride != spec.dilation)
        assert (".flip" in rotate) == (spec.kernel_size != (1, 1))
        assert ("take the place" in rotate) == (spec.batch > 1)
        assert (".sum(0)" in unfold) == (spec.batch > 1)
        for code in (rotate, unfold, codes["aten"], numpy):
            assert ("arange" in code) == copied
        assert not re.search(r"::1\b", rotate + numpy)
        assert ("np.pad(" in numpy) == border
        assert ("windows = windows[" in numpy) == (max(*spec.stride, *spec.dilation) > 1)
        assert ("continue" in codes["definition"]) <= (border and spec.padding_mode == "zeros")


def test_code_is_tidy_and_the_same_every_time():
    for spec in [*SPECS, HARD]:
        for snippet in all_ways(spec, bias=False):
            for text in (snippet.preamble, snippet.code):
                assert text.endswith("\n")
                assert not text.endswith("\n\n")
                assert "\n\n\n\n" not in text
                assert "\t" not in text
                assert all(line == line.rstrip() for line in text.splitlines())
            assert max(map(len, snippet.code.splitlines())) <= 88, snippet.code
        assert all_ways(spec, bias=False) == snippets(Setting(spec.replace(), bias=False))


def existing(spec: ConvSpec, bias: bool, transposed: bool) -> set[str]:
    """Return the panels that the app has for a setting: the stages that are not None."""
    shapes = (spec.output_shape, spec.weight_shape, (spec.in_channels,))
    shapes = shapes if transposed else (spec.input_shape, spec.weight_shape, (spec.out_channels,))
    found = stages(spec, *(torch.ones(shape) for shape in shapes[: 2 + bias]), compare=False, transposed=transposed)
    return {name for name in PANELS if getattr(found, name) is not None}


def panel_name(text: str, transposed: bool) -> str:
    """Return the stage that shows what the layer calls so."""
    return {shown_name(name, transposed): name for name in PANELS}.get(text, text)


def statements(code: str) -> dict[int, str]:
    """Map every line to the text of the innermost statement that it belongs to."""
    lines, found = code.splitlines(), {}
    waiting = list(ast.parse(code).body)
    for node in waiting:  # outer statements come first
        inside = [*getattr(node, "body", []), *getattr(node, "orelse", [])]
        text = textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]))
        end = inside[0].lineno - 1 if inside else node.end_lineno
        found |= dict.fromkeys(range(node.lineno, end + 1), text)
        waiting += inside
    return found


@functools.cache  # the same statements stand in the code of many settings
def names_in(text: str) -> tuple[set[str], set[str]]:
    """Return the variables that a statement makes, and those whose numbers it reads."""
    (statement,) = ast.parse(text).body
    return names_made(statement), names_read(statement)


def names_made(statement: ast.stmt) -> set[str]:
    """Return the variables that a statement assigns, adds to or fills."""
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    if isinstance(statement, ast.Expr) and ast.unparse(statement.value.func) == "np.add.at":
        targets = [statement.value.args[0]]
    made = set()
    for target in targets:
        for part in target.elts if isinstance(target, ast.Tuple) else [target]:
            made.add(ast.unparse(part.value if isinstance(part, ast.Subscript) else part) if part else "")
    return made


def names_read(statement: ast.stmt) -> set[str]:
    """Return the variables whose numbers a statement uses; zeros_like, new_zeros and dtype use no numbers."""
    if isinstance(statement, ast.For | ast.If):
        return set()  # of indices only; what stands in the block has lines of its own
    shapes = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("zeros_like"):
            shapes.add(node.args[0])
        elif isinstance(node, ast.Attribute) and node.attr in ("new_zeros", "dtype"):
            shapes.add(node.value)
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and node not in shapes}


@both
def test_a_line_is_marked_with_the_panels_of_what_it_makes_and_reads(transposed):
    for place, spec in enumerate([*(TRANSPOSABLE if transposed else SPECS), SIMPLE, *some(transposed, HARD)]):
        bias = place % 3 != 2
        panels = existing(spec, bias, transposed)
        for snippet in all_ways(spec, bias=bias, transposed=transposed):
            about = (spec, snippet.name)
            lines, numbers = snippet.code.splitlines(), [number for number, _ in with_panels(snippet)]
            assert numbers == sorted(set(numbers)), about
            assert all(1 <= number <= len(lines) and lines[number - 1].strip() for number in numbers), about
            marks = dict(with_panels(snippet))
            marked = {panel for names in marks.values() for panel in names}
            unknown = set() if snippet.name in ("rotate", "function") and not transposed else PANELS_OF_ROTATE
            if snippet.name == "definition":
                unknown = unknown | {"grad_padded_input"}  # the loop adds to the copied cell at once
            assert panels - unknown <= marked <= panels, about
            assert transposed or marked == panels - unknown, about
            statement_at = statements(snippet.code)
            for number, names in marks.items() if not transposed else ():
                made, _ = names_in(statement_at[number])
                assert {"grad_input", "grad_weight", "grad_bias"} & set(names) <= made, (*about, number)
            if snippet.name == "function":
                continue  # its signatures and returns name tensors without computing anything
            for number, statement in statement_at.items():
                used = {panel_name(each, transposed) for each in set.union(*names_in(statement))} & panels
                assert used <= set(marks.get(number, ())), (*about, lines[number - 1])


def test_a_comment_or_an_import_belongs_to_no_panel():
    for snippet in all_ways(HARD):
        lines = snippet.code.splitlines()
        for number, _ in with_panels(snippet):
            assert not re.match(r"\s*(#|import|from|for|if|def|class|@)", lines[number - 1])


@both
def test_variables_that_are_called_like_a_panel_hold_its_numbers(transposed):
    for spec in TRANSPOSABLE[:40] if transposed else [*EDGE_CASES.values(), HARD, *random_specs(7, 30)]:
        found = run(by_name(spec, dtype="float64", transposed=transposed)["rotate"])
        given = [found[name] for name in ("input", "weight", "bias", "grad_output")]
        result = stages(spec, *given, dtype="float64", compare=False, transposed=transposed)
        for name in PANELS:
            shown, variable = getattr(result, name), found.get(shown_name(name, transposed))
            if shown is not None and variable is not None:
                assert torch.allclose(variable, shown, 1e-9, 1e-9), (spec, name)


def test_two_panels_are_one_tensor_where_a_step_is_left_out():
    """The picture shows padded_input and dilated_grad_output even where the code has no variable for them."""
    lines = by_name(SIMPLE)["rotate"].code.splitlines()
    marks = dict(with_panels(by_name(SIMPLE)["rotate"]))
    panels = {lines[number - 1].partition(" = ")[0]: names for number, names in marks.items()}
    assert panels["output"] == ("input", "padded_input", "weight", "bias", "output")
    assert panels["padded_grad_output"] == ("grad_output", "dilated_grad_output", "padded_grad_output")
    assert panels["grad_input"] == ("padded_grad_output", "rotated_weight", "grad_input")
    assert panels["grad_weight"] == ("input", "padded_input", "grad_output", "dilated_grad_output", "grad_weight")


def test_the_preamble_says_where_and_in_which_format():
    preamble = by_name(SIMPLE, dtype="bfloat16", device="cuda")["rotate"].preamble
    assert 'input = torch.randn(1, 1, 6, 6, generator=generator, dtype=torch.bfloat16).to("cuda")\n' in preamble
    broken = 'grad_output = torch.randn(\n    1, 1, 4, 4, generator=generator, dtype=torch.bfloat16\n).to("cuda")\n'
    assert broken in preamble
    assert max(map(len, preamble.splitlines())) <= 88
    bordered = by_name(HARD, device="cuda:1")
    assert 'torch.arange(-2, 11, device="cuda:1")' in bordered["rotate"].code
    assert "cuda" not in bordered["numpy"].preamble + bordered["numpy"].code
    assert "tensor.detach().cpu().double()" in by_name(SIMPLE, device="mps")["function"].code
    assert "double" not in by_name(SIMPLE, dtype="float64")["function"].code


def test_gradcheck_is_given_its_fast_mode_where_it_would_take_minutes():
    assert "fast_mode" not in by_name(SIMPLE)["function"].code
    assert "fast_mode=True" in by_name(ConvSpec(28, 16, 32, batch=8))["function"].code


def test_a_call_that_is_too_long_is_broken_like_a_formatter_does():
    first, second, third = "a" * 30, "b" * 30, "c" * 30

    def written(*arguments):
        lines = Writer({}).lines([f"f({', '.join(arguments)})[0]  # why"])
        return "".join(f"{text}\n" for text, _ in lines)

    assert written("a", "b") == "f(a, b)[0]  # why\n"
    assert written(first, second, "c" * 16) == f"# why\nf({first}, {second}, {'c' * 16})[0]\n"
    assert written(first, second, "c" * 19) == f"# why\nf(\n    {first}, {second}, {'c' * 19}\n)[0]\n"
    assert written(first, second, third) == f"# why\nf(\n    {first},\n    {second},\n    {third},\n)[0]\n"


def test_templates_and_values_need_each_other():
    folder = Path(read_template.__file__).parent / "templates"
    files = sorted(folder.rglob("*.txt"))
    assert {str(file.relative_to(folder).with_suffix("")) for file in files} >= {
        *WAYS, *(f"transposed/{name}" for name in WAYS)
    }  # fmt: skip
    asked, included = set(), set()
    for file in files:
        rows = [row.partition("|") for row in file.read_text(encoding="utf-8").splitlines()]
        assert all(bar for _, bar, _ in rows), file
        for condition, _, text in rows:
            names = ast.walk(ast.parse(condition.strip() or "True"))
            asked |= {node.id for node in names if isinstance(node, ast.Name)} - {"any", "min", "max"}
            asked |= set(re.findall(r"\{(\w+)\}", text))
            included |= set(re.findall(r"include (parts/\w+)", text))
    assert asked == set(values(Setting(SIMPLE)))
    assert included == {f"parts/{file.stem}" for file in (folder / "parts").iterdir()}


# -- transposed --------------------------------------------------------------------------------------------------


def test_the_simplest_transposed_setting_has_the_simplest_code():
    assert by_name(ConvSpec(6), transposed=True)["rotate"].code == (
        "import torch.nn.functional as F\n"
        "\n"
        "# zeros around input: kernel size - 1\n"
        "padded_input = F.pad(input, (2, 2, 2, 2))\n"
        "rotated_weight = weight.flip(-2, -1)\n"
        "output = F.conv2d(padded_input, rotated_weight)\n"
        "output += bias[:, None, None]\n"
        "\n"
        "grad_input = F.conv2d(grad_output, weight)\n"
        "\n"
        "grad_weight = F.conv2d(grad_output, input)\n"
        "grad_bias = grad_output.sum((0, 2, 3))\n"
    )


def test_transposed_comments_are_in_the_layers_words():
    for spec in TRANSPOSABLE:
        for snippet in all_ways(spec, transposed=True):
            comments = " ".join(re.findall(r"#.*", snippet.code))
            assert "remainder" not in comments
            assert "no window" not in comments
            assert max(map(len, snippet.code.splitlines())) <= 88
    code = by_name(HARD.replace(padding_mode="zeros"), transposed=True)["rotate"].code
    assert "# between the cells of input: stride - 1 zeros\n" in code
    assert "# and after it output_padding: 2 rows and 1 column\n" in code
