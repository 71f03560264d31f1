"""The story of output_padding as the page says it: every claim of its text is asked of torch."""

import re

import pytest
import torch
import torch.nn.functional as F

from convviz.geometry.spec import ConvSpec
from convviz.settings.state import Settings
from tests.geometries import EDGE_CASES, random_specs, reals

WHICH = r"output of (?:size ([\d, or]+?)|height ([\d, or]+) and width ([\d, or]+?))(?: alone)?, so"


def specs(seed, count=200):
    """Geometries of one channel and one sample in which output_padding has a choice."""
    found = [*random_specs(seed=seed, count=count, modes=("zeros",)), *EDGE_CASES.values()]
    found = [spec.replace(in_channels=1, out_channels=1, groups=1, batch=1) for spec in found]
    return [spec for spec in found if spec.stride != (1, 1) and spec.padding_mode == "zeros"]


def stories(js, specs, linked=True):
    """Return what the page says of each geometry."""
    return js("picture/output_padding_sentences.js", "paddingStory", [[spec.to_dict(), linked] for spec in specs])


def reported(js, specs):
    """Yield (geometry, the one paragraph of its story)."""
    for spec, story in zip(specs, stories(js, specs), strict=True):
        (text,) = story["paragraphs"]
        yield spec, text


def layer(spec, output_padding):
    """Return the transposed layer's output for positive numbers, before its padding is cut off."""
    x, w = (reals(shape, seed).abs() + 0.1 for seed, shape in enumerate((spec.output_shape, spec.weight_shape)))
    return F.conv_transpose2d(x, w, None, spec.stride, 0, output_padding, 1, spec.dilation)[0, 0]


def count_of(words, line):
    """2 for "2 rows and 1 column" and row."""
    found = re.search(rf"(\d+) {line}s?\b", words)
    return int(found[1]) if found else 0


def test_the_outputs_that_go_with_the_input_are_all_there_are(js):
    for spec, text in reported(js, specs(21)):
        found = re.search(WHICH, text)
        for axis, words in enumerate((found[1], found[1]) if found[1] else (found[2], found[3])):
            sizes = [int(word) for word in re.findall(r"\d+", words)]
            padded = list(spec.padded_size)
            for size in range(1, sizes[-1] + 3):
                padded[axis] = size + sum(spec.padding[axis])
                try:
                    made = F.conv2d(torch.ones(1, 1, *padded), torch.ones(spec.weight_shape), None, spec.stride, 0,
                                    spec.dilation).shape[2 + axis]  # fmt: skip
                except RuntimeError:  # smaller than the kernel
                    made = 0
                assert (made == spec.output_size[axis]) == (size in sizes), (spec, axis, size)


def test_what_it_keeps_was_there_without_it_and_what_it_adds_is_zero(js):
    kinds = set()
    for spec, text in reported(js, specs(22, count=500)):
        kept = re.search(r"keeps ([^.]*?) that the padding would cut off", text)
        added = re.search(r"adds ([^.]*?) behind the last stamp", text)
        kinds.add((bool(kept), bool(added)))
        assert ("It adds nothing" in text) == (not kept and not added) == (not any(spec.remainder))
        whole, without = layer(spec, spec.remainder), layer(spec, 0)
        for axis, line in enumerate(("row", "column")):
            (before, after), stamped = spec.padding[axis], without.shape[axis]
            made = [*range(stamped), *[None] * spec.remainder[axis]]  # lines of the layer before its padding is cut off
            output = made[before : len(made) - after]
            smallest = range(stamped)[before : max(stamped - after, 0)]
            expected = [sum(at is not None and at not in smallest for at in output), output.count(None)]
            assert [count_of(found[1], line) if found else 0 for found in (kept, added)] == expected, (spec, text)
            assert len(output) == spec.input_size[axis]
            assert (whole.narrow(axis, stamped, spec.remainder[axis]) == 0).all(), spec
        assert torch.equal(whole[: without.shape[0], : without.shape[1]], without)
    assert kinds == {(False, False), (True, False), (False, True), (True, True)}


@pytest.mark.parametrize("linked", [True, False])
def test_every_button_makes_the_size_that_it_names_and_keeps_the_input(js, linked):
    drawn = specs(23, count=60)
    plays = []
    for spec, story in zip(drawn, stories(js, drawn, linked), strict=True):
        assert {tuple(near["size"]) for near in story["sizes"] if near["current"]} <= {spec.input_size}
        state = Settings(spec=spec, transposed=True, link_axes=linked).to_dict()
        plays += [(spec, near, (state, [["send", {"type": "size", "size": near["size"]}]])) for near in story["sizes"]]
    assert len(plays) > 100
    for (spec, near, _), (_, there) in zip(plays, js.play([play for _, _, play in plays]), strict=True):
        after = Settings.from_dict(there["state"]).spec
        assert (after.output_size, list(after.input_size)) == (spec.output_size, near["size"]), (spec, near)
        assert after.replace(input_size=spec.input_size) == spec
        assert f"output {after.input_size[0]} × {after.input_size[1]}" == near["note"]
        extra = int(re.search(r"output_padding (\d+)", near["label"])[1])
        axis = 1 if near["label"].startswith("width") else 0
        assert after.remainder[axis] == extra
        if linked:
            assert after.remainder == (extra, extra)
        cut = [sum(side) for side in spec.padding]
        whole = layer(after, after.remainder)
        assert [side - less for side, less in zip(whole.shape, cut, strict=True)] == near["size"]


def test_the_sentence_for_the_first_transposed_picture_and_none_at_stride_1(js):
    assert stories(js, [ConvSpec(8)]) == [None]
    (_, first), (_, smallest) = reported(js, [ConvSpec(8, stride=2, padding=1), ConvSpec(8, stride=2, kernel_size=2)])
    assert first == (
        "conv2d produces 4 × 4 from every output of size 7 or 8, so the input alone does not say which of them to "
        "make. "
        "output_padding=1 chooses 8 × 8. It keeps 1 row and 1 column that the padding would cut off."
    )
    assert smallest.endswith("It adds nothing: this is the smallest of them.")


def test_a_size_that_cannot_be_is_refused_or_moved_with_a_sentence(js):
    start = Settings(transposed=True)
    too_small = [["send", {"type": "size", "size": size}] for size in ([6, 6], [8, 0])]
    *refused, moved = js.walk(start.to_dict(), *too_small, ["send", {"type": "size", "size": [90, 90]}])[1:]
    for there in refused:
        assert there["failed"]
        assert "output_padding must be 0 or more and less than the stride: got -" in there["notice"]
        assert there["state"] == start.to_dict()
    assert "output_padding of the height changed from 83 to 1" in moved["notice"]
    assert Settings.from_dict(moved["state"]).spec.output_size == start.spec.output_size
