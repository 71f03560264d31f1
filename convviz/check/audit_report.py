"""What came of an audit, as data, plain lines and HTML."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("audit")


@dataclass(frozen=True)
class Finding:
    """A mistake, and in how many of its ways a check lets it pass."""

    id: str  # of the catalogue
    of: tuple[str, ...]  # the results that it spoils
    title: str  # what is wrong, in plain words
    passed: int  # ways of making it that the check does not see
    ways: int  # ways of making it that can be seen in this task


@dataclass(frozen=True)
class Addition:
    """A case to add to a check."""

    name: str  # of the case in our battery
    spec: ConvSpec  # its geometry; the numbers are any without symmetry
    exposes: tuple[str, ...]  # ids of the missed mistakes that show in it


@dataclass(frozen=True)
class Audit:
    """What came of an audit.

    Attributes:
        task: its name.
        style: how the functions were to be called.
        caught: mistakes that the check refuses in every way of making them.
        missed: mistakes that would pass, in one way at least.
        beyond: mistakes that no call of this style can show, such as a wrong dilation where there is none.
        add: the fewest cases, and of those the smallest, that would expose all that was missed.
    """

    task: str
    style: str
    caught: tuple[Finding, ...]
    missed: tuple[Finding, ...]
    beyond: tuple[Finding, ...]
    add: tuple[Addition, ...]

    def text(self) -> str:
        """Return what passes, and what to add, as plain lines."""
        caught, missed = len(self.caught), len(self.missed)
        lines = [say("summary", task=self.task, caught=caught, total=caught + missed, missed=missed)]
        if self.missed:
            lines += ["", say("pass")]
            for found in self.missed:
                told = asdict(found) | {"of": ", ".join(found.of)}
                lines.append(f"  {say('mistake' if found.passed == found.ways else 'mistake.some', **told)}")
            lines += ["", say("add", count=len(self.add))]
            for one in self.add:
                shapes = {"input": one.spec.input_shape, "weight": one.spec.weight_shape}
                sizes = {name: " × ".join(map(str, shape)) for name, shape in shapes.items()}
                lines.append(f"  {say('case', name=one.name, geometry=geometry(one.spec), **sizes)}")
                lines.append(f"    {say('exposes', ids=', '.join(one.exposes))}")
        if self.beyond:
            lines += ["", say("beyond", ids=", ".join(found.id for found in self.beyond))]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        plain = asdict(self)
        plain["add"] = [{**asdict(one), "spec": one.spec.to_dict()} for one in self.add]
        return plain

    def _repr_html_(self) -> str:
        return f"<pre style='white-space:pre-wrap'>{escape(self.text())}</pre>"


def geometry(spec: ConvSpec) -> str:
    """Return stride and padding, and what else is not torch's default, as arguments."""
    pairs = {"stride": spec.stride, "padding": (spec.padding[0][0], spec.padding[1][0]), "dilation": spec.dilation}
    said = {name: str(pair[0] if pair[0] == pair[1] else pair) for name, pair in pairs.items()}
    said |= {"groups": str(spec.groups), "padding_mode": repr(spec.padding_mode)}
    plain = {"dilation": "1", "groups": "1", "padding_mode": "'zeros'"}
    return ", ".join(f"{name}={value}" for name, value in said.items() if plain.get(name) != value)
