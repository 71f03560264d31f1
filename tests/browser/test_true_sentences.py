"""Formulas and sentences that state a fact, over hundreds of geometries: each is read as a visitor reads it, and asked
of torch. Formulas are calculated as they are written, and must give autograd's numbers. The page writes them; under a
still picture Python does, and must write the same."""

import dataclasses
import re

import torch
import torch.nn.functional as F

from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.ops.stages import stages
from convviz.settings.compute import compute
from convviz.settings.state import Settings
from convviz.settings.tensor_source import Source
from convviz.settings.transposed import layer_spec
from convviz.views import captions
from tests.browser.test_remainder import along, stories
from tests.geometries import conv2d_by_definition, integers, random_specs

COUNT = 600
INDEX = r"(?:\[([^\]]*)\])?"  # of a tensor of one plane nobody writes any
PRODUCT = re.compile(
    rf"^(\w+){INDEX} = (?:Σ_(\w+) )?\(?(\w+){INDEX} (⊛|·) (\w+){INDEX}(?:\)\[:(\d+), :(\d+)\])?"
    rf"(?: laid at \((.*), (.*)\))?(?: \+ bias{INDEX})?$"
)


ROWS = (("forward", ""), ("input", "window"), ("input", "stamps"), ("weight", ""))
BIAS = {"kind": "values", "values": [1.0], "shape": [1]}


def seen(spec, plane=None, transposed=False, bias=True):
    """Return what the page reads of its settings to write about them."""
    at = {name: getattr(plane or Plane(), name) for name in ("sample", "out_channel", "in_channel")}
    stated = {"transposed": transposed, "bias": BIAS if bias else None, "loss": "sum", "target": {"kind": "zeros"}}
    return {"spec": spec.to_dict(), "plane": at, **stated}


