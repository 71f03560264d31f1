"""The story of the remainder: every claim of its text is asked of torch."""

import re

import pytest
import torch
import torch.nn.functional as F

from convviz.app.model import Model
from convviz.settings import change
from convviz.settings.state import Settings
from convviz.spec import ConvSpec
from convviz.views.remainder import inner_gaps, same_output, story
from tests.geometries import EDGE_CASES, MODES, random_specs, reals

ROWS = ("row", "column")


def specs(seed, count=150, modes=MODES):
    """Geometries of one channel and one sample in which the stride can leave something over."""
    found = [*random_specs(seed=seed, count=count, modes=modes), *EDGE_CASES.values()]
    found = [spec.replace(in_channels=1, out_channels=1, groups=1, batch=1) for spec in found]
    return [spec for spec in found if spec.stride != (1, 1) and spec.padding_mode in modes]


def gradients(spec):
    """Return autograd's grad_input and grad_padded_input for numbers of which no sum is 0 by chance."""
    x = reals((1, 1, *spec.input_size), 1).requires_grad_()
    pads = [side for axis in (1, 0) for side in spec.padding[axis]]
    padded = F.pad(x, pads, mode="constant" if spec.padding_mode == "zeros" else spec.padding_mode)
    output = F.conv2d(padded, reals((1, 1, *spec.kernel_size), 2), None, spec.stride, 0, spec.dilation)
    to_input, to_padded = torch.autograd.grad(output, (x, padded), reals(tuple(output.shape), 3))
    return to_input[0, 0], to_padded[0, 0]


def lines(plane, axis):
    """Return for every row (axis 0) or column (axis 1) whether all of it is exactly 0."""
    return (plane == 0).all(1 - axis).tolist()


def told_text(spec):
    told = story(spec, linked=True)
    return told and " ".join(told.paragraphs)


def along(spec, axis):
    """Return the geometry of one axis alone: what the other one never reads must not count."""

    def pair(value, other):
        return (value, other) if axis == 0 else (other, value)

    return spec.replace(
        **{name: pair(getattr(spec, name)[axis], 1) for name in ("input_size", "kernel_size", "stride", "dilation")},
        padding=pair(spec.padding[axis], (0, 0)),
    )


def count_of(words):
    """1 for "the last row", 3 for "the last 3 rows"."""
    return int(number[0]) if (number := re.findall(r"\d+", words)) else 1


