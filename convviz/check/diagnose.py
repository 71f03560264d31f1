"""What is wrong with a gradient: which mistake of the catalogue gives these very numbers, or which two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convviz.check.mistakes import Mistake, catalogue
from convviz.check.search import Found, Search, Seen
from convviz.facts.words import sentences

__all__ = ["Diagnosis", "Seen", "diagnose", "diagnosis"]

say = sentences("check")


@dataclass(frozen=True)
class Diagnosis:
    """A mistake that explains what was seen.

    Attributes:
        id: of the catalogue; ``"?"`` where the catalogue has no such mistake.
        of: the result that it spoils.
        title: what is wrong, in plain words.
        evidence: why we think so.
        fix: what to change, and why.
        setting: a link's text that opens the board where the mistake shows; empty where there is none.
    """

    id: str
    of: str
    title: str
    evidence: str
    fix: str
    setting: str = ""
    is_partial: bool = False  # whether it explains only some of what is wrong


def diagnose(of: str, seen: Sequence[Seen]) -> list[Diagnosis]:
    """Return what explains the wrong results, best first; nothing where all are right.

    A mistake is named only if it gives the student's numbers in every case, those that are right included: a right
    implementation is never diagnosed. Several that cannot be told apart are all named, and said to be so.

    Args:
        of: which result this is, such as ``"grad_input"``.
        seen: all cases that were tried.
    """
    search = Search(of, seen)
    compared = sum(one.got is not None for one in seen)
    if not search.wrong or (len(search.wrong) == 1 and 2 * compared < len(seen)):
        return []  # one wrong result among calls that mostly fail is no evidence of anything else
    known = [mistake for mistake in catalogue().values() if of in mistake.of and mistake.ways]
    if not seen[0].case.quantised:
        known = [mistake for mistake in known if mistake.id[0] != "Q"]
    # What two mistakes at once give in a single case, some other two give as well.
    found = search.singles(known) or (search.pairs(known) if len(search.wrong) > 1 else [])
    if found:
        return _named(of, found, len(search.wrong), len(seen))
    return _partly(of, search, known)


def _named(of: str, found: Sequence[Found], wrong: int, tried: int) -> list[Diagnosis]:
    explained = found[0].explained
    evidence = say("evidence.two" if len(found[0].mistakes) > 1 else "evidence.one", count=wrong, of=tried)
    if explained < wrong:
        evidence = say("evidence.fails", count=explained, of=wrong)
    if len(found) > 1:
        evidence += " " + say("ambiguous", count=len(found))
    named = dict.fromkeys(mistake for group in found for mistake in group.mistakes)
    return [diagnosis(mistake, evidence, of) for mistake in named]


def _partly(of: str, search: Search, known: Sequence[Mistake]) -> list[Diagnosis]:
    """Return the mistakes that explain the first wrong case and most others, and are refuted by no right one."""
    fitting = {
        mistake.id: max((search.explained(way) for way in mistake.ways if search.is_part(way)), default=0)
        for mistake in known
    }
    best = max(fitting.values(), default=0)
    evidence = say("evidence.some", count=best, of=len(search.wrong))
    best_ones = [mistake for mistake in known if 2 * best > len(search.wrong) and fitting[mistake.id] == best]
    return [diagnosis(mistake, evidence, of, is_partial=True) for mistake in best_ones]


def diagnosis(mistake: Mistake, evidence: str, of: str = "", is_partial: bool = False) -> Diagnosis:
    """Return a mistake of the catalogue as a diagnosis of one result, or of all that it spoils."""
    return Diagnosis(
        mistake.id, of or ", ".join(mistake.of), mistake.title, evidence, mistake.fix, mistake.setting, is_partial
    )
