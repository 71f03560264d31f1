"""The settings: a geometry, where each tensor comes from, and what is shown."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.ops.device import check_device
from convviz.ops.losses import GIVEN, kinds_taken
from convviz.plane import Plane
from convviz.samples.inputs import fit, make_input, random_tensor, resize
from convviz.samples.kernels import make_kernel
from convviz.spec import ConvSpec

say = sentences("rules")

FACTS = facts("settings")
VERSION: int = FACTS["version"]
PRESETS: tuple[str, ...] = tuple(FACTS["presets"])
KINDS: dict[str, list[str]] = FACTS["kinds"]
CHOICES: dict[str, list[str]] = FACTS["choices"]
# What can be chosen by its name alone; an image and typed numbers have to be given.
NAMED_KINDS = {name: [k for k in kinds if k not in FACTS["kinds_with_own_numbers"]] for name, kinds in KINDS.items()}
# What the board can show, and what a state from outside may make the kernel compute.
MOST: dict[str, int] = FACTS["limits"]["board"]
MOST_PLANES: dict[str, int] = FACTS["limits"]["planes"]
MOST_PRODUCTS: int = FACTS["limits"]["products"]["kernel"]  # a third of a second a step on one core
# Room to float64's largest, so that what is drawn beside a number is finite as well.
MOST_NUMBER: float = FACTS["limits"]["number"]
STREAMS = {"target": 2, "grad": 3}  # of random numbers


@dataclass(frozen=True)
class Source:
    """Where a tensor comes from: a name that makes it, or its own numbers.

    Attributes:
        kind: a name such as ``"digit"`` or ``"sobel_x"``; ``"values"`` and ``"image"`` carry numbers;
            ``"one_hot"`` carries the four indices of its 1; a target has it in every sample.
        values: the numbers, flat.
        shape: their shape.
    """

    kind: str
    values: tuple[float, ...] = ()
    shape: tuple[int, ...] = ()

    @classmethod
    def of(cls, tensor: torch.Tensor, kind: str = "values") -> Source:
        """Return a source that carries the tensor's numbers."""
        return cls(kind, tuple(tensor.double().flatten().tolist()), tuple(tensor.shape))

    def tensor(self) -> torch.Tensor:
        """Return the numbers, float64."""
        return torch.tensor(self.values, dtype=torch.float64).reshape(self.shape)

    def to_dict(self) -> dict[str, Any]:
        """Return the source as plain data, without empty fields."""
        fields = {"kind": self.kind, "values": list(self.values), "shape": list(self.shape)}
        return {name: value for name, value in fields.items() if value or name == "kind"}


