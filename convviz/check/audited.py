"""What came of an audit, as data, plain lines and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("audit")


@dataclass(frozen=True)
class Finding:
    """A mistake, and in how many of its ways a check lets it pass.

    Attributes:
        id: of the catalogue.
        of: the results that it spoils.
        title: what is wrong, in plain words.
        passed: ways of making it that the check does not see.
        ways: ways of making it that can be seen in this task.
    """

    id: str
    of: tuple[str, ...]
    title: str
    passed: int
    ways: int


@dataclass(frozen=True)
class Addition:
    """A case to add to a check.

    Attributes:
        name: of the case in our battery.
        spec: its geometry; the numbers are any without symmetry.
        exposes: ids of the missed mistakes that show in it.
    """

    name: str
    spec: ConvSpec
    exposes: tuple[str, ...]


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
        lines = [_summary(self)]
        if self.missed:
            lines += ["", say("pass"), *(f"  {_mistake(one)}" for one in self.missed)]
            lines += ["", say("add", count=len(self.add))]
            for one in self.add:
                lines += [f"  {_case(one)}", f"    {_exposes(one)}"]
        if self.beyond:
            lines += ["", _beyond(self.beyond)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        plain = asdict(self)
        plain["add"] = [{**asdict(one), "spec": one.spec.to_dict()} for one in self.add]
        return plain

    def _repr_html_(self) -> str:
        return f"<pre style='white-space:pre-wrap'>{escape(self.text())}</pre>"


def _summary(audit: Audit) -> str:
    """Return how many mistakes are caught, in a sentence."""
    caught, missed = len(audit.caught), len(audit.missed)
    return say("summary", task=audit.task, caught=caught, total=caught + missed, missed=missed)


def _mistake(one: Finding) -> str:
    """Return a mistake that passes, in a line."""
    of = ", ".join(one.of)
    if one.passed == one.ways:
        return say("mistake", id=one.id, title=one.title, of=of)
    return say("mistake.some", id=one.id, title=one.title, of=of, passed=one.passed, ways=one.ways)


def _case(one: Addition) -> str:
    """Return a case to add, in a line that can be typed from."""
    spec = one.spec
    return say(
        "case", name=one.name, input=_by(spec.input_shape), weight=_by(spec.weight_shape), geometry=geometry(spec)
    )


def _exposes(one: Addition) -> str:
    """Return what a case would catch."""
    return say("exposes", ids=", ".join(one.exposes))


def _beyond(findings: Sequence[Finding]) -> str:
    """Return which mistakes are out of a style's reach."""
    return say("beyond", ids=", ".join(one.id for one in findings))


def geometry(spec: ConvSpec) -> str:
    """Return stride and padding, and what else is not torch's default, as arguments."""
    said = {"stride": _one(spec.stride), "padding": _one((spec.padding[0][0], spec.padding[1][0]))}
    said |= {"dilation": _one(spec.dilation)} if spec.dilation != (1, 1) else {}
    said |= {"groups": str(spec.groups)} if spec.groups != 1 else {}
    said |= {"padding_mode": repr(spec.padding_mode)} if spec.padding_mode != "zeros" else {}
    return ", ".join(f"{name}={value}" for name, value in said.items())


def _one(pair: tuple[int, int]) -> str:
    return str(pair[0]) if pair[0] == pair[1] else str(pair)


def _by(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))
