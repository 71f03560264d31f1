"""What torch's functions were called with, by the names of their arguments: most of them have no signature to ask."""

from typing import Any

import torch

_CONVOLUTION = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
_TRANSPOSED = ("input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation")
_MAX_POOL = ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
_AVG_POOL = ("input", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
_REDUCTION = ("input", "dim", "keepdim")

SIGNATURES: dict[str, tuple[str, ...]] = {
    **{f"conv{n}d": _CONVOLUTION for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _TRANSPOSED for n in (1, 2, 3)},
    **{f"max_pool{n}d": _MAX_POOL for n in (1, 2, 3)},
    **{f"avg_pool{n}d": _AVG_POOL for n in (1, 2, 3)},
    **{f"lp_pool{n}d": ("input", "norm_type", "kernel_size", "stride", "ceil_mode") for n in (1, 2, 3)},
    **{f"adaptive_{which}_pool{n}d": ("input", "output_size") for which in ("avg", "max") for n in (1, 2, 3)},
    **dict.fromkeys(("mean", "sum", "amax", "amin", "logsumexp", "var", "std"), _REDUCTION),
    "linear": ("input", "weight", "bias"),
    "batch_norm": ("input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"),
    "layer_norm": ("input", "normalized_shape", "weight", "bias", "eps"),
    "group_norm": ("input", "num_groups", "weight", "bias", "eps"),
    "interpolate": (
        *("input", "size", "scale_factor", "mode", "align_corners", "recompute_scale_factor", "antialias"),
    ),
    "upsample": ("input", "size", "scale_factor", "mode", "align_corners"),
    "pad": ("input", "pad", "mode", "value"),
    "cat": ("tensors", "dim"),
    "softmax": ("input", "dim"),
    "log_softmax": ("input", "dim"),
    "glu": ("input", "dim"),
    "transpose": ("input", "dim0", "dim1"),
    "narrow": ("input", "dim", "start", "length"),
    "select": ("input", "dim", "index"),
    "chunk": ("input", "chunks", "dim"),
    "split": ("input", "split_size_or_sections", "dim"),
    "unbind": ("input", "dim"),
    "getitem": ("input", "index"),
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "cat": {"dim": 0},
    **{f"lp_pool{n}d": {"ceil_mode": False} for n in (1, 2, 3)},
}
# Other names under which torch calls them.
ALIASES = {
    "concat": "cat",
    "concatenate": "cat",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "true_divide": "div",
    "multiply": "mul",
    "subtract": "sub",
    "negative": "neg",
    "_pad": "pad",
    "upsample_nearest": "upsample",
    "upsample_bilinear": "upsample",
    "unsafe_chunk": "chunk",
    "unsafe_split": "split",
    "iadd": "add",
    "isub": "sub",
    "imul": "mul",
    "itruediv": "div",
    "radd": "add",
    "rmul": "mul",
    "truediv": "div",
    "data": "detach",
    "T": "t",
}


def kind_of(func: Any) -> str:
    """Return the name of an operation: ``relu_`` and ``torch.relu`` are both relu, ``x[0]`` is getitem."""
    name = str(getattr(func, "__name__", type(func).__name__))
    if name == "__get__":  # an attribute such as x.T
        name = str(getattr(getattr(func, "__self__", None), "__name__", name))
    for end in ("_with_indices", "_"):
        name = name if name.startswith("__") else name.removesuffix(end)
    name = name.strip("_") or name
    return ALIASES.get(name, name)


def bind(kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by name, with sizes in place of tensors; those without a name by their number."""
    names = SIGNATURES.get(kind, ("input",))
    named: dict[str, Any] = {str(place): value for place, value in enumerate(args[len(names) :], len(names))}
    bound = {**DEFAULTS.get(kind, {}), **dict(zip(names, args, strict=False)), **named}
    bound |= {"dim" if name == "axis" else name: value for name, value in kwargs.items()}
    return {name: sized(value) for name, value in bound.items()}


def sized(value: Any) -> Any:
    """Return a value with the size of each tensor in its place: what is kept must not keep numbers alive."""
    if isinstance(value, torch.Tensor):
        return value.shape
    if type(value) in (tuple, list):
        return type(value)(map(sized, value))
    return value
