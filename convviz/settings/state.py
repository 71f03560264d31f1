"""The settings: a geometry, where each tensor comes from, and what is shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convviz.facts.loss_inputs import GIVEN, kinds_taken
from convviz.facts.words import sentences
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.settings.schema import FACTS, FIELDS, PAIRS, SPEC, TENSORS
from convviz.settings.tensor_source import Source
from convviz.settings.validate_state import setting

say = sentences("state")

PRESETS: tuple[str, ...] = tuple(FACTS["kernels"])
KINDS = {name: field.words for name, field in TENSORS.items()}
VERSION: int = FACTS["version"]
CHOICES = {name: field.words for name, field in FIELDS.items() if field.kind == "word"}
DEFAULTS: dict[str, Any] = {
    name: setting(name, each) for name, each in FACTS["base_state"].items() if name != "version"
}
# What the board can show, and what a state from outside may make the kernel compute.
MAX_SIZES = {name: field.limits[1] for name, field in SPEC.items() if field.limits}
MAX_BOARD_PRODUCTS: int = FACTS["limits"]["products"]["kernel"]  # a third of a second a step on one core


@dataclass(frozen=True)
class Settings:
    """Everything a person can set: ``facts/data/settings.json`` has its words and limits, ``help.json`` what each does.

    A transposed convolution is the picture read the other way: its input is what spec calls the output, and its output,
    to which bias, target and grad belong, what spec calls the input.
    """

    spec: ConvSpec = DEFAULTS["spec"]
    input: Source = DEFAULTS["input"]
    digit: int = DEFAULTS["digit"]
    weight: Source = DEFAULTS["weight"]
    bias: Source | None = DEFAULTS["bias"]
    loss: str = DEFAULTS["loss"]
    target: Source = DEFAULTS["target"]
    grad: Source = DEFAULTS["grad"]
    seed: int = DEFAULTS["seed"]
    device: str = DEFAULTS["device"]
    dtype: str = DEFAULTS["dtype"]
    plane: Plane = DEFAULTS["plane"]
    link_axes: bool = DEFAULTS["link_axes"]
    scale: str = DEFAULTS["scale"]
    input_view: str = DEFAULTS["input_view"]
    theme: str = DEFAULTS["theme"]
    tab: str = DEFAULTS["tab"]
    mistake: str = DEFAULTS["mistake"]
    broken: str = DEFAULTS["broken"]
    lr: float = DEFAULTS["lr"]  # of the steps that Learn takes; 0 while it is closed
    transposed: bool = DEFAULTS["transposed"]

    def __post_init__(self) -> None:
        for name, field in FIELDS.items():
            value = None if field.spec or not field.known else getattr(self, name)
            value = value.kind if isinstance(value, Source) else value
            if value is not None and value not in field.known:
                known = ", ".join(map(str, field.known))
                raise ValueError(say("state.choice", name=name, known=known, value=repr(value)))
        if self.transposed and self.spec.padding_mode != "zeros":
            raise ValueError(say("state.padding_mode", mode=self.spec.padding_mode))
        if self.transposed:
            object.__setattr__(self, "broken", "")
        check_size(self.spec)
        object.__setattr__(self, "plane", self.plane.within(self.spec))
        for given in GIVEN:
            kinds = kinds_taken(self.loss, given)
            if kinds and getattr(self, given).kind not in kinds:
                object.__setattr__(self, given, Source(kinds[0]))

    @classmethod
    def first_picture(cls, **changes: Any) -> Settings:
        return cls.from_dict(FACTS["first_picture"]).replace(**changes)

    def replace(self, **changes: Any) -> Settings:
        return dataclasses.replace(self, **changes)

    @property
    def input_shape(self) -> tuple[int, int, int, int]:
        """``[N, C_in, H, W]``."""
        return self.spec.output_shape if self.transposed else self.spec.input_shape

    @property
    def output_shape(self) -> tuple[int, int, int, int]:
        """``[N, C_out, H_out, W_out]``."""
        return self.spec.input_shape if self.transposed else self.spec.output_shape

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
        """Build the settings that ``to_dict`` described; what is missing has its default."""
        if not isinstance(state, Mapping):
            raise ValueError(say("state.form", type=type(state).__name__))
        fields = {name: value for name, value in state.items() if name != "version"}
        if (version := state.get("version", VERSION)) != VERSION:
            raise ValueError(say("state.version", version=VERSION, value=repr(version)))
        if unknown := sorted(map(str, fields.keys() - DEFAULTS.keys())):
            known = ", ".join(sorted(DEFAULTS))
            raise ValueError(say("state.unknown", known=known, unknown=", ".join(unknown)))
        try:
            return cls(**{name: setting(name, value) for name, value in fields.items()})
        except (TypeError, AttributeError, KeyError) as error:
            raise ValueError(say("state.damaged", error=error)) from error


def check_size(spec: ConvSpec) -> None:
    """Refuse what the board cannot show, and offer a window."""
    for name, most in MAX_SIZES.items():
        value = getattr(spec, name)
        if largest(value) > most:
            refused = {"input_size": "state.input_size"}.get(name, "state.size" if name in PAIRS else "state.planes")
            raise ValueError(say(refused, name=name, most=most, value=value))
    if spec.products > MAX_BOARD_PRODUCTS:
        raise ValueError(say("state.products", most=MAX_BOARD_PRODUCTS // 10**6, products=spec.products // 10**6))


def largest(value: Any) -> int:
    """Return the largest number of a setting, which may be one for each axis and side."""
    return max(map(largest, value)) if isinstance(value, tuple) else int(value)
