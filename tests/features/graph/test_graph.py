"""The graph as data and as a drawing, held against torch: its own walk, its own gradients, its own intermediates."""

import dataclasses
import functools
import gc
import itertools
import re
import xml.etree.ElementTree as ElementTree

import pytest
import torch
import torch.nn.functional as F

import convviz
from convviz.facts.format_numbers import format_number
from convviz.facts.words import sentences
from convviz.features.graph import layout as graph_layout
from convviz.features.graph.nodes_and_edges import KEEP, snapshot
from convviz.features.graph.read_graph import graph
from convviz.features.graph.svg import PALETTES
from convviz.features.graph.walk import LIMIT, OPENS_INTO
from convviz.views import theme

say = sentences("features/graph")
SVG = "{http://www.w3.org/2000/svg}"


def leaf(*shape, seed=0, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype).requires_grad_()


class Scaled(torch.autograd.Function):
    """The old style: ctx in forward; two outputs, a setting that is no tensor, a tensor kept on ctx by mistake."""

    @staticmethod
    def forward(ctx, a, factor, b):
        ctx.save_for_backward(a, b)
        ctx.factor, ctx.leaked = factor, a
        return a * factor * b, a + b

    @staticmethod
    def backward(ctx, grad_product, grad_sum):
        a, b = ctx.saved_tensors
        return grad_product * ctx.factor * b + grad_sum, None, grad_product * a * ctx.factor + grad_sum


class Cubed(torch.autograd.Function):
    """The new style: setup_context; saves its output as well."""

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)
        ctx.axes = (-1, "last")

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        return grad_output * 3 * x**2


# Each case returns the output, the leaves by name and the intermediates that torch can be asked about.


def chain():
    x, y = torch.tensor(3.0, requires_grad=True), torch.tensor(5.0, requires_grad=True)
    a = x**2
    b = a * 3
    return b * y, {"x": x, "y": y}, [a, b]


def shared():
    x = leaf(3)
    a = x * x
    return a + x, {"x": x}, [a]


def diamond():
    x = leaf(2, 3)
    a = x.exp()
    b, c = a.sin(), a.cos()
    d = b * c
    return d.sum(), {"x": x}, [a, b, c, d]


def mlp():
    x, w1, b1, w2 = leaf(4, 3), leaf(5, 3, seed=1), leaf(5, seed=2), leaf(2, 5, seed=3)
    a = F.linear(x, w1, b1)
    b = a.relu()
    c = F.linear(b, w2)
    d = c.log_softmax(1)
    return F.nll_loss(d, torch.tensor([0, 1, 1, 0])), {"x": x, "w1": w1, "b1": b1, "w2": w2}, [a, b, c, d]


def cnn():
    x, w, b = leaf(2, 2, 6, 6), leaf(3, 2, 3, 3, seed=1), leaf(3, seed=2)
    a = F.conv2d(x, w, b, stride=1, padding=1)
    r = a.relu()
    p = F.max_pool2d(r, 2)
    f = p.flatten(1)
    return f.mean(), {"x": x, "weight": w, "bias": b}, [a, r, p, f]


def own_conv(method):
    def case():
        x, w, b = leaf(1, 2, 5, 5), leaf(4, 1, 3, 3, seed=1), leaf(4, seed=2)
        a = convviz.conv2d(x, w, b, stride=2, padding=1, groups=2, method=method)
        return a.relu().sum(), {"x": x, "w": w, "b": b}, [a]

    return case


def old_style():
    a, b = leaf(3), leaf(3, seed=1)
    product, total = Scaled.apply(a, 2.5, b)
    return product + total.exp(), {"a": a, "b": b}, [product, total]


def new_style():
    x = leaf(2, 2)
    cube = Cubed.apply(x)
    return (cube * x).sum(), {"x": x}, [cube]


def cat_split():
    a, b = leaf(2, 3), leaf(4, 3, seed=1)
    joined = torch.cat([a * 2, b])
    first, second, third = joined.split(2)
    row, _ = second.unbind(0)
    stacked = torch.stack([first, third])
    return (stacked * row).sum(), {"a": a, "b": b}, [joined, first, second, third, row, stacked]


def in_place():
    x, w = leaf(3, 4), leaf(3, 4, seed=1)
    a = x * 2
    a.mul_(w)
    a[:, 0] = 0.0
    a[1:].exp_()
    return (a * x).sum(), {"x": x, "w": w}, [a]


def broadcasting():
    x, row, scalar = leaf(4, 3), leaf(3, seed=1), leaf(seed=2)
    a = x * row
    b = a + scalar
    c = b / (row - scalar)
    return c, {"x": x, "row": row, "scalar": scalar}, [a, b, c]


def batch_norm():
    x, gamma, beta = leaf(4, 2, 3, 3), leaf(2, seed=1), leaf(2, seed=2)
    a = F.batch_norm(x, None, None, gamma, beta, training=True)
    return (a**2).mean(), {"x": x, "gamma": gamma, "beta": beta}, [a]


def embedding():
    table = leaf(7, 3)
    a = F.embedding(torch.tensor([[1, 2, 2], [6, 0, 1]]), table)
    b = a.mean(1)
    return b.tanh().sum(), {"table": table}, [a, b]


def twice():
    w = leaf(3, 3)
    a = w @ w
    b = a @ w.t()
    return b.sum(), {"w": w}, [a, b]


def views():
    x = leaf(2, 3, 4)
    a = x.permute(2, 0, 1)
    b = a.reshape(4, 6)
    c = b[1:, ::2]
    d = c.unsqueeze(0).expand(5, 3, 3)
    e = d.transpose(1, 2)
    return (e**2).sum(), {"x": x}, [a, b, c, d, e]


def numbers_and_dtypes():
    x = leaf(3, dtype=torch.float64)
    a = x * 0.1
    b = a.float()
    c = -(b / 3)
    return c.sum() - b.mean(), {"x": x}, [a, b, c]


CASES = {
    "chain": chain, "shared": shared, "diamond": diamond, "mlp": mlp, "cnn": cnn, "convviz rotate": own_conv("rotate"),
    "convviz taps": own_conv("taps"), "old style": old_style, "new style": new_style, "cat and split": cat_split,
    "in place": in_place, "broadcasting": broadcasting, "batch norm": batch_norm, "embedding": embedding,
    "twice": twice, "views": views, "numbers and dtypes": numbers_and_dtypes,
}  # fmt: skip


