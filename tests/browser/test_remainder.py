"""The story of the remainder as the page says it: every claim of its text is asked of torch."""

import re

import pytest
import torch
import torch.nn.functional as F

from convviz.geometry.spec import ConvSpec
from convviz.settings.state import Settings
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


def stories(js, specs, linked=True):
    """Return what the page says of each geometry."""
    return js("picture/remainder_sentences.js", "remainderStory", [[spec.to_dict(), linked] for spec in specs])


def reported(js, *drawn, **options):
    """Yield (geometry, its story as one text)."""
    found = specs(*drawn, **options)
    for spec, story in zip(found, stories(js, found), strict=True):
        yield spec, " ".join(story["paragraphs"])


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


def test_the_sum_and_the_unread_lines_are_those_of_torch(js):
    counted = 0
    for spec, text in reported(js, 11):
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
            counted += written > 0
    assert counted > 60


SUM = r"\((\d+) \+ (\d+) − (\d+) − 1\) mod (\d+) = (\d+)"


def eval_sum(found):
    size, padding, reach, stride = (int(found[part]) for part in range(1, 5))
    return (size + padding - reach - 1) % stride


def test_what_the_remainder_takes_of_the_input_has_a_gradient_of_zero_and_nothing_else_is_claimed(js):
    kinds = set()
    for spec, text in reported(js, 12, count=600):
        both = "Both are in the" in text
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


def test_output_padding_leads_conv_transpose2d_back(js):
    ways = set()
    for spec, text in reported(js, 15):
        found = re.search(r"output_padding=([^ ]+|\(\d+, \d+\)) (with padding=0 )?makes conv_transpose2d produce", text)
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
def test_every_button_sets_a_size_that_keeps_what_it_says(js, linked):
    drawn, plays = specs(16), []
    for spec, story in zip(drawn, stories(js, drawn, linked), strict=True):
        sizes = story["sizes"]
        assert sizes or (linked and spec.input_size[0] != spec.input_size[1]), spec
        assert all(near["size"] == list(spec.input_size) for near in sizes if near["current"])
        for near in sizes:
            there = spec.replace(input_size=near["size"])
            numbers = [int(word) for word in re.findall(r"\d+", near["note"])]
            rest = numbers[:2] if "," in near["note"].split(", output")[0] else numbers[:1] * 2
            assert tuple(rest) == there.remainder
            assert ("output" in near["note"]) == (there.output_size != spec.output_size)
            assert output_shape(spec, near["size"]) == there.output_size
        if not linked and spec.stride[0] > 1:
            heights = [near for near in sizes if near["size"][1] == spec.input_size[1]]
            assert any(spec.replace(input_size=near["size"]).remainder[0] == 0 for near in heights), "one has none"
        state = Settings(spec=spec, link_axes=linked).to_dict()
        plays.append((state, [step for near in sizes for step in (["send", size(near["size"])], ["reset"])]))
    pressed = 0
    for spec, (_, actions), seen in zip(drawn, plays, js.play(plays), strict=True):
        for (name, *message), there in zip(actions, seen[1:], strict=True):
            wanted = message[0]["size"] if name == "send" else list(spec.input_size)
            assert there["state"]["spec"] == spec.to_dict() | {"input_size": wanted}, (spec, there["notice"])
            assert there["notice"] == "", spec
            pressed += name == "send"
    assert pressed > 200


def size(pair):
    """What a button of the story sends."""
    return {"type": "size", "size": pair}


def test_the_story_of_the_first_picture_and_none_at_stride_1(js):
    story, none = stories(js, [ConvSpec((8, 8), stride=2, padding=1), ConvSpec(8)])
    assert none is None
    left_over, way_back = story["paragraphs"]
    assert left_over == (
        "Remainder: (N + 2p − d(K−1) − 1) mod s = (8 + 2 − 2 − 1) mod 2 = 1. "
        "No window reaches the last row and the last column of padded_input (hatched). "
        "Both are in the padding, so the remainder takes nothing of the input. "
        "The remainder first uses up the padding after the input's last row or column, because that is outermost: "
        "only what goes beyond it leaves zeros at the end of grad_input."
    )
    assert way_back == (
        "Inputs of size 7 or 8 share this output size: the output alone does not say which it was. "
        "output_padding=1 makes conv_transpose2d produce this size."
    )
