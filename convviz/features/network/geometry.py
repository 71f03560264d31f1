"""Which cells of its sources a cell of an operation's output reads, from the arguments that torch was called with.

Each is a plain dict, ``how`` in front; axes are counted without the batch. Where an operation mixes samples, or is none
of these, it is unknown, and a field stops there. The statistics of a batch norm count as fixed numbers.
"""

import math
from collections.abc import Sequence
from typing import Any

Reads = dict[str, Any]
Shape = Sequence[int]

_SAME = """
    abs add addcdiv addcmul alpha_dropout batch_norm bfloat16 broadcast_to celu ceil clamp clamp_max clamp_min clip
    clone contiguous copy cos cosh cpu cuda detach div double dropout dropout1d dropout2d dropout3d elu erf erfc exp
    exp2 expand expand_as expm1 feature_alpha_dropout feature_dropout fill float floor gelu half hardshrink hardsigmoid
    hardswish hardtanh leaky_relu lerp log log10 log1p log2 logsigmoid masked_fill maximum minimum mish mul nan_to_num
    neg positive pow prelu rdiv reciprocal relu relu6 round rpow rrelu rsqrt rsub rtruediv selu sigmoid sign silu sin
    sinh softplus softshrink softsign sqrt square sub tan tanh tanhshrink threshold to trunc type type_as where xlogy"""
SAME = frozenset(_SAME.split())
RESHAPE = ("flatten", "reshape", "reshape_as", "squeeze", "unflatten", "unsqueeze", "view", "view_as")
REDUCE = ("amax", "amin", "logsumexp", "mean", "std", "sum", "var")
LOSSES = ("cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div")
UNKNOWN: Reads = {"how": "unknown"}


class Unbatched(Exception):
    """A convolution got one image without a batch axis."""


def reads(kind: str, call: dict[str, Any], sources: Sequence[Shape], out: Shape, batch: int | None, part: int) -> Reads:
    """Return how an operation reads; shapes are whole, ``batch`` is the size of their first axis, None without it.

    ``part`` is the place of this output among those of the call.
    """
    if not len(out) and sources and (kind in REDUCE or kind.startswith("binary_cross_entropy") or kind in LOSSES):
        return {"how": "all"}  # one number of all there is
    if not sources or not all(_batched(shape, batch) for shape in (*sources, out)):
        return UNKNOWN
    skip = 0 if batch is None else 1
    find = _FINDERS.get(kind)
    if find is None:
        find = next((_POOLS[name] for name in _POOLS if kind.startswith(name)), None)
    if find is None:
        find = _same if kind in SAME else _reshape if kind in RESHAPE else _reduce if kind in REDUCE else None
    if len(sources) > 1 and find not in (_same, _concat):
        return UNKNOWN  # such as a weight that the model computes from its input
    try:
        return UNKNOWN if find is None else find(call, [s[skip:] for s in sources], out[skip:], skip, part)
    except (KeyError, TypeError, IndexError, ValueError):  # an argument of another kind than torch documents
        return UNKNOWN


def lacks_batch(kind: str, sources: Sequence[Shape]) -> bool:
    """Return whether a convolution or a pooling got one image without a batch axis."""
    if not kind.startswith(("conv", "max_pool", "avg_pool", "lp_pool", "adaptive_")) or kind[-1:] != "d":
        return False
    return kind[-2].isdigit() and bool(sources) and len(sources[0]) == int(kind[-2]) + 1


def _batched(shape: Shape, batch: int | None) -> bool:
    return batch is None or (len(shape) > 0 and shape[0] == batch)


def _same(_: dict[str, Any], sources: list[Shape], out: Shape, __: int, ___: int) -> Reads:
    """Elementwise, also where an axis is broadcast."""
    for shape in sources:
        lined_up = zip(reversed(shape), reversed(out), strict=False)
        if len(shape) > len(out) or any(size not in (1, of) for size, of in lined_up):
            return UNKNOWN
    return {"how": "same"}


def _reshape(_: dict[str, Any], sources: list[Shape], out: Shape, __: int, ___: int) -> Reads:
    return {"how": "reshape"} if math.prod(sources[0]) == math.prod(out) else UNKNOWN