@functools.cache
def read(name):
    """Return output, leaves, intermediates and graph of a case, built once: the tests below only look."""
    output, params, intermediates = CASES[name]()
    return output, params, intermediates, graph(output, params)


every_case = pytest.mark.parametrize("case", CASES)


def match(found, output):
    """Walk torch's graph and ours side by side; return torch's function → our id. Fails where they differ."""
    arrows = {(edge.target, edge.input_slot): edge for edge in found.edges}
    assert len(arrows) == len(found.edges), "two arrows into one place"
    labels = {node.id: node.label for node in found.nodes}
    first = arrows.pop(("n0", 0))
    assert first.output_slot == output.output_nr
    ids, waiting = {output.grad_fn: first.source}, [output.grad_fn]
    while waiting:
        function = waiting.pop()
        if not hasattr(function, "variable"):
            assert labels[ids[function]] == function.name().split("::")[-1]
        for place, (source, slot) in enumerate(function.next_functions):
            if source is None:
                continue
            arrow = arrows.pop((ids[function], place))
            assert arrow.output_slot == slot
            if source not in ids:
                ids[source] = arrow.source
                waiting.append(source)
            assert ids[source] == arrow.source
    assert not arrows, "arrows that torch does not have"
    assert {"n0", *ids.values()} == set(labels), "boxes that torch does not have, or lacks"
    assert len(set(ids.values())) == len(ids), "one box for two functions"
    return ids


def slot_of(found, ids, tensor):
    slots = found.node(ids[tensor.grad_fn]).slots
    return next(slot for slot in slots if slot.number == tensor.output_nr)


def same(snapshot, tensor):
    assert snapshot.shape == tuple(tensor.shape)
    assert torch.equal(snapshot.tensor, tensor.detach())
    assert f"torch.{snapshot.dtype}" == str(tensor.dtype)


def labelled(found, label):
    (node,) = [node for node in found.nodes if node.label == label]
    return node


def all_slots(found):
    return [slot for node in found.nodes for slot in node.slots]


def start_of(output):
    return torch.ones_like(output)


@every_case
def test_the_graph_is_torchs(case):
    output, params, _, found = read(case)
    match(found, output)
    kinds = [node.kind for node in found.nodes]
    assert kinds[0] == "output"
    assert kinds.count("output") == 1
    assert sorted(node.label for node in found.nodes if node.kind == "leaf") == sorted(params)
    assert [node.id for node in found.nodes] == [f"n{place}" for place in range(len(found.nodes))]


@every_case
def test_gradients_are_autograds(case):
    output, params, intermediates, found = read(case)
    ids = match(found, output)
    wanted = [*params.values(), *intermediates]
    truth = torch.autograd.grad(output, wanted, start_of(output), retain_graph=True)
    for tensor, gradient in zip(wanted[: len(params)], truth, strict=False):
        (node,) = [node for node in found.nodes if node.label in params and params[node.label] is tensor]
        same(node.gradient, gradient)
        assert node.slots[0].gradient_note == ""
    for tensor, gradient in zip(intermediates, truth[len(params) :], strict=True):
        same(slot_of(found, ids, tensor).gradient, gradient)
    same(found.node("n0").gradient, start_of(output))


@every_case
def test_values_are_those_of_the_forward_pass_or_none_with_a_reason(case):
    output, params, intermediates, found = read(case)
    ids = match(found, output)
    same(found.node("n0").value, output)
    same(slot_of(found, ids, output).value, output)
    for node in found.nodes:
        if node.kind == "leaf":
            same(node.value, params[node.label])
        for slot in node.slots:
            assert slot.value_note.endswith(".")
    known = 0
    for tensor in intermediates:
        slot = slot_of(found, ids, tensor)
        if slot.value is None:
            assert slot.value_note == say("value.unknown")
        else:
            same(slot.value, tensor)
            known += 1
    assert known == KNOWN[case], "so many values of intermediates"


KNOWN = {
    "chain": 2, "shared": 1, "diamond": 4, "mlp": 4, "cnn": 4, "convviz rotate": 1, "convviz taps": 1, "old style": 0,
    "new style": 1, "cat and split": 3, "in place": 1, "broadcasting": 3, "batch norm": 1, "embedding": 2, "twice": 2,
    "views": 5, "numbers and dtypes": 1,
}  # fmt: skip


@every_case
def test_gradients_along_arrows_add_up(case):
    found = read(case)[-1]
    for node in found.nodes[1:]:
        for slot in node.slots:
            parts = [edge.gradient for edge in found.edges if (edge.source, edge.output_slot) == (node.id, slot.number)]
            torch.testing.assert_close(slot.gradient.tensor, sum(part.tensor for part in parts))


@pytest.mark.parametrize("case", CASES)
def test_steps_are_in_the_order_of_the_engine(case):
    output, params, _ = CASES[case]()
    found = graph(output, params)
    ids, order = match(found, output), []
    for function, id in ids.items():
        function.register_prehook(lambda _, id=id: order.append(id))
    output.backward(start_of(output))  # here the leaves' own nodes run as well
    leaves = {node.id for node in found.nodes if node.kind == "leaf"}
    assert [id for id in order if id not in leaves] == [id for id in found.steps[1:] if id not in leaves]
    assert found.steps[0] == "n0"
    assert sorted(found.steps) == sorted(node.id for node in found.nodes)
    place = {id: number for number, id in enumerate(found.steps)}
    assert all(place[edge.target] < place[edge.source] for edge in found.edges)
    # Leaves that become ready together are filled in an order of the engine's own: each group as a set.
    assert groups(order, leaves) == groups(found.steps[1:], leaves)


def groups(order, leaves):
    return [(is_leaf, set(group)) for is_leaf, group in itertools.groupby(order, lambda id: id in leaves)]


