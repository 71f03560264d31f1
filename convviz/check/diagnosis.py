"""A reason, as it is said, and what was seen of one result that it is a reason for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import torch

from convviz.cases.battery import Case
from convviz.check.call_outcome import same
from convviz.mistakes.catalogue import Mistake


@dataclass(frozen=True)
class Diagnosis:
    """A mistake that explains what was seen."""

    id: str  # of the catalogue; ``"?"`` where the catalogue has no such mistake
    of: str  # the result that it spoils
    title: str  # what is wrong, in plain words
    evidence: str  # why we think so
    fix: str  # what to change, and why
    setting: str = ""  # a link's text that opens the board where the mistake shows; empty where there is none
    is_partial: bool = False  # whether it explains only some of what is wrong

    @property
    def where(self) -> str:
        """The results that it spoils, and its id if it has one."""
        return ", ".join(filter(None, (self.of, self.id.replace("?", ""))))


def diagnosis(mistake: Mistake, evidence: str, of: str = "", is_partial: bool = False) -> Diagnosis:
    """Return a mistake of the catalogue as a diagnosis of one result, or of all that it spoils."""
    return Diagnosis(
        mistake.id, of or ", ".join(mistake.of), mistake.title, evidence, mistake.fix, mistake.setting, is_partial
    )


@dataclass(frozen=True)
class Seen:
    """What a student's function gave for one case, beside what is right; None where it gave nothing to compare."""

    case: Case
    got: torch.Tensor | None
    right: torch.Tensor
    asked: Case | None = None  # the task's own case, where that is another one

    @property
    def is_right(self) -> bool:
        """Whether both are the same."""
        return self.got is not None and same(self.got, self.right)


def merged(found: Iterable[Diagnosis]) -> tuple[Diagnosis, ...]:
    """Return diagnoses, what is said in the same words of several results once, as it is seen in the first of them."""
    kept: dict[tuple[str, ...], Diagnosis] = {}
    for each in found:
        key = (each.title, each.fix, *([] if each.id == "?" else [each.id, each.of]))
        first = kept.setdefault(key, each)
        if each.of not in first.of:
            kept[key] = dataclasses.replace(first, of=f"{first.of}, {each.of}")
    return tuple(kept.values())
