"""The page's model: whatever a person does, Python accepts the state, and its numbers are the board's.

Python has the strict check of both: ``Settings.from_dict`` and ``ConvSpec`` know every rule and say which is broken.
"""

import json
import random

import pytest
import torch

from convviz.facts import facts
from convviz.facts.loss_inputs import kinds_taken
from convviz.geometry.shown_plane import PANEL_AXES
from convviz.geometry.spec import ConvSpec
from convviz.settings.compute import compute
from convviz.settings.schema import VIEW
from convviz.settings.state import Settings
from convviz.settings.tensor_display_names import shown_letter
from convviz.views.cell_kinds import roles
from convviz.views.figures import frame
from convviz.views.panels import EQUATIONS, Panel, equations
from convviz.views.scales import ends
from convviz.views.theme import COLORSCALES
from tests.geometries import EDGE_CASES
from tests.random_states import random_action, random_states

THUMB = 16  # most rows and columns of a small picture


# -- what a person does --------------------------------------------------------------------------------------------


def walks(js, seed, count=8, steps=60):
    """Yield (start, actions, what the page showed before and after each) of random walks."""
    draw = random.Random(seed)
    plays = []
    for number, state in enumerate(random_states(seed, count)):
        start = Settings(dtype="float64") if number == 0 else Settings.from_dict(state)
        # What was said before is cleared, so that what is said then is about the action.
        actions = [each for _ in range(steps) for each in (["say", ""], random_action(draw))]
        plays.append((start.to_dict(), actions))
    for (start, actions), seen in zip(plays, js.play(plays, numbers="of each state"), strict=True):
        yield start, actions, seen


def story(start, actions, number):
    """Return what a failing test needs to be played again."""
    return f"step {number} from {json.dumps(start)}: {json.dumps(actions[: number + 1][-12:])}"


def stages_of(settings):
    """Return torch's numbers by name, in float64, or the sentence that says why there are none."""
    try:
        result = compute(settings.replace(dtype="float64"), compare=False)
    except ValueError as error:
        return str(error)
    return {name: getattr(result, name) for name in (*PANEL_AXES, "bias", "grad_bias", "loss")}


def assert_numbers(found, settings, about):
    """Every stage is torch's, within the rounding of another order of the same sums."""
    expected = stages_of(settings)
    assert isinstance(expected, dict), (about, expected)
    for name, tensor in expected.items():
        assert (found[name] is None) == (tensor is None), (name, about)
        if tensor is not None:
            given = {"data": found[name], "shape": []} if name == "loss" else found[name]
            ours = torch.tensor(given["data"], dtype=torch.float64)
            assert given["shape"] == list(tensor.shape), (name, about)
            end = float(tensor.abs().max())
            assert torch.allclose(ours, tensor.flatten(), rtol=1e-9, atol=1e-12 * max(end, 1)), (name, about)


def test_no_action_leaves_an_impossible_state_and_the_numbers_are_torchs(js):
    refused = moved = undone = 0
    for start, actions, seen in walks(js, 2000):
        before, known, numbers = seen[0], None, seen[0]["numbers"]
        for number, (action, after) in enumerate(zip(actions, seen[1:], strict=True)):
            about = story(start, actions, number)
            settings = Settings.from_dict(after["state"])  # refuses what is not possible
            numbers = after["numbers"] or numbers
            assert settings.to_dict() == after["state"], about
            assert after["settled"], about
            assert after["shown"] == after["state"], about
            assert len(set(after["versions"])) == 1, about
            if after["failed"]:
                same = ("state", "undo", "redo", "selected", "versions", "kernel")
                assert {name: after[name] for name in same} == {name: before[name] for name in same}, about
                assert len(after["notice"]) > 20, about
                refused += 1
            if action[0] in ("undo", "redo") and after["state"] != before["state"]:
                undone += 1
            moved += "changed from" in after["notice"]
            if settings != known:
                assert_numbers(numbers, settings, about)
            before, known = after, settings
    assert refused > 20
    assert moved > 5
    assert undone > 5


