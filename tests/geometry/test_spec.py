"""The geometry: every derived number against torch, every rule against its message."""

import dataclasses
import itertools
import json
import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from convviz.geometry.spec import VERSION, ConvSpec
from tests.geometries import EDGE_CASES, MODES, integers, random_specs
from tests.operator_cases import torch_conv2d

SPECS = [*EDGE_CASES.values(), *random_specs(seed=1, count=200)]


def test_the_random_geometries_reach_every_odd_case():
    """The other tests are only as good as their geometries: each odd case must be there many times."""
    specs = list(random_specs(seed=0, count=2000))
    cases = {
        "stride > kernel": lambda s, a: s.stride[a] > s.kernel_size[a],
        "padding > kernel": lambda s, a: min(s.padding[a]) > s.kernel_size[a],
        "padding >= effective kernel": lambda s, a: max(s.padding[a]) >= s.effective_kernel[a],
        "crop larger than what there is": lambda s, a: (
            s.padding[a][0] - s.effective_kernel[a] + 1 > s.stride[a] * (s.output_size[a] - 1) + 1
        ),
        "remainder": lambda s, a: s.remainder[a] > 0,
        "remainder >= dilation > 1": lambda s, a: s.remainder[a] >= s.dilation[a] > 1,
        "1x1 kernel": lambda s, a: s.kernel_size == (1, 1),
        "1x1 input": lambda s, a: s.input_size == (1, 1),
        "asymmetric": lambda s, a: s.padding[a][0] != s.padding[a][1],
        "depthwise": lambda s, a: s.groups == s.in_channels > 1,
        "grouped": lambda s, a: 1 < s.groups < s.in_channels,
        "batch": lambda s, a: s.batch == 2,
        "dilation 3": lambda s, a: s.dilation[a] == 3 and s.kernel_size[a] > 1,
        "axes differ": lambda s, a: all(
            pair[0] != pair[1] for pair in (s.input_size, s.kernel_size, s.stride, s.padding, s.dilation)
        ),
    } | {mode: lambda s, a, mode=mode: s.padding_mode == mode and s.padding[a] != (0, 0) for mode in MODES}
    counts = {name: sum(case(s, 0) or case(s, 1) for s in specs) for name, case in cases.items()}
    assert min(counts.values()) >= 20, counts


def test_remainder_counts_the_padded_rows_that_no_window_reaches():
    for spec in SPECS:
        for axis in range(2):
            size, stride, kernel, dilation = (
                spec.padded_size[axis],
                spec.stride[axis],
                spec.kernel_size[axis],
                spec.dilation[axis],
            )
            ends, start = [], 0
            while start + dilation * (kernel - 1) < size:
                ends.append(start + dilation * (kernel - 1))
                start += stride
            assert (len(ends), size - 1 - ends[-1]) == (spec.output_size[axis], spec.remainder[axis]), spec
            assert spec.effective_kernel[axis] == ends[0] + 1, spec


def test_unread_rows_and_columns_change_no_output():
    """Perturb one input row at a time: the rows that leave torch's output as it was are the unread ones."""
    for number, spec in enumerate(SPECS):
        x = integers(spec.input_shape, number)
        w = torch.ones(spec.weight_shape, dtype=torch.float64)
        before = torch_conv2d(x, w, None, spec)
        for dim, unread in ((2, spec.unread_rows), (3, spec.unread_columns)):
            silent = []
            for row in range(x.shape[dim]):
                changed = x.clone()
                changed.select(dim, row).add_(1)
                if torch.equal(torch_conv2d(changed, w, None, spec), before):
                    silent.append(row)
            nothing_read = dim == 2 and spec.unread_columns == tuple(range(spec.input_size[1]))
            nothing_read |= dim == 3 and spec.unread_rows == tuple(range(spec.input_size[0]))
            expected = tuple(range(x.shape[dim])) if nothing_read else unread
            assert tuple(silent) == expected, (spec, dim)


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel:UserWarning")  # torch's, about its speed
@pytest.mark.parametrize("mode", MODES)
def test_same_and_valid_are_those_of_torch(mode):
    """All parities of dilation * (kernel - 1) on both axes, against nn.Conv2d with the same words."""
    sizes = itertools.product((1, 2, 3, 4), (1, 2, 3), (1, 2, 5), (1, 2))
    for number, (height, row_dilation, width, column_dilation) in enumerate(sizes):
        kernel, dilation = (height, width), (row_dilation, column_dilation)
        x = integers((1, 1, 11, 12), number)
        for word in ("same", "valid"):
            spec = ConvSpec((11, 12), kernel_size=kernel, padding=word, dilation=dilation, padding_mode=mode)
            layer = torch.nn.Conv2d(
                1, 1, kernel, padding=word, dilation=dilation, padding_mode=mode, bias=False, dtype=torch.float64
            )
            with torch.no_grad():
                layer.weight.copy_(integers(spec.weight_shape, number + 1))
                expected = layer(x)
                assert torch.equal(torch_conv2d(x, layer.weight, None, spec), expected), spec
            if word == "same":
                assert spec.output_size == spec.input_size, spec
                assert all(after - before in (0, 1) for before, after in spec.padding), spec
            else:
                assert spec.padding == ((0, 0), (0, 0))


