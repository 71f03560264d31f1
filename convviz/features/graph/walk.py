"""The nodes of an autograd graph, each once, in an order that both passes can follow."""

import torch

from convviz.ops.autograd_functions import Convolution

Function = torch.autograd.graph.Node  # what torch calls a node of the graph: a grad_fn, or a leaf's AccumulateGrad

LIMIT = 500  # nodes of a picture: of a larger graph a part is shown
OPENS_INTO = ("dilated_grad_output", "padded_grad_output", "rotated_weight", "grad_input")


def walk(root: Function) -> list[Function]:
    """No node stands before its consumers."""
    finished: list[Function] = []
    seen = {root}
    path = [(root, _inputs(root))]  # a list, not recursion: a chain of a thousand functions is no rarity
    while path:
        function, inputs = path[-1]
        if not inputs:
            finished.append(function)
            path.pop()
            continue
        following = inputs.pop()
        if following not in seen:
            seen.add(following)
            path.append((following, _inputs(following)))
    return finished[::-1]


def nearest(functions: list[Function], most: int) -> list[Function]:
    """Return the ``most`` functions nearest to the output by the longest way, so that the gradient of each is whole."""
    steps = dict.fromkeys(functions, 0)
    for function in functions:
        for source, _ in function.next_functions:
            if source is not None:
                steps[source] = max(steps[source], steps[function] + 1)
    near = set(sorted(functions, key=steps.__getitem__)[:most])
    return [function for function in functions if function in near]


def _inputs(function: Function) -> list[Function]:
    return [source for source, _ in reversed(function.next_functions) if source is not None]


def leaf_of(function: Function) -> torch.Tensor | None:
    """Return the leaf tensor whose .grad this node fills, None for a function."""
    variable = getattr(function, "variable", None) if name_of(function) == "AccumulateGrad" else None
    return variable if isinstance(variable, torch.Tensor) else None


def name_of(function: Function) -> str:
    """Return torch's name without the C++ namespace."""
    return function.name().rpartition("::")[2]


def forward_class(function: Function) -> type[torch.autograd.Function] | None:
    """Return the custom Function, None for torch's own."""
    return getattr(type(function), "_forward_cls", None)


def is_convolution(function: Function) -> bool:
    """Return whether this node is a 2-D convolution, torch's or our own, and not transposed."""
    if forward_class(function) is Convolution:
        return True
    if name_of(function) != "ConvolutionBackward0":
        return False
    # A pair of strides means 2-D: unlike the saved input it can be read after the graph was freed.
    return len(getattr(function, "_saved_stride", ())) == 2 and not getattr(function, "_saved_transposed", True)


def opens_into(function: Function) -> tuple[str, ...]:
    """Return the stages inside the box; () when it has none, as where its input needs no gradient."""
    return OPENS_INTO if is_convolution(function) and function.next_functions[0][0] is not None else ()