def test_undo_and_redo_return_to_equal_states(js):
    """All the way back and forth again: each state comes by in turn, but for what is only looked at."""
    draw = random.Random(0)
    steps = 40
    plays = []
    for state in random_states(3000, 10):
        forth = [random_action(draw) for _ in range(steps)]
        forth = [action for action in forth if action[0] not in ("undo", "redo", "wait")]
        forth = [each for action in forth for each in (action, ["wait", 5000])]
        plays.append((Settings.from_dict(state).to_dict(), [*forth, *[["undo"]] * steps, *[["redo"]] * steps]))
    for (start, actions), seen in zip(plays, js.play(plays), strict=True):
        states = [{name: value for name, value in each["state"].items() if name not in VIEW} for each in seen]
        forth = len(actions) - 2 * steps
        trail = [states[0]]
        for state in states[1 : forth + 1]:
            trail += [state] if state != trail[-1] else []
        rest = [None] * (steps - len(trail) + 1)
        back = [*reversed(trail[:-1]), *(trail[0] for _ in rest)]
        again = [*trail[1:], *(trail[-1] for _ in rest)]
        assert states[forth + 1 :] == back + again, story(start, actions, forth)
        assert (seen[forth + steps]["undo"], seen[-1]["redo"]) == (False, False)


def test_a_question_to_the_kernel_is_small_and_python_reads_the_settings_of_the_page_in_it(js):
    states = [Settings.from_dict(state).to_dict() for state in random_states(7, 60)]
    weight = {"kind": "values", "values": [0.123456789012345, *range(8)], "shape": [1, 1, 3, 3]}
    states.append(Settings().to_dict() | {"weight": weight})
    messages = js("numbers/ask_kernel.js", "messageOf", [[state] for state in states])
    for state, message in zip(states, messages, strict=True):
        assert Settings.from_dict(message).to_dict() == state
    question = {"type": "compute", "page": "k3j9x7q2hq", "k": 1000, "settings": messages[-1]}
    assert len(json.dumps(question)) <= 1000


# -- what is laid out ----------------------------------------------------------------------------------------------


def item_of(item):
    """Return a panel or a sign of Python's as the page has it."""
    if not isinstance(item, Panel):
        return {"symbol": item.symbol, "note": item.note}
    lines = {"rows": item.roles.rows, "columns": item.roles.columns}
    unread = {"unread_rows": list(item.roles.unread_rows), "unread_columns": list(item.roles.unread_columns)}
    return {
        **{"name": item.name, "called": item.called, "label": item.label, "at": list(item.at)},
        **{"shape": list(item.shape), "planes": list(item.tensor.shape), "roles": lines | unread},
    }


def choices(settings, row):
    """Return the axes of which an equation can show another plane, and how many it has of each."""
    spec, kind = settings.spec, "transposed" if settings.transposed else "convolution"
    counts = {"n": spec.batch, "o": spec.out_channels, "c": spec.in_channels}
    (axes,) = {each["axes"] for each in EQUATIONS[kind] if each["name"] == row.name}
    return [[axis, counts[axis]] for axis in axes if counts[axis] > 1]


def found_item(item):
    """Return a panel or a sign of the page's without its numbers."""
    if "symbol" in item:
        return item
    tensor = item["tensor"]
    return {name: value for name, value in item.items() if name != "tensor"} | {"planes": tensor["shape"]}


