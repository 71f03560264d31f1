"""From the arguments of ``App(...)`` to the first settings."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from convviz.facts.loss_inputs import GIVEN, kinds_taken, losses_with
from convviz.geometry.spec import ConvSpec
from convviz.ops.devices_and_dtypes import check_device, check_dtype
from convviz.ops.to_tensor import cell_at, real_tensor
from convviz.settings.link import from_link
from convviz.settings.schema import FIELD_OF
from convviz.settings.state import Settings
from convviz.settings.tensor_source import Source
from convviz.settings.transposed import WINDOW, layer_spec
from convviz.settings.validate_state import MAX_NUMBER

BOTH_UP_TO = 8  # rows and columns of the input; beyond, the numbers of both readings do not fit beside each other


def start_settings(
    spec: ConvSpec | None,
    tensors: Mapping[str, Any],
    loss: str | None,
    device: str | None,
    dtype: str | None,
    *,
    state: Mapping[str, Any] | None = None,
    link: str | None = None,
    theme: str = "auto",
    transposed: bool = False,
) -> Settings:
    given = {name: read_tensor(name, value) for name, value in tensors.items() if value is not None}
    beside = spec is not None or given or loss or dtype or transposed
    if link is not None:
        if state is not None or beside:
            raise ValueError("a link holds all but the device: got other arguments beside link=; give one or the other")
        if not isinstance(link, str):
            raise ValueError(f"a link is the text that App.link() returns: got {type(link).__name__}")
        return from_link(link)[0].replace(device=str(check_device(device)))
    if state is not None:
        if beside:
            raise ValueError("a state holds everything: got other arguments beside state=; give one or the other")
        settings = Settings.from_dict(state)
        check_device(settings.device)
        return settings
    defaults = Settings.first_picture(theme=theme)  # its geometry is torch's: stride 1, padding 0, dilation 1, groups 1
    settings = defaults.replace(
        spec=_geometry(defaults.spec, given, transposed) if spec is None else spec,
        transposed=transposed,
        device=str(check_device(device)),
        dtype=str(check_dtype(dtype, check_device(device))).removeprefix("torch."),
        link_axes=spec is None or all(len(set(getattr(spec, name))) == 1 for name in WINDOW),
    )
    for name, called in (("grad_output", "a grad_output set by hand"), ("target", "a target")):
        if name in given:
            loss = _loss_with(FIELD_OF[name].name, called, loss)
    loss = loss or settings.loss
    sources = {FIELD_OF[name].name: given_source(loss, FIELD_OF[name].name, tensor) for name, tensor in given.items()}
    view = "window" if given and max(settings.spec.input_size) > BOTH_UP_TO else settings.input_view
    settings = settings.replace(**sources, loss=loss, input_view=view)
    check_shapes(settings, given)
    return settings


def _loss_with(field: str, called: str, loss: str | None) -> str:
    """Return the loss that was asked for, or the first that takes a target, or a grad."""
    losses = losses_with(field)
    if loss is not None and loss not in losses:
        needed = " or ".join(map(repr, losses))
        raise ValueError(f"{called} needs loss={needed}: got loss={loss!r}; leave one out")
    return losses[0] if loss is None else loss


def given_source(loss: str, field: str, tensor: torch.Tensor) -> Source:
    """Return a given tensor as its numbers, or as the one-hot that the loss takes."""
    if field not in GIVEN or "values" in kinds_taken(loss, field):
        return Source.of(tensor)
    place = int(tensor[0].argmax())
    one_hot = torch.zeros_like(tensor)
    one_hot.flatten(1)[:, place] = 1
    if not torch.equal(tensor, one_hot):
        raise ValueError(
            f"loss={loss!r} takes a {field} that is 1 at one cell, the same in every sample, and 0 elsewhere: got "
            f"{int(tensor.count_nonzero())} cells that are not 0 in {len(tensor)} samples; give such a one-hot"
        )
    return Source("one_hot", (0.0, *map(float, cell_at(place, tensor.shape[1:]))))


def read_tensor(name: str, value: Any) -> torch.Tensor:
    """Return what a person gave for a tensor, float64 on the cpu, over all its axes."""
    tensor = real_tensor(name, value).to("cpu", torch.float64)
    axes = 1 if name == "bias" else 4
    if not 0 < tensor.dim() <= axes or (axes == 4 and tensor.dim() < 2):
        form = "[C_out]" if axes == 1 else "2 to 4 axes, the last two rows and columns"
        raise ValueError(f"{name} must have the shape {form}: got {list(tensor.shape)}")
    if not (tensor.abs() < MAX_NUMBER).all():
        raise ValueError(
            f"{name} must hold finite numbers below {MAX_NUMBER:g} here, which the board can colour and store: got "
            f"{tensor[~(tensor.abs() < MAX_NUMBER)][0].item()}"
        )
    return tensor.reshape((1,) * (axes - tensor.dim()) + tuple(tensor.shape))


def _geometry(spec: ConvSpec, given: Mapping[str, torch.Tensor], transposed: bool) -> ConvSpec:
    """Take the sizes from the tensors; a transposed layer's input is what the geometry calls output."""
    own, other = ("out_channels", "in_channels") if transposed else ("in_channels", "out_channels")
    changes: dict[str, Any] = {}
    size: Sequence[int] = spec.output_size if transposed else spec.input_size
    if "input" in given:
        changes["batch"], changes[own], *size = given["input"].shape
    if "weight" in given:
        *channels, rows, columns = given["weight"].shape
        into, out = channels if transposed else reversed(channels)
        changes |= {own: into, "kernel_size": (rows, columns)} | changes | {other: out}
        if "input" not in given and not transposed:
            size = tuple(map(max, size, (rows, columns)))
    elif "bias" in given:
        changes[other] = given["bias"].numel()
    if transposed:
        return layer_spec(spec, size, spec.remainder, **changes)
    return spec.replace(**{"kernel_size": tuple(map(min, spec.kernel_size, size))} | changes, input_size=tuple(size))


def check_shapes(settings: Settings, given: Mapping[str, torch.Tensor]) -> None:
    spec = settings.spec
    wanted = {
        "input": settings.input_shape,
        "weight": spec.weight_shape,
        "bias": settings.output_shape[1:2],
        "grad_output": settings.output_shape,
        "target": settings.output_shape,
    }
    for name, tensor in given.items():
        if tuple(tensor.shape) != wanted[name]:
            raise ValueError(
                f"{name} must have the shape {list(wanted[name])} that the geometry asks for: got "
                f"{list(tensor.shape)}; reshape it, or give spec=ConvSpec(...)"
            )