@every_case
def test_the_callers_graph_and_gradients_stay_as_they_were(case):
    output, params, intermediates = CASES[case]()
    untouched = CASES[case]()[:2]
    for tensor in intermediates:
        tensor.retain_grad()
    first, *others = params.values()
    first.grad = before = torch.full_like(first, 7.0)
    graph(output, params)
    assert first.grad is before
    assert (before == 7).all()
    assert all(tensor.grad is None for tensor in [*others, *intermediates])
    first.grad = None
    output.backward(start_of(output))
    untouched[0].backward(start_of(output))
    for tensor, truth in zip(params.values(), untouched[1].values(), strict=True):
        assert torch.equal(tensor.grad, truth.grad)
    assert all(tensor.grad is not None for tensor in intermediates)


def test_no_hook_of_ours_runs_in_the_callers_backward_though_it_fails(monkeypatch):
    made = diamond(), failing()
    (found, _) = (graph(output, params) for output, params, _ in made)
    monkeypatch.setattr(
        "convviz.features.graph.trace_backward.snapshot", lambda *_: pytest.fail("a hook was left behind")
    )
    made[0][0].backward()
    with pytest.raises(ZeroDivisionError):
        made[1][0].backward()
    assert found.node("n1").gradient.tensor == 1


def test_nothing_keeps_the_graph_alive():
    output, params, _ = diamond()
    found = graph(output, params)
    x = params["x"]
    references = len(gc.get_referrers(x))
    graph(output, params)
    assert len(gc.get_referrers(x)) == references
    assert all(slot.value.tensor.grad_fn is None for node in found.nodes for slot in node.slots)


def test_the_data_are_copies():
    output, params, _ = chain()
    found = graph(output, params)
    with torch.no_grad():
        params["x"].add_(100)
    x = labelled(found, "x")
    assert x.value.tensor == 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        x.label = "other"


def test_retained_gradients_stay_the_same_tensor_and_none_is_made():
    class Measured(torch.Tensor):
        pass

    x = leaf(3)
    a = (x * 2).as_subclass(Measured)
    a.retain_grad()
    graph(a.sum(), {"x": x})
    assert a.grad is None
    torch.autograd.grad(a.sum(), x, retain_graph=True)
    before = a.grad
    assert (before == 1).all()
    graph(a.sum(), {"x": x})
    assert a.grad is before
    assert (before == 1).all()


def test_a_retained_hook_of_the_caller_changes_the_gradients_that_are_shown():
    output, params, (a, _) = chain()
    a.register_hook(lambda gradient: gradient * 2)
    found = graph(output, params)
    assert labelled(found, "x").gradient.tensor == 180


def test_under_no_grad_and_inference_mode():
    output, params, _ = diamond()
    plain = graph(output, params)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            found = graph(output, params)
        assert found.to_svg() == plain.to_svg()
        assert not found.note
        tensors = [tensor for slot in all_slots(found) for tensor in (slot.value.tensor, slot.gradient.tensor)]
        assert not any(tensor.is_inference() or tensor.requires_grad for tensor in tensors)


def test_a_leaf_whose_requires_grad_was_switched_off_since():
    x = leaf(2)
    output = (x * leaf(2, seed=1)).sum()
    x.requires_grad_(False)
    found = graph(output, {"x": x})
    assert labelled(found, "x").gradient is not None


def test_labels_of_leaves_without_or_with_two_names():
    x, y, z = leaf(2, 3), leaf(seed=1), leaf(3, seed=2)
    found = graph(x * y * z, {"a": z, "b": z, "unused": leaf(4)})
    assert {node.label for node in found.nodes if node.kind == "leaf"} == {"[2, 3]", "scalar", "a = b"}


def test_grad_output():
    output, params, _ = broadcasting()
    start = torch.arange(12.0).reshape(4, 3)
    found = graph(output, params, grad_output=start)
    same(found.grad_output, start)
    same(found.node("n0").gradient, start)
    (truth,) = torch.autograd.grad(output, params["row"], start, retain_graph=True)
    same(labelled(found, "row").gradient, truth)
    assert found.note == ""
    assert "grad_output was not given, so it is all ones" in graph(output, params).note


def test_values_of_one_output_among_several():
    x = leaf(4, 3)
    first, second, _, fourth = (x * 1).unbind(0)
    product = second * fourth
    outputs = (product + first).split(1)
    output = outputs[2]
    found = graph(output, {"x": x})
    ids = match(found, output)
    for tensor in (second, fourth, output):
        same(slot_of(found, ids, tensor).value, tensor)
    assert slot_of(found, ids, first).value is None
    assert [slot.number for slot in found.node(ids[first.grad_fn]).slots] == [0, 1, 3]
    assert [slot.number for slot in found.node(ids[output.grad_fn]).slots] == [2]


def test_a_value_is_not_computed_from_what_was_changed_since():
    x, w = leaf(3), leaf(3, seed=1)
    a = x * w
    output = (a + x).sum()
    with torch.no_grad():
        w.mul_(100)
    found = graph(output, {"x": x, "w": w})
    ids = match(found, output)
    assert slot_of(found, ids, a).value is None
    assert "modified by an inplace operation" in found.node(ids[a.grad_fn]).note


def test_a_value_is_computed_only_if_it_fits_its_gradient():
    x = leaf(3)
    a = -x
    output = a * 2
    x.data = torch.ones(2)  # another tensor now: what is computed from it is not what the forward pass made
    found = graph(output, {"x": x})
    assert slot_of(found, match(found, output), a).value is None
    assert slot_of(found, match(found, output), a).gradient is not None


# What functions keep


def saved_of(found, label):
    return {saved.name: saved for node in found.nodes if node.label == label for saved in node.saved}


def test_saved_of_a_convolution():
    output, params, _ = cnn()
    saved = saved_of(graph(output, params), "ConvolutionBackward0")
    same(saved["input"].tensor, params["x"])
    same(saved["weight"].tensor, params["weight"])
    assert saved["stride"].setting == (1, 1)
    assert saved["padding"].setting == (1, 1)
    assert saved["groups"].setting == 1
    assert saved["transposed"].setting is False
    assert all(saved.note == "" for saved in saved.values())


def test_saved_of_custom_functions():
    output, params, _ = old_style()
    found = graph(output, params)
    saved = saved_of(found, "ScaledBackward")
    same(saved["saved_tensors[0]"].tensor, params["a"])
    same(saved["saved_tensors[1]"].tensor, params["b"])
    assert saved["ctx.factor"].setting == 2.5
    same(saved["ctx.leaked"].tensor, params["a"])
    assert "instead of by ctx.save_for_backward" in saved["ctx.leaked"].note
    node = labelled(found, "ScaledBackward")
    assert saved["ctx.leaked"].note in node.note
    assert (node.value, node.gradient) == (None, None)  # two outputs: the slots have them
    assert [slot.number for slot in node.slots] == [0, 1]
    saved = saved_of(graph(*new_style()[:2]), "CubedBackward")
    assert saved["ctx.axes"].setting == (-1, "last")
    assert len(saved) == 3