@pytest.fixture(scope="module")
def laid_out(js):
    """Random states: (settings, torch's equations, the page's equations, its structure and values)."""
    drawn = [Settings.from_dict(state) for seed in range(3) for state in random_states(seed, 60)]
    drawn.append(Settings(spec=ConvSpec((64, 40), 2, 2), dtype="float64"))  # whose small pictures are thinned out
    # Whose numbers stand at every other place, between inserted zeros.
    drawn.append(Settings(spec=ConvSpec((37, 41), 2, 2, 3, stride=2), dtype="float64"))
    drawn += [Settings(spec=spec, loss="mean", dtype="float64") for spec in EDGE_CASES.values()]
    states = [settings.to_dict() for settings in drawn]
    numbers = [seen["numbers"] for (seen,) in js.play([(state, []) for state in states], numbers=True)]
    rows = js("picture/panels.js", "equationsOf", list(zip(states, numbers, strict=True)))
    found = []
    for settings, laid in zip(drawn, rows, strict=True):
        result = compute(settings, compare=False)
        found.append((settings, equations(result, settings.plane, settings.input_view), laid))
    return found


def test_panels_names_labels_shapes_roles_and_choices_are_those_of_the_stills(laid_out):
    for settings, expected, found in laid_out:
        about = json.dumps(settings.to_dict())
        wanted = [
            {
                **{"name": row.name, "title": row.title, "view": row.view},
                **{"choices": choices(settings, row), "items": [item_of(item) for item in row.items]},
            }
            for row in expected
        ]
        assert [row | {"items": [found_item(item) for item in row["items"]]} for row in found] == wanted, about


BOARD = """(states) => JSON.stringify(states.map((state) => {
  const model = js["numbers/page_model.js"].createPageModel({ state, colorscales: COLORS, plotly: null });
  const list = (view) => [...new Float64Array(view.buffer)];
  const lists = (all) => Object.fromEntries(Object.entries(all).map(([name, view]) => [name, list(view)]));
  const { planes, thumbs, ...values } = model.get("values");
  return { structure: model.get("structure"), values: { ...values, planes: lists(planes), thumbs: lists(thumbs) } };
}))""".replace("COLORS", json.dumps(COLORSCALES))


@pytest.fixture(scope="module")
def board_beside_torch(js, laid_out):
    """What the board gets for each of these states, beside torch's equations."""
    story = json.loads(js.page.evaluate(BOARD, [settings.to_dict() for settings, _, _ in laid_out]))
    return [(settings, expected, each) for (settings, expected, _), each in zip(laid_out, story, strict=True)]


def close(found, wanted):
    ours = torch.tensor(found, dtype=torch.float64)
    return ours.shape == (wanted.numel(),) and torch.allclose(ours, wanted.flatten().double(), rtol=1e-6, atol=1e-9)


