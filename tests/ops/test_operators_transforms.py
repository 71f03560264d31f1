"""The operators inside the rest of torch: autograd's own rules, torch.func, torch.compile, autocast, checkpointing."""

import gc
import itertools
import re
import weakref

import pytest
import torch
import torch.nn.functional as F
from torch.func import grad, hessian, jacrev, jvp, vmap

from convviz.ops import by_rotate, by_taps, by_unfold
from convviz.ops.linear import Product
from convviz.ops.methods import METHODS as IMPLEMENTED
from convviz.ops.methods import Method, one_by_one
from tests.geometries import integers, reals
from tests.operator_cases import METHODS, OPS, prepared, results, same

every_op = pytest.mark.parametrize("op", OPS)
every_method = pytest.mark.parametrize("method", METHODS)


# Autograd: derivatives of every order, and nothing that was not asked for.


@every_op
def test_gradcheck_and_gradgradcheck(op):
    """By one method: what all compute, up to third derivatives, is torch's, see below."""
    function, _, tensors = prepared(op, "rotate", reals)
    leaves = [tensor.requires_grad_() for tensor in tensors]
    assert torch.autograd.gradcheck(function, leaves, fast_mode=True)
    assert torch.autograd.gradgradcheck(function, leaves, fast_mode=True)


@every_op
def test_third_derivatives_are_torchs(op):
    def third(function, tensors):
        """Of the sum of the cubes, which is not linear in anything."""
        leaves = [tensor.clone().requires_grad_() for tensor in tensors]
        total = (function(*leaves) ** 3).sum()
        for order in range(3):
            gradients = torch.autograd.grad(total, leaves, create_graph=order < 2, allow_unused=True)
            total = sum((gradient * (order + n + 1)).sum() for n, gradient in enumerate(gradients))
        return gradients

    for method in METHODS:
        ours, theirs, tensors = prepared(op, method)
        tensors = [tensor / 4 for tensor in tensors]  # so that whole sums stay below 2^53
        assert same(third(ours, tensors), third(theirs, tensors)), method


def counted(monkeypatch, method):
    """Put a counter before the method's three computations and before linear's product; return the list of calls."""
    calls = []

    def note(name, function):
        return lambda *args: (calls.append(name), function(*args))[1]

    old = IMPLEMENTED[method]
    module = {"taps": by_taps, "unfold": by_unfold, "rotate": by_rotate}.get(method)

    def by_mask(*args):
        calls.extend(name for name, wanted in zip(("grad_input", "grad_weight"), args[-1], strict=False) if wanted)
        return old.backward(*args)

    pair = (note(name, getattr(module, name)) for name in ("grad_input", "grad_weight")) if module else None
    new = Method(note("conv2d", old.conv2d), one_by_one(*pair) if pair else by_mask, old.knows_borders)
    monkeypatch.setitem(IMPLEMENTED, method, new)
    monkeypatch.setattr(Product, "forward", staticmethod(note("product", Product.forward)))
    return calls


# op → what its forward pass runs, and what the backward pass runs for each of its tensors
RUNS = {
    "conv2d": ("conv2d", "grad_input", "grad_weight", None),
    "conv2d, reflect": ("conv2d", "grad_input", "grad_weight", None),
    "conv_transpose2d": ("grad_input", "conv2d", "grad_weight", None),
    "conv2d_input": ("grad_input", "grad_weight", "conv2d"),
    "conv2d_weight": ("grad_weight", "grad_input", "conv2d"),
    "linear": ("product", "product", "product", None),
}


@every_method
@pytest.mark.parametrize("op", RUNS)
def test_only_the_gradients_asked_for_are_computed(op, method, monkeypatch):
    """Frozen weights cost no grad_weight, and a first layer no grad_input."""
    forward, *behind = RUNS[op]
    calls = counted(monkeypatch, method)
    function, _, tensors = prepared(op, method)
    for trained in itertools.product([True, False], repeat=len(tensors)):
        calls.clear()
        output = function(*(t.detach().requires_grad_(flag) for t, flag in zip(tensors, trained, strict=True)))
        assert calls == [forward]
        if any(trained):
            output.sum().backward()
        asked = [run for run, flag in zip(behind, trained, strict=True) if flag and run]
        assert sorted(calls[1:]) == sorted(asked), trained


