"""What is said where what is asked beside the settings is answered wrongly."""

from __future__ import annotations

from collections.abc import Iterator

from convviz.cases.further_questions import NO_BIAS, TWICE
from convviz.check.call_outcome import Tried, errors, same
from convviz.check.diagnosis import Diagnosis
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences

say = sentences("check")

ROUNDED = 0.1  # of the largest number: no dtype rounds by more
REFUSED = "different than None"  # in autograd's sentence on a gradient for an input that is None


def wrong_answers(tried: Tried) -> Iterator[Diagnosis]:
    """Yield what is wrong where such a question alone is answered wrongly."""
    way, answer = tried.case.way, tried.answer
    wrong = [name for name, value in tried.right.items() if not same(answer.results.get(name, value[:0]), value)]
    results = ", ".join(dict.fromkeys(name.split()[0] for name in wrong or tried.right))
    if way == NO_BIAS:
        id = "gradient" if REFUSED in answer.message else "raised" if answer.failed else "wrong"
        yield Diagnosis("?", results, say(f"further.bias.{id}"), answer.message, say("further.bias.fix"))
    elif way == TWICE and answer.kind != "ok":
        yield Diagnosis("?", results, say("further.twice.raised"), answer.message, say("further.twice.fix"))
    elif way == TWICE:
        yield from _cut(tried, wrong)
    elif answer.kind == "ok":
        off = max(float(errors(answer.results[name], tried.right[name]).max()) for name in wrong)
        largest = max(float(tried.right[name].abs().max()) for name in wrong)
        if off > ROUNDED * largest:
            evidence = say("further.float32.memory", part=f"{off / largest:.0e}")
            yield Diagnosis("?", results, say("further.float32"), evidence, "")
            return
        evidence = say("further.float32.seen", part=f"{off / largest:.0e}")
        yield Diagnosis("?", results, say("further.float32"), evidence, say("further.float32.fix"))
    else:
        evidence = say("further.float32.nan") if answer.kind == "not_finite" else answer.message
        yield Diagnosis("?", results, say("further.float32"), evidence, "")


def _cut(tried: Tried, wrong: list[str]) -> Iterator[Diagnosis]:
    """Yield for each gradient by what it cannot be derived, and whether that is left out or has wrong numbers."""
    for gradient in dict.fromkeys(name.split()[0] for name in wrong):
        leaves = [name.split()[-1] for name in wrong if name.startswith(f"{gradient} ")]
        is_none = not any(bool(tried.answer.results[f"{gradient} by {leaf}"].any()) for leaf in leaves)
        words = {"result": gradient, "names": comma(leaves)}
        title = say("further.twice.zero" if is_none else "further.twice.wrong", **words)
        yield Diagnosis("?", gradient, title, "", say("further.twice.fix"))