def test_saved_of_our_own_convolution_and_settings_that_are_no_numbers():
    saved = saved_of(graph(*own_conv("taps")()[:2]), "ConvolutionBackward")
    assert saved["ctx.method"].setting == "taps"
    assert saved["ctx.spec"].setting.startswith("ConvSpec(input_size=(5, 5), in_channels=2")


def test_negative_axes_indices_and_what_was_not_needed():
    x = leaf(3, 4)
    found = graph(x.sum(-1)[torch.tensor([0, 2])].sum() * 3, {"x": x})
    assert saved_of(found, "SumBackward1")["dim"].setting == (-1,)
    assert saved_of(found, "IndexBackward0")["indices[0]"].tensor.tensor.tolist() == [0, 2]
    unsaved = saved_of(found, "MulBackward0")["self"]
    assert (unsaved.tensor, unsaved.setting) == (None, None)
    assert unsaved.note.startswith("Not saved")
    assert all(node.note == "" for node in found.nodes)


def test_large_tensors_are_summed_up():
    x = torch.linspace(-1, 3, KEEP + 1).requires_grad_()
    found = graph(x.sin().sum(), {"x": x})
    node = labelled(found, "x")
    assert node.value.tensor is None
    assert (node.value.minimum, node.value.maximum) == (-1, 3)
    assert node.value.mean == pytest.approx(1)
    assert node.gradient.shape == (KEEP + 1,)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.zeros(0, 3), torch.tensor(True), torch.tensor([1 + 2j, 3 - 4j]).conj(), torch.zeros(2, device="meta"),
        torch.eye(3).to_sparse(), torch.ones(5, dtype=torch.bfloat16), torch.tensor([float("nan"), 1, 2, 3, 4]),
        torch.tensor([torch.inf, -torch.inf]),
    ],
    ids=["empty", "bool", "complex", "meta", "sparse", "bfloat16", "nan", "infinite"],
)  # fmt: skip
def test_any_tensor_can_be_copied(tensor):
    found = snapshot(tensor)
    assert found.shape == tuple(tensor.shape)
    assert (found.tensor is None) == tensor.is_meta
    if found.tensor is not None and tensor.dtype != torch.bfloat16:
        assert found.tensor.numpy().shape == tensor.shape  # no lazy conjugate, no layout that numpy does not know
    if found.minimum is not None and found.tensor.isfinite().all():
        assert found.minimum <= found.mean <= found.maximum


def test_a_sparse_gradient():
    table = leaf(5, 2)
    found = graph(F.embedding(torch.tensor([1, 1, 4]), table, sparse=True).sum(), {"table": table})
    assert found.nodes[-1].gradient.tensor.tolist() == [[0, 0], [2, 2], [0, 0], [0, 0], [1, 1]]


def test_complex_numbers():
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    found = graph(z * z, {"z": z})
    (truth,) = torch.autograd.grad((z * z), z, torch.ones(2, dtype=torch.complex64))
    same(found.nodes[-1].gradient, truth)
    assert "1+2i, 3−1i" in found.to_svg()


# Graphs that cannot be read whole


def test_a_freed_graph():
    output, params, _ = cnn()
    output.backward()
    found = graph(output, params)
    match(found, output)
    assert "An earlier backward pass freed" in found.note
    assert "retain_graph=True" in found.note
    conv = labelled(found, "ConvolutionBackward0")
    assert conv.note.startswith("An earlier backward pass freed what this function had saved")
    assert conv.note.count("freed") == 1
    assert {saved.name for saved in conv.saved if saved.note} == {"input", "weight"}
    assert conv.gradient is None
    assert "the backward pass stopped at" in conv.slots[0].gradient_note
    assert conv.opens_into == OPENS_INTO
    assert found.node("n0").gradient is not None
    assert "unknown" in found.to_svg()

    output, params, _ = new_style()
    output.backward()
    node = labelled(graph(output, params), "CubedBackward")
    assert node.note.startswith("An earlier backward pass freed")


def test_a_saved_tensor_that_was_changed_in_place():
    x, w = leaf(3), leaf(3, seed=1)
    a = x * 1
    b = a * w
    a.add_(1)
    found = graph(b.exp().sum(), {"x": x, "w": w})
    node = next(node for node in found.nodes if "in" in node.note and node.label == "MulBackward0")
    assert "has been modified by an inplace operation" in node.note
    assert "is at version 1; expected version 0" in node.note
    assert "has been modified by an inplace operation" in found.note
    assert node.gradient is not None  # the pass came as far as that
    assert found.steps[0] == "n0"
    assert node.id == found.steps[-1]
    leaf_x = labelled(found, "x")
    assert (
        leaf_x.slots[0].gradient_note == "No gradient: the backward pass stopped at MulBackward0, before it got here."
    )


def custom(name, backward):
    """Return a Function whose backward is somebody's own."""
    methods = {"forward": staticmethod(lambda ctx, x: x * 1), "backward": staticmethod(backward)}
    return type(name, (torch.autograd.Function,), methods)


def fail(ctx, grad_output):
    raise ZeroDivisionError("of the learner's own")


Failing = custom("Failing", fail)
WrongCount = custom("WrongCount", lambda ctx, grad_output: (grad_output, grad_output))
NoGradient = custom("NoGradient", lambda ctx, grad_output: None)


def failing():
    x = leaf(2)
    return Failing.apply(x.sin()).sum(), {"x": x}, []


def test_a_custom_backward_that_fails():
    x = leaf(2)
    for output, label, reported in (
        (failing()[0], "FailingBackward", "ZeroDivisionError: of the learner's own"),
        (WrongCount.apply(x.sin()).sum(), "WrongCountBackward", "incorrect number of gradients"),
    ):
        found = graph(output)
        (node,) = [node for node in found.nodes if node.label == label]
        assert reported in node.note
        assert found.note.startswith(f"The backward pass stopped at {label}, and gradients are missing. ")
        assert reported in found.note


