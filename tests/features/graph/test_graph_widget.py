"""What the pane of a graph says and shows: the steps, the inside of a box, the numbers on the wire, the display."""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import convviz
from convviz.app.page_requests import computed
from convviz.facts.format_numbers import format_number
from convviz.features.graph import trace_backward as graph_backward
from convviz.features.graph.autograd_graph_of_app import graph_of_stages
from convviz.features.graph.data import data, reply
from convviz.features.graph.graph_data import MAX_HEATMAP_SIDE, inside_reply, node_reply, page
from convviz.features.graph.graph_widget import GraphView
from convviz.features.graph.inside_convolution import Operation, inside
from convviz.features.graph.nodes_and_edges import KEEP
from convviz.features.graph.read_graph import graph
from convviz.features.graph.step_sentences import sentences
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.settings.compute import compute
from convviz.settings.state import Settings
from convviz.settings.tensor_source import Source
from tests.features.graph.test_graph import CASES, chain, leaf
from tests.geometries import EDGE_CASES, random_specs

ROOT = Path(__file__).parents[3]
WIDGET = "application/vnd.jupyter.widget-view+json"


# -- the sentences -----------------------------------------------------------------------------------------------


def test_the_sentences_of_a_chain():
    output, params, _ = chain()
    assert sentences(graph(output, params)) == (
        "The backward pass starts at `output` with grad_output 1, and passes it to `MulBackward0` (step 2).",
        "`MulBackward0` receives the gradient 1 and passes 5 to `MulBackward0` (step 4) and 27 to `y`.",
        "`y` is a leaf: the gradient 27 stays here, as `y.grad`.",
        "`MulBackward0` receives the gradient 5 and passes 15 to `PowBackward0`.",
        "`PowBackward0` receives the gradient 15 and passes 90 to `x`.",
        "`x` is a leaf: the gradient 90 stays here, as `x.grad`.",
    )


def test_the_sentence_of_a_convolution_and_of_a_sum():
    x, w, b = leaf(1, 1, 8, 8), leaf(2, 1, 3, 3, seed=1), leaf(2, seed=2)
    reported = sentences(graph(F.conv2d(x, w, b, 2, 1).sum(), {"x": x, "w": w, "b": b}))
    assert (
        "`ConvolutionBackward0` receives grad_output [1, 2, 4, 4] and passes grad_input [1, 1, 8, 8] to `x`, "
        "grad_weight [2, 1, 3, 3] to `w` and grad_bias [2] to `b`."
    ) in reported
    y = leaf(3)
    last = sentences(graph(y * y + y))[-1]
    assert last == "`[3]` is a leaf: the gradient [3], the sum over 3 arrows, stays here, as `.grad`."


@pytest.mark.parametrize("case", CASES)
def test_every_step_has_a_sentence_that_names_all_receivers(case):
    output, params, _ = CASES[case]()
    found = graph(output, params)
    reported = dict(zip(found.steps, sentences(found), strict=True))
    assert len(reported) == len(found.steps)
    for edge in found.edges:
        if edge.target in reported and edge.gradient is not None:
            assert f"`{found.node(edge.source).label}`" in reported[edge.target]


# -- the inside of a box -----------------------------------------------------------------------------------------


def opened(output, params):
    found = graph(output, params)
    (id,) = [node.id for node in found.nodes if node.spec is not None]
    return inside(found, id)


def names(found):
    return [[[part for part in row if isinstance(part, str)] for row in branch.rows] for branch in found.branches]


def assert_equals_autograd(found, loss, wanted):
    """The ends of the branches are autograd's gradients."""
    truth = torch.autograd.grad(loss, list(wanted.values()), retain_graph=True)
    for name, gradient in zip(wanted, truth, strict=True):
        torch.testing.assert_close(found.tensors[name], gradient, rtol=1e-9, atol=1e-9)


def leaves_of(spec):
    x = leaf(*spec.input_shape, dtype=torch.float64)
    return (
        x,
        leaf(*spec.weight_shape, seed=1, dtype=torch.float64),
        leaf(spec.out_channels, seed=2, dtype=torch.float64),
    )


def even(spec):
    return all(before == after for before, after in spec.padding)


SPECS = [*random_specs(seed=900, count=50), *EDGE_CASES.values()]


