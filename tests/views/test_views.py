"""Panels, roles of cells, figures, captions, numbers and colours.

`format_cases.json` holds how numbers and colours come out; the JavaScript tests read it as well, so Python
and the page agree. `python -m tests.views.test_views` writes it anew.
"""

import functools
import itertools
import json
import math
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path

import pytest
import torch

from convviz import ConvSpec, stages
from convviz.facts.format_numbers import MINUS, format_long, format_number
from convviz.geometry.shown_plane import Plane
from convviz.ops.padding import pad_input
from convviz.views import captions
from convviz.views.cell_kinds import roles
from convviz.views.figures import figure, limit
from convviz.views.panels import Panel, Sign, equations, panel
from convviz.views.theme import COLORSCALES, GRID_LIMIT, color_at, luminance, rgb
from tests.geometries import EDGE_CASES, integers, random_specs, reals

TABLE = Path(__file__).with_name("format_cases.json")
SCALES = {f"{theme} {name}": scale for theme, scales in COLORSCALES.items() for name, scale in scales.items()}
SPECS = [*EDGE_CASES.values(), *random_specs(61, 150)]


def computed(spec, seed=0, **arguments):
    """Compute the stages of random whole numbers, without the comparison."""
    arguments = {"compare": False} | arguments
    return stages(spec, integers(spec.input_shape, seed), integers(spec.weight_shape, seed + 1), **arguments)


def drawn_roles(spec, name, result):
    return roles(spec, name, tuple(getattr(result, name).shape[-2:]))


def is_data(letters_of_rows, letters_of_columns):
    rows, columns = ([letter == "d" for letter in letters] for letters in (letters_of_rows, letters_of_columns))
    return torch.tensor(rows)[:, None] & torch.tensor(columns)


# Roles, against tensors of ones: what is not data is exactly what is zero then.


def test_letters_of_grad_output_mark_exactly_its_own_cells():
    for spec in SPECS:
        ones = torch.ones(spec.output_shape)
        result = computed(spec, grad_output=ones)
        for name in ("dilated_grad_output", "padded_grad_output"):
            marks = drawn_roles(spec, name, result)
            tensor = getattr(result, name)[0, 0]
            assert tensor.shape == (len(marks.rows), len(marks.columns)), (name, spec)
            assert torch.equal(is_data(marks.rows, marks.columns), tensor != 0), (name, spec)
            assert (marks.unread_rows, marks.unread_columns) == ((), ())


def test_letters_of_the_padded_input_mark_exactly_its_own_cells():
    for spec in SPECS:
        bare = spec.replace(padding_mode="zeros")
        padded = pad_input(torch.ones(spec.input_shape), bare)[0, 0]
        for name in ("padded_input", "grad_padded_input"):
            marks = roles(spec, name, tuple(padded.shape))
            assert padded.shape == (len(marks.rows), len(marks.columns))
            assert torch.equal(is_data(marks.rows, marks.columns), padded != 0)
            border = "p" if spec.padding_mode == "zeros" else "c"
            assert set(marks.rows + marks.columns) <= {"d", border}


def test_inserted_zeros_stand_between_cells_and_padding_around_them():
    for spec in SPECS:
        result = computed(spec)
        marks = drawn_roles(spec, "padded_grad_output", result)
        for axis, letters in enumerate((marks.rows, marks.columns)):
            inner = letters.lstrip("p").rstrip("r").rstrip("p")
            assert set(inner) <= {"d", "i"}, (spec, letters)
            runs = [len(run) for run in inner.strip("i").split("d")[1:-1]]
            assert set(runs) <= {spec.stride[axis] - 1}, (spec, letters)


def test_letters_of_the_remainder_count_the_rows_that_it_adds():
    """The same geometry on an input without the rows that no window reaches has the same output and no r."""
    seen = 0
    for spec in [*SPECS, *random_specs(62, 150, ("zeros",))]:
        size = tuple(cells - rest for cells, rest in zip(spec.input_size, spec.remainder, strict=True))
        try:
            trimmed = spec.replace(input_size=size)
        except ValueError:  # the remainder was all there was, or the padding mode forbids the smaller input
            continue
        assert trimmed.output_size == spec.output_size
        with_rest = drawn_roles(spec, "padded_grad_output", computed(spec))
        without = drawn_roles(trimmed, "padded_grad_output", computed(trimmed))
        for axis, (long, short) in enumerate(((with_rest.rows, without.rows), (with_rest.columns, without.columns))):
            rest = spec.remainder[axis]
            assert "r" not in short
            assert len(long) == len(short) + rest
            assert long.startswith(short), "the remainder is the outermost part; a crop eats it first"
            uncropped = len(long.rstrip("r")) - len(short)
            assert long.count("r") == rest - uncropped
            assert "p" not in long[len(short) :], "what the remainder brings is a cell given back, or an r"
            seen += rest > 0
    assert seen > 50