@dataclass(frozen=True)
class Settings:
    """Everything a person can set.

    A transposed convolution is the picture read the other way: the input is then what spec calls its output, with
    ``spec.output_shape``, and the output, to which bias, target and grad belong, is what spec calls its input.

    Attributes:
        spec: the geometry of the convolution, also where it is read the other way.
        input: one of facts' kinds; an image is one plane that is resized to the input's size.
        digit: which digit the first plane shows, 0 to 9.
        weight: one of facts' kinds; a named kernel is that of the first plane, the others follow in the list.
        bias: numbers ``[C_out]``, or None.
        loss: one of facts' choices.
        target: of a loss that takes one; one of the kinds that it offers, else it becomes the first of these.
        grad: grad_output set by hand, for the loss that takes it; as target.
        seed: of everything random.
        device: ``"cpu"`` or the accelerator's name, with its index where there are several.
        dtype: one of facts' choices.
        plane: which sample and channels are shown.
        link_axes: whether height and width are set together.
        scale: one colour scale an ``"equation"`` or a ``"panel"``.
        input_view: how the equation to the input is told: as a sliding ``"window"`` or as ``"stamps"`` that add up.
        theme: ``"auto"``, ``"light"`` or ``"dark"``.
        tab: name of the open tab beside the board, or empty.
        transposed: whether it is a transposed convolution; its padding mode is zeros.
    """

    spec: ConvSpec = dataclasses.field(default_factory=lambda: ConvSpec((8, 8), stride=2, padding=1))
    input: Source = Source("digit")
    digit: int = 3
    weight: Source = Source("sobel_x")
    bias: Source | None = None
    loss: str = "half_squared_error"
    target: Source = Source("zeros")
    grad: Source = Source("ones")
    seed: int = 0
    device: str = "cpu"
    dtype: str = "float32"
    plane: Plane = dataclasses.field(default_factory=Plane)
    link_axes: bool = True
    scale: str = "equation"
    input_view: str = "window"
    theme: str = "auto"
    tab: str = ""
    transposed: bool = False

    def __post_init__(self) -> None:
        """Check the words; the geometry checks itself."""
        choices = {
            **{name: (source.kind, KINDS[name]) for name in KINDS if (source := getattr(self, name)) is not None},
            **{name: (getattr(self, name), CHOICES[name]) for name in CHOICES if name != "padding_mode"},
            "digit": (self.digit, range(10)),
        }
        for name, (value, known) in choices.items():
            if value not in known:
                raise ValueError(say("state.choice", name=name, known=", ".join(map(str, known)), value=repr(value)))
        if self.transposed and self.spec.padding_mode != "zeros":
            raise ValueError(say("state.padding_mode", mode=self.spec.padding_mode))
        check_size(self.spec)
        object.__setattr__(self, "plane", self.plane.within(self.spec))
        for given in GIVEN:
            kinds = kinds_taken(self.loss, given)
            if kinds and getattr(self, given).kind not in kinds:
                object.__setattr__(self, given, Source(kinds[0]))

    def replace(self, **changes: Any) -> Settings:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    # -- the tensors -----------------------------------------------------------------------------------

    @property
    def input_shape(self) -> tuple[int, int, int, int]:
        """Shape of the input, ``[N, C_in, H, W]``."""
        return self.spec.output_shape if self.transposed else self.spec.input_shape

    @property
    def output_shape(self) -> tuple[int, int, int, int]:
        """Shape of the output, ``[N, C_out, H_out, W_out]``."""
        return self.spec.input_shape if self.transposed else self.spec.output_shape

    def input_tensor(self) -> torch.Tensor:
        """Return the input, float64 ``[N, C_in, H, W]``."""
        shape = self.input_shape
        if self.input.kind == "values":
            return fit(self.input.tensor(), shape)
        if self.input.kind == "image":
            plane = resize(self.input.tensor(), shape[2:])
            return plane.expand(shape).clone()
        return make_input(self.input.kind, shape, digit=self.digit, seed=self.seed)

    def weight_tensor(self) -> torch.Tensor:
        """Return the weight, float64 ``[C_out, C_in / groups, kH, kW]``; transposed, C_in comes first."""
        shape = self.spec.weight_shape
        if self.weight.kind == "values":
            return fit(self.weight.tensor(), shape)
        if self.weight.kind == "random":
            return random_tensor(shape, self.seed + 1).clamp(-3, 3)
        first = PRESETS.index(self.weight.kind)
        names = [PRESETS[(first + plane) % len(PRESETS)] for plane in range(shape[0] * shape[1])]
        return torch.stack([make_kernel(name, self.spec.kernel_size) for name in names]).reshape(shape)

    def bias_tensor(self) -> torch.Tensor | None:
        """Return the bias, float64 ``[C_out]``, or None."""
        return None if self.bias is None else fit(self.bias.tensor(), self.output_shape[1:2])

    def target_tensor(self) -> torch.Tensor | None:
        """Return the target, or None for a loss without one."""
        return self._output_like("target") if kinds_taken(self.loss, "target") else None

    def grad_tensor(self) -> torch.Tensor | None:
        """Return grad_output as it was set by hand, or None when a loss makes it."""
        return self._output_like("grad") if kinds_taken(self.loss, "grad") else None

    def _output_like(self, given: str) -> torch.Tensor:
        source, shape = getattr(self, given), self.output_shape
        if source.kind == "values":
            return fit(source.tensor(), shape)
        if source.kind == "random":
            return random_tensor(shape, self.seed + STREAMS[given])
        filled = torch.full(shape, float(source.kind == "ones"), dtype=torch.float64)
        if source.kind == "one_hot":
            index = source.values or (0, 0, 0, 0)
            n, *cell = (min(int(i), size - 1) for i, size in zip(index, shape, strict=True))
            # Every sample of a batch needs a target of its own; of grad_output one cell alone is asked about.
            samples = range(shape[0]) if given == "target" else [n]
            for sample in samples:
                filled[(sample, *cell)] = 1
        return filled

    # -- as plain data ---------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data: what ``from_dict`` reads, and JSON can hold."""
        fields: dict[str, Any] = {"version": VERSION}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            fields[field.name] = value.to_dict() if isinstance(value, (ConvSpec, Source)) else value
        fields["plane"] = dataclasses.asdict(self.plane)
        return fields

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Settings:
        """Build the settings that ``to_dict`` described; what is missing has its default.

        Raises:
            ValueError: a newer version, an unknown key, or a value that no setting can have.
        """
        if not isinstance(state, Mapping):
            raise ValueError(say("state.form", type=type(state).__name__))
        fields = dict(state)
        version = fields.pop("version", VERSION)
        if version != VERSION:
            raise ValueError(say("state.version", version=VERSION, value=repr(version)))
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(map(str, fields.keys() - known)):
            raise ValueError(say("state.unknown", known=", ".join(sorted(known)), unknown=", ".join(unknown)))
        try:
            if "spec" in fields:
                fields["spec"] = ConvSpec.from_dict(_mapping("spec", fields["spec"]))
            for name in ("input", "weight", "bias", "target", "grad"):
                if fields.get(name) is not None:
                    fields[name] = _source(name, fields[name])
            if "plane" in fields:
                fields["plane"] = Plane(
                    **{key: _whole(f"plane.{key}", v) for key, v in _mapping("plane", fields["plane"]).items()}
                )
            for name in ("digit", "seed"):
                if name in fields:
                    fields[name] = _whole(name, fields[name])
            for name, kind in (("device", str), ("link_axes", bool), ("transposed", bool)):
                if name in fields and not isinstance(fields[name], kind):
                    raise ValueError(say("state.type", name=name, type=kind.__name__, value=repr(fields[name])))
            if "device" in fields:
                fields["device"] = str(check_device(fields["device"]))
            if not 0 <= fields.get("seed", 0) < 2**31:
                raise ValueError(say("state.seed", value=fields["seed"]))
            return cls(**fields)
        except (TypeError, AttributeError, KeyError) as error:
            raise ValueError(say("state.damaged", error=error)) from error