def test_torchs_convolution_opens_into_the_boards_stages():
    specs = [spec for spec in SPECS if spec.padding_mode == "zeros" and even(spec)]
    assert len(specs) > 10
    for spec in specs:
        x, w, b = leaves_of(spec)
        padding = [before for before, _ in spec.padding]
        output = F.conv2d(x, w, b, spec.stride, padding, spec.dilation, spec.groups)
        g = torch.randn(output.shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
        loss = (output * g).sum()
        found = opened(loss, {"x": x, "w": w, "b": b})
        assert found.spec == spec
        assert_equals_autograd(found, loss, {"grad_input": x, "grad_weight": w, "grad_bias": b})
        board = convviz.stages(spec, x.detach(), w.detach(), b.detach(), g, dtype="float64")
        for name, tensor in found.tensors.items():
            torch.testing.assert_close(tensor, getattr(board, name), rtol=1e-9, atol=1e-9)
        assert names(found) == [
            [
                ["grad_output", "dilated_grad_output", "padded_grad_output"],
                ["weight", "rotated_weight"],
                ["grad_input"],
            ],
            [["padded_input", "grad_weight"]],
            [["grad_bias"]],
        ]
        operations = [part.words for row in found.branches[0].rows for part in row if isinstance(part, Operation)]
        assert [words.split()[0] for words in operations] == ["insert", "pad", "rotate", "correlate"]


def test_our_own_convolution_opens_in_every_padding_mode():
    for place, spec in enumerate([*random_specs(seed=901, count=16), EDGE_CASES["reflect to the limit"]]):
        x, w, b = leaves_of(spec)
        settings = {name: getattr(spec, name) for name in ("stride", "padding", "dilation", "groups")}
        settings |= {"padding_mode": spec.padding_mode, "method": ("rotate", "taps")[place % 2]}
        output = convviz.conv2d(x, w, b, **settings)
        loss = (output**2).sum()
        found = opened(loss, {})
        assert_equals_autograd(found, loss, {"grad_weight": w, "grad_bias": b})
        if found.spec == spec:  # else a function of its own has padded the input
            assert_equals_autograd(found, loss, {"grad_input": x})


def test_a_transposed_convolution_opens_in_the_layers_words():
    for seed, (stride, padding, dilation, output_padding, groups) in enumerate(
        [(1, 0, 1, 0, 1), (2, 1, 1, 1, 1), (3, 2, 2, 0, 2), ((2, 3), (1, 0), (1, 2), (0, 2), 2)]
    ):
        x = leaf(2, 4, 5, 4, seed=seed, dtype=torch.float64)
        w, b = leaf(4, 3, 3, 3, seed=1, dtype=torch.float64), leaf(3 * groups, seed=2, dtype=torch.float64)
        output = F.conv_transpose2d(x, w, b, stride, padding, output_padding, groups, dilation)
        loss = (output**2).sum()
        found = opened(loss, {})
        assert found.transposed
        assert_equals_autograd(found, loss, {"output": x, "grad_weight": w, "grad_bias": b})


def test_a_box_shows_only_what_the_graph_wants():
    x, w = leaf(1, 1, 4, 4), leaf(1, 1, 3, 3, seed=1)
    titles = [branch.title for branch in opened(F.conv2d(x.detach(), w).sum(), {}).branches]
    assert titles == ["To the weight"]
    titles = [branch.title for branch in opened(F.conv2d(x, w.detach()).sum(), {}).branches]
    assert titles == ["To the input"]


def test_boxes_that_do_not_open_say_why():
    x, w = leaf(1, 1, 4, 4), leaf(1, 1, 3, 3, seed=1)
    found = graph(F.conv2d(x, w).relu().sum(), {"x": x})
    with pytest.raises(
        ValueError, match="only a 2-D convolution that the backward pass reached can be opened: got SumBackward0"
    ):
        inside(found, "n1")
    large = leaf(1, 2, 200, 200)
    found = graph(F.conv2d(large, leaf(1, 2, 3, 3)).sum())
    (id,) = [node.id for node in found.nodes if node.spec is not None]
    with pytest.raises(ValueError, match=f"up to {KEEP:,} numbers a tensor: got input with 80000; show a part of it"):
        inside(found, id)
    assert inside_reply(found, id, None).content["error"].startswith("stages have up to")


def test_a_freed_convolution_does_not_open():
    x, w = leaf(1, 1, 4, 4), leaf(1, 1, 3, 3, seed=1)
    output = F.conv2d(x, w).sum()
    output.backward()
    assert all(node.spec is None for node in graph(output).nodes)


# -- the app's own computation -----------------------------------------------------------------------------------

SETTINGS = {
    "default": {},
    "mean": {"loss": "mean"},
    "cross-entropy": {"loss": "cross_entropy", "spec": ConvSpec(6, 2, 2, padding=1, batch=2), "dtype": "float64"},
    "cross-entropy, bfloat16": {"loss": "cross_entropy", "dtype": "bfloat16", "transposed": True},
    "sum": {"loss": "sum"},
    "by hand, bias, groups, reflect": {
        "spec": ConvSpec((7, 8), 4, 2, (3, 2), (2, 1), 1, (1, 2), 2, "reflect", 2),
        "loss": "weighted_sum",
        "grad": Source("random"),
        "bias": Source("values", (1.0, -2.0), (2,)),
        "weight": Source("random"),
        "dtype": "float64",
    },
    "uneven zeros": {"spec": ConvSpec((6, 8), 2, 2, 3, 2, ((1, 0), (2, 1))), "target": Source("random")},
    "bfloat16": {"dtype": "bfloat16"},
    "transposed": {"transposed": True, "bias": Source("values", (0.5,), (1,))},
    "transposed, uneven": {"transposed": True, "spec": ConvSpec((7, 8), 2, 4, 3, 2, ((1, 0), (2, 1)), groups=2)},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_apps_graph_has_the_gradients_of_the_board(name):
    result = compute(Settings(**SETTINGS[name]))
    found = graph_of_stages(result)
    own = {"input": result.grad_output, "grad_input": result.output} if result.transposed else {}
    expected = {
        "input": (own.get("input", result.input), own.get("grad_input", result.grad_input)),
        "weight": (result.weight, result.grad_weight),
        "bias": (result.bias, result.grad_bias),
    }
    leaves = {node.label: node for node in found.nodes if node.kind == "leaf"}
    assert set(leaves) == {label for label, (value, _) in expected.items() if value is not None}
    tolerance = 0.05 if result.input.dtype is torch.bfloat16 else 1e-4
    for label, node in leaves.items():
        value, gradient = expected[label]
        assert torch.equal(node.value.tensor, value)
        size = float(gradient.abs().max())
        torch.testing.assert_close(node.gradient.tensor, gradient, rtol=0, atol=tolerance * size)
    assert float(found.node("n0").value.tensor) == pytest.approx(float(result.loss), rel=1e-2)
    assert sum(node.spec is not None for node in found.nodes) == 1


def test_the_apps_graph_is_read_without_the_search_for_retained_gradients(monkeypatch):
    def fail():
        raise RuntimeError("all objects were searched")

    monkeypatch.setattr(graph_backward.gc, "get_objects", fail)
    assert graph_of_stages(compute(Settings())).note == ""
    output, params, _ = chain()
    assert "searched" in graph(output, params).note


def test_the_apps_graph_works_in_inference_mode_and_leaves_nothing_behind():
    result = compute(Settings())
    with torch.inference_mode():
        found = graph_of_stages(result)
    assert found.node("n0").gradient.tensor == 1
    assert result.input.requires_grad is False
    assert not any(isinstance(each, torch.Tensor) and each.requires_grad for each in gc.get_referrers(result.input))


# -- on the wire -------------------------------------------------------------------------------------------------


def read(reply, shown):
    """Return the numbers of a heatmap as the page reads them."""
    numbers = np.frombuffer(reply.buffers[shown["buffer"]], dtype=shown["dtype"])
    return torch.tensor(numbers.astype("float64")).reshape(shown["size"])


def tensor_of(reply, key):
    (found,) = [tensor for tensor in reply.content["tensors"] if tensor["key"] == key]
    return found


def conv_case():
    x, w, b = leaf(2, 4, 6, 5), leaf(6, 2, 3, 3, seed=1), leaf(6, seed=2)
    output = F.conv2d(x, w, b, 2, 1, groups=2)
    found = graph(output.exp().sum(), {"x": x, "w": w, "b": b})
    (id,) = [node.id for node in found.nodes if node.spec is not None]
    return (x, w, b), output, found, id


def test_the_page_of_a_graph_is_plain_and_small():
    for case in CASES.values():
        output, params, _ = case()
        made = page(graph(output, params))
        assert len(json.dumps(made)) < 60_000
        assert made["steps"][0]["id"] == "n0"


def test_a_reply_carries_the_chosen_planes():
    (x, w, _), output, found, id = conv_case()
    (gradient,) = torch.autograd.grad(output.exp().sum(), output, retain_graph=True)
    reply = node_reply(found, id, {"value 0": [1, 4], "gradient 0": [1, 99], "saved weight": "nonsense"})
    json.dumps(reply.content)
    value, shown = tensor_of(reply, "value 0"), tensor_of(reply, "gradient 0")
    assert (value["at"], shown["at"], value["planes"]) == ([1, 4], [1, 5], [2, 6])
    assert torch.equal(read(reply, value).float(), output[1, 4].detach())
    assert torch.equal(read(reply, shown).float(), gradient[1, 5])
    assert torch.equal(read(reply, tensor_of(reply, "saved input")).float(), x[0, 0].detach())
    assert torch.equal(read(reply, tensor_of(reply, "saved weight")).float(), w[0, 0].detach())
    settings = {each["name"]: each["value"] for each in reply.content["settings"]}
    assert settings["stride"] == "(2, 2)"
    assert settings["groups"] == "2"
    assert reply.content["opens"] is True


def test_tensors_of_other_shapes_and_kinds():
    scalar, row = leaf(), leaf(5, seed=1)
    reply = node_reply(graph(scalar * 2, {"s": scalar}), "n2", {})
    assert tensor_of(reply, "value 0")["text"] == format_number(scalar.item())
    assert "buffer" not in tensor_of(reply, "value 0")
    reply = node_reply(graph(row.sum(), {"row": row}), "n2", {})
    assert tensor_of(reply, "value 0")["size"] == [1, 5]
    table, places = leaf(7, 3), torch.tensor([[2, 5]])
    found = graph(F.embedding(places, table).sum())
    (id,) = [node.id for node in found.nodes if node.label == "EmbeddingBackward0"]
    reply = node_reply(found, id, {})
    assert read(reply, tensor_of(reply, "saved indices")).tolist() == [[2, 5]]
    double = leaf(2, 2, dtype=torch.float64)
    reply = node_reply(graph(double.sum()), "n2", {})
    assert torch.equal(read(reply, tensor_of(reply, "value 0")), double.detach())
    wide = leaf(70, 90)
    reply = node_reply(graph(wide.sum()), "n2", {})
    shown = tensor_of(reply, "value 0")
    assert shown["part"] == "the first 64 × 64 of 70 × 90 cells"
    assert torch.equal(read(reply, shown).float(), wide[:MAX_HEATMAP_SIDE, :MAX_HEATMAP_SIDE].detach())
    huge = leaf(300, 300)
    assert "too many numbers" in tensor_of(node_reply(graph(huge.sum()), "n2", {}), "value 0")["text"]
    waves = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    assert "buffer" not in tensor_of(node_reply(graph((waves * 2).abs().sum()), "n3", {}), "value 0")
    assert "buffer" not in tensor_of(node_reply(graph(leaf(0, 3).sum()), "n2", {}), "value 0")


def test_the_inside_on_the_wire():
    _, _, found, id = conv_case()
    stages = inside(found, id).tensors
    reply = inside_reply(found, id, {"n": 1, "o": 4, "c": 0})
    json.dumps(reply.content)
    # The input channel follows into the group of the output channel.
    assert {each["axis"]: each["value"] for each in reply.content["choices"]} == {"n": 1, "o": 4, "c": 2}
    items = [item for branch in reply.content["branches"] for row in branch["rows"] for item in row if "name" in item]
    at = {item["name"]: item["label"] for item in items}
    assert at["grad_output"] == "grad_output[1, 4]"
    assert at["weight"] == "weight[4, 0]"
    assert at["rotated_weight"] == "rotated_weight[2, 1]"
    assert at["grad_bias"] == "grad_bias"
    for item in items:
        place = json.loads(item["label"].removeprefix(item["name"]) or "[]")
        tensor = stages[item["name"]][tuple(place)]
        assert torch.equal(read(reply, item).float(), tensor if tensor.dim() == 2 else tensor[None])
    (dilated,) = [item for item in items if item["name"] == "dilated_grad_output"]
    assert dilated["rows"] == "didid"


# -- the tab and the view ----------------------------------------------------------------------------------------


@pytest.fixture
def sent(monkeypatch):
    """What a graph in a cell of its own sends."""
    messages = []
    monkeypatch.setattr(GraphView, "send", lambda _, content, buffers=None: messages.append(content))
    return messages


@pytest.mark.parametrize("name", SETTINGS)
def test_the_boxes_know_their_panels(name):
    settings = Settings(**SETTINGS[name])
    shown = data(settings, computed(settings), {})
    labels = {step["id"]: step["text"].split("`")[1] for step in shown["steps"]}
    panels = {labels[id]: found for id, found in shown["panels"].items() if id in labels}
    assert panels["weight"] == ["weight", "grad_weight"]
    if settings.transposed:
        assert panels["input"][-1] == "output", "what the layer hands to its input is called output there"
    elif "reflect" not in name:
        assert panels["input"] == ["grad_input"], "the board shows the input only with its border"
    if "uneven" not in name:
        assert len(panels["ConvolutionBackward0"]) == 2


def test_the_tab_answers():
    settings = Settings(spec=ConvSpec(8, 2, 2, stride=2, padding=1), plane=Plane(0, 1, 1))
    stages = computed(settings)
    steps = data(settings, stages, {})["steps"]
    id = next(step["id"] for step in steps if "ConvolutionBackward0` rec" in step["text"])
    node, _ = reply(settings, stages, {}, {"type": "node", "id": id, "planes": {"value 0": "nonsense"}})
    opened_box, _ = reply(settings, stages, {}, {"type": "inside", "id": id})
    with pytest.raises(ValueError, match="n99"):
        reply(settings, stages, {}, {"type": "node", "id": "n99"})
    shown = {tensor["key"]: tensor for tensor in node["tensors"]}
    assert (shown["value 0"]["panel"], shown["value 0"]["at"], shown["value 0"]["same"]) == ("output", [0, 1], True)
    assert shown["gradient 0"]["panel"] == "grad_output"
    items = [item for branch in opened_box["branches"] for row in branch["rows"] for item in row if "name" in item]
    assert all(item["panel"] == item["name"] and item["same"] for item in items)
    assert opened_box["fixed"] is True


def test_the_view_answers(sent):
    _, _, found, id = conv_case()
    view = GraphView(found)
    assert ".cv-look" in view._css
    assert ".cv-pane-graph" in view._sheet
    view._answer(None, {"type": "node", "id": id}, [])
    view._answer(None, {"type": "inside", "id": id, "plane": {"n": True, "o": "x"}}, [])
    view._answer(None, {"type": "other", "id": id}, [])
    view._answer(None, {"type": "node", "id": "n99"}, [])
    assert [reply["type"] for reply in sent] == ["node", "inside"]
    assert len(repr(view)) < 200
    view.close()


# -- the display in a notebook -----------------------------------------------------------------------------------


def run(code, *before):
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *before, "-c", code], capture_output=True, text=True, cwd=ROOT, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


SHOW = "import torch, convviz; x = torch.tensor(3.0, requires_grad=True); g = convviz.graph(x**2, {'x': x}); "
LOADED = "import sys; print('ipywidgets' in sys.modules, 'IPython' in sys.modules)"


def test_a_graph_is_a_line_where_there_is_no_notebook():
    """And nothing is loaded for it: test_layers.py."""
    assert repr(graph(*chain()[:2])) == "<Graph: 3 functions from y, x to the output>"


def test_in_a_terminal_a_line_is_written_and_no_widget_is_loaded():
    pytest.importorskip("IPython")
    code = (
        "from IPython.core.interactiveshell import InteractiveShell as S; s = S.instance(); "
        f"s.run_cell({SHOW!r}); print(*s.display_formatter.format(s.user_ns['g'])[0]); {LOADED}"
    )
    *_, types, loaded = run(code).strip().splitlines()
    assert WIDGET not in types
    assert "image/svg+xml" in types
    assert loaded.split()[0] == "False"


def test_a_kernel_shows_the_view_and_keeps_the_picture():
    manager = pytest.importorskip("jupyter_client.manager")
    kernel, client = manager.start_new_kernel(cwd=str(ROOT), env=os.environ | {"PYTHONPATH": str(ROOT)})
    shown = []
    try:

        def note(message):
            if message["msg_type"] == "execute_result":
                shown.append(message["content"]["data"])
            assert message["msg_type"] != "error", message["content"]

        client.execute_interactive(SHOW + "g", output_hook=note, timeout=120)
        client.execute_interactive("convviz.graph(x**2)", output_hook=note, timeout=120)
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
    assert len(shown) == 2
    for each in shown:
        assert each[WIDGET]["model_id"]
        assert each["image/svg+xml"].startswith("<svg")
        assert len(each["text/plain"]) < 200