def _convolution(call: dict[str, Any], sources: list[Shape], out: Shape, _: int, __: int) -> Reads:
    kernel = list(call["weight"])[2:]
    stride, dilation = _each(call.get("stride", 1), kernel), _each(call.get("dilation", 1), kernel)
    given = call.get("padding", 0)
    if given == "same":
        totals = [step * (size - 1) for step, size in zip(dilation, kernel, strict=True)]
        padding = [[total // 2, total - total // 2] for total in totals]
    else:
        padding = [[side, side] for side in _each(0 if given == "valid" else given, kernel)]
    return _window(kernel, stride, padding, dilation, groups=call.get("groups", 1))


def _transposed(call: dict[str, Any], sources: list[Shape], out: Shape, _: int, __: int) -> Reads:
    kernel = list(call["weight"])[2:]
    stride, dilation = _each(call.get("stride", 1), kernel), _each(call.get("dilation", 1), kernel)
    padding = [[side, side] for side in _each(call.get("padding", 0), kernel)]
    return _window(kernel, stride, padding, dilation, groups=call.get("groups", 1), transposed=True)


def _pool(call: dict[str, Any], sources: list[Shape], out: Shape, _: int, __: int) -> Reads:
    axes = [0] * (len(out) - 1)
    kernel = _each(call["kernel_size"], axes)
    given = call.get("stride")
    stride = kernel if given is None or given == [] else _each(given, axes)
    padding = [[side, side] for side in _each(call.get("padding", 0), axes)]
    made = _window(kernel, stride, padding, _each(call.get("dilation", 1), axes), per_channel=True)
    if call.get("divisor_override"):
        return {**made, "divisor": call["divisor_override"]}
    return made if call.get("count_include_pad", True) else {**made, "divisor": 0}


def _window(kernel: list[int], stride: list[int], padding: list[list[int]], dilation: list[int], **more: Any) -> Reads:
    made = {"how": "window", "kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation}
    return {**made, "groups": 1, "per_channel": False, "transposed": False, "mode": "zeros", **more}


def _adaptive(_: dict[str, Any], sources: list[Shape], out: Shape, __: int, ___: int) -> Reads:
    return {"how": "adaptive", "size": list(out[1:]), "per_channel": True}


def _interpolate(call: dict[str, Any], sources: list[Shape], out: Shape, _: int, __: int) -> Reads:
    axes = out[1:]
    given = call.get("scale_factor")
    # Without recompute_scale_factor torch reads with the factor itself, not with the ratio of the sizes.
    ratio = [of / size for of, size in zip(axes, sources[0][1:], strict=True)]
    scale = ratio if given is None or call.get("recompute_scale_factor") else [float(s) for s in _each(given, axes)]
    made = {"how": "upsample", "scale": scale, "mode": call.get("mode", "nearest")}
    return made | ({"align_corners": True} if call.get("align_corners") else {})


def _pad(call: dict[str, Any], sources: list[Shape], out: Shape, skip: int, _: int) -> Reads:
    pairs = list(call["pad"])
    pairs = [[before, after] for before, after in zip(pairs[::2], pairs[1::2], strict=True)][::-1]
    padding = [[0, 0]] * (len(out) - len(pairs)) + pairs  # torch names the last axis first
    if len(padding) != len(out):
        return UNKNOWN  # of the batch too
    if padding[0] != [0, 0]:
        only = all(pair == [0, 0] for pair in padding[1:]) and min(padding[0]) >= 0
        zeros = call.get("mode", "constant") == "constant"
        return {"how": "concat", "axis": 0, "offsets": [padding[0][0]]} if only and zeros else UNKNOWN
    ones = [1] * (len(out) - 1)
    mode = call.get("mode", "constant")
    mode = "zeros" if mode == "constant" else mode
    return _window(ones, ones, padding[1:], ones, per_channel=True, mode=mode)


def _concat(call: dict[str, Any], sources: list[Shape], out: Shape, skip: int, _: int) -> Reads:
    axis = _axis(call["dim"], out, skip)
    if len(sources) != len(call["tensors"]) or any(len(shape) != len(out) for shape in sources):
        return UNKNOWN  # with tensors that no input reaches; or an empty one
    offsets = [sum(shape[axis] for shape in sources[:place]) for place in range(len(sources))]
    return {"how": "concat", "axis": axis, "offsets": offsets}


def _linear(_: dict[str, Any], sources: list[Shape], out: Shape, __: int, ___: int) -> Reads:
    return {"how": "all"} if len(out) == 1 else {"how": "all", "axes": [len(out) - 1]}


def _over_dim(call: dict[str, Any], sources: list[Shape], out: Shape, skip: int, _: int) -> Reads:
    return {"how": "all"} if len(out) == 1 else {"how": "all", "axes": [_axis(call["dim"], out, skip)]}


def _layer_norm(call: dict[str, Any], sources: list[Shape], out: Shape, _: int, __: int) -> Reads:
    last = len(call["normalized_shape"])
    return {"how": "all", "axes": list(range(len(out) - last, len(out)))}


def _instance_norm(_: dict[str, Any], sources: list[Shape], out: Shape, __: int, ___: int) -> Reads:
    return {"how": "all", "per_channel": True, "axes": list(range(1, len(out)))}


def _group_norm(call: dict[str, Any], sources: list[Shape], out: Shape, _: int, __: int) -> Reads:
    return {"how": "all", "groups": int(call["num_groups"])}


def _reduce(call: dict[str, Any], sources: list[Shape], out: Shape, skip: int, _: int) -> Reads:
    source, given = sources[0], call.get("dim")
    if given is None or given == [] or given == ():
        return UNKNOWN  # over the samples, too
    axes = sorted(_axis(each, source, skip) for each in ([given] if isinstance(given, int) else given))
    made: Reads = {"how": "all", "per_channel": 0 not in axes, "axes": axes}
    return made if len(out) == len(source) else made | {"drop": axes}


def _permute(call: dict[str, Any], sources: list[Shape], out: Shape, skip: int, _: int) -> Reads:
    given = call.get("dims", call.get("1"))
    order = list(given) if isinstance(given, (tuple, list)) else [call[str(n)] for n in range(1, len(out) + skip + 1)]
    rank = len(out) + skip
    order = [axis % rank for axis in order]
    return {"how": "permute", "order": [axis - skip for axis in order[skip:]]} if not skip or order[0] == 0 else UNKNOWN


def _transpose(call: dict[str, Any], sources: list[Shape], out: Shape, skip: int, _: int) -> Reads:
    order = list(range(len(out)))
    first, second = (_axis(call[name], out, skip) for name in ("dim0", "dim1"))
    order[first], order[second] = order[second], order[first]
    return {"how": "permute", "order": order}


def _getitem(call: dict[str, Any], sources: list[Shape], out: Shape, skip: int, _: int) -> Reads:
    index = call["index"] if isinstance(call["index"], tuple) else (call["index"],)
    index = tuple(each for each in index if each is not None)  # a new axis has the same cells
    rank = len(sources[0]) + skip
    if Ellipsis in index:
        at = index.index(Ellipsis)
        index = (*index[:at], *[slice(None)] * (rank - len(index) + 1), *index[at + 1 :])
    index = (*index, *[slice(None)] * (rank - len(index)))
    if len(index) != rank or (skip and index[0] != slice(None)):
        return UNKNOWN
    taken = []
    for each, size in zip(index[skip:], sources[0], strict=True):
        if isinstance(each, slice):
            taken.append(range(*each.indices(size)))
        elif isinstance(each, int) and not isinstance(each, bool):
            taken.append(range(each % size, each % size + 1))
        else:
            return UNKNOWN
    return _slice(taken)


def _slice(taken: list[range]) -> Reads:
    """``taken``: how much along each axis of the source; the output may have fewer axes, or more."""
    start, step = [each.start for each in taken], [each.step for each in taken]
    return {"how": "slice", "start": start, "step": step, "taken": [len(each) for each in taken]}


def _part(source: Shape, axis: int, start: int, size: int) -> Reads:
    return _slice([range(start, start + size) if at == axis else range(full) for at, full in enumerate(source)])


def _select(call: dict[str, Any], sources: list[Shape], out: Shape, skip: int, part: int) -> Reads:
    axis = _axis(call.get("dim", 0), sources[0], skip)
    return _part(sources[0], axis, call["index"] % sources[0][axis] if "index" in call else part, 1)


def _narrow(call: dict[str, Any], sources: list[Shape], out: Shape, skip: int, _: int) -> Reads:
    axis = _axis(call["dim"], out, skip)
    return _part(sources[0], axis, call["start"] % sources[0][axis], out[axis])


def _split(call: dict[str, Any], sources: list[Shape], out: Shape, skip: int, part: int) -> Reads:
    axis, sizes = _axis(call.get("dim", 0), out, skip), call.get("split_size_or_sections", call.get("split_size"))
    if isinstance(sizes, (list, tuple)):
        before = sum(sizes[:part])
    else:
        before = (-(-sources[0][axis] // call["chunks"]) if sizes is None else sizes) * part
    return _part(sources[0], axis, before, out[axis])


def _axis(dim: int, shape: Shape, skip: int) -> int:
    """Return an axis counted without the batch; that of the batch itself is refused."""
    axis = dim - skip if dim >= 0 else dim + len(shape)
    if not 0 <= axis < len(shape):
        raise ValueError(dim)
    return axis


def _each(value: Any, axes: Sequence[Any]) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return list(value) if len(value) == len(axes) else list(value) * len(axes)
    return [value] * len(axes)


_POOLS = {"max_pool": _pool, "avg_pool": _pool, "lp_pool": _pool, "adaptive_": _adaptive}
_FINDERS = {
    **{f"conv{n}d": _convolution for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _transposed for n in (1, 2, 3)},
    "interpolate": _interpolate,
    "upsample": _interpolate,
    "pad": _pad,
    "cat": _concat,
    "linear": _linear,
    "softmax": _over_dim,
    "log_softmax": _over_dim,
    "layer_norm": _layer_norm,
    "instance_norm": _instance_norm,
    "group_norm": _group_norm,
    "permute": _permute,
    "transpose": _transpose,
    "getitem": _getitem,
    "select": _select,
    "unbind": _select,
    "narrow": _narrow,
    "chunk": _split,
    "split": _split,
}
