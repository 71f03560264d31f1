"""What is wrong where no mistake of the catalogue gives the numbers: one factor, an order, the products themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from convviz.cases.battery import NOTHING, Case
from convviz.check.call_outcome import Failure, ratio_of
from convviz.check.diagnose.by_catalogue import unexplained
from convviz.check.diagnose.channel_order import exchanged_channels, paired_wrongly
from convviz.check.diagnose.doubts import Doubts
from convviz.check.diagnose.foreign_sums import early_update, penalty
from convviz.check.diagnose.size_limits import needed
from convviz.check.diagnose.where_and_when_wrong import (
    ONLY,
    alike,
    is_moved,
    order_of,
    places,
    remainder_miscounted,
)
from convviz.check.diagnosis import Diagnosis, Seen, diagnosis
from convviz.check.probes.analysis import counts, readings, unknown
from convviz.check.probes.formula import axes_exchanged
from convviz.check.probes.linearity import broken_premise, is_bias_alone
from convviz.check.probes.one_hot_probes import OneHotProbes, single
from convviz.check.probes.one_window import one_window, window_spec
from convviz.check.probes.relations import sign_passed
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.mistakes.catalogue import catalogue

say = sentences("check")


def all_others(result: str, doubts: Doubts, wrong: Sequence[Seen], seen: Sequence[Seen]) -> str:
    """Return in a sentence what the wrong cases have and all others lack; nothing where others gave no result."""
    if any(one.got is None for one in seen):
        return ""
    return doubts.mark_for(result, _asked(wrong), _asked([one for one in seen if one.is_right]))


def _asked(seen: Sequence[Seen]) -> list[Case]:
    return [one.asked or one.case for one in seen]


def unnamed(
    ones: OneHotProbes,
    seen: Sequence[Seen],
    partly: list[Diagnosis],
    failure: Failure | None,
    larger: Sequence[Seen],
    doubts: Doubts,
) -> list[Diagnosis]:
    """Return what is wrong with a result that no mistake of the catalogue explains, or ``partly`` does.

    ``larger`` are those of ``seen`` that were asked for as larger ones than a random ``failure``.
    """
    of, result, ask = ones.of, ones.result, ones.ask
    if ones.student.task.pooling:
        return partly or _of_pooling(result, doubts, seen, failure)
    wrong = unexplained(of, seen, partly)
    wrong = [one for one in wrong if one.case.name != NOTHING] or wrong  # in which few factors show
    smallest = min(larger or wrong, key=lambda one: one.case.spec.products)
    pairs = [(one.got, one.right) for one in wrong if one.got is not None]
    if size := remainder_miscounted(of, wrong):
        return [Diagnosis("?", result, say("remainder", result=of), size, say("remainder.fix"))]
    mark = "" if failure else all_others(result, doubts, wrong, seen)
    if len(wrong) == 1 and wrong[0].case.name in ONLY and all(one.got is not None for one in seen):
        return [Diagnosis("?", result, mark or say("only.of", case=wrong[0].case.name), "", "")]
    if not smallest.case.quantised and (exact := _exact(of, wrong, mark)):
        return [*partly, dataclasses.replace(exact, of=result)]
    # In the smallest of all there may be one number, which proves nothing, and in a kernel of one cell no mean.
    plain = [one for one in wrong if one.case.spec.kernel_size != (1, 1)] or wrong
    typical = (max if failure else min)(plain, key=lambda one: one.case.spec.products)
    if is_bias_alone(of, wrong, ask):
        return [Diagnosis("?", result, say("premise.bias"), say("premise.bias.seen"), "")]
    if broken := broken_premise(of, typical.case, typical.right, ask):
        seen_in = say("seen.case", what=broken.evidence, case=_asked([typical])[0].name)
        return [dataclasses.replace(broken, of=result, evidence=seen_in)]
    is_binary = of == "grad_weight" and bool(smallest.case.quantised)
    if is_binary and (parts := sign_passed(smallest.case, ask)):
        seen_in = say("seen.case", what=" ".join(parts[1:]), case=_asked([smallest])[0].name).strip()
        return [*partly, Diagnosis("?", result, parts[0], seen_in, "")]
    if smallest.case.quantised and of != "grad_weight" and (number := one_window(result, smallest.case, ask)):
        return [*partly, Diagnosis("?", result, number, _in_window(ones, smallest.case), "")]
    where = [sentence for sentence in (*places(of, pairs, ones.student.reshapes), mark) if sentence]
    also = "" if partly else mark  # what is explained is wrong elsewhere, too
    said = _by_ratio(of, wrong)
    if said is None and not order_of(of, pairs):
        spoilt = [one.case for one in seen if not one.is_right]  # those that raise as well
        grouped = {case.spec.groups > 1 for case in (*spoilt, *(failure.wrong if failure else ()))}
        only_lines = is_moved(pairs) or alike(of, pairs) != ""
        grouped_alone = grouped == {True} and any(one.is_right and one.case.spec.groups == 1 for one in seen)
        said = _by_products(ones, (smallest if failure else typical).case, only_lines, grouped_alone)
    if said is None and partly:
        return partly
    if said is None and (part := _part(ones, smallest.case)):
        seen_in = say("seen.case", what="", case=_asked([smallest])[0].name).strip()
        said = Diagnosis("?", result, part, seen_in, "")
    elif said is None:
        if not where and (found := next(ones.products(smallest.case), None)) and not (found.found or found.unknown):
            where = [say("read.nothing", result=of)]
        if not (failure or ones.student.task.name.startswith("linear")):
            where += filter(None, [needed(ones.student, wrong[0].case)])
        return [Diagnosis("?", result, where[0], " ".join(where[1:]), "")] if where else []
    return [*partly, dataclasses.replace(said, of=result, evidence=f"{said.evidence} {also}".strip())]


def _of_pooling(result: str, doubts: Doubts, seen: Sequence[Seen], failure: Failure | None) -> list[Diagnosis]:
    """Return what is wrong with a pooling, which is linear in nothing that single ones could be put into."""
    wrong = [one for one in seen if one.got is not None and not one.is_right]
    if ratio := _by_ratio(result, [one for one in wrong if one.case.name != NOTHING] or wrong):
        return [ratio]
    mark = "" if failure else all_others(result, doubts, wrong, seen)
    pairs = [(one.got, one.right) for one in wrong if one.got is not None]
    where = [sentence for sentence in (*places(result, pairs, False), mark) if sentence]
    return [Diagnosis("?", result, where[0], " ".join(where[1:]), "")] if where else []


def _exact(of: str, wrong: Sequence[Seen], mark: str) -> Diagnosis | None:
    """Return what explains every wrong number as it is, without a question."""
    if found := penalty(of, wrong) or early_update(of, wrong):
        return found
    grouped = all(one.case.spec.groups > 1 for one in wrong)
    pair = paired_wrongly(wrong) if of == "grad_weight" and grouped else ""
    title = pair or exchanged_channels(of, wrong)
    seen_in = say("seen.case", what=mark, case=_asked(wrong)[0].name).strip()
    return Diagnosis("?", of, title, seen_in, catalogue()["I25"].fix if grouped else "") if title else None


def _part(ones: OneHotProbes, case: Case) -> str:
    """Return in a sentence which part of what is sent goes in wrongly, where the others do not; empty otherwise."""
    found = ones.parts(case)
    if found is None:
        return ""
    sent, axis, which, ratios = found
    words = {"axis": say(f"axis.{axis}"), "which": comma(list(map(str, which))), "sent": sent, "count": len(which)}
    if len(ratios) == 1 and (factor := ratios.pop()) is not None:
        return say("part.factor", factor=f"{factor:g}", **words) if factor else say("part.none", **words)
    return say("part", result=ones.of, **words)


def _by_ratio(of: str, wrong: Sequence[Seen]) -> Diagnosis | None:
    ratios = [ratio_of(one.got, one.right) for one in wrong if one.got is not None]
    found = [ratio for ratio in ratios if ratio is not None]
    if len(found) < len(ratios) or not found or 0 in found:
        return None
    if max(found) - min(found) <= 1e-6 * abs(found[0]):
        evidence = say("ratio.evidence", result=of, ratio=f"{found[0]:.6g}")
        return Diagnosis("?", of, say("ratio"), f"{evidence} {say('ratio.fix')}", "")
    if any(one.right.numel() < 2 for one in wrong):
        return None  # one number is always some factor off
    each: dict[str, str] = {}  # with the first case that has it
    for one, ratio in zip(wrong, found, strict=True):
        each.setdefault(f"{ratio:.6g}", one.case.name)
    shown = [f"{ratio} (“{name}”)" for ratio, name in list(each.items())[:4]]
    evidence = say("ratios.evidence", result=of, ratios=", ".join(shown))
    return Diagnosis("?", of, say("ratios"), f"{evidence} {say('ratios.fix')}", "")


def _by_products(ones: OneHotProbes, smallest: Case, only_lines: bool, grouped: bool) -> Diagnosis | None:
    """Return how the products lie otherwise than they should.

    With ``only_lines`` by what holds of whole rows and columns alone; ``grouped``: what is wrong all has groups.
    """
    of, counted, found = ones.of, None, None
    for found in ones.products(smallest):
        setting = ones.setting(found.spec)
        if smallest.quantised and found.unknown:
            break
        if said := readings(found):
            if (pair := {"grad_input": "I21", "output": "F08"}.get(of)) and (which := axes_exchanged(found)):
                named = diagnosis(catalogue()[pair], say("read.also", setting=setting, what=". ".join(said)), of)
                return named if which == "all" else dataclasses.replace(named, title=say(f"exchanged.{which}"))
            rest = say("read.also", setting=setting, what=". ".join(said[1:])) if said[1:] else ""
            return Diagnosis("?", of, f"{said[0]}.", rest or say("read", setting=setting), "")
        if count := counts(found):
            counted = counted or Diagnosis("?", of, f"{count}.", say("read", setting=setting), "")
    # The last of them has the geometry of a case that is wrong: only its channels and samples are left.
    if found is not None and found.unknown and (smallest.quantised or not found.found) and not only_lines:
        setting = ones.setting(found.spec)
        evidence = say("read.also", setting=setting, what=say("read.unknown.seen").rstrip("."))
        return Diagnosis("?", of, unknown(found), evidence, "")
    is_plain = found is None or not (found.missing or found.unknown or found.spec != single(smallest.spec))
    if only_lines or counted or not is_plain:
        return None if only_lines else counted
    mixed, plane = ones.mixed(smallest), ones.setting(single(smallest.spec))
    if not mixed or (mixed == "groups" and not grouped) or (of == "grad_bias" and mixed == "channels"):
        return None
    if of != "grad_bias" and not smallest.quantised and (order := one_window(of, smallest, ones.ask)):
        return Diagnosis("?", of, order, _in_window(ones, smallest), say("window.fix"))
    is_order = mixed == "outputs" or (mixed == "samples" and of != "grad_bias")  # a sum has no order of samples
    exchanged, seen = ones.moved(mixed) if is_order else (False, "")
    if exchanged:
        return Diagnosis("?", of, say(f"mixed.{mixed}.positions"), seen, say("window.fix"))
    if mixed == "both":
        return diagnosis(catalogue()["G10"], say("seen.probe", what=say("mixed.both"), setting=plane), of)
    fix = catalogue()["I25"].fix if mixed == "groups" else say(f"mixed.{mixed}.fix")
    return Diagnosis("?", of, say(f"mixed.{mixed}"), say("seen.probe", what=seen, setting=plane).strip(), fix)


def _in_window(ones: OneHotProbes, wrong: Case) -> str:
    return say("seen.probe", what="", setting=ones.setting(window_spec(wrong.spec))).strip()