def test_rows_that_are_never_read_are_those_of_the_geometry():
    """What no window reads, test_spec.py holds; of the padded input, whose border is no padding of its own."""
    for spec in SPECS:
        bare = spec.replace(input_size=spec.padded_size, padding=0, padding_mode="zeros")
        for name, read in {"input": spec, "grad_input": spec, "padded_input": bare, "grad_padded_input": bare}.items():
            marks = roles(spec, name, read.input_size)
            assert (marks.unread_rows, marks.unread_columns) == (read.unread_rows, read.unread_columns), (name, spec)


# Equations.


def words(equation):
    return [
        item.name if isinstance(item, Panel) else " ".join(filter(None, (item.symbol, item.note)))
        for item in equation.items
    ]


def laid_out(spec, **arguments):
    return {row.name: words(row) for row in equations(computed(spec, **arguments), Plane())}


def test_the_plainest_picture_is_three_equations():
    assert laid_out(ConvSpec(5)) == {
        "forward": ["padded_input", "⊛", "weight", "=", "output", "→ loss", "grad_output"],
        "input": ["padded_grad_output", "⊛", "rotated_weight", "=", "grad_input"],
        "weight": ["padded_input", "⊛", "dilated_grad_output", "=", "grad_weight"],
    }


def test_stride_and_dilation_change_places():
    rows = laid_out(ConvSpec((9, 9), stride=2, dilation=(1, 3)))
    assert "⊛ stride 2, dilation 1 × 3" in rows["forward"]
    assert "⊛ dilation 1 × 3" in rows["input"]
    assert "⊛ stride 1 × 3" in rows["weight"]


def test_a_bias_adds_a_panel_and_a_row():
    rows = laid_out(ConvSpec(5), bias=[0.5])
    assert rows["forward"][3:6] == ["+", "bias", "="]
    assert rows["bias"] == ["Σ over n, i, j", "grad_output", "=", "grad_bias"]


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_other_padding_modes_show_the_border_that_is_folded_back(mode):
    row = laid_out(ConvSpec(5, padding=1, padding_mode=mode))["input"]
    assert row[-3:] == ["grad_padded_input", "→ fold the border back", "grad_input"]
    assert "grad_padded_input" not in laid_out(ConvSpec(5, padding=1))["input"]


def test_sums_over_channels_and_samples_are_visible_as_such():
    many = laid_out(ConvSpec(5, 4, 6, groups=2, batch=2))
    assert many["forward"][0] == "Σ over c"
    assert many["input"][0] == "Σ over o"
    assert many["weight"][0] == "Σ over n"
    depthwise = laid_out(ConvSpec(5, 3, 3, groups=3))
    assert [row[0] for row in depthwise.values()] == ["padded_input", "padded_grad_output", "padded_input"]
    assert laid_out(ConvSpec(5, 1, 2))["forward"][0] == "padded_input", "one input channel: nothing to sum"
    assert laid_out(ConvSpec(5, 1, 2))["input"][0] == "Σ over o"


def test_every_panel_shows_the_plane_of_its_tensor():
    for spec in itertools.islice(random_specs(63, 60), 60):
        result = computed(spec, bias=integers((spec.out_channels,), 3))
        plane = Plane(1, 5, 3).within(spec)
        for row in equations(result, plane):
            for shown in row.panels:
                tensor = getattr(result, shown.name)
                assert shown.shape == tuple(tensor.shape)
                whole = tensor.reshape(1, 1, 1, -1) if tensor.dim() == 1 else tensor
                assert torch.equal(shown.values, whole[shown.at])
                assert shown.values.shape == (len(shown.roles.rows), len(shown.roles.columns))
                assert not any(isinstance(item, Sign) and not item.symbol for item in row.items)


def test_a_panel_by_name_teaches_when_there_is_none():
    result = computed(ConvSpec(5))
    assert panel(result, Plane(), "grad_weight").label == "grad_weight"
    with pytest.raises(ValueError, match=r"a panel is one of input, padded_input, .*: got 'kernel'"):
        panel(result, Plane(), "kernel")
    with pytest.raises(ValueError, match="grad_padded_input does not exist here, because the padding mode is zeros"):
        panel(result, Plane(), "grad_padded_input")
    with pytest.raises(ValueError, match="grad_bias does not exist here, because there is no bias"):
        panel(result, Plane(), "grad_bias")