def test_a_custom_backward_that_passes_nothing_on():
    x, y = leaf(2), leaf(2, seed=1)
    found = graph((NoGradient.apply(x.sin()) * y).sum(), {"x": x, "y": y})
    by_label = {node.label: node for node in found.nodes}
    assert by_label["NoGradientBackward"].gradient is not None
    for label in ("SinBackward0", "x"):
        assert by_label[label].gradient is None
        assert by_label[label].slots[0].gradient_note.endswith("the functions that use this value return none.")
    assert by_label["y"].gradient is not None
    assert sorted(found.steps) == sorted(node.id for node in found.nodes)
    assert found.to_svg().count("stroke-dasharray") == 2


def test_hooks_of_the_caller_that_raise():
    x = leaf(2)
    output = x.sin()
    output.register_hook(lambda gradient: 1 / 0)
    found = graph(output, {"x": x})
    assert found.note.endswith(
        "The backward pass stopped, and gradients are missing. ZeroDivisionError: division by zero"
    )
    assert found.nodes[1].slots[0].gradient_note == "ZeroDivisionError: division by zero"
    assert found.steps == ("n0",)

    def unpack(packed):
        raise KeyError("the disk is gone")

    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        output = x.sin()
    assert graph(output, {"x": x}).nodes[1].note == "KeyError: 'the disk is gone'"


# The convolution's box


def conv_node(output, params=None):
    return next(node for node in graph(output, params).nodes if node.label.startswith("Convolution"))


def test_a_convolution_opens_into_the_four_steps():
    x, w = leaf(1, 1, 4, 4), leaf(1, 1, 3, 3, seed=1)
    for output in (F.conv2d(x, w), convviz.conv2d(x, w), convviz.conv2d(x, w, padding=1, padding_mode="circular")):
        assert conv_node(output).opens_into == (
            "dilated_grad_output", "padded_grad_output", "rotated_weight", "grad_input",
        )  # fmt: skip
    stages = convviz.stages(convviz.ConvSpec((4, 4), kernel_size=3), x.detach(), w.detach())
    assert all(hasattr(stages, name) for name in OPENS_INTO)


def test_boxes_without_the_four_steps():
    x, w = leaf(1, 1, 4, 4), leaf(1, 1, 3, 3, seed=1)
    for function in (F.conv2d, convviz.conv2d):
        node = conv_node(function(x.detach(), w))
        assert node.opens_into == ()
        assert "The input needs no gradient" in node.note
    assert conv_node(F.conv_transpose2d(x, w)).opens_into == ()
    assert conv_node(F.conv1d(x[0], leaf(1, 4, 3))).opens_into == ()

    class Convolution(Cubed):  # a name is no evidence
        pass

    assert conv_node(Convolution.apply(x)).opens_into == ()


# Bad input


def test_bad_input_is_refused_with_rule_value_and_remedy():
    x, matrix = leaf(2), leaf(2, 3)
    model = torch.nn.Linear(2, 2)
    from_leaves = "output must come from tensors that require gradients: got a tensor without a grad_"
    shape = "grad_output must have the output's shape, [2, 3]: got [3]; torch."
    asked = 'params must be a dict of names and tensors, such as {"x": x}: got Linear; for a model use'
    for error, message, call in (
        (TypeError, "output must be a torch.Tensor: got list; pass", lambda: graph([1.0])),
        (ValueError, from_leaves, lambda: graph(torch.ones(2))),
        (ValueError, "got dtype torch.int64, which has no gradients; pass a floating", lambda: graph(x.long())),
        (ValueError, "got a leaf, which nothing was computed for; pass the result", lambda: graph(x)),
        (TypeError, asked, lambda: graph(x * 2, model)),
        (TypeError, "got generator", lambda: graph(x * 2, model.named_parameters())),
        (TypeError, "got list", lambda: graph(x * 2, [x])),
        (TypeError, "params must have texts as names: got 0; use '0'", lambda: graph(x * 2, {0: x})),
        (TypeError, "params['x'] must be a torch.Tensor: got float; leave it out", lambda: graph(x * 2, {"x": 3.0})),
        (ValueError, shape, lambda: graph(matrix * 2, grad_output=torch.ones(3))),
        (
            TypeError,
            "grad_output must be a torch.Tensor: got float; torch.as_tensor",
            lambda: graph(x * 2, grad_output=1.0),
        ),
        (ValueError, "theme is one of light, dark: got 'blue'", lambda: read("chain")[-1].to_svg(theme="blue")),
        (KeyError, "the graph has the nodes n0 to n5: got 'x'", lambda: read("chain")[-1].node("x")),
    ):
        with pytest.raises(error, match=re.escape(message)):
            call()


def test_results_carry_the_names_that_they_are_given():
    x, y = torch.tensor(3.0, requires_grad=True), torch.tensor(5.0, requires_grad=True)
    a = x**2
    c = a * 3 * y
    found = graph(c, {"x": x, "y": y, "c": c})
    assert [(node.label, node.kind) for node in found.nodes if node.kind != "function"] == [
        ("c", "output"), ("y", "leaf"), ("x", "leaf"),
    ]  # fmt: skip
    assert ">c</text>" in found.to_svg()
    assert [node.label for node in found.nodes if node.kind == "function"].count("MulBackward0") == 2

    found = graph(c, {"square": a, "also": a, "elsewhere": x.sin()})
    named = next(node for node in found.nodes if "PowBackward0" in node.label)
    assert named.label == "square = also (PowBackward0)"
    assert float(named.value.tensor) == 9
    assert float(named.gradient.tensor) == float(torch.autograd.grad(c, a, retain_graph=True)[0])
    assert found.nodes[0].label == "output"

    first, second = leaf(4).split(2)
    found = graph((first * second).sum(), {"second": second, "first": first})
    assert "first, second (SplitBackward0)" in [node.label for node in found.nodes]
    assert [slot.number for node in found.nodes for slot in node.slots if "Split" in node.label] == [0, 1]
    named = leaf(2) * 2
    assert graph(named, {"loss": named.detach()}).nodes[0].label == "output", "a name without a place in the graph"


