"""Settings: what can be set, what follows, and that no state from outside does worse than a ValueError."""

import copy
import dataclasses
import json
import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.samples.inputs import PATTERNS
from convviz.samples.kernels import KERNELS
from convviz.settings import schema, tensors
from convviz.settings.compute import compute
from convviz.settings.state import DEFAULTS, KINDS, PRESETS, Settings
from convviz.settings.tensor_source import Source
from convviz.settings.tensors import grad_tensor, target_tensor, weight_tensor
from convviz.views.panels import panel
from tests.random_links import random_settings
from tests.samples.test_sample_inputs_and_kernels import TEXTBOOK, WHOLE

COUNTING = TEXTBOOK["counting"]


def grouped_specs(seed, count):
    """Small geometries whose channels and groups are all different."""
    draw = random.Random(seed)
    for _ in range(count):
        groups = draw.randint(1, 4)
        yield ConvSpec(
            (4, 5),
            groups * draw.randint(1, 2),
            groups * draw.randint(1, 2),
            (2, 3),
            padding=1,
            groups=groups,
            batch=draw.randint(1, 2),
            padding_mode=draw.choice(("zeros", "circular")),
        )


# The table.


def test_every_row_of_the_table_is_used_where_settings_are_declared():
    own = {name for name, field in schema.FIELDS.items() if not (field.spec or field.layer)}
    assert {field.name for field in dataclasses.fields(Settings)} == DEFAULTS.keys() == {"spec", *own}
    assert {field.name for field in dataclasses.fields(ConvSpec)} == schema.SPEC.keys()
    assert sorted(schema.FACTS["left_out_first"]) == sorted(field.link for field in schema.SPEC.values())
    for name, field in schema.FIELDS.items():
        assert field.kind in schema.KINDS_OF_VALUES, name
        assert bool(field.words) == (field.kind in ("word", "source", "bias")), name
        assert bool(field.limits or field.offered) == (field.kind in ("pair", "sides", "whole")), name


# As plain data.


def test_state_round_trip_through_json():
    for state in random_settings(1, 300):
        again = Settings.from_dict(json.loads(json.dumps(state.to_dict(), allow_nan=False)))
        assert again == state
        assert again.to_dict() == state.to_dict()
        for name in ("input", "weight", "bias", "target", "grad"):
            before, after = (getattr(tensors, f"{name}_tensor")(s) for s in (state, again))
            assert (before is None and after is None) or torch.equal(before, after)