# Figures.


def every_panel(result):
    return [p for row in equations(result, Plane()) for p in row.panels]


def test_a_figure_holds_the_tensors_own_numbers():
    for spec in itertools.islice(random_specs(64, 15), 15):
        result = stages(spec, reals(spec.input_shape, 1), reals(spec.weight_shape, 2), dtype="float32", compare=False)
        for shown in every_panel(result):
            picture = figure(shown)
            (trace,) = picture.data
            assert [list(row) for row in trace.z] == shown.values.tolist()
            assert trace.zmid == 0
            assert trace.zmax == -trace.zmin == limit((shown,))
            if max(shown.values.shape) <= GRID_LIMIT:
                assert [list(row) for row in trace.text] == [list(map(format_number, row)) for row in trace.z]
                assert trace.texttemplate == "%{text}"
            assert shown.called in picture.layout.title.text
            assert str(list(shown.shape)) in picture.layout.title.text
            rows, columns = shown.values.shape
            assert tuple(picture.layout.yaxis.range) == (rows - 0.5, -0.5), "row 0 is on top"
            assert tuple(picture.layout.xaxis.range) == (-0.5, columns - 0.5)


def test_bands_of_a_figure_lie_on_the_rows_that_are_not_data():
    result = computed(ConvSpec(8, stride=2, padding=1))
    bands = figure(panel(result, Plane(), "padded_grad_output")).layout.shapes
    rows = {int(band.y0 + 0.5) for band in bands if band.yref == "y"}
    assert rows == {0, 2, 4, 6, 8, 9}
    assert not figure(panel(result, Plane(), "weight")).layout.shapes


def test_a_given_scale_ends_the_colours():
    shown = panel(computed(ConvSpec(5)), Plane(), "output")
    (trace,) = figure(shown, scale=12.5).data
    assert (trace.zmin, trace.zmax) == (-12.5, 12.5)


def test_above_the_grid_limit_the_numbers_go():
    for size, has_text in ((GRID_LIMIT, True), (GRID_LIMIT + 1, False), (64, False)):
        result = computed(ConvSpec(size))
        (trace,) = figure(panel(result, Plane(), "input")).data
        assert (trace.text is not None) is has_text
        assert len(trace.z) == size


def test_the_limit_is_the_largest_finite_number_of_all_planes_or_one():
    spec = ConvSpec(3, 2, 1)
    numbers = torch.zeros(1, 2, 3, 3)
    numbers[0, 1, 2, 2] = -7
    shown = panel(stages(spec, numbers, torch.zeros(spec.weight_shape), compare=False), Plane(), "input")
    assert limit((shown,)) == 7, "also of the planes that are not shown: thumbnails share the scale"
    numbers[0, 0, 0, 0], numbers[0, 0, 0, 1] = float("nan"), float("-inf")
    shown = panel(stages(spec, numbers, torch.zeros(spec.weight_shape), compare=False), Plane(), "input")
    assert limit((shown,)) == 7
    assert figure(shown).data[0].text[0][:2] == ["nan", f"{MINUS}∞"]
    assert limit((panel(computed(spec, grad_output=torch.zeros(1, 1, 1, 1)), Plane(), "grad_input"),)) == 1


# Numbers: one rule, written once more with exact decimals.

LEAST = 2.0**-126  # float32 has all its digits from here on: smaller ones are 0
TINY, HUGE = 0.00095, 999999.5  # below and from here on in powers of ten


def text_by_rule(value):
    """Three significant digits or a whole number, rounded half away from zero; powers of ten for the tiny and huge."""
    if math.isnan(value):
        return "nan"
    sign = MINUS if value < 0 else ""
    exact = Context(prec=1200)  # more digits than any float has
    if math.isinf(value):
        return f"{sign}∞"
    size = Decimal(abs(value))  # the exact value of the float
    if size < Decimal(LEAST):
        return "0"
    if size < Decimal(TINY) or size >= Decimal(HUGE):
        power = size.adjusted()
        mantissa = size.scaleb(-power, context=exact).quantize(Decimal("0.1"), ROUND_HALF_UP, context=exact)
        if mantissa >= 10:
            mantissa, power = mantissa / 10, power + 1
        return f"{sign}{_plain(mantissa)}e{str(power).replace('-', MINUS)}"
    digits = next(d for d, start in ((0, 99.95), (1, 9.995), (2, 0.0995), (3, 0)) if size >= Decimal(start))
    return sign + _plain(size.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, context=exact))