def _chain(blocks):
    """Return a deep graph's output with the state and the weight of every block: four nodes a block."""
    state, weights, states = leaf(2, 4, dtype=torch.float64), [], []
    for block in range(blocks):
        weights.append(leaf(4, 4, seed=block, dtype=torch.float64))
        state = torch.tanh(state @ weights[-1] / 2)
        states.append(state)
    return state, states, weights


def test_of_a_deep_graph_the_part_around_the_output_is_shown():
    whole, _, _ = _chain(124)
    assert len(graph(whole).nodes) == 498
    assert not any(node.kind == "rest" for node in graph(whole).nodes)
    output, states, weights = _chain(500)
    found = graph(output, {f"w{block}": weight for block, weight in enumerate(weights)})
    nodes = {node.id: node for node in found.nodes}
    total = 4 * 500 + 2  # the first state and the output
    assert len(nodes) == LIMIT
    rest = found.nodes[-1]
    assert (rest.kind, rest.slots) == ("rest", ())
    assert rest.label == f"{total - (LIMIT - 1):,} nodes left out"
    assert f"Of the graph's {total:,} nodes these are the {LIMIT - 1} nearest to the output" in found.note
    assert repr(found).endswith(f"to the output, {rest.label}>")
    assert f">{rest.label}</text>" in found.to_svg()
    # All that is shown is whole: its gradient is autograd's, and every arrow that leaves it is there.
    labels = {node.label: node for node in found.nodes}
    assert {f"w{block}" for block in range(400, 500)} <= labels.keys()
    assert "w0" not in labels
    gradients = torch.autograd.grad(output.sum(), weights[400:], retain_graph=True)
    for block, gradient in enumerate(gradients, start=400):
        assert torch.equal(labels[f"w{block}"].gradient.tensor, gradient), block
    shown = [node for node in found.nodes if node.label == "TanhBackward0"]
    assert len(shown) > 100
    wanted = states[: -len(shown) - 1 : -1]
    for node, state, gradient in zip(shown, wanted, torch.autograd.grad(output.sum(), wanted), strict=True):
        assert torch.equal(node.value.tensor, state)
        assert torch.equal(node.gradient.tensor, gradient)
    into = [(edge.target, edge.input_slot) for edge in found.edges]
    assert len(into) == len(set(into))
    cut = [edge for edge in found.edges if edge.source == rest.id]
    assert cut
    assert all(edge.gradient is not None for edge in cut), "what is handed to the nodes outside is known"
    assert found.steps[0] == "n0"
    assert set(found.steps) == nodes.keys() - {rest.id}


def test_a_graph_deeper_than_pythons_recursion_and_one_that_is_freed():
    y = leaf()
    for _ in range(6000):
        y = y.sin()
    found = graph(y)
    assert len(found.nodes) == LIMIT
    assert found.nodes[-1].label == f"{6002 - (LIMIT - 1):,} nodes left out"
    y.backward()
    found = graph(y)
    assert "The backward pass stopped at SinBackward0" in found.note
    assert len(found.nodes) == LIMIT


def test_a_node_is_shown_only_with_all_that_use_it():
    """A weight that every step uses stands further back than all of them: it is left out, not shown with a part."""
    weight, state = leaf(3, 3), leaf(3)
    for _ in range(400):
        state = torch.tanh(weight @ state)
    found = graph(state, {"weight": weight})
    rest = found.nodes[-1]
    assert "weight" not in [node.label for node in found.nodes]
    arrows = [edge for edge in found.edges if edge.source == rest.id]
    assert len(arrows) > 200
    assert len(found.layout()) == LIMIT


# The layout


@every_case
def test_layout(case):
    found = read(case)[-1]
    layout = found.layout()
    assert list(layout) == [node.id for node in found.nodes]
    assert all(layout[edge.source][1] < layout[edge.target][1] for edge in found.edges)
    assert layout["n0"][1] == max(y for _, y in layout.values())
    assert min(x for x, _ in layout.values()) >= 0
    for one, (x, y) in layout.items():
        for other, (other_x, other_y) in layout.items():
            assert one == other or y != other_y or abs(x - other_x) > 1 - 1e-3
    assert found.layout() == layout


def test_boxes_stand_by_their_neighbours():
    layout = read("chain")[-1].layout()
    straight = [layout[id][0] for id in ("n3", "n4", "n5")]  # ·3, x², x
    assert max(straight) - min(straight) < 0.01
    assert layout["n1"][0] == pytest.approx((layout["n2"][0] + layout["n3"][0]) / 2, abs=0.05)
    assert layout["n0"][0] == pytest.approx(layout["n1"][0], abs=0.01)


def test_the_sweeps_find_an_order_without_crossings():
    # In the order of a walk from the output a2 → b2 crosses a1 → b1; with b2 beside b0 nothing crosses.
    ids = ["out", "b0", "b1", "b2", "a0", "a2", "a1"]
    arrows = [("a0", "b0"), ("a2", "b0"), ("a1", "b1"), ("a2", "b2"), ("b0", "out"), ("b1", "out"), ("b2", "out")]
    x = {id: place for id, (place, _) in graph_layout.arrange(ids, arrows).positions.items()}
    upper = arrows[:4]
    assert not any((x[a] - x[c]) * (x[b] - x[d]) < 0 for a, b in upper for c, d in upper)


# The drawing


def parse(found, **options):
    return ElementTree.fromstring(found.to_svg(**options))


def boxes_of(svg):
    boxes = {}
    for group in svg.iter(f"{SVG}g"):
        if "data-node" in group.attrib:
            (rect,) = group.findall(f"{SVG}rect")
            boxes[group.get("data-node")] = tuple(float(rect.get(name)) for name in ("x", "y", "width", "height"))
    return boxes


@every_case
def test_the_drawing(case):
    found, palette = read(case)[-1], list(PALETTES)[len(case) % len(PALETTES)]
    svg = parse(found, theme=palette)
    width, height = float(svg.get("width")), float(svg.get("height"))
    assert svg.get("role") == "img"
    assert svg.find(f"{SVG}title").text.startswith("Autograd graph")
    assert len(svg.find(f"{SVG}desc").text) > 30
    boxes = boxes_of(svg)
    assert list(boxes) == [node.id for node in found.nodes]
    for one, (x, y, w, h) in boxes.items():
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height
        for other, (other_x, other_y, _, _) in boxes.items():
            assert one == other or abs(x - other_x) >= w + 5 or abs(y - other_y) >= h + 5
    steps = {g.get("data-node"): int(g.get("data-step")) for g in svg.iter(f"{SVG}g") if "data-step" in g.attrib}
    assert [id for id, _ in sorted(steps.items(), key=lambda item: item[1])] == list(found.steps)
    assert re.search(r"<script|<style|href|url\(|@import", found.to_svg(theme=palette)) is None