def test_the_first_picture_can_be_checked_by_heart():
    assert Settings.first_picture() == Settings(
        spec=ConvSpec(5),
        input=Source("whole"),
        weight=Source("counting"),
        loss="weighted_sum",
        grad=Source("one_hot", (0.0, 0.0, 0.0, 1.0)),
        scale="quantity",
        input_view="both",
    )
    assert Settings.first_picture(digit=4) == Settings.first_picture().replace(digit=4)
    result = compute(Settings.first_picture())
    shown = {name: panel(result, Plane(), name).values.tolist() for name in ("padded_input", "weight", "grad_output")}
    assert shown == {"padded_input": WHOLE, "weight": COUNTING, "grad_output": [[0, 1, 0], [0, 0, 0], [0, 0, 0]]}
    assert panel(result, Plane(), "output").values.tolist() == [[143, 123, 88], [145, 95, 60], [87, 52, 42]]
    assert float(result.loss) == 123, "the second of the outputs"
    assert panel(result, Plane(), "grad_weight").values.tolist() == [row[1:4] for row in WHOLE[:3]]
    stamp = [[0, *row, 0] for row in COUNTING]
    assert panel(result, Plane(), "grad_input").values.tolist() == [*stamp, [0] * 5, [0] * 5]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"version": 2}, "update convviz"),
        ({"colour": 1}, "got colour as well"),
        ({"loss": "huber"}, "loss is one of half_squared_error, cross_entropy, sum, mean, weighted_sum: got 'huber'"),
        ({"digit": True}, r"digit is a whole number of up to 2\*\*53: got True"),
        ({"plane": {"sample": "a"}}, "plane.sample is a whole number"),
        ({"plane": {"row": 1}}, "not have the form that App.state"),
        ({"spec": None}, "spec is a dict as App.state"),
        ({"spec": {"input_size": 2, "kernel_size": 5}}, "the kernel must fit into the padded input"),
        ({"input": {"kind": "cat"}}, "input is one of digit"),
        ({"input": {"kind": "values"}}, "as many values as its shape has cells, over 4 axes: got 0 values"),
        ({"weight": {"kind": "values", "values": [1, 2], "shape": [1, 1, 1, 1]}}, "as many values"),
        ({"weight": {"kind": "values", "values": [1], "shape": [1.0, 1, 1, 1]}}, "shape of weight is a whole"),
        ({"bias": {"kind": "values", "values": [1], "shape": [1, 1]}}, "over 1 axes"),
        ({"grad": {"kind": "one_hot", "values": [0, 0]}}, "a one-hot grad_output has four indices"),
        ({"target": {"kind": "one_hot", "values": [0, 0]}}, "a one-hot target has four indices"),
        ({"transposed": "yes"}, "transposed is a bool: got 'yes'"),
        ([], "a state is a dict as App.state"),
    ],
)
def test_impossible_states_teach(state, message):
    with pytest.raises(ValueError, match=message):
        Settings.from_dict(state)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-9, 9),
    st.sampled_from([10**400, -(10**400), 2**63, 2**200]),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(["digit", "values", "image", "one_hot", "random", "zeros", "same", "valid", "nan", "1e999"]),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
SOURCE = st.fixed_dictionaries({}, optional={"kind": SCALARS | JSON, "values": st.lists(SCALARS) | JSON, "shape": JSON})
GEOMETRY = st.fixed_dictionaries({}, optional=dict.fromkeys(Settings().spec.to_dict(), JSON) | {"x": JSON})
PLACE = st.dictionaries(st.sampled_from(["sample", "out_channel", "in_channel", "x"]), SCALARS)
FIELDS = (
    dict.fromkeys(Settings().to_dict(), JSON)
    | {
        "spec": GEOMETRY | JSON,
        "plane": PLACE | JSON,
        "version": st.sampled_from([1, 2]) | JSON,
        "unknown": JSON,
    }
    | dict.fromkeys(("input", "weight", "bias", "target", "grad"), SOURCE | JSON)
)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.fixed_dictionaries({}, optional=FIELDS) | JSON)
def test_nonsense_is_a_value_error_and_never_another_exception(state):
    before = copy.deepcopy(state)
    try:
        made = Settings.from_dict(state)
    except ValueError:
        pass
    else:
        assert Settings.from_dict(json.loads(json.dumps(made.to_dict(), allow_nan=False))) == made
    assert repr(state) == repr(before), "what the caller passed is not changed"


@pytest.mark.parametrize(
    "state",
    [
        {"seed": 2**80},
        {"seed": -(2**80)},
        {"loss": "weighted_sum", "grad": {"kind": "one_hot", "values": [0, 0, -9, 0]}},
        {"loss": "weighted_sum", "grad": {"kind": "one_hot", "values": [0, 0, float("nan"), 0]}},
        {"spec": {"input_size": [10**6, 10**6]}},
        {"spec": {"input_size": 8, "in_channels": 10**9}},
        {"device": 5},
        {"link_axes": "perhaps"},
    ],
    ids=str,
)
def test_a_state_that_cannot_be_computed_is_refused_when_it_is_read(state):
    with pytest.raises(ValueError, match=r".{20}"):
        Settings.from_dict(state)


# What a state makes.


def test_every_kind_has_its_maker():
    others = {"counting", "random", "values"}
    assert set(PRESETS) | others == set(KINDS["weight"]) == set(KERNELS) | others
    assert set(KINDS["input"]) == {"digit", "random", "image", "values", *PATTERNS}


