"""States from outside, checked: whatever somebody sends, it is the fields of settings or a ValueError that says why."""

import math
from collections.abc import Mapping
from typing import Any

from convviz.facts.words import sentences
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.settings.schema import FACTS, FIELDS
from convviz.settings.tensor_source import Source

say = sentences("state")

# Room to float64's largest, so that what is drawn beside a number is finite as well.
MAX_NUMBER: float = FACTS["limits"]["number"]
TYPES: dict[str, type] = {"device": str, "flag": bool}


def setting(name: str, value: Any) -> Any:
    """Return one field of a state; whether its word is one that there is, is asked later."""
    if name == "spec":
        return ConvSpec.from_dict(_mapping(name, value))
    kind = FIELDS[name].kind
    if kind in ("source", "bias"):
        return None if value is None and kind == "bias" else source(name, value)
    if kind == "plane":
        return Plane(**{key: _whole(f"plane.{key}", v) for key, v in _mapping(name, value).items()})
    if kind == "whole":
        value = _whole(name, value)
    type = TYPES.get(kind)
    if type and not isinstance(value, type):
        raise ValueError(say("state.type", name=name, type=type.__name__, value=repr(value)))
    if name == "seed" and not 0 <= value < 2**31:
        raise ValueError(say("state.seed", value=value))
    return _device(value) if kind == "device" else value


def _device(name: str) -> str:
    """Return a device by its one name; nobody has to ask torch for the cpu."""
    if name == "cpu":
        return name
    from convviz.ops.devices_and_dtypes import check_device

    return str(check_device(name))


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(say("state.dict", name=name, value=f"{value!r:.80}"))
    return value


def _whole(name: str, value: Any, refused: str = "state.whole") -> int:
    if type(value) is not int or abs(value) > 2**53:
        raise ValueError(say(refused, name=name, value=f"{value!r:.80}"))
    return value


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < MAX_NUMBER


def number(name: str, value: Any) -> float:
    if not is_number(value):
        raise ValueError(say("state.number", name=name, most=f"{MAX_NUMBER:g}", value=f"{value!r:.80}"))
    return float(value)


def source(name: str, data: Any) -> Source:
    fields = _mapping(name, data)
    values, shape = fields.get("values", ()), fields.get("shape", ())
    if not isinstance(values, (list, tuple)) or not isinstance(shape, (list, tuple)):
        raise ValueError(say("state.lists", name=name, values=f"{values!r:.40}", shape=f"{shape!r:.40}"))
    made = Source(
        str(fields.get("kind")),
        tuple(number(name, v) for v in values),
        tuple(_whole(name, n, "state.whole_shape") for n in shape),
    )
    if made.kind in ("values", "image"):
        axes = {"bias": 1}.get(name, 2 if made.kind == "image" else 4)
        if len(shape) != axes or min(shape) < 1 or math.prod(shape) != len(values):
            raise ValueError(say("state.cells", name=name, axes=axes, values=len(values), shape=list(shape)))
    if made.kind == "one_hot" and (len(values) not in (0, 4) or any(v < 0 or v % 1 for v in values)):
        raise ValueError(say("state.one_hot", name="grad_output" if name == "grad" else name, values=list(values)))
    return made
