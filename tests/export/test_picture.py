"""Pictures of a state: their numbers, their steps against autograd, their colours, and what is refused."""

import io
import itertools
import json
import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image

from convviz.cli import main
from convviz.export.draw_panels_and_equations import CELL, HEAD, cell_color, draw_panel, scene
from convviz.export.picture import export_picture
from convviz.export.primitives import LOOKS, Box, Mosaic, Strokes, Words
from convviz.export.raster import MAX_COLORS, ZOOM, Palette, paint
from convviz.export.window_positions import count_steps, step_at
from convviz.facts.format_numbers import format_number
from convviz.geometry.spec import ConvSpec
from convviz.ops.stages import stages
from convviz.settings.compute import compute
from convviz.settings.state import Settings
from convviz.settings.tensors import bias_tensor, input_tensor, weight_tensor
from convviz.views.panels import equations
from convviz.views.scales import ends, limit
from convviz.views.theme import GRID_LIMIT
from tests.geometries import EDGE_CASES, conv2d_by_definition, random_specs, reals, source_plane
from tests.random_states import random_states

LOOK = LOOKS["light"]
SVG = "{http://www.w3.org/2000/svg}"


def numbers_in_svg(text):
    return [node.text for node in ET.fromstring(text).iter(f"{SVG}text") if node.get("text-anchor") == "middle"]


def written(tmp_path, state, name, **part):
    return export_picture(state, tmp_path / name, **part).read_bytes()


def printed(panel):
    """The numbers of a panel but the zeros that a mark stands for: padding, inserted zeros, what is never read."""
    roles, (rows, columns) = panel.roles, panel.values.shape
    return [
        value
        for r, c in itertools.product(range(rows), range(columns))
        if (value := float(panel.values[r, c]))
        or not ({roles.rows[r], roles.columns[c]} & set("pir") or r in roles.unread_rows or c in roles.unread_columns)
    ]


def rows_of(spec, view="window", **tensors):
    """The stages of a geometry with numbers of its own, and its equations."""
    x, w = tensors.get("x", reals(spec.input_shape, 1)), tensors.get("w", reals(spec.weight_shape, 2))
    found = stages(spec, x, w, grad_output=reals(spec.output_shape, 3), dtype="float64", compare=False)
    return found, Settings(spec=spec).plane, {row.name: row for row in equations(found, Settings().plane, view)}