def test_every_plane_of_the_weight_has_another_kernel():
    state = Settings(spec=ConvSpec(8, 3, 3))
    planes = {tuple(plane.flatten().tolist()) for plane in weight_tensor(state).flatten(0, 1)}
    assert len(planes) == len(PRESETS) == 9


def test_every_plane_of_the_counting_weight_begins_one_later():
    planes = weight_tensor(Settings(spec=ConvSpec(8, 2, 3), weight=Source("counting"))).flatten(0, 1)
    for index, plane in enumerate(planes):
        assert plane.tolist() == [[cell + index for cell in row] for row in COUNTING]


def test_one_hot_is_one_at_one_cell_and_follows_into_a_smaller_output():
    state = Settings(spec=ConvSpec(5, 1, 2, batch=2), loss="weighted_sum", grad=Source("one_hot", (1.0, 1.0, 2.0, 0.0)))
    assert grad_tensor(state).nonzero().tolist() == [[1, 1, 2, 0]]
    assert float(grad_tensor(state).sum()) == 1
    assert grad_tensor(state.replace(spec=ConvSpec(3))).nonzero().tolist() == [[0, 0, 0, 0]]


def test_a_one_hot_target_is_one_at_one_cell_of_every_sample():
    state = Settings(spec=ConvSpec(5, 1, 2, batch=2), loss="cross_entropy")
    assert state.target == Source("one_hot"), "the loss takes no other kind"
    assert target_tensor(state).nonzero().tolist() == [[0, 0, 0, 0], [1, 0, 0, 0]]
    moved = state.replace(target=Source("one_hot", (1.0, 1.0, 2.0, 0.0)))
    assert target_tensor(moved).nonzero().tolist() == [[0, 1, 2, 0], [1, 1, 2, 0]]
    smaller = state.replace(target=Source("one_hot", (1.0, 1.0, 2.0, 2.0)), spec=ConvSpec(3, 1, 2, batch=3))
    expected = [[n, 1, 0, 0] for n in range(3)]
    assert target_tensor(smaller).nonzero().tolist() == expected, "it follows into a smaller output"
    assert moved.replace(loss="half_squared_error").target == moved.target, "what both take stays"


def test_a_target_that_the_loss_does_not_take_becomes_the_first_that_it_does():
    numbers = Source("values", (1.0,), (1, 1, 1, 1))
    for target in (Source("zeros"), Source("random"), numbers):
        settings = Settings(target=target)
        assert settings.target == target
        assert settings.replace(loss="cross_entropy").target == Source("one_hot")
        assert settings.replace(loss="sum").target == target
        assert Settings.from_dict(settings.to_dict() | {"loss": "cross_entropy"}).target == Source("one_hot")


def test_typed_numbers_stay_where_they_were_typed_when_sizes_change():
    weight = torch.arange(9.0, dtype=torch.float64).reshape(1, 1, 3, 3)
    state = Settings(weight=Source.of(weight))
    grown = weight_tensor(state.replace(spec=ConvSpec(8, 1, 2, kernel_size=5)))
    assert grown.shape == (2, 1, 5, 5)
    assert torch.equal(grown[:1, :, :3, :3], weight)
    assert float(grown.abs().sum()) == float(weight.abs().sum()), "the new cells are 0"
    assert torch.equal(weight_tensor(state.replace(spec=ConvSpec(8, kernel_size=2))), weight[..., :2, :2])


# The plane that is shown.


def test_a_plane_within_is_one_that_exists_and_is_its_own_nearest():
    draw = random.Random(9)
    for spec in grouped_specs(41, 300):
        wild = Plane(draw.randint(-3, 9), draw.randint(-3, 9), draw.randint(-3, 9))
        plane = wild.within(spec)
        assert 0 <= plane.sample < spec.batch
        assert 0 <= plane.out_channel < spec.out_channels
        assert 0 <= plane.in_channel < spec.in_channels
        assert plane.in_channel // (spec.in_channels // spec.groups) == plane.out_channel // (
            spec.out_channels // spec.groups
        ), "both channels of one group"
        assert plane.within(spec) == plane