def cases(seed, modes=("zeros", "reflect", "replicate", "circular")):
    """Yield (geometry, shown plane, stages, results by the definition and autograd)."""
    for number, spec in enumerate(random_specs(seed, COUNT, modes)):
        x, w = integers(spec.input_shape, number), integers(spec.weight_shape, number + 1)
        g, b = integers(spec.output_shape, number + 2), integers((spec.out_channels,), number + 3)
        draw = number * 7919  # a plane that is not always the first
        plane = Plane(draw % spec.batch, draw // 3 % spec.out_channels, draw // 5 % spec.in_channels).within(spec)
        x.requires_grad_()
        w.requires_grad_()
        output = conv2d_by_definition(x, w, b, spec)
        grad_input, grad_weight = torch.autograd.grad(output, (x, w), g)
        made = stages(spec, x.detach(), w.detach(), b, grad_output=g, compare=False)
        true = {"output": output.detach(), "grad_input": grad_input, "grad_weight": grad_weight}
        yield spec, plane, made, true


def value_of(text, counted):
    """Return an index as written: ``3``, ``c`` or ``2 + c``."""
    return sum(counted[part] if part in counted else int(part) for part in text.split(" + "))


def written_out(text, made, spec):
    """Return the left side's (name, index) and what the right side comes to."""
    name, index, over, first, first_at, sign, second, second_at, rows, columns, down, across, bias = PRODUCT.match(
        text
    ).groups()
    axis = {"c": spec.in_channels // spec.groups, "o": spec.out_channels // spec.groups, "n": spec.batch}
    letters = [letter for letter in over or "" if letter in axis]
    total = 0
    for flat in range(1 if not letters else axis[letters[0]]):
        counted = {letters[0]: flat} if letters else {}
        place = [value_of(part, counted) for part in indices(first_at)[:2]]
        one = getattr(made, first)[*place]
        two = getattr(made, second)[*(value_of(part, counted) for part in indices(second_at))]
        total = total + (correlated(one, two, name, spec) if sign == "⊛" else laid(one, two, down, across, made, spec))
    if rows:
        assert total.shape != (int(rows), int(columns)), f"nothing to cut off: {text}"
        total = total[: int(rows), : int(columns)]
    if bias:
        total = total + made.bias[int(bias)]
    elif "bias" in text:
        total = total + made.bias[0]
    return name, [int(part) for part in indices(index)], total


def indices(text):
    """Return the parts of an index; the only plane's where none is written, or that of a cell alone."""
    return ["0", "0"] if text in (None, "i, j") else text.split(", ")


def correlated(image, kernel, name, spec):
    """What ⊛ means in the row of each result: the notes beside the signs state stride and dilation."""
    stride, dilation = {
        "output": (spec.stride, spec.dilation),
        "grad_weight": (spec.dilation, (1, 1)),
    }.get(name, ((1, 1), spec.dilation))
    return F.conv2d(image[None, None], kernel[None, None], None, stride, 0, dilation)[0, 0]


def laid(gradient, kernel, down, across, made, spec):
    """Stamp the kernel for every cell of grad_output where the formula lays it; what falls outside is dropped."""
    size = spec.input_size if made.grad_padded_input is None else spec.padded_size
    result = torch.zeros(size, dtype=torch.float64)
    for i in range(gradient.shape[0]):
        for j in range(gradient.shape[1]):
            top, left = (line_at(text, at) for text, at in ((down, i), (across, j)))
            for u in range(kernel.shape[0]):
                for v in range(kernel.shape[1]):
                    row, column = top + u * spec.dilation[0], left + v * spec.dilation[1]
                    if 0 <= row < size[0] and 0 <= column < size[1]:
                        result[row, column] += gradient[i, j] * kernel[u, v]
    return result


def line_at(text, at):
    """Return a place such as ``2i − 1`` for one i."""
    factor, _, less = re.fullmatch(r"(\d*)[ij]( − (\d+))?", text).groups()
    return int(factor or 1) * at - int(less or 0)


def test_formulas_come_to_autograds_numbers(js):
    grouped = 0
    drawn = list(cases(41))
    asked = [(seen(spec, plane), *row) for spec, plane, _, _ in drawn for row in ROWS]
    texts = iter(js("picture/formulas_and_notes.js", "formulaOf", asked))
    for spec, plane, made, true in drawn:
        for row, view in ROWS:
            text = next(texts)
            assert captions.formula(made, plane, row, view) == text, (spec, plane)
            if view == "stamps" and spec.output_size[0] * spec.output_size[1] > 12:
                continue  # stamped cell by cell in Python
            name, index, found = written_out(text, made, spec)
            expected = (made.grad_padded_input if name == "grad_padded_input" else true[name])[*index]
            assert torch.equal(found, expected), (spec, plane, text)
        grouped += spec.groups > 1 and spec.in_channels > spec.groups
    assert grouped > 50


def test_under_stills_stands_what_the_page_writes(js):
    """Formulas of both directions, of every row and view, with a bias and without."""
    drawn = []
    for number, spec in enumerate([*random_specs(44, COUNT), *random_specs(45, COUNT // 2, ("zeros",))]):
        transposed, bias = spec.padding_mode == "zeros" and number % 2 == 0, number % 3 > 0
        plane = Plane(number % 2, number % 5, number % 3).within(spec)
        ours = spec.in_channels if transposed else spec.out_channels
        x, w = blank(spec)
        given = {"bias": torch.zeros(ours) if bias else None, "loss": "sum", "compare": False}
        made = stages(spec, torch.zeros(spec.output_shape) if transposed else x, w, **given, transposed=transposed)
        drawn.append((made, plane, seen(spec, plane, transposed, bias)))
    rows = (*ROWS, *((("bias", ""),)))
    asked = [(settings, *row) for _, _, settings in drawn for row in rows]
    formulas = iter(js("picture/formulas_and_notes.js", "formulaOf", asked))
    for made, plane, settings in drawn:
        for row, view in rows:
            assert captions.formula(made, plane, row, view) == next(formulas), (settings, row, view)


def unread(spec):
    """Return for each axis which lines of the input get no gradient whatever the numbers are."""
    x = torch.ones(spec.input_shape, dtype=torch.float64, requires_grad=True)
    weight = torch.ones(spec.weight_shape, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(conv2d_by_definition(x, weight, None, spec).sum(), x)
    return [(gradient == 0).all(dim=0).all(dim=0).all(dim=1 - axis).tolist() for axis in (0, 1)]


def spans(spec, axis):
    """Return the first and last line of every window, in lines of the input."""
    extent = spec.dilation[axis] * (spec.kernel_size[axis] - 1)
    starts = range(-spec.padding[axis][0], spec.padded_size[axis] - spec.padding[axis][0] - extent, spec.stride[axis])
    return [(start, start + extent) for start in starts]


def test_gaps_and_holes_are_where_the_note_says(js):
    stated = {"gaps between": 0, "gaps inside": 0}
    drawn = list(random_specs(42, COUNT))
    notes = js("picture/band_captions.js", "captionOf", [(seen(spec), "forward", "") for spec in drawn])
    for spec, note in zip(drawn, notes, strict=True):
        for words in stated:
            what, where = words.split()
            lines = r"(?:(\d+) rows?)?(?: and )?(?:(\d+) columns?)? of the input falls? into"
            found = re.search(rf"{lines} (?:a {what[:-1]}|{what}) that the \w+ leaves {where} the windows", note)
            counts = [int(number or 0) for number in (found.groups() if found else ("0", "0"))]
            for axis, lines in enumerate(unread_along(spec)):
                windows = spans(spec, axis)
                inner = [i for i, never in enumerate(lines) if never and i <= windows[-1][1]]
                covered = [i for i in inner if any(first <= i <= last for first, last in windows)]
                expected = len(covered) if words == "gaps inside" else len(inner) - len(covered)
                assert counts[axis] == expected, (spec, note)
            stated[words] += bool(found)
    assert min(stated.values()) > 25, stated


def test_groups_are_named_with_the_channels_that_an_output_reads(js):
    drawn = list(random_specs(47, COUNT))
    stated = 0
    for spec, words in zip(
        drawn, js("picture/band_captions.js", "captionOf", [(seen(each), "forward", "") for each in drawn]), strict=True
    ):
        found = re.search(r"There are (\d+) groups: an output channel reads only (one|the (\d+)) input", words)
        own = spec.in_channels // spec.groups
        expected = (str(spec.groups), "one" if own == 1 else f"the {own}") if spec.groups > 1 else None
        assert (found and found.groups()[:2]) == expected, (spec, words)
        stated += bool(found)
    assert stated > 10


def test_captions_name_zeros_where_there_are_any_and_every_why_says_because(js):
    """A gradient of ones has no zeros of its own: what is 0 in its padded form is a place where no window stood."""
    drawn = list(random_specs(46, COUNT))
    asked = [(seen(spec), *row) for spec in drawn for row in ROWS[1:]]
    captions_of = iter(js("picture/band_captions.js", "captionOf", asked))
    zeros = 0
    for spec in drawn:
        window, stamps, to_weight = (next(captions_of) for _ in range(3))
        made = stages(spec, *blank(spec), grad_output=torch.ones(spec.output_shape), compare=False)
        assert ("There are zeros" in window) == bool((made.padded_grad_output == 0).any()), (spec, window)
        assert ("padded cell" in window) == (made.grad_padded_input is not None), (spec, window)
        assert "because" in stamps, stamps
        assert "because" in to_weight, to_weight
        zeros += "There are zeros" in window
    assert 50 < zeros < len(drawn)


def unread_along(spec):
    """As ``unread``, for each axis alone: what the other one never reads must not count."""
    return [unread(along(spec.replace(in_channels=1, out_channels=1, groups=1), axis))[axis] for axis in (0, 1)]


def blank(spec):
    return torch.zeros(spec.input_shape), torch.zeros(spec.weight_shape)


def test_the_story_names_exactly_the_inputs_that_share_the_output(js):
    only = 0
    drawn = [spec for spec in random_specs(43, COUNT * 6 // 5) if spec.stride != (1, 1)]
    assert len(drawn) > COUNT
    for spec, stated in zip(drawn, stories(js, drawn, linked=False), strict=True):
        text = " ".join(stated["paragraphs"])
        sizes = r"(size|height) ([\d, or]+?)(?: and width ([\d, or]+?))?"
        found = re.search(rf"(Inputs of|Only an input of) {sizes} (share|has)", text)
        heights = [int(number) for number in re.findall(r"\d+", found[3])]
        widths = [int(number) for number in re.findall(r"\d+", found[4] or found[3])]
        for axis, sizes in enumerate((heights, widths)):
            for size in range(1, spec.input_size[axis] + spec.stride[axis] + 1):
                pair = (size, spec.input_size[1]) if axis == 0 else (spec.input_size[0], size)
                try:
                    same = spec.replace(input_size=pair).output_size == spec.output_size
                except ValueError:
                    same = False
                assert same == (size in sizes), (spec, size, text)
        assert found[1].startswith("Only") == (len(heights) == len(widths) == 1), text
        only += found[1].startswith("Only")
        takes = "The remainder first uses up the " in text
        assert takes == any(rest and after for rest, (_, after) in zip(spec.remainder, spec.padding, strict=True)), text
    assert only > 5


def notes_of(js, *settings, names=("forward", "input", "weight")):
    """Return what the page notes under each row of each settings."""
    asked = [(each.to_dict(), name, "") for each in settings for name in names]
    found = js("picture/formulas_and_notes.js", "noteOf", asked)
    return [found[start : start + len(names)] for start in range(0, len(found), len(names))]


def test_notes_say_what_is_special_about_this_geometry(js):
    plain, remainder, cropped, copies = notes_of(
        js,
        Settings(spec=ConvSpec(5), loss="sum"),
        Settings(spec=ConvSpec((8, 8), stride=2, padding=1), loss="sum"),
        Settings(spec=ConvSpec((8, 7), stride=3, kernel_size=2, padding=((3, 3), (0, 0)))),
        Settings(spec=ConvSpec(5, padding=2, padding_mode="circular")),
    )
    size = "Output size: ⌊(N + 2p − d(K − 1) − 1) / s⌋ + 1 = "
    assert plain == [
        f"{size}⌊(5 + 2·0 − 1·(3 − 1) − 1) / 1⌋ + 1 = 3.",
        "Padded by d(k−1)−p: 2 before, 2 after.",
        "As loops: grad_weight[a, b] += grad_output[i, j] · padded_input[i + a, j + b], for all i, j, a, b. "
        "Nothing is rotated here.",
    ]
    assert remainder[0] == f"{size}⌊(8 + 2·1 − 1·(3 − 1) − 1) / 2⌋ + 1 = 4.", "the remainder has a story of its own"
    assert remainder[1] == (
        "The stride's zeros are between the cells of grad_output; "
        "padded by d(k−1)−p: 1 before, 2 after, the remainder included."
    )
    assert "swap places" in remainder[2]
    assert cropped[1].endswith(
        "padded by d(k−1)−p: (−2, −2) rows, (1, 3) columns, the remainder included; "
        "a negative padding crops: those windows lay wholly in the padding."
    )
    assert copies[1] == "Padded by d(k−1): 2 before, 2 after."


def test_a_layers_note_says_how_the_sizes_follow_and_what_output_padding_is(js):
    bare = layer_spec(ConvSpec(1, kernel_size=1, stride=3), (2, 3), (2, 0))
    assert bare.input_size == (6, 7)
    biased = Settings(spec=bare, transposed=True, loss="sum", bias=Source.of(torch.ones(1)))
    (first,), (note,) = notes_of(js, Settings(transposed=True, loss="sum"), biased, names=("input",))
    assert first == (
        "The stride's zeros are between the cells of input; padded by d(k−1)−p: 1 before, 2 after, output_padding "
        "included. Output size: (4 − 1)·2 − 2·1 + 1·(3 − 1) + output_padding 1 + 1 = 8."
    )
    assert "No input cell reaches 4 rows and 4 columns of output: they are equal to the bias." in note
    assert note.endswith("Output size: (2 − 1)·3 − 2·0 + 1·(1 − 1) + output_padding 2 + 1 = 6 rows; "
                         "(3 − 1)·3 − 2·0 + 1·(1 − 1) + output_padding 0 + 1 = 7 columns.")  # fmt: skip


def test_notes_about_losses_say_what_the_numbers_are(js):
    mean = Settings(spec=ConvSpec((5, 4), 1, 2, batch=2), loss="mean", bias=Source("values", (1.0,), (1,)))
    two, summed = compute(mean), compute(mean.replace(loss="sum"))
    cells = two.output.numel()
    ((note,),) = notes_of(js, mean, names=("forward",))
    assert note.startswith(
        f"Every gradient is 1/{cells} of the sum's, because the mean is the sum divided by the number of output's "
        f"cells, {cells}. Output size: "
    )
    for name in ("grad_output", "grad_input", "grad_weight", "grad_bias"):
        torch.testing.assert_close(getattr(two, name) * cells, getattr(summed, name))
    for transposed in (False, True):
        one = Settings(loss="cross_entropy", transposed=transposed)
        batch = one.replace(spec=one.spec.replace(batch=2))
        names = ("input", "forward") if transposed else ("forward", "input")
        (note, other), (of_batch, _) = notes_of(js, one, batch, names=names)
        assert "what softmax gives too much. Its cells add up to 0, because" in note
        assert "what softmax gives too much, divided by 2, because the loss is the mean over the samples" in of_batch
        assert "share" not in other
    ((usual,),) = notes_of(js, Settings(), names=("forward",))
    made = compute(Settings(dtype="float64"))
    output = made.output.clone().requires_grad_()
    cells = output.numel()
    for reduction, factor, said in (
        ("sum", 2, "as a sum it sends back twice"),
        ("mean", 2 / cells, f"a mean 2/{cells}"),
    ):
        loss = F.mse_loss(output, made.target, reduction=reduction)
        torch.testing.assert_close(torch.autograd.grad(loss, output)[0], factor * made.grad_output)
        assert said in usual
    states = [Settings(target=Source(kind)).to_dict() for kind in ("zeros", "ones")]
    zeros, ones = js("picture/band_captions.js", "captionOf", [(state, "forward", "") for state in states])
    assert zeros.endswith("grad_output equals output here, because the target is all 0.")
    assert "grad_output = output − target: " in ones


def test_the_loss_is_written_the_same_under_stills(js):
    one = ConvSpec(1, kernel_size=1)
    values = [0.0, -2.5, 1 / 3, 10497.5, 1e-7, -3.3e9, 123456.789, 5e-324, 1.7e308]
    for kind in ("sum", "mean", "half_squared_error", "weighted_sum"):
        name = {"half_squared_error": "target", "weighted_sum": "grad_output"}.get(kind)
        made = stages(one, *blank(one), loss=kind, compare=False, **({name: torch.ones(1, 1, 1, 1)} if name else {}))
        texts = js("picture/formulas_and_notes.js", "lossWords", [(kind, value) for value in values])
        stills = [dataclasses.replace(made, loss=torch.tensor(value, dtype=torch.float64)) for value in values]
        assert [captions.loss(still) for still in stills] == texts, kind