def thinned(panel):
    """Return every plane, thinned out to at most THUMB rows and columns: the largest number of each block."""
    height, width = panel.tensor.shape[-2:]
    rows, columns = min(height, THUMB), min(width, THUMB)
    small = panel.tensor.new_zeros(*panel.tensor.shape[:2], rows, columns)
    for row in range(height):
        for column in range(width):
            place, value = small[..., row * rows // height, column * columns // width], panel.tensor[..., row, column]
            place.copy_(torch.where(value.abs() > place.abs(), value, place))
    assert torch.equal(small.count_nonzero((2, 3)) > 0, panel.tensor.count_nonzero((2, 3)) > 0), "none is blank"
    return small.flatten(0, 1)


def test_the_bytes_are_the_shown_planes_and_all_planes_small(board_beside_torch):
    several = 0
    for settings, expected, story in board_beside_torch:
        values, about = story["values"], json.dumps(settings.to_dict())
        panels = {panel.name: panel for row in expected for panel in row.panels}
        many = {name: panel for name, panel in panels.items() if panel.tensor[..., 0, 0].numel() > 1}
        assert (values["planes"].keys(), values["thumbs"].keys()) == (panels.keys(), many.keys()), about
        assert values["dtype"] == "float64", about
        for name, panel in panels.items():
            assert close(values["planes"][name], panel.values), (name, about)
        for name, panel in many.items():
            assert close(values["thumbs"][name], thinned(panel)), (name, about)
        several += len(many)
    assert several > 100


def test_colour_scales_end_where_those_of_the_stills_do(board_beside_torch):
    ways = set()
    for settings, expected, story in board_beside_torch:
        end_of = ends(compute(settings, compare=False), settings.scale)
        limits = story["values"]["limits"]
        assert limits.keys() == {f"{row.name}:{panel.name}" for row in expected for panel in row.panels}
        for row in expected:
            for panel in row.panels:
                end = end_of(row, panel)
                there = limits[f"{row.name}:{panel.name}"]
                rounding = min(there, end) < 1e-12  # of one of two sums that are 0
                assert rounding or there == pytest.approx(end, rel=5.1e-6), settings
        ways.add(settings.scale)
    assert ways == {"quantity", "equation", "panel"}


def test_the_board_gets_each_panel_with_its_words_its_figure_and_its_planes(board_beside_torch):
    edited = facts("settings")["edited"]
    for settings, expected, story in board_beside_torch:
        about, structure = json.dumps(settings.to_dict()), story["structure"]
        kind = "transposed" if settings.transposed else "convolution"
        assert structure["colorscales"] == json.loads(json.dumps(COLORSCALES))
        assert structure["cell_words"] == facts("names")["cells"][kind], about
        for row, there in zip(expected, structure["equations"], strict=True):
            assert there["scale"] == settings.scale, about
            for (axis, count), choice in zip(choices(settings, row), there["choices"], strict=True):
                word = facts("names")["axes"][shown_letter(axis, settings.transposed)]
                value = settings.plane.within(settings.spec).index(axis)
                assert choice == {"axis": axis, "word": word, "count": count, "value": value}, about
            for item, shown in zip(row.items, there["items"], strict=True):
                if isinstance(item, Panel):
                    assert_item(shown, item, row.name, kind, about)
                    typed = item.name != "target" or "values" in kinds_taken(settings.loss, "target")
                    undilated = item.name == "dilated_grad_output" and settings.spec.stride == (1, 1)
                    own = "grad_output" if undilated else item.name
                    assert shown["editable"] == (typed and own in edited[kind]), about


def assert_item(shown, panel, row, kind, about):
    wanted = {
        **{"key": f"{row}:{panel.name}", "shape": str(list(panel.shape)), "words": facts("names")["cells"][kind]},
        **{
            "products": facts("names")["products"][kind].get(panel.name, ""),
            "figure": json.loads(json.dumps(frame(panel))),
        },
    }
    for key, value in wanted.items():
        assert shown[key] == value, (key, panel.name, about)
    first, second = panel.tensor.shape[:2]
    if first * second == 1:
        assert shown["thumbs"] is None, about
        return
    planes = [(a, b) for a in range(first) for b in range(second)]
    labels = [{"label": f"{panel.called}[{a}, {b}]", "at": [a, b], "shown": (a, b) == panel.at} for a, b in planes]
    rows, columns = thinned(panel).shape[-2:]
    assert shown["thumbs"] == {"rows": rows, "columns": columns, "planes": labels}, about


def test_the_geometry_that_the_board_gets_is_the_specs(board_beside_torch):
    for settings, _, story in board_beside_torch:
        spec, plane, geometry = settings.spec, settings.plane.within(settings.spec), story["structure"]["geometry"]
        # What stands before the first number of padded_grad_output; a negative number crops.
        before = roles(spec, "padded_grad_output", (1, 1))
        assert geometry | spec.to_dict() == geometry, settings
        assert geometry["output_size"] == list(spec.output_size)
        assert geometry["plane"] == {"n": plane.sample, "o": plane.out_channel, "c": plane.in_channel}
        assert geometry["transposed"] == settings.transposed
        for axis, letters in enumerate((before.rows, before.columns)):
            if geometry["gradient_padding"][axis] >= 0:
                assert letters.startswith("p" * geometry["gradient_padding"][axis] + "d") or "d" not in letters, spec