def few(count):
    return sorted({0, count // 3, count // 2, count - 1})


SPECS = [*EDGE_CASES.values(), *random_specs(7, 25)]


@pytest.mark.parametrize("name", ["forward", "input", "weight"])
def test_a_step_of_a_window_fills_one_cell_more_and_lights_the_factors(name):
    """The lit cells are those that this cell of the result is made of: by the definition."""
    for spec in SPECS:
        found, plane, rows = rows_of(spec)
        row = rows[name]
        panels = {panel.name: panel for panel in row.panels}
        count = count_steps(row)
        for number in few(count):
            step = step_at(found, plane, row, number)
            result, about = panels[step.over].values, (spec, number)
            assert result.numel() == count, about
            assert result.numel() - len(step.hidden[step.over]) == number + 1, about
            assert divmod(number, result.shape[1]) == step.cell, about
            assert len(step.lit) == 2, about
            assert step.window[0] in step.lit, about
            for part, lit in step.lit.items():
                assert {cell for cell, real in lit.items() if real} == factors(spec, name, part, step.cell), (
                    part,
                    *about,
                )


def factors(spec, name, part, cell):
    """Cells of a panel that this cell of the result is made of, product by product, padding zeros left out."""
    plane, folds = source_plane(spec), spec.padding_mode != "zeros"
    found = set()
    for o, k in itertools.product(pairs(spec.output_size), pairs(spec.kernel_size)):
        spread = tuple(spec.stride[a] * o[a] for a in range(2))
        at = tuple(spread[a] + spec.dilation[a] * k[a] for a in range(2))
        before = [0 if folds else spec.padding[a][0] for a in range(2)]
        last = [spec.kernel_size[a] - 1 for a in range(2)]
        pixel = tuple(at[a] - before[a] for a in range(2))
        if {"forward": o, "input": pixel, "weight": k}[name] == cell and plane[at] < math.prod(spec.input_size):
            places = {
                "padded_input": at,
                "weight": k,
                "rotated_weight": (last[0] - k[0], last[1] - k[1]),
                "padded_grad_output": tuple(spec.dilation[a] * last[a] - before[a] + spread[a] for a in range(2)),
                "dilated_grad_output": spread,
            }
            found.add(places[part])
    return found


def pairs(size):
    return itertools.product(range(size[0]), range(size[1]))


def test_a_step_of_stamps_shows_what_they_have_added_up_to():
    """What the first stamps make is the gradient of their cells alone, by autograd through the definition."""
    for spec in SPECS:
        found, plane, rows = rows_of(spec, "stamps")
        row = rows["input"]
        panels = {panel.name: panel for panel in row.panels}
        x = found.input.detach().clone().requires_grad_()
        output = conv2d_by_definition(x, found.weight, None, spec)
        for number in few(count_steps(row)):
            step = step_at(found, plane, row, number)
            so_far = found.grad_output.clone()
            so_far.flatten(2)[..., number + 1 :] = 0
            (truth,) = torch.autograd.grad(output, x, so_far, retain_graph=True)
            shown = step.values.get("grad_input", panels["grad_input"].values)
            torch.testing.assert_close(shown, truth[0, 0], rtol=0, atol=1e-10)
            assert step.over == "grad_output"
            only = torch.zeros_like(so_far)
            only.flatten(2)[:, :, number] = 1
            ones = torch.ones_like(found.weight)
            (reach,) = torch.autograd.grad(conv2d_by_definition(x, ones, None, spec), x, only)
            assert set(step.lit["grad_input"]) == {tuple(at) for at in reach[0, 0].nonzero().tolist()}
            weight = torch.ones_like(ones).requires_grad_()
            inner = conv2d_by_definition(torch.ones_like(x), weight, None, spec)
            (used,) = torch.autograd.grad(inner, weight, only)
            lit = {cell for cell, real in step.lit["weight"].items() if real}
            assert lit == {tuple(at) for at in used[0, 0].nonzero().tolist()}
            assert len(step.lit["weight"]) == weight[0, 0].numel()


def test_stamps_of_a_transposed_layer_end_in_its_output_with_the_bias(tmp_path):
    spec = ConvSpec(6, kernel_size=3, stride=2, padding=1)
    state = {"spec": spec.to_dict(), "transposed": True, "input_view": "stamps", "dtype": "float64",
             "bias": {"kind": "values", "values": [0.5], "shape": [1]}}  # fmt: skip
    settings = Settings.from_dict(state)
    for number in range(9):
        so_far = input_tensor(settings)
        so_far.flatten(2)[..., number + 1 :] = 0
        weight, bias = weight_tensor(settings), bias_tensor(settings)
        output = F.conv_transpose2d(so_far, weight, bias, 2, 1, spec.remainder)
        drawn = numbers_in_svg(written(tmp_path, state, "p.svg", panel="output", step=number).decode())
        assert drawn == [format_number(value) for value in output.flatten().tolist()]


def test_without_a_state_it_is_the_first_picture(tmp_path):
    expected = {
        "output": [143, 123, 88, 145, 95, 60, 87, 52, 42],
        "weight": [1, 2, 3, 4, 5, 6, 7, 8, 9],
        "grad_weight": [2, 1, 2, 4, 4, 1, 3, 4, 2],
        "grad_input": [0, 1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 7, 8, 9, 0] + [0] * 10,
    }
    for name, numbers in expected.items():
        assert numbers_in_svg(written(tmp_path, None, "p.svg", panel=name).decode()) == list(map(str, numbers))
    # The stamp of the one cell that has a 1: the one before it lays down zeros, and it is the second of nine.
    for step in range(9):
        drawn = numbers_in_svg(written(tmp_path, None, "p.svg", panel="grad_input", step=step).decode())
        assert drawn == list(map(str, expected["grad_input"] if step >= 1 else [0] * 25))


def test_the_drawing_of_a_step_shows_it(tmp_path):
    """On the page: so many numbers, so many cells to come, lit cells and the window where they belong."""
    root = ET.fromstring(written(tmp_path, {}, "p.svg", panel="output", step=5))
    assert len([node for node in root.iter(f"{SVG}text") if node.get("text-anchor") == "middle"]) == 6
    kinds = {kind: [node for node in root.iter(f"{SVG}rect") if node.get("class") == f"cv-{kind}"]
             for kind in ("later", "now", "window", "lit", "zero")}  # fmt: skip
    assert {kind: len(nodes) for kind, nodes in kinds.items()} == {
        "later": 10,
        "now": 1,
        "window": 0,
        "lit": 0,
        "zero": 0,
    }
    root = ET.fromstring(written(tmp_path, {}, "p.svg", panel="padded_input", equation="forward", step=0))
    lit = [node for node in root.iter(f"{SVG}rect") if node.get("class") == "cv-lit"]
    assert len(lit) == 4, "of the 3 x 3 window in the corner, row and column 0 are padding"
    places = {(float(node.get("y")) - HEAD - 10 - 2.5, float(node.get("x")) - 10 - 2.5) for node in lit}
    assert places == {(CELL * r, CELL * c) for r, c in itertools.product((1, 2), (1, 2))}
    (window,) = [node for node in root.iter(f"{SVG}rect") if node.get("class") == "cv-window"]
    assert [float(window.get(side)) for side in ("x", "y", "width", "height")] == [10, 10 + HEAD, 90, 90]
    texts = [node.text for node in root.iter(f"{SVG}text")]
    assert "cell 1 of 16: output[0, 0] = 0.5" in texts


def test_a_folded_border_is_filled_when_its_last_copy_is():
    found, plane, rows = rows_of(ConvSpec(4, kernel_size=3, padding=1, padding_mode="circular"))
    row = rows["input"]
    filled = [16 - len(step_at(found, plane, row, number).hidden["grad_input"]) for number in range(36)]
    # The border's last row and column copy the first ones, so those wait for it.
    assert filled[:7] == [0] * 7
    assert filled[8:11] == [0, 0, 0]
    assert filled == sorted(filled)
    assert filled[-1] == 16
    assert filled[-2] == 15, "the corner waits for the last cell of all"


# Colours, frames, files.


def cells(shapes):
    return [shape for shape in shapes if isinstance(shape, Box) and shape.kind == "cell"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scale", ["quantity", "equation", "panel"])
def test_the_pixels_of_a_cell_have_the_scales_colour(tmp_path, theme, scale):
    picture = Image.open(io.BytesIO(written(tmp_path, {"scale": scale}, "p.png", panel="grad_input", theme=theme)))
    assert picture.mode == "RGB"
    settings = Settings()
    found = stages(settings.spec, input_tensor(settings), weight_tensor(settings), loss="half_squared_error",
                   target=torch.zeros(settings.output_shape), dtype="float32", compare=False)  # fmt: skip
    (row,) = (row for row in equations(found, settings.plane) if row.name == "input")
    (shown,) = (each for each in row.panels if each.name == "grad_input")
    end = ends(found, scale)(row, shown)
    assert end == (limit(row.panels) if scale == "equation" else limit((shown,)))
    for r, c in itertools.product(range(8), range(8)):
        value = float(found.grad_input[0, 0, r, c])
        # Beside the number, so not in the very middle.
        at = (round((10 + (c + 0.5) * CELL) * ZOOM), round((10 + HEAD + (r + 0.88) * CELL) * ZOOM))
        assert "#{:02x}{:02x}{:02x}".format(*picture.getpixel(at)) == cell_color(value, end, LOOKS[theme], "input")


@pytest.mark.parametrize(("state", "name", "count"), [
    ({}, "weight", 9),
    ({"spec": ConvSpec((4, 5)).to_dict(), "input_view": "stamps"}, "input", 6),
    ({"spec": ConvSpec((2, 3), kernel_size=2, padding=1, padding_mode="reflect").to_dict()}, "input", 20),
])  # fmt: skip
def test_a_gif_has_a_frame_a_step(tmp_path, state, name, count):
    picture = Image.open(io.BytesIO(written(tmp_path, state, "p.gif", equation=name)))
    assert picture.n_frames == count
    assert picture.info["loop"] == 0
    for number in (0, count // 2, count - 1):
        picture.seek(number)
        still = Image.open(io.BytesIO(written(tmp_path, state, "p.png", equation=name, step=number)))
        shown = picture.convert("RGB")
        assert abs(shown.width - still.width) <= 60
        equal = (pixels(shown, still.size) == pixels(still, still.size)).all(-1).sum()
        assert equal > 0.98 * still.width * still.height, "all but the soft edges of letters"


def pixels(picture, size):
    return np.asarray(picture.crop((0, 0, *size)).convert("RGB"))


def test_a_gif_of_a_panel_that_does_not_change_has_all_its_frames(tmp_path):
    for state, count in (({}, 16), (None, 9)):
        picture = Image.open(io.BytesIO(written(tmp_path, state, "p.gif", panel="weight", equation="forward")))
        assert picture.n_frames == count


def test_more_colours_than_a_palette_holds_go_to_the_nearest():
    colors = {f"#{level:02x}{255 - level:02x}00" for level in range(256)} | {"#0000ff"}
    picture = Image.new("RGB", (2, 1))
    picture.putdata([(10, 245, 0), (0, 0, 255)])
    shown = Palette([picture], colors).apply(picture).convert("RGB")
    (red, green, blue), last = shown.getpixel((0, 0)), shown.getpixel((1, 0))
    assert abs(red - 10) <= 2
    assert abs(green - 245) <= 2
    assert (blue, last) == (0, (0, 0, 255))
    assert MAX_COLORS == 255


def test_a_large_panel_has_the_colours_alone(tmp_path):
    state = {"spec": ConvSpec((40, 30), kernel_size=3).to_dict()}
    text = written(tmp_path, state, "p.svg", panel="output").decode()
    assert numbers_in_svg(text) == []
    assert text.count("data:image/png;base64,") == 1
    _, _, rows = rows_of(ConvSpec((40, 30), kernel_size=3))
    panel = next(panel for panel in rows["forward"].panels if panel.name == "output")
    shapes, _, _ = draw_panel(panel, 2.0, LOOK)
    (mosaic,) = [shape for shape in shapes if isinstance(shape, Mosaic)]
    assert mosaic.rows == tuple(tuple(cell_color(v, 2.0, LOOK, "output") for v in row) for row in panel.values.tolist())
    picture = paint(scene((shapes, 300, 340), LOOK, ""))
    side = mosaic.height / 38
    for r, c in itertools.product(range(38), range(28)):
        at = (round((10 + (c + 0.5) * side) * ZOOM), round((10 + HEAD + (r + 0.5) * side) * ZOOM))
        assert "#{:02x}{:02x}{:02x}".format(*picture.getpixel(at)) == mosaic.rows[r][c]


def test_every_kind_of_cell_is_hatched_in_its_own_way():
    """Padding, remainder, inserted zeros and unread rows: a stroke of each kind, and only inside its rows."""

    def kinds(spec, name, panel):
        _, _, rows = rows_of(spec)
        (shown,) = [each for each in rows[name].panels if each.name == panel]
        shapes, _, _ = draw_panel(shown, 1e3, LOOK)
        strokes = [shape for shape in shapes if hasattr(shape, "segments")]
        grounds = {shape.fill: shape for shape in shapes if isinstance(shape, Box) and shape.kind == "padding"}
        return grounds | {(s.color, bool(s.dash), round(s.width, 1)): s.segments for s in strokes}

    dot, line = (LOOK.muted, False, 3.0), (LOOK.muted, False, 1.2)
    halo, frame = (LOOK.paper, False, 2.6), (LOOK.padding, False, 4.5)
    assert set(kinds(ConvSpec(5), "forward", "padded_input")) == set()
    assert set(kinds(ConvSpec(5, padding=1), "forward", "padded_input")) == {LOOK.padding}
    assert set(kinds(ConvSpec(5, padding=1, padding_mode="reflect"), "forward", "padded_input")) == {frame}
    assert set(kinds(ConvSpec(5, stride=2), "weight", "dilated_grad_output")) == {dot}
    assert set(kinds(ConvSpec(6, stride=2), "input", "padded_grad_output")) == {LOOK.padding, dot, halo, line}
    unread = kinds(ConvSpec(6, stride=2), "input", "grad_input")
    assert set(unread) == {halo, line}
    inside = [max(a, c) > 5 * CELL or max(b, d) - HEAD > 5 * CELL for a, b, c, d in unread[line]]
    assert all(inside), "row 5 and column 5 alone are never read"
    assert not {LOOK.accent, "#b3261e"} & {color for color, *_ in [halo, line, dot, frame]}, "red is for what is wrong"


def test_a_zero_is_printed_where_it_is_a_number_alone():
    for padding_mode, name, count in (("zeros", "padded_input", 25), ("reflect", "padded_input", 49)):
        spec = ConvSpec(5, padding=1, padding_mode=padding_mode)
        _, _, rows = rows_of(spec, x=torch.zeros(spec.input_shape))
        (shown,) = [each for each in rows["forward"].panels if each.name == name]
        shapes, _, _ = draw_panel(shown, 1.0, LOOK)
        assert [shape.text for shape in shapes if isinstance(shape, Words) and shape.centred] == ["0"] * count
        assert len(printed(shown)) == count


def test_a_number_off_the_colours_has_a_mark_and_its_own_number():
    spec = ConvSpec(5)
    numbers = torch.arange(1.0, 26).reshape(spec.input_shape)
    numbers[0, 0, 1, 2] = -1e9
    _, _, rows = rows_of(spec, x=numbers)
    shown = rows["forward"].panels[0]
    end = limit((shown,))
    assert end == 25
    shapes, _, _ = draw_panel(shown, end, LOOK)
    (edges,) = [shape for shape in shapes if isinstance(shape, Strokes) and shape.color == LOOK.ink]
    assert [(a > 2 * CELL, b - HEAD) for a, b, _, _ in edges.segments] == [(True, CELL)]
    assert "−1e9" in [shape.text for shape in shapes if isinstance(shape, Words)]
    assert cells(shapes)[7].fill == cell_color(-25, end, LOOK, "input")


@pytest.mark.parametrize("name", ["a.svg", "a.png", "a.gif"])
def test_equal_input_gives_equal_bytes(tmp_path, name):
    assert written(tmp_path, None, name, equation="weight") == written(tmp_path, None, name, equation="weight")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_every_number_of_a_state_is_drawn_and_the_same_in_every_format(tmp_path):
    """Those of the panels, which test_views.py and test_stages.py hold."""
    for state in random_states(50, 12):
        settings = Settings.from_dict(state)
        plane = settings.plane.within(settings.spec)
        names = {"forward": "input", "input": "forward"} if settings.transposed else {}
        for row in equations(compute(settings), plane, settings.input_view):
            equation = names.get(row.name, row.name)
            expected = [
                format_number(value)
                for panel in row.panels
                if max(panel.values.shape) <= GRID_LIMIT
                for value in printed(panel)
            ]
            drawn = written(tmp_path, state, "p.svg", equation=equation).decode()
            assert numbers_in_svg(drawn) == expected, (equation, state)
            root = ET.fromstring(drawn)
            size = Image.open(io.BytesIO(written(tmp_path, state, "p.png", equation=equation))).size
            sides = (float(root.get(side)) for side in ("width", "height"))
            assert all(abs(pixel - ZOOM * side) <= 1 for pixel, side in zip(size, sides, strict=True))


def test_the_forward_pass_of_a_transposed_layer_goes_by_its_own_name(tmp_path):
    state = {"spec": ConvSpec(6, kernel_size=3, stride=2).to_dict(), "transposed": True}
    label = ET.fromstring(written(tmp_path, state, "p.svg", equation="forward")).get("aria-label")
    assert label == "Forward: padded_input, rotated_weight, output, target, grad_output"
    assert "grad_input" in ET.fromstring(written(tmp_path, state, "p.svg", equation="input")).get("aria-label")


# What is refused.


@pytest.mark.parametrize(("name", "part", "message"), [
    ("p.pdf", {}, r"ends in \.svg, \.png, \.gif: got 'p\.pdf'"),
    ("p.svg", {"form": "jpg"}, "form is one of svg, png, gif: got 'jpg'"),
    ("p.svg", {"theme": "blue"}, "theme is one of light, dark: got 'blue'"),
    ("p.svg", {"panel": "gradinput"}, "a panel is one of input, padded_input, .*grad_bias: got 'gradinput'"),
    ("p.svg", {"panel": "bias"}, "bias does not exist here, because there is no bias"),
    ("p.svg", {"panel": "output", "equation": "weight"}, "is one of padded_input, grad_output, grad_weight"),
    ("p.svg", {"equation": "backward"}, "an equation is one of forward, input, weight, bias: got 'backward'"),
    ("p.svg", {"equation": "bias"}, "'bias' does not exist here, because there is no bias"),
    ("p.svg", {"equation": "forward", "step": 9}, "step is a whole number from 0 to 8 in this equation: got 9"),
    ("p.svg", {"step": 1}, "steps belong to one equation, and this is the whole picture"),
    ("p.svg", {"panel": "input", "step": 1}, "this panel stands in no equation"),
    ("p.gif", {"equation": "forward", "step": 1}, "a GIF shows all steps: got step=1 as well"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_said_and_nothing_is_written(tmp_path, name, part, message):
    with pytest.raises(ValueError, match=message):
        export_picture(None, tmp_path / name, **part)
    assert list(tmp_path.iterdir()) == []


def test_the_bias_has_no_steps_and_a_gif_has_an_end(tmp_path):
    state = {"bias": {"kind": "values", "values": [1.0], "shape": [1]}}
    with pytest.raises(ValueError, match="one sum and has no steps"):
        export_picture(state, tmp_path / "p.png", equation="bias", step=0)
    with pytest.raises(ValueError, match="up to 1024 steps: this equation has 1444"):
        export_picture({"spec": ConvSpec(40).to_dict()}, tmp_path / "p.gif", equation="forward")


def test_the_command_line_writes_pictures(tmp_path, capsys):
    state, file = tmp_path / "s.json", tmp_path / "p.png"
    state.write_text(json.dumps({"digit": 5}), encoding="utf-8")
    assert main(["export", "--state", str(state), "--png", "--panel", "output", "--step", "3", "-o", str(file)]) == 0
    assert file.read_bytes() == written(tmp_path, {"digit": 5}, "q.png", panel="output", step=3)
    assert main(["export", "--svg", "--equation", "weight", "--theme", "dark", "-o", str(tmp_path / "p.txt")]) == 0
    assert (tmp_path / "p.txt").read_bytes() == written(tmp_path, None, "q.svg", equation="weight", theme="dark")
    assert main(["export", "-o", str(tmp_path / "r.svg")]) == 0
    assert (tmp_path / "r.svg").read_bytes().startswith(b"<svg")
    capsys.readouterr()
    for words, message in (
        (["--png", "--title", "x"], "--title belong to a page"),
        (["--panel", "output"], "--panel belong to a picture: add --svg"),
        (["--module", "--svg"], "--module and --svg are two files"),
        (["--svg", "--panel", "x"], "a panel is one of"),
    ):
        assert main(["export", *words, "-o", str(tmp_path / "page")]) == 1
        assert message in capsys.readouterr().err
    assert not (tmp_path / "page").exists()