def test_the_sum_and_the_unread_lines_are_those_of_torch():
    told = 0
    for spec in specs(11):
        text = told_text(spec)
        _, to_padded = gradients(spec)
        sums = [(eval_sum(found), int(found[5])) for found in re.finditer(SUM, text)]
        assert len(sums) in (1, 2)
        for axis, (value, written) in enumerate(sums * (2 // len(sums))):
            assert value == written, text
            zero = lines(to_padded, axis)
            tail = next((n for n, is_zero in enumerate(reversed(zero)) if not is_zero), len(zero))
            assert tail == written, (spec, text)
            found = re.search(rf"No window reaches [^.]*?(the last (?:\d+ )?{ROWS[axis]})s?\b", text)
            assert (count_of(found[1]) if found else 0) == written, text
            told += written > 0
    assert told > 60


SUM = r"\((\d+) \+ (\d+) − (\d+) − 1\) mod (\d+) = (\d+)"


def eval_sum(found):
    size, padding, reach, stride = (int(found[part]) for part in range(1, 5))
    return (size + padding - reach - 1) % stride


def test_what_the_remainder_takes_of_the_input_has_a_gradient_of_zero_and_nothing_else_is_claimed():
    kinds = set()
    for spec in specs(12, count=600):
        text = told_text(spec)
        both = "Both lie in the" in text
        for axis in (0, 1):
            rest, after, size = spec.remainder[axis], spec.padding[axis][1], spec.input_size[axis]
            if not rest:
                continue
            spared = both or f"so the remainder takes no {ROWS[axis]} of the input" in text
            which = rf"(the last (?:\d+ )?{ROWS[axis]}|the only {ROWS[axis]}|all \d+ {ROWS[axis]})"
            found = re.search(rf"{which}s? of the input: (never read|under no window)", text)
            assert spared != bool(found), (spec, text)
            if spared:
                assert rest <= after
                kinds.add("spared")
                continue
            lost = count_of(found[1])
            assert lost == min(rest - after, size) > 0
            assert (lost == size) == found[1].startswith(("all", "the only"))
            zero = lines(gradients(along(spec, axis))[0], axis)[size - lost :]
            assert all(zero) == (found[2] == "never read"), (spec, text)
            kinds.add((found[2], after > 0))
    assert kinds == {"spared", ("never read", False), ("never read", True), ("under no window", False),
                     ("under no window", True)}  # fmt: skip


def test_gaps_between_windows_are_not_the_remainder():
    told = 0
    for spec in specs(13, modes=("zeros",)):
        for axis, gaps in enumerate(map(sum, zip(*inner_gaps(spec), strict=True))):
            unread = sum(lines(gradients(along(spec, axis))[0], axis))
            taken = min(max(spec.remainder[axis] - spec.padding[axis][1], 0), spec.input_size[axis])
            assert gaps + taken == unread, spec
            told += gaps > 0
    assert told > 20


def test_the_sizes_that_share_the_output_are_all_there_are():
    for spec in specs(14):
        text = told_text(spec)
        which = (
            r"(?:Inputs|Only an input) of (?:size ([\d, or]+)|height ([\d, or]+) and width ([\d, or]+)) (?:share|has)"
        )
        found = re.search(which, text)
        for axis, words in enumerate((found[1], found[1]) if found[1] else (found[2], found[3])):
            sizes = [int(word) for word in re.findall(r"\d+", words)]
            assert sizes == same_output(spec, axis)
            shape = list(spec.input_size)
            for size in range(1, sizes[-1] + 3):
                shape[axis] = size
                assert (output_shape(spec, shape) == spec.output_size) == (size in sizes), (spec, axis, size)


def output_shape(spec, size):
    """Return the output's size as torch has it, or None where torch refuses the padding or the kernel."""
    pads = [side for axis in (1, 0) for side in spec.padding[axis]]
    mode = "constant" if spec.padding_mode == "zeros" else spec.padding_mode
    try:
        padded = F.pad(torch.zeros(1, 1, *size), pads, mode=mode)
        output = F.conv2d(padded, torch.zeros(1, 1, *spec.kernel_size), None, spec.stride, 0, spec.dilation)
    except RuntimeError:
        return None
    return tuple(output.shape[-2:])


def test_output_padding_leads_conv_transpose2d_back():
    ways = set()
    for spec in specs(15):
        text = told_text(spec)
        found = re.search(r"output_padding=([^ ]+|\(\d+, \d+\)) (with padding=0 )?leads conv_transpose2d back", text)
        extra = [int(word) for word in re.findall(r"\d+", found[1])] * (2 // len(re.findall(r"\d+", found[1])))
        padding = (0, 0) if found[2] else tuple(before for before, _ in spec.padding)
        back = F.conv_transpose2d(
            torch.zeros(1, 1, *spec.output_size), torch.zeros(1, 1, *spec.kernel_size), None, spec.stride, padding,
            extra, 1, spec.dilation,
        )  # fmt: skip
        assert tuple(back.shape[-2:]) == (spec.padded_size if found[2] else spec.input_size), (spec, text)
        ways.add(bool(found[2]))
    assert ways == {True, False}


@pytest.mark.parametrize("linked", [True, False])
def test_every_button_sets_a_size_that_keeps_what_it_says(linked):
    for spec in specs(16):
        told = story(spec, linked)
        assert told.sizes or (linked and spec.input_size[0] != spec.input_size[1]), spec
        current = [near for near in told.sizes if near.current]
        assert all(near.size == spec.input_size for near in current)
        for near in told.sizes:
            there = spec.replace(input_size=near.size)
            numbers = [int(word) for word in re.findall(r"\d+", near.note)]
            rest = numbers[:2] if "," in near.note.split(", output")[0] else numbers[:1] * 2
            assert tuple(rest) == there.remainder
            assert ("output" in near.note) == (there.output_size != spec.output_size)
            assert output_shape(spec, near.size) == there.output_size
        if not linked and spec.stride[0] > 1:
            heights = [near for near in told.sizes if near.size[1] == spec.input_size[1]]
            assert any(spec.replace(input_size=near.size).remainder[0] == 0 for near in heights), "one has none"


def test_stride_one_has_no_story():
    assert story(ConvSpec(8), linked=True) is None
    assert story(ConvSpec(8, stride=(1, 2)), linked=False) is not None


def test_the_story_of_the_first_picture():
    left_over, way_back = story(ConvSpec((8, 8), stride=2, padding=1), linked=True).paragraphs
    assert left_over == (
        "Remainder: (N + 2p − d(K−1) − 1) mod s = (8 + 2 − 2 − 1) mod 2 = 1. "
        "No window reaches the last row and the last column of padded_input (hatched). "
        "Both lie in the padding, so the remainder takes nothing of the input. "
        "The remainder takes the padding behind the input first, because that lies outermost: "
        "only what goes beyond it leaves zeros at the end of grad_input."
    )
    assert way_back == (
        "Inputs of size 7 or 8 share this output size: the output alone does not tell which of them it was. "
        "output_padding=1 leads conv_transpose2d back to this one."
    )


# -- what a click does -------------------------------------------------------------------------------------------


def test_linked_axes_move_together_and_others_alone():
    linked, notices = change.set_size(Settings(), 7, 8)
    assert (linked.spec.input_size, notices) == ((7, 7), [])
    alone, _ = change.set_size(Settings(link_axes=False), 8, 7)
    assert alone.spec.input_size == (8, 7)
    assert change.set_size(Settings(), 8, 9)[0].spec.input_size == (9, 9)


def test_a_size_that_does_not_fit_moves_what_has_to_give_way_and_says_so():
    settings = Settings(spec=ConvSpec(5, kernel_size=5, stride=2, padding=2, padding_mode="reflect"))
    there, notices = change.set_size(settings, 2, 2)
    assert there.spec.input_size == (2, 2)
    assert any("padding of the height moved from 2 to 1" in notice for notice in notices)
    assert any("kernel_size of the height moved from 5 to 4" in notice for notice in notices)


@pytest.mark.parametrize("size", [[0, 0], [7], [], ["7", 7], [7.0, 7.0], [True, 7], [-1, 8], [65, 65], 7, None])
def test_a_size_that_is_none_is_refused_in_a_sentence(size):
    model = Model()
    before = model.settings
    model.attempt(lambda: model.act({"type": "size", "size": size}))
    assert model.failed
    assert model.settings == before


def test_a_click_is_one_step_of_undo():
    model = Model()
    model.act({"type": "size", "size": [7, 7]})
    assert model.settings.spec.input_size == (7, 7)
    model.undo()
    assert model.settings.spec.input_size == (8, 8)


@pytest.mark.parametrize("view", ["window", "stamps"])
def test_the_view_is_part_of_the_state_and_no_step_of_undo(view):
    model = Model()
    model.act({"type": "view", "view": view})
    assert model.state()["input_view"] == view
    assert not model.can_undo
    other = Model()
    other.set_state(model.state())
    assert other.settings.input_view == view


@pytest.mark.parametrize("view", [None, "", "scatter", 1, ["stamps"]])
def test_a_view_that_is_none_is_refused(view):
    model = Model()
    model.attempt(lambda: model.act({"type": "view", "view": view}))
    assert model.failed
    assert model.settings.input_view == "window"