def _plain(number):
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def values_by_rule(powers=range(-12, 13), sixteenths=range(1, 34)):
    """Values around every border of the rule, ties, sixteenths, and a few of every power of ten."""
    borders = [LEAST, 0.0005, 0.00095, 0.00995, 0.0095, 0.0995, 0.995, 9.995, 99.95, 999.5, 9999.5, 999999.5]
    sizes = [0.0, 5e-324, 1.7976931348623157e308, 1 / 3, math.pi, 0.1 + 0.2, 1e-5, 123456.0, 1.0, 10.0, 100.0, 1000.0]
    for border in borders:
        sizes += [math.nextafter(border, 0), border, math.nextafter(border, math.inf)]
    sizes += [k / 16 for k in sixteenths]  # a digit's cells and their sums
    sizes += [0.375, 10.25, 10.75, 100.5, 101.5, 2500.5, 12500.0, 13500.0, 0.03125]
    sizes += [mantissa * 10.0**power for power in powers for mantissa in (1.04, 2.5, 9.96)]
    sizes += [float(torch.tensor(value, dtype=torch.float32)) for value in (0.1, 0.7, 1 / 9, 1e-7, 16777217)]
    return [*sizes, *(-size for size in sizes[::7]), math.nan, math.inf, -math.inf]


def colors_by_rule():
    """Positions on all scales with the colour there, from the stops alone."""
    cases = []
    for name, stops in SCALES.items():
        for position in (0.0, 0.1, 0.4, 0.495, 0.5, 0.505, 0.8, 1.0):  # of each piece
            (start, low), (end, high) = next(pair for pair in itertools.pairwise(stops) if position <= pair[1][0])
            share = (position - start) / (end - start)
            color = [a * (1 - share) + b * share for a, b in zip(rgb(low), rgb(high), strict=True)]
            cases.append([name, position, [round(part, 6) for part in color]])
    return cases


def table():
    return {
        "numbers": [
            [text, text_by_rule(float(text))]
            for text in dict.fromkeys(map(_text, values_by_rule((-12, -5, -4, 3, 4, 12), (1, 3, 7, 17))))
        ],
        "colorscales": SCALES,
        "colors": colors_by_rule(),
    }


def _text(value):
    """As Number() of JavaScript and float() of Python read it."""
    return repr(value).replace("nan", "NaN").replace("inf", "Infinity")


def test_the_table_follows_the_rule():
    stored = json.loads(TABLE.read_text(encoding="utf-8"))
    assert stored == table(), "run `python -m tests.views.test_views` to write it anew"


def test_numbers_are_written_by_the_rule_and_as_a_person_would_write_them():
    """None is longer than its cell, and none is a negative zero."""
    for value in values_by_rule():
        text = format_number(value)
        assert text == text_by_rule(value), value
        assert len(text) <= 9, value
        assert "-" not in text, "a true minus sign"
        assert text.lstrip(MINUS) != "0" or text == "0", value
    for value, text in {
        **{-0.0: "0", -1.5: "−1.5", 0.1 + 0.2: "0.3", 1 / 9: "0.11", 1 / 16: "0.063", 0.125: "0.13", -0.004: "−0.004"},
        **{0.00094: "9.4e−4", 0.00095: "0.001", 99.94: "99.9", 99.95: "100", 9999.5: "10000"},
        **{1.4e-45: "0", -5e-324: "0", 2.0**-126: "1.2e−38", 44410.25: "44410", 999999.4: "999999", 999999.5: "1e6"},
        **{-123456.0: "−123456", -1234567.0: "−1.2e6", float("-inf"): "−∞"},
    }.items():
        assert format_number(value) == text


def test_a_number_has_one_form_short_and_long():
    """44410 in a sentence stands beside a cell with 44410, not with 4.4e4."""
    for value in filter(math.isfinite, values_by_rule()):
        short, long = format_number(value), format_long(value)
        assert ("e" in short) == ("e" in long), (short, long)
        if value.is_integer() and abs(value) < 999_999.5:
            assert short == long, (short, long)


# Colours.

STEPS = [step / 200 for step in range(201)]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_colors_are_interpolated_as_the_table_says():
    stored = json.loads(TABLE.read_text(encoding="utf-8"))
    assert stored["colorscales"] == SCALES
    for name, position, color in stored["colors"]:
        assert color_at(SCALES[name], position) == pytest.approx(color, abs=1e-5)