def test_every_form_of_an_argument_means_the_same():
    full = ConvSpec((6, 6), 1, 1, (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1))
    assert ConvSpec(6, kernel_size=3, stride=2, padding=1) == full
    assert ConvSpec([6, 6], kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], dilation=[1, 1]) == full
    assert ConvSpec(torch.Size([6, 6]), stride=2, padding=[[1, 1], (1, 1)]) == full
    assert ConvSpec(6, padding=(1, (0, 2))).padding == ((1, 1), (0, 2))
    assert ConvSpec(6, padding=(1, 2)).padding == ((1, 1), (2, 2))
    assert ConvSpec(6).padding == ((0, 0), (0, 0))
    numpys = ConvSpec(
        tuple(np.array([6, 6])), kernel_size=np.int64(3), stride=2, padding=np.int32(1), groups=np.int8(1)
    )
    assert numpys == full
    assert json.loads(json.dumps(numpys.to_dict())) == json.loads(json.dumps(full.to_dict())), "plain whole numbers"


def test_json_round_trip():
    for spec in SPECS:
        state = json.loads(json.dumps(spec.to_dict()))
        assert ConvSpec.from_dict(state) == spec
        assert state["version"] == VERSION
        assert state.keys() - {"version"} == {field.name for field in dataclasses.fields(ConvSpec)}