@every_case
def test_arrows_end_at_boxes_and_run_through_none(case):
    found = read(case)[-1]
    svg = parse(found)
    boxes = boxes_of(svg)
    drawn = [group for group in svg.iter(f"{SVG}g") if "data-edge" in group.attrib]
    wanted = sorted(f"{edge.source} {edge.target} {edge.input_slot}" for edge in found.edges)
    assert sorted(group.get("data-edge") for group in drawn) == wanted
    ends = set()
    for group in drawn:
        source, target, _ = group.get("data-edge").split()
        line, head = (path.get("d") for path in group.findall(f"{SVG}path"))
        points, curved = trace(line)
        x, y, w, h = boxes[source]
        assert x < points[0][0] < x + w
        assert points[0][1] == pytest.approx(y + h, abs=0.02)
        x, y, w, h = boxes[target]
        assert x < points[-1][0] < x + w
        assert points[-1][1] == pytest.approx(y, abs=0.02)
        assert [float(part) for part in re.match(r"M(\S+) (\S+?)l", head).groups()] == list(points[-1])
        assert points[-1] not in ends, "two arrows end in one point"
        ends.add(points[-1])
        for x, y, w, h in boxes.values():
            assert not any(x < px < x + w and y + 0.1 < py < y + h - 0.1 for px, py in points)
            assert not any(y + 0.1 < py < y + h - 0.1 for _, py in curved), "an arrow turns beside a box, not between"


def test_arrows_of_different_outputs_leave_apart():
    found = read("cat and split")[-1]
    (split,) = [node.id for node in found.nodes if node.label == "SplitBackward0"]
    slots = {f"{edge.source} {edge.target} {edge.input_slot}": edge.output_slot for edge in found.edges}
    starts = {}
    for group in parse(found).iter(f"{SVG}g"):
        if group.get("data-edge", "").startswith(f"{split} "):
            points, _ = trace(group.find(f"{SVG}path").get("d"))
            starts[slots[group.get("data-edge")]] = points[0][0]
    assert list(dict(sorted(starts.items())).values()) == sorted(set(starts.values()))
    assert len(starts) == 3


def trace(path):
    """Return points along a path of M, V and C, 25 a piece, and those of them that lie on a C."""
    points, curved = [], []
    for command, arguments in re.findall(r"([MVC])([^MVC]*)", path):
        numbers = [float(part) for part in arguments.split()]
        if command == "M":
            points.append(tuple(numbers))
            continue
        x, y = points[-1]
        if command == "V":
            points += [(x, y + (numbers[0] - y) * n / 25) for n in range(1, 26)]
            continue
        corners = [(x, y), *zip(numbers[::2], numbers[1::2], strict=True)]
        for n in range(1, 26):
            t = n / 25
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            points.append(
                tuple(sum(w * corner[axis] for w, corner in zip(weights, corners, strict=True)) for axis in (0, 1))
            )
        points[-1] = corners[-1]
        curved += points[-25:]
    return points, curved


# The local derivatives on the arrows, and the paths


def scalars(*values):
    return [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in values]


def test_the_local_derivatives_of_the_articles_graph_are_6_3_and_y():
    """Held against finite differences of each function; the products along the path are the gradients."""
    output, params, _ = chain()
    found = graph(output, params)
    functions = {"PowBackward0": lambda x: x**2, "MulBackward0": lambda a, b: a * b}
    eps, checked = 1e-6, []
    for edge in found.edges[1:]:
        target = found.node(edge.target)
        values = [float(found.node(edge.source).value.tensor)]
        if target.label == "MulBackward0":  # the other factor: its value over this one
            values.append(float(target.value.tensor) / values[0])
        slope = [functions[target.label](values[0] + way * eps, *values[1:]) for way in (1, -1)]
        assert edge.derivative == pytest.approx((slope[0] - slope[1]) / (2 * eps), rel=1e-6)
        checked.append(edge.derivative)
    assert sorted(checked) == [3, 5, 6, 27]
    labels = [text.text for text in parse(found).findall(f"{SVG}g[@data-edge]/{SVG}text")]
    assert sorted(labels) == ["× 27", "× 3", "× 5", "× 6"], "on the arrows"
    x = labelled(found, "x")
    assert found.paths[x.id] == say("paths", count=1, label="x", sum="1 · 5 · 3 · 6 = 90")
    title = parse(found).find(f"{SVG}g[@data-node='{x.id}']/{SVG}title").text
    assert found.paths[x.id] in title, "also read in the saved drawing"


def test_several_paths_add_up():
    x, y = scalars(3.0, 2.0)
    found = graph(x * x - x * y, {"x": x, "y": y})
    ids = {node.label: node.id for node in found.nodes}
    terms = "1 · (−1) · 2 + 1 · 1 · 3 + 1 · 1 · 3 = 4"
    assert found.paths[ids["x"]] == say("paths", count=3, label="x", sum=terms)
    found = graph((x + x) * (1 / 6), {"x": x})
    reported = say("paths", count=2, label="x", sum="1 · 0.17 · 1 + 1 · 0.17 · 1 ≈ 0.33")
    assert found.paths[found.nodes[-1].id] == reported, "what is rounded is not equal"
    many = x
    for _ in range(70):
        many = many + many
    found = graph(many, {"x": x})
    assert found.paths[found.nodes[-1].id].startswith(f"{2**70} paths")
    assert found.paths[found.nodes[-1].id].endswith(f"+ … ≈ {format_number(2.0**70)}.")