def test_luminance_is_that_of_wcag():
    assert luminance(rgb("#000000")) == 0
    assert luminance(rgb("#ffffff")) == pytest.approx(1)
    assert luminance(rgb("#0a0a0a")) == pytest.approx(10 / 255 / 12.92), "the straight part of the curve"
    assert luminance(rgb("#808080")) == pytest.approx(0.2159, abs=1e-4)
    assert contrast(rgb("#ffffff"), rgb("#767676")) == pytest.approx(4.54, abs=0.01), "WCAG's own example"


@pytest.mark.parametrize("name", SCALES)
def test_a_scale_is_symmetric_around_a_neutral_zero(name):
    stops = SCALES[name]
    assert [at for at, _ in stops] == [1 - at for at, _ in reversed(stops)]
    neutral = color_at(stops, 0.5)
    assert max(neutral) - min(neutral) <= 12, "grey, white or nearly black"
    sizes = [abs(luminance(color_at(stops, position)) - luminance(neutral)) for position in STEPS]
    for less, more in itertools.pairwise(sizes[100:]):
        assert less < more, "the farther from zero, the farther from neutral"
    for less, more in itertools.pairwise(sizes[100::-1]):
        assert less < more


# Captions.


@pytest.mark.parametrize(
    ("kind", "arguments", "text"),
    [
        ("sum", {}, "loss = Σ output = 9"),
        ("mean", {}, "loss = mean of output = 1"),
        (
            "cross_entropy",
            {"target": torch.eye(9)[4].reshape(1, 1, 3, 3)},
            "loss = −Σ target · log softmax(output) / N = 2.19722",
        ),
        ("half_squared_error", {"target": torch.zeros(1, 1, 3, 3)}, "loss = ½ Σ (output − target)² = 4.5"),
        ("weighted_sum", {"grad_output": -torch.ones(1, 1, 3, 3)}, "loss = Σ grad_output · output = −9"),
    ],
)
def test_the_loss_as_an_equation(kind, arguments, text):
    result = stages(ConvSpec(3, kernel_size=1), torch.ones(1, 1, 3, 3), torch.ones(1, 1, 1, 1), loss=kind, **arguments)
    assert captions.loss(result) == text


def test_formulas_name_the_indices_that_are_shown():
    plain = computed(ConvSpec(5))
    assert captions.formula(plain, Plane(), "forward") == "output = padded_input ⊛ weight"
    spec = ConvSpec(5, 4, 4, groups=2, batch=2)
    many, plane = computed(spec, bias=[1, 2, 3, 4]), Plane(1, 3, 2)
    assert (
        captions.formula(many, plane, "forward") == "output[1, 3] = Σ_c padded_input[1, 2 + c] ⊛ weight[3, c] + bias[3]"
    )
    assert (
        captions.formula(many, plane, "input")
        == "grad_input[1, 2] = Σ_o padded_grad_output[1, 2 + o] ⊛ rotated_weight[2, o]"
    )
    assert captions.formula(many, plane, "weight") == "grad_weight[3, 0] = Σ_n padded_input[n, 2] ⊛ grad_output[n, 3]"
    for stride, kernel in ((1, "grad_output"), ((1, 2), "dilated_grad_output"), (2, "dilated_grad_output")):
        made = computed(ConvSpec(5, stride=stride))
        assert captions.formula(made, Plane(), "weight") == f"grad_weight = padded_input ⊛ {kernel}"
        (row,) = [row for row in equations(made, Plane()) if row.name == "weight"]
        assert [each.label for each in row.panels] == ["padded_input", kernel, "grad_weight"]
        assert row.panels[1].name == "dilated_grad_output"
    depthwise, plane = computed(ConvSpec(5, 3, 3, groups=3, padding=1, padding_mode="circular")), Plane(0, 2, 2)
    assert captions.formula(depthwise, plane, "forward") == "output[0, 2] = padded_input[0, 2] ⊛ weight[2, 0]"
    assert (
        captions.formula(depthwise, plane, "input")
        == "grad_padded_input[0, 2] = padded_grad_output[0, 2] ⊛ rotated_weight[2, 0]"
    )
    assert captions.formula(many, plane, "bias").startswith("grad_bias[o] = Σ grad_output")


def lines_of(key, rows):
    """Return a part of the table as JSON, a row a line."""
    dumps = functools.partial(json.dumps, ensure_ascii=False)
    named = isinstance(rows, dict)
    lines = [f"{dumps(name)}: {dumps(row)}" for name, row in rows.items()] if named else map(dumps, rows)
    first, last = "{}" if named else "[]"
    return f"{dumps(key)}: {first}\n" + ",\n".join(lines) + f"\n{last}"


if __name__ == "__main__":
    TABLE.write_text("{\n" + ",\n".join(itertools.starmap(lines_of, table().items())) + "\n}\n", encoding="utf-8")