@every_method
@every_op
def test_without_gradients_there_is_no_graph(op, method):
    function, theirs, tensors = prepared(op, method)
    truth = theirs(*tensors)
    plain = function(*tensors)
    assert plain.grad_fn is None
    assert not plain.requires_grad
    leaves = [tensor.clone().requires_grad_() for tensor in tensors]
    with torch.no_grad():
        silent = function(*leaves)
    assert not silent.requires_grad
    with torch.inference_mode():
        inferred = function(*leaves)
        assert inferred.is_inference()
        assert same([plain, silent, inferred], [truth] * 3)


@every_method
@every_op
def test_the_output_may_be_changed_in_place(op, method):
    """What torch.nn.ReLU(inplace=True) does to a layer's output."""
    function, theirs, tensors = prepared(op, method)
    g = integers(tuple(theirs(*tensors).shape), 9)
    layouts = [tensors] if op == "linear" else [tensors, [last(tensor) for tensor in tensors]]
    for arranged in layouts:
        ours = results(lambda *t: function(*t).relu_(), arranged, g)
        assert same(ours, results(lambda *t: theirs(*t).relu_(), arranged, g))


def last(tensor):
    return tensor.to(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor


@every_method
@every_op
def test_a_change_in_place_before_the_backward_pass_is_refused_or_does_no_harm(op, method):
    """Harmless where it was not saved: a bias, or an input of which the padding made a copy."""
    function, _, tensors = prepared(op, method)
    truth = results(function, tensors, torch.ones_like(function(*tensors)))[1:]
    refused = []
    for position in range(len(tensors)):
        leaves = [tensor.clone().requires_grad_() for tensor in tensors]
        changed = [leaf * 1 for leaf in leaves]
        output = function(*changed)
        changed[position].add_(1)
        try:
            assert same(torch.autograd.grad(output.sum(), leaves), truth), position
        except RuntimeError as error:
            if not re.search("modified .*inplace", str(error)):
                raise
            refused.append(position)
    assert refused


@every_method
@every_op
def test_the_graph_is_used_once_and_freed_without_the_garbage_collector(op, method):
    function, _, tensors = prepared(op, method)
    leaves = [tensor.clone().requires_grad_() for tensor in tensors]
    total = function(*leaves).sum()
    total.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        total.backward()

    roots = [leaf * 1 for leaf in leaves]
    alive = [weakref.ref(root) for root in roots]
    total = function(*roots).sum()
    collecting = gc.isenabled()
    gc.disable()
    try:
        del roots, total
        assert [reference() for reference in alive] == [None] * len(alive)
    finally:
        if collecting:
            gc.enable()


def test_checkpointing_computes_the_same_gradients():
    for method in METHODS:
        function, theirs, tensors = prepared("conv2d, reflect", method)
        g = integers(tuple(theirs(*tensors).shape), 9)
        again = lambda *t, f=function: torch.utils.checkpoint.checkpoint(f, *t, use_reentrant=False)  # noqa: E731
        assert same(results(again, tensors, g), results(theirs, tensors, g)), method


# torch.func


@every_method
@every_op
def test_vmap_over_any_of_the_tensors(op, method):
    function, theirs, tensors = prepared(op, method, copies=3)
    for mapped in itertools.product([True, False], repeat=len(tensors)):
        if not any(mapped):
            continue
        given = [t if flag else t[0] for t, flag in zip(tensors, mapped, strict=True)]
        one_by_one_ = [theirs(*(t[n] if flag else t for t, flag in zip(given, mapped, strict=True))) for n in range(3)]
        found = vmap(function, tuple(0 if flag else None for flag in mapped))(*given)
        assert same([found], [torch.stack(one_by_one_)]), mapped
    last_axis = [tensor.movedim(0, -1) for tensor in tensors]
    found = vmap(function, (-1,) * len(tensors), 1 if op != "linear" else -1)(*last_axis)
    assert torch.equal(found.movedim(1 if op != "linear" else -1, 0), torch.stack(list(map(theirs, *tensors))))


@every_method
@every_op
def test_vmap_of_grad_makes_gradients_per_sample(op, method):
    function, theirs, tensors = prepared(op, method, copies=3)
    every = tuple(range(len(tensors)))
    first = (0, *(None for _ in tensors[1:]))  # the data are mapped, the parameters are not
    given = [tensors[0], *(tensor[0] for tensor in tensors[1:])]
    found = vmap(grad(lambda *t: (function(*t) ** 2).sum(), every), first)(*given)
    one_by_one_ = [grad(lambda *t: (theirs(*t) ** 2).sum(), every)(sample, *given[1:]) for sample in tensors[0]]
    assert same(found, [torch.stack(gradients) for gradients in zip(*one_by_one_, strict=True)])


@every_method
@every_op
def test_jacrev_once_and_twice(op, method):
    function, theirs, tensors = prepared(op, method)
    every = tuple(range(len(tensors)))
    assert same(jacrev(function, every)(*tensors), jacrev(theirs, every)(*tensors))
    if method == "rotate":

        def twice(f):
            return jacrev(grad(lambda *t: (f(*t) ** 3).sum(), every), every)(*tensors)

        assert all(same(*rows) for rows in zip(twice(function), twice(theirs), strict=True))


@every_method
@every_op
def test_forward_mode_is_refused_in_words(op, method):
    """Also below reverse mode, as in a Hessian. With a jvp no Function can be compiled, and jacfwd twice would be 0."""
    function, _, tensors = prepared(op, method)
    for asked in (jvp, lambda f, tensors, _: hessian(lambda *t: f(*t).sum())(*tensors)):
        with pytest.raises(NotImplementedError, match=r"in reverse mode only: .*use torch\.func\.vjp or jacrev"):
            asked(function, tuple(tensors), tuple(tensors))


@every_method
@every_op
def test_torch_func_works_under_no_grad(op, method):
    """vmap then meets no graph at all, and grad makes one nevertheless."""
    function, theirs, tensors = prepared(op, method, copies=2)
    with torch.no_grad():
        assert same([vmap(function)(*tensors)], [torch.stack(list(map(theirs, *tensors)))])
        ours, torchs = (vmap(grad(lambda *t, f=f: (f(*t) ** 2).sum()))(*tensors) for f in (function, theirs))
    assert same([ours], [torchs])


# torch.compile


@pytest.fixture
def compiled():
    """Return torch.compile without a C++ compiler, and forget what was compiled."""
    torch._dynamo.reset()
    yield lambda function, **how: torch.compile(function, fullgraph=True, backend="aot_eager", **how)
    torch._dynamo.reset()


def compiled_alike(compiled, op, method, shapes, backward=True, **how):
    """Compile once, and compare with eager for each of the lists of shapes, backward as well for all or the first."""
    ours, _, _ = OPS[op]

    def function(*tensors):
        return ours(*tensors, method=method)

    fast = compiled(function, **how)
    for number, each in enumerate(shapes):
        tensors = [integers(shape, number + position) for position, shape in enumerate(each)]
        eager = function(*tensors)
        if not backward or (backward == "first" and number):
            assert same([fast(*tensors)], [eager])
            continue
        g = integers(tuple(eager.shape), 9)
        assert same(results(fast, tensors, g), results(function, tensors, g)), each


# A second shape, with as many channels: dynamo then compiles for any size, or once more.
LARGER = {
    "conv2d": [(3, 2, 6, 5), (4, 1, 2, 2), (4,)],
    "conv_transpose2d": [(2, 2, 4, 4), (2, 2, 2, 3), (4,)],
    "linear": [(5, 3), (4, 3), (4,)],
}
# What a method computes is all in conv2d and its backward pass; what an operator makes of it is the same by any method,
# and borders are added and folded outside of them: "aten" compiles in the shortest time.
COMPILED = [("conv2d", method) for method in METHODS]
COMPILED += [(op, "aten") for op in ("conv2d, reflect", "conv2d_input", "conv2d_weight", "convolution_backward")]
COMPILED += [(op, "aten") for op in ("conv_transpose2d", "conv_transpose2d, output_padding of the stride")]
COMPILED += [("linear", "rotate")]
# The first backward as well.
ANY_SIZE = [("conv2d", "rotate"), ("conv2d_weight", "rotate"), ("conv2d_input", "taps"), ("linear", "rotate")]


@pytest.mark.parametrize(("op", "method"), COMPILED)
def test_compiled_it_computes_what_it_computes_eagerly(op, method, compiled):
    """And takes a second shape; by taps the second has no backward pass, and by rotate it is of any size at once."""
    shapes = [OPS[op][2], *filter(None, [LARGER.get(op)])]
    shapes = shapes[:1] if (op, method) in ANY_SIZE[:1] else shapes
    compiled_alike(compiled, op, method, shapes, backward="first" if method == "taps" else True)


@pytest.mark.parametrize(("op", "method"), ANY_SIZE)
def test_compiled_for_any_size_at_once(op, method, compiled):
    """Backward as well for conv2d; with conv2d_input by unfold that meets an internal error of dynamo (2.13)."""
    compiled_alike(compiled, op, method, [OPS[op][2]], dynamic=True, backward=op == "conv2d")


@every_method
def test_compiled_it_takes_every_size_of_batch_after_the_second(method):
    """Otherwise the ninth would be an error under fullgraph=True."""
    graphs = []

    def count(module, example):
        graphs.append(module)
        return module.forward

    torch._dynamo.reset()
    function, _, (_, w, b) = prepared("conv2d", method)
    fast = torch.compile(function, fullgraph=True, backend=count)
    for batch in (2, 3, 4, 7):
        x = integers((batch, 2, 4, 3), batch)
        assert same([fast(x, w, b)], [function(x, w, b)])
    torch._dynamo.reset()
    assert len(graphs) == 2


# autocast

AUTOCAST = {  # torch's very own, where the table has something else
    "conv_transpose2d": lambda x, w, b: F.conv_transpose2d(x, w, b, (2, 3), 1, (1, 2), 2),
    "conv_transpose2d, output_padding of the stride": lambda x, w, b: F.conv_transpose2d(x, w, b, 1, 1, (1, 2), 1, 3),
}


@every_method
@pytest.mark.parametrize("narrow", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("op", [op for op in OPS if op.startswith(("conv2d,", "conv_tr", "linear")) or op == "conv2d"])
def test_autocast_narrows_as_torch_does(op, narrow, method):
    """Outputs in the narrow dtype, gradients in the parameters' own; float64 stays as it is."""
    function, theirs, _ = prepared(op, method)
    theirs = AUTOCAST.get(op, theirs)
    for dtype in (torch.float32, torch.float64, narrow):
        tensors = [reals(shape, seed, dtype) for seed, shape in enumerate(OPS[op][2])]
        wanted = torch.float64 if dtype == torch.float64 else narrow
        with torch.autocast("cpu", dtype=narrow):
            output = theirs(*tensors)
        g = reals(tuple(output.shape), 9, wanted)
        with torch.autocast("cpu", dtype=narrow):
            ours, torchs = results(function, tensors, g), results(theirs, tensors, g)
        assert [t.dtype for t in ours] == [wanted, *(t.dtype for t in tensors)]
        assert same(ours, torchs, tolerance=8 * torch.finfo(wanted).eps), dtype


def test_autocast_narrows_the_gradient_functions_as_it_narrows_conv2d():
    for op, method in itertools.product(("conv2d_input", "conv2d_weight"), METHODS):
        function, theirs, tensors = prepared(op, method, lambda shape, seed: reals(shape, seed, torch.float32))
        truth = theirs(*tensors)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = function(*tensors)
        assert found.dtype == torch.bfloat16
        assert same([found.float()], [truth], tolerance=8 * torch.finfo(torch.bfloat16).eps), (op, method)