def test_where_values_are_tensors_the_size_of_the_jacobian_stands_there():
    for case in ("diamond", "mlp", "cnn", "convviz rotate", "new style", "broadcasting", "twice", "views"):
        _, _, _, found = read(case)
        svg = parse(found)
        for edge in found.edges[1:]:
            ends = found.node(edge.target).slots[0], found.node(edge.source).slots[edge.output_slot]
            sizes = [(slot.value or slot.gradient).elements for slot in ends]
            key = f"{edge.source} {edge.target} {edge.input_slot}"
            label = svg.find(f"{SVG}g[@data-edge='{key}']/{SVG}text")
            if sizes != [1, 1]:
                assert edge.derivative is None, case
                assert label.text == f"× J {sizes[0]}×{sizes[1]}", case


def test_every_path_sentence_is_true():
    """The factors that are written, multiplied out as Jacobians by torch, are the gradient that autograd gives."""
    x = leaf(3, dtype=torch.float64)
    w = leaf(2, 3, seed=1, dtype=torch.float64)
    hidden = (w @ x).sin()
    found = graph((hidden * hidden).sum(), {"x": x, "w": w})
    id = next(node.id for node in found.nodes if node.label == "x")
    assert "1 · J 1×2 · J 2×2 · J 2×2 · J 2×3 + 1 · J 1×2 · J 2×2 · J 2×2 · J 2×3 = [3]" in found.paths[id]
    inner = torch.autograd.functional.jacobian(lambda x: w @ x, x)
    slope = torch.autograd.functional.jacobian(torch.sin, w @ x)
    one = torch.ones(1, 2, dtype=torch.float64) @ torch.diag(hidden) @ slope @ inner
    gradient = labelled(found, "x").gradient.tensor
    torch.testing.assert_close((one + one).flatten().detach(), gradient)


def test_nothing_is_claimed_behind_a_hook_or_several_outputs():
    for x in (scalars(3.0)[0], leaf(3)):
        middle = x * 2
        middle.register_hook(lambda gradient: gradient * 7)
        found = graph((middle.exp() + middle).sum(), {"x": x, "middle": middle})
        labels = [found.node(id).label for id in found.paths]
        assert labels == ["SumBackward0", "AddBackward0", "ExpBackward0"], "neither middle nor x behind it"
    for case in ("old style", "cat and split"):
        found = read(case)[-1]
        several = {node.id for node in found.nodes if len(node.slots) > 1}
        assert several
        assert not several & found.paths.keys(), case


def test_the_search_for_local_derivatives_runs_no_hook_and_survives_a_backward_that_works_once():
    class Once(torch.autograd.Function):
        calls = 0

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad_output):
            Once.calls += 1
            if Once.calls > 1:
                raise RuntimeError("once only")
            return grad_output * 2

    (x,) = scalars(3.0)
    heard = []
    x.register_hook(heard.append)
    found = graph(Once.apply(x) * 5, {"x": x})
    assert len(heard) == 1
    assert float(found.nodes[-1].gradient.tensor) == 10
    assert [edge.derivative for edge in found.edges[1:]] == [5.0, None]


def test_text_is_escaped():
    x, y, z = leaf(2), leaf(3, 1, seed=1), leaf(1, seed=2)
    found = graph(x * y * z, {"<a&b>\"'": x, "</svg><script>": y, "nul\x00\x1b\ud800": z})
    text = found.to_svg()
    assert "<script" not in text
    labels = {
        group.findall(f"{SVG}text")[0].text
        for group in ElementTree.fromstring(text).iter(f"{SVG}g")
        if group.get("data-node")
    }
    assert {"<a&b>\"'", "</svg><script>", "nul���"} <= labels
    text.encode("utf-8")


def test_the_numbers_of_a_box():
    svg = parse(read("chain")[-1])
    lines = {
        group.get("data-node"): [text.text for text in group.findall(f"{SVG}text")]
        for group in svg.iter(f"{SVG}g")
        if group.get("data-node")
    }
    assert lines["n4"] == ["PowBackward0", "5", "scalar float32", "value 9", "grad 15"]
    x = torch.tensor([[-1.0, 2.5], [0.125, 4.0]], requires_grad=True)
    boxes = graph((x * torch.ones(3, 2, 2)).sum(), {"x": x}).to_svg()
    assert "value −1, 2.5, 0.13, 4<" in boxes
    assert "grad all 1<" in boxes
    assert "value −1…4, mean 1.41<" in boxes
    assert "[2, 2] float32<" in boxes


def test_text_stays_within_its_box():
    x, y = leaf(2), leaf(2, seed=1)
    names = {"a_parameter_with_a_name_that_no_box_can_hold_in_full": x, "卷积核的权重卷积核的权重卷积核的权重": y}
    found = graph((x * y) @ leaf(2, 5, seed=2), names)
    svg = parse(found)
    boxes = boxes_of(svg)
    for group in svg.findall(f"{SVG}g[@data-node]"):
        for text in group.findall(f"{SVG}text"):
            x, _, w, _ = boxes[group.get("data-node")]
            wide = sum(2 if letter > "⺀" else 1 for letter in text.text) * 0.61 * float(text.get("font-size", 12))
            at = float(text.get("x"))
            assert at >= x
            assert at + (0 if text.get("text-anchor") else wide) <= x + w
    assert "a_parameter_with_a_name_that_no_box_can_hold_in_full\n" in found.to_svg()  # whole in the tooltip


@pytest.mark.parametrize("name", PALETTES)
def test_text_has_contrast(name):
    palette = PALETTES[name]

    def ratio(one, other):
        light, dark = sorted((theme.luminance(theme.rgb(one)), theme.luminance(theme.rgb(other))), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    for fill in (palette[kind] for kind in ("output", "function", "leaf", "rest")):
        for ink in (palette[use] for use in ("ink", "muted", "gradient")):
            assert ratio(ink, fill) >= 4.5
    assert ratio(palette["muted"], palette["paper"]) >= 4.5
    assert ratio(palette["arrow"], palette["paper"]) >= 3  # lines: what WCAG asks of graphics
    drawn = set(re.findall(r"#[0-9a-f]{6}", read("cnn")[-1].to_svg(theme=name)))
    assert drawn == set(palette.values()), "no colour but these"


def test_the_convolutions_box_says_that_it_opens():
    svg = parse(read("cnn")[-1])
    (group,) = [group for group in svg.iter(f"{SVG}g") if "data-opens-into" in group.attrib]
    assert group.get("data-opens-into").split() == list(OPENS_INTO)
    assert group.findall(f"{SVG}text")[0].text == "ConvolutionBackward0 ▸"