def check_size(spec: ConvSpec) -> None:
    """Refuse what the board cannot show.

    Raises:
        ValueError: the geometry is larger than the board; the message offers a window.
    """
    for name, most in MOST.items():
        value = getattr(spec, name)
        largest = max(max(side) for side in value) if name == "padding" else max(value)
        if largest > most:
            refused = "state.input_size" if name == "input_size" else "state.size"
            raise ValueError(say(refused, name=name, most=most, value=value))
    for name, most in MOST_PLANES.items():
        if getattr(spec, name) > most:
            raise ValueError(say("state.planes", most=most, name=name, value=getattr(spec, name)))
    products = spec.batch * math.prod(spec.output_size) * math.prod(spec.weight_shape)
    if products > MOST_PRODUCTS:
        raise ValueError(say("state.products", most=MOST_PRODUCTS // 10**6, products=products // 10**6))


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(say("state.dict", name=name, value=f"{value!r:.80}"))
    return value


def _whole(name: str, value: Any, refused: str = "state.whole") -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 2**53:
        raise ValueError(say(refused, name=name, value=f"{value!r:.80}"))
    return value


def is_number(value: Any) -> bool:
    """Return whether a value is a number that can be stored, shown and sent: finite, and not too large."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < MOST_NUMBER


def number(name: str, value: Any) -> float:
    """Return a value as a float that can be stored, shown and sent.

    Raises:
        ValueError: it is no finite number, or too large.
    """
    if not is_number(value):
        raise ValueError(say("state.number", name=name, most=f"{MOST_NUMBER:g}", value=f"{value!r:.80}"))
    return float(value)


def _source(name: str, data: Any) -> Source:
    fields = _mapping(name, data)
    values, shape = fields.get("values", ()), fields.get("shape", ())
    if not isinstance(values, (list, tuple)) or not isinstance(shape, (list, tuple)):
        raise ValueError(say("state.lists", name=name, values=f"{values!r:.40}", shape=f"{shape!r:.40}"))
    source = Source(
        str(fields.get("kind")),
        tuple(number(name, v) for v in values),
        tuple(_whole(name, n, "state.whole_shape") for n in shape),
    )
    if source.kind in ("values", "image"):
        axes = {"bias": 1}.get(name, 2 if source.kind == "image" else 4)
        if len(shape) != axes or min(shape) < 1 or math.prod(shape) != len(values):
            raise ValueError(say("state.cells", name=name, axes=axes, values=len(values), shape=list(shape)))
    if source.kind == "one_hot" and (len(values) not in (0, 4) or any(v < 0 or v % 1 for v in values)):
        raise ValueError(say("state.one_hot", name="grad_output" if name == "grad" else name, values=list(values)))
    return source
