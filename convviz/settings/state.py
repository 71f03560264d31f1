"""The settings: a geometry, where each tensor comes from, and what is shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convviz.facts import facts
from convviz.facts.losses import GIVEN, kinds_taken
from convviz.facts.words import sentences
from convviz.plane import Plane
from convviz.settings.parse import VERSION, parsed
from convviz.settings.source import Source
from convviz.spec import ConvSpec

say = sentences("state")

FACTS = facts("settings")
PRESETS: tuple[str, ...] = tuple(FACTS["kernels"])
KINDS: dict[str, list[str]] = FACTS["kinds"]
CHOICES: dict[str, list[Any]] = FACTS["choices"]
# What can be chosen by its name alone; an image and typed numbers have to be given.
NAMED_KINDS = {name: [k for k in kinds if k not in FACTS["kinds_with_own_numbers"]] for name, kinds in KINDS.items()}
# What the board can show, and what a state from outside may make the kernel compute.
MOST: dict[str, int] = FACTS["limits"]["board"]
MOST_PLANES: dict[str, int] = FACTS["limits"]["planes"]
MOST_PRODUCTS: int = FACTS["limits"]["products"]["kernel"]  # a third of a second a step on one core


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
        scale: one colour scale a ``"quantity"``, an ``"equation"`` or a ``"panel"``.
        input_view: how the equation to the input is told: as a sliding ``"window"`` or as ``"stamps"`` that add up.
        theme: ``"auto"``, ``"light"`` or ``"dark"``.
        tab: name of the open tab beside the board, or empty.
        mistake: id of the mistake that the tab Mistakes shows, or empty.
        broken: id of the mistake that the board itself makes, or empty; a transposed convolution makes none.
        lr: the learning rate of the steps that Learn takes, one of facts' choices; 0 while it is closed.
        transposed: whether it is a transposed convolution; its padding mode is zeros.
    """

    spec: ConvSpec = dataclasses.field(default_factory=lambda: ConvSpec((8, 8), stride=2, padding=1))
    input: Source = dataclasses.field(default=Source("digit"))
    digit: int = 3
    weight: Source = dataclasses.field(default=Source("sobel_x"))
    bias: Source | None = None
    loss: str = "half_squared_error"
    target: Source = dataclasses.field(default=Source("zeros"))
    grad: Source = dataclasses.field(default=Source("ones"))
    seed: int = 0
    device: str = "cpu"
    dtype: str = "float32"
    plane: Plane = dataclasses.field(default_factory=Plane)
    link_axes: bool = True
    scale: str = "equation"
    input_view: str = "window"
    theme: str = "auto"
    tab: str = ""
    mistake: str = "I01"
    broken: str = ""
    lr: float = 0
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
        """Return what the app opens with; what is missing in a state, or in a link of v=1, is as in ``Settings()``."""
        return cls.from_dict(FACTS["first_picture"]).replace(**changes)

    def replace(self, **changes: Any) -> Settings:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    @property
    def input_shape(self) -> tuple[int, int, int, int]:
        """Shape of the input, ``[N, C_in, H, W]``."""
        return self.spec.output_shape if self.transposed else self.spec.input_shape

    @property
    def output_shape(self) -> tuple[int, int, int, int]:
        """Shape of the output, ``[N, C_out, H_out, W_out]``."""
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
        """Build the settings that ``to_dict`` described; what is missing has its default.

        Raises:
            ValueError: a newer version, an unknown key, or a value that no setting can have.
        """
        return parsed(state, cls)


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
    if spec.products > MOST_PRODUCTS:
        raise ValueError(say("state.products", most=MOST_PRODUCTS // 10**6, products=spec.products // 10**6))
