"""The geometry of one 2-D convolution, checked once, when it is made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.geometry import whole_numbers
from convviz.geometry.axis_taps import PADDING_MODES, axis_taps
from convviz.geometry.whole_numbers import Pair as Pair

say = sentences("rules")

VERSION = 1
AXES = tuple(facts("settings")["axes"])
Sides = tuple[Pair, Pair]


@dataclass(frozen=True, init=False)
class ConvSpec:
    """The geometry of ``torch.nn.functional.conv2d``, per axis, with everything that follows from it.

    Frozen and hashable. Every field has its full form: pairs for (height, width), and for the padding a pair
    (before, after) per axis, so that asymmetric and causal padding fit.
    """

    input_size: Pair
    in_channels: int
    out_channels: int
    kernel_size: Pair
    stride: Pair
    padding: Sides
    dilation: Pair
    groups: int
    padding_mode: str
    batch: int

    def __init__(
        self,
        input_size: int | Sequence[int],
        in_channels: int = 1,
        out_channels: int = 1,
        kernel_size: int | Sequence[int] = 3,
        stride: int | Sequence[int] = 1,
        padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        batch: int = 1,
    ) -> None:
        """Bring every field to its full form, then check the rules that tie the fields together.

        Args:
            input_size: (H, W) of the input in cells; an int stands for both.
            in_channels: channels of the input, C_in.
            out_channels: channels of the output, C_out.
            kernel_size: rows and columns of the kernel; an int stands for both, here and below.
            stride: step of the window in cells of the padded input.
            padding: cells added around the input: an int, a pair (height, width), a pair of pairs
                ((top, bottom), (left, right)), ``"valid"`` for none, or ``"same"`` for an output as large as
                the input (stride 1 only; an odd cell goes to the bottom and the right, as in torch).
            dilation: distance between neighbouring kernel cells, in cells of the padded input.
            groups: number of independent channel groups; divides both channel numbers.
            padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
            batch: number of samples, N.

        Raises:
            ValueError: a field breaks a rule of conv2d; the message states the rule, the value and a remedy.
        """
        pairs = {"input_size": input_size, "kernel_size": kernel_size, "stride": stride, "dilation": dilation}
        counts = {"in_channels": in_channels, "out_channels": out_channels, "groups": groups, "batch": batch}
        if not isinstance(padding_mode, str) or padding_mode not in PADDING_MODES:
            raise ValueError(f"padding_mode is one of {', '.join(PADDING_MODES)}: got {padding_mode!r}")
        fields: dict[str, Any] = {name: whole_numbers.pair(name, value) for name, value in pairs.items()}
        fields |= {name: whole_numbers.count(name, value) for name, value in counts.items()}
        fields["padding_mode"] = padding_mode
        fields["padding"] = _sides(padding, fields["kernel_size"], fields["stride"], fields["dilation"])
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        _check_groups(self)
        for axis in range(2):
            _check_axis(self, axis)
        _check_tensors(self)

    @property
    def padded_size(self) -> Pair:
        """(H, W) of the input with its padding, in cells."""
        return _both(lambda axis: self.input_size[axis] + sum(self.padding[axis]))

    @property
    def effective_kernel(self) -> Pair:
        """Cells that the dilated kernel spans per axis: ``dilation * (kernel_size - 1) + 1``."""
        return _both(lambda axis: self.dilation[axis] * (self.kernel_size[axis] - 1) + 1)

    @property
    def output_size(self) -> Pair:
        """(H, W) of the output: how often the window fits."""
        return _both(lambda axis: self._slack(axis) // self.stride[axis] + 1)

    @property
    def remainder(self) -> Pair:
        """Rows and columns at the end of the padded input that no window reaches.

        ``(N + p - d * (k - 1) - 1) mod s``, p counting both sides. The backward pass has to give them back:
        that is what conv_transpose2d's output_padding is for.
        """
        return _both(lambda axis: self._slack(axis) % self.stride[axis])

    @property
    def unread_rows(self) -> tuple[int, ...]:
        """Input rows that no window ever reads; their grad_input is exactly zero."""
        return self._unread(0)

    @property
    def unread_columns(self) -> tuple[int, ...]:
        """Input columns that no window ever reads; their grad_input is exactly zero."""
        return self._unread(1)

    @property
    def input_shape(self) -> tuple[int, int, int, int]:
        """Shape of the input, ``[N, C_in, H, W]``."""
        return (self.batch, self.in_channels, *self.input_size)

    @property
    def weight_shape(self) -> tuple[int, int, int, int]:
        """Shape of the weight, ``[C_out, C_in / groups, kH, kW]``."""
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    @property
    def output_shape(self) -> tuple[int, int, int, int]:
        """Shape of the output, ``[N, C_out, H_out, W_out]``."""
        return (self.batch, self.out_channels, *self.output_size)

    @property
    def products(self) -> int:
        """How many products one pass adds up, those with padding included."""
        return self.batch * math.prod(self.output_size) * math.prod(self.weight_shape)

    def axis_taps(self, axis: int) -> list[tuple[int, int, int]]:
        """Return the taps ``(o, k, i)`` of one axis: 0 for rows, 1 for columns."""
        return axis_taps(
            self.input_size[axis],
            self.output_size[axis],
            self.kernel_size[axis],
            self.stride[axis],
            self.padding[axis][0],
            self.dilation[axis],
            self.padding_mode,
        )

    def replace(self, **changes: Any) -> ConvSpec:
        """Return a copy with some fields changed, checked like a new one."""
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the geometry as plain numbers, lists and strings, with the version of this form."""
        return {"version": VERSION} | {
            field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> ConvSpec:
        """Build the geometry that ``to_dict`` described.

        Raises:
            ValueError: the version is newer than this convviz knows, a key is unknown, or the geometry is
                impossible.
        """
        fields = dict(state)
        version = fields.pop("version", VERSION)
        if version != VERSION:
            raise ValueError(f"this convviz reads geometry version {VERSION}: got {version!r}; update convviz")
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(fields.keys() - known):
            raise ValueError(f"a geometry has the keys {', '.join(sorted(known))}: got {', '.join(unknown)} as well")
        if "input_size" not in fields:
            raise ValueError("a geometry needs input_size, a pair (height, width): it is missing")
        return cls(**fields)

    def _slack(self, axis: int) -> int:
        """Cells over which the window can still move after its first position."""
        return self.padded_size[axis] - self.effective_kernel[axis]

    def _unread(self, axis: int) -> tuple[int, ...]:
        read = {i for _, _, i in self.axis_taps(axis)}
        return tuple(i for i in range(self.input_size[axis]) if i not in read)


def _both(value: Callable[[int], int]) -> Pair:
    return (value(0), value(1))


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _sides(value: Any, kernel: Pair, stride: Pair, dilation: Pair) -> Sides:
    """Turn every accepted form of padding into ((top, bottom), (left, right))."""
    word = value if isinstance(value, str) else ""  # an array answers == with an array
    if word == "valid":
        return ((0, 0), (0, 0))
    if word == "same":
        if stride != (1, 1):
            raise ValueError(say("refused.same", stride=stride))
        totals = _both(lambda axis: dilation[axis] * (kernel[axis] - 1))
        return ((totals[0] // 2, totals[0] - totals[0] // 2), (totals[1] // 2, totals[1] - totals[1] // 2))
    return whole_numbers.sides("padding", value)


def _check_groups(spec: ConvSpec) -> None:
    for name in ("in_channels", "out_channels"):
        channels = getattr(spec, name)
        if channels % spec.groups:
            divisors = [g for g in range(1, min(channels, 64) + 1) if channels % g == 0]
            raise ValueError(
                f"groups must divide {name}: got groups={spec.groups} for {name}={channels}; "
                f"use groups from {divisors} or another number of channels"
            )


def _check_axis(spec: ConvSpec, axis: int) -> None:
    size, padded, name = spec.input_size[axis], spec.padded_size[axis], AXES[axis]
    padding = max(spec.padding[axis])
    limit = {"reflect": size - 1, "circular": size}.get(spec.padding_mode, padding)
    if padding > limit:
        rule = "padding < input size" if spec.padding_mode == "reflect" else "padding <= input size"
        raise ValueError(
            f"padding_mode={spec.padding_mode!r} needs {rule}: got {padding} for {name} {size}; "
            f"use at most {limit} or another mode"
        )
    if spec.effective_kernel[axis] > padded:
        raise ValueError(
            f"the kernel must fit into the padded input: along the {name} it spans {spec.effective_kernel[axis]} "
            f"cells (dilation {spec.dilation[axis]} x (kernel_size {spec.kernel_size[axis]} - 1) + 1), the padded "
            f"input has {padded}; use a smaller kernel or dilation, or more padding"
        )


def _check_tensors(spec: ConvSpec) -> None:
    if spec.batch * spec.in_channels * spec.out_channels * math.prod(spec.padded_size) <= whole_numbers.MAX_NUMBER:
        return  # no tensor has more numbers than that; an operator asks each time
    check, remedy = whole_numbers.check_tensor_size, "use smaller sizes, less padding or fewer channels"
    check("the padded input", (spec.batch, spec.in_channels, *spec.padded_size), remedy)
    check("the weight", spec.weight_shape, remedy)
    check("the output", spec.output_shape, remedy)