def test_from_dict_fills_in_what_is_missing_and_leaves_its_argument_alone():
    state = {"version": VERSION, "input_size": [5, 6], "stride": 2}
    assert ConvSpec.from_dict(state) == ConvSpec((5, 6), stride=2)
    assert state == {"version": VERSION, "input_size": [5, 6], "stride": 2}
    assert ConvSpec.from_dict({"input_size": 5}) == ConvSpec(5)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"version": 2, "input_size": 5}, "this convviz reads geometry version 1: got 2; update convviz"),
        ({"version": "1", "input_size": 5}, "this convviz reads geometry version 1: got '1'; update convviz"),
        (
            {"input_size": 5, "strides": 2, "pad": 1},
            "a geometry has the keys batch, dilation, groups, in_channels, input_size, kernel_size, out_channels, "
            "padding, padding_mode, stride: got pad, strides as well",
        ),
        ({"version": 1}, "a geometry needs input_size, a pair (height, width): it is missing"),
        ({}, "a geometry needs input_size, a pair (height, width): it is missing"),
        (
            {"input_size": None},
            "input_size is a whole number of 1 or more, or a pair (height, width) of them: got None; "
            "for example input_size=3 or input_size=(3, 2)",
        ),
    ],
)
def test_from_dict_says_what_is_wrong(state, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        ConvSpec.from_dict(state)


def test_equal_geometries_are_one_key():
    specs = list(random_specs(seed=2, count=300))
    again = list(random_specs(seed=2, count=300))
    assert specs == again
    assert [hash(spec) for spec in specs] == [hash(spec) for spec in again]
    assert len({*specs, *again}) == len({json.dumps(spec.to_dict()) for spec in specs})
    base = ConvSpec((6, 7), 2, 2)
    changes = {"input_size": (7, 6), "in_channels": 4, "out_channels": 4, "kernel_size": 2, "stride": 2}
    changes |= {"padding": ((0, 1), (0, 0)), "dilation": 2, "groups": 2, "padding_mode": "circular", "batch": 2}
    assert changes.keys() == {field.name for field in dataclasses.fields(ConvSpec)}
    for name, value in changes.items():
        assert base.replace(**{name: value}) != base, name


def test_replace_checks_like_a_new_one():
    spec = ConvSpec(5, kernel_size=3)
    assert spec.replace(padding="same", dilation=2) == ConvSpec(5, kernel_size=3, dilation=2, padding=2)
    assert spec == ConvSpec(5, kernel_size=3)
    with pytest.raises(ValueError, match=r"^the kernel must fit into the padded input"):
        spec.replace(kernel_size=6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"input_size": (4, 9), "padding": 4, "padding_mode": "reflect"},
            "padding_mode='reflect' needs padding < input size: got 4 for height 4; use at most 3 or another mode",
        ),
        (
            {"input_size": (9, 4), "padding": ((0, 0), (1, 5)), "padding_mode": "circular"},
            "padding_mode='circular' needs padding <= input size: got 5 for width 4; use at most 4 or another mode",
        ),
        (
            {"input_size": 5, "padding_mode": "zero"},
            "padding_mode is one of zeros, reflect, replicate, circular: got 'zero'",
        ),
        (
            {"input_size": 5, "padding_mode": None},
            "padding_mode is one of zeros, reflect, replicate, circular: got None",
        ),
        (
            {"input_size": 5, "stride": 0},
            "stride is a whole number of 1 or more, or a pair (height, width) of them: got 0; "
            "for example stride=3 or stride=(3, 2)",
        ),
        ({"input_size": 5, "batch": 0}, "batch is a whole number of 1 or more: got 0"),
        ({"input_size": 5, "groups": 1.0}, "groups is a whole number of 1 or more: got 1.0"),
        (
            {"input_size": 5, "padding": "full"},
            "padding is a whole number of 0 or more, a pair (height, width), a pair of pairs ((top, bottom), "
            "(left, right)), 'same' or 'valid': got 'full'; for example padding=1",
        ),
        (
            {"input_size": 5, "padding": "same", "stride": (1, 2)},
            "padding='same' needs stride 1, because a larger stride makes the output smaller: got stride (1, 2); "
            "use stride=1 or give the padding as numbers",
        ),
        (
            {"input_size": 5, "in_channels": 4, "out_channels": 3, "groups": 3},
            "groups must divide in_channels: got groups=3 for in_channels=4; use groups from [1, 2, 4] or another "
            "number of channels",
        ),
        (
            {"input_size": 5, "in_channels": 4, "out_channels": 6, "groups": 4},
            "groups must divide out_channels: got groups=4 for out_channels=6; use groups from [1, 2, 3, 6] or "
            "another number of channels",
        ),
        (
            {"input_size": (9, 3), "kernel_size": 3, "dilation": 2, "padding": ((0, 0), (0, 1))},
            "the kernel must fit into the padded input: along the width it spans 5 cells (dilation 2 x "
            "(kernel_size 3 - 1) + 1), the padded input has 4; use a smaller kernel or dilation, or more padding",
        ),
    ],
)
def test_every_message_states_rule_value_and_remedy(arguments, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        ConvSpec(**arguments)


NONSENSE = (
    True,
    False,
    2.0,
    float("nan"),
    "3",
    "",
    None,
    -1,
    [1, 1, 1],
    (),
    [],
    {},
    {1, 2},
    (1, None),
    (1, True),
    (1, -1),
)
NONSENSE += (((1, 1), (1, 1), (1, 1)), ((1, 1), (1, 1, 1)), ((1, (1, 1)), 1), (1, 2.0), object, b"\x02\x02")
NONSENSE += (np.array([1, 2]), np.array([1.5, 1]), torch.tensor([1, 2]))  # whose == is an array: neither true nor not


def test_nonsense_and_zero_are_refused_by_name():
    for name in [field.name for field in dataclasses.fields(ConvSpec)]:
        for value in NONSENSE:
            with pytest.raises(ValueError, match=f"^{name} ") as caught:
                ConvSpec(**({"input_size": 5} | {name: value}))
            assert repr(value) in str(caught.value), name
        if name not in ("padding", "padding_mode"):
            with pytest.raises(ValueError, match=f"^{name} .*1 or more.*got 0"):
                ConvSpec(**({"input_size": 5} | {name: 0}))


pairs = st.one_of(st.integers(0, 5), st.tuples(st.integers(0, 5), st.integers(0, 5)))
sides = st.tuples(st.integers(0, 5), st.integers(0, 5))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    input_size=st.one_of(st.integers(1, 7), st.tuples(st.integers(0, 7), st.integers(1, 7))),
    in_channels=st.integers(1, 6),
    out_channels=st.integers(1, 6),
    kernel_size=pairs,
    stride=pairs,
    padding=st.one_of(pairs, st.tuples(sides, sides), st.sampled_from(["same", "valid"])),
    dilation=pairs,
    groups=st.integers(1, 3),
    padding_mode=st.sampled_from(MODES),
    batch=st.integers(1, 2),
)
def test_a_geometry_is_torchs_or_a_value_error(**arguments):
    """What ConvSpec takes, torch computes with the same sizes; what it refuses, torch refuses as well."""

    def pair(value: int | tuple[int, int]) -> tuple[int, int]:
        return value if isinstance(value, tuple) else (value, value)

    kernel, dilation, padding = pair(arguments["kernel_size"]), pair(arguments["dilation"]), arguments["padding"]
    if padding == "same":
        totals = [max(d * (k - 1), 0) for d, k in zip(dilation, kernel, strict=True)]
        padding = tuple((total // 2, total - total // 2) for total in totals)
    elif padding == "valid":
        padding = ((0, 0), (0, 0))
    (top, bottom), (left, right) = (pair(side) for side in pair(padding))
    mode = arguments["padding_mode"].replace("zeros", "constant")

    def torch_output() -> torch.Tensor | None:
        x = torch.zeros(arguments["batch"], arguments["in_channels"], *pair(arguments["input_size"]))
        w = torch.zeros(arguments["out_channels"], arguments["in_channels"] // arguments["groups"], *kernel)
        try:
            if 0 in (*x.shape, *w.shape):  # torch lets some empty tensors pass
                return None
            padded = F.pad(x, (left, right, top, bottom), mode=mode)
            return F.conv2d(padded, w, None, pair(arguments["stride"]), 0, dilation, arguments["groups"])
        except RuntimeError:
            return None

    try:
        spec = ConvSpec(**arguments)
    except ValueError as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        assert ": " in refusal
        assert "padding='same' needs stride 1" in refusal or torch_output() is None, refusal
    else:
        output = torch_output()
        assert output is not None
        assert output.shape == spec.output_shape
        assert spec.padding == ((top, bottom), (left, right))
