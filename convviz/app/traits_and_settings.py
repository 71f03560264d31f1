"""Settings and results by torch's names: what a trait of the app reads, and what setting it makes of the settings."""

from dataclasses import fields
from typing import Any

import torch

from convviz.app.start_settings import check_shapes, given_source, read_tensor
from convviz.facts.loss_inputs import GIVEN, kinds_taken, losses_with
from convviz.geometry.spec import ConvSpec
from convviz.ops.devices_and_dtypes import check_device, check_dtype
from convviz.ops.stages import Stages
from convviz.settings.link_values import folded
from convviz.settings.schema import FIELD_OF, PAIRS
from convviz.settings.state import KINDS, Settings
from convviz.settings.tensor_display_names import shown_name
from convviz.settings.tensor_source import Source
from convviz.settings.transposed import layer_pair, layer_spec

GEOMETRY = tuple(name for name, field in FIELD_OF.items() if field.spec or field.layer)
TENSORS = tuple(name for name, field in FIELD_OF.items() if field.kind in ("source", "bias"))
PLAIN = tuple(name for name in FIELD_OF if name not in (*GEOMETRY, *TENSORS))
SETTABLE = (*GEOMETRY, *TENSORS, *PLAIN)
RESULTS = (
    *("padded_input", "dilated_input", "output", "rotated_weight", "dilated_grad_output", "padded_grad_output"),
    *("grad_input", "grad_weight", "grad_bias", "loss_value"),
)
ON_PAGE = (*GEOMETRY, *PLAIN, "loss_value")  # the traits that have no tensor
# What a transposed layer takes in and puts out.
SWAPPED = {"in_channels": "out_channels", "out_channels": "in_channels"}


def value_of(settings: Settings, result: Stages, name: str) -> Any:
    """Return a setting or result, None for the other direction's; a pair of equal numbers is one."""
    if name in PAIRS:
        return folded(_pair(settings, name))
    if name in GEOMETRY:
        return getattr(settings.spec, _count(settings, name))
    if name == "loss_value":
        return float(result.loss)
    if name in (*TENSORS, *RESULTS):
        stage = {shown_name(field.name, result.transposed): field.name for field in fields(result)}.get(name)
        return None if stage is None else getattr(result, stage)
    return getattr(settings, name)


def with_named(settings: Settings, name: str, value: Any) -> Settings:
    """Return the settings with one of them changed; nothing else makes room for it."""
    if name not in SETTABLE:
        raise ValueError(f"{name} cannot be set: only {', '.join(SETTABLE)} can, and the results follow")
    if name in GEOMETRY:
        return settings.replace(spec=_geometry(settings, name, value))
    if name in TENSORS:
        return _with_tensor(settings, name, value)
    if name == "device":
        value = str(check_device(value))
    if name == "dtype":
        value = str(check_dtype(value, check_device(settings.device))).removeprefix("torch.")
    field = FIELD_OF[name]
    if field.kind == "whole":
        low, high = field.range
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"{name} is a whole number from {low} to {high}: got {value!r}")
    if field.kind == "flag" and not isinstance(value, bool):
        raise ValueError(f"{name} is True or False: got {value!r}")
    return settings.replace(**{name: value})


def _pair(settings: Settings, name: str) -> Any:
    if settings.transposed:
        return layer_pair(settings.spec, name)
    return (0, 0) if name == "output_padding" else getattr(settings.spec, name)


def _count(settings: Settings, name: str) -> str:
    return SWAPPED.get(name, name) if settings.transposed else name


def _geometry(settings: Settings, name: str, value: Any) -> ConvSpec:
    spec = settings.spec
    if name not in PAIRS:
        return spec.replace(**{_count(settings, name): value})
    if not settings.transposed:
        if name == "output_padding" and value not in (0, (0, 0)):
            raise ValueError(f"output_padding belongs to a transposed convolution: got {value!r}; set transposed first")
        return spec if name == "output_padding" else spec.replace(**{name: value})
    # A geometry of its own brings the value to its full form and checks it.
    field = {"output_padding": "padding"}.get(name, name)
    room = {} if name == "input_size" else {"input_size": 1000}
    full: Any = getattr(ConvSpec(**{"kernel_size": 1, **room, field: value}), field)
    size, extra = (layer_pair(spec, each) for each in ("input_size", "output_padding"))
    if name == "input_size":
        return layer_spec(spec, full, extra)
    if name == "output_padding":
        return layer_spec(spec, size, [side[0] for side in full])
    if name == "stride":  # a smaller one takes an output_padding that it no longer allows with it, as its slider does
        extra = [min(cells, step - 1) for cells, step in zip(extra, full, strict=True)]
    return layer_spec(spec, size, extra, **{name: full})


def _with_tensor(settings: Settings, name: str, value: Any) -> Settings:
    field = FIELD_OF[name].name
    if name == "bias" and value is None:
        return settings.replace(bias=None)
    if isinstance(value, str):
        if value not in KINDS[field]:
            raise ValueError(f"{name} is a tensor, or one of {', '.join(KINDS[field])}: got {value!r}")
        loss = _loss_with(settings, name, field, value)
        return settings.replace(**{field: Source(value)}, loss=loss)
    tensor: torch.Tensor = read_tensor(name, value)
    check_shapes(settings, {name: tensor})
    loss = _loss_with(settings, name, field)
    return settings.replace(**{field: given_source(loss, field, tensor)}, loss=loss)


def _loss_with(settings: Settings, name: str, field: str, kind: str | None = None) -> str:
    """Return the loss if it takes such a tensor, or the first that does; others leave it alone."""
    kinds = kinds_taken(settings.loss, field)
    if kinds and kind not in (None, *kinds):
        raise ValueError(
            f"loss={settings.loss!r} takes a {name} of the kind {' or '.join(map(repr, kinds))}: got {kind!r}; "
            "set another loss first"
        )
    return settings.loss if kinds or field not in GIVEN else losses_with(field, kind)[0]
