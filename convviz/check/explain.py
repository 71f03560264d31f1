"""From wrong answers to what is wrong: the catalogue first, then one factor, then the products themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from convviz.cases.battery import NOTHING, ZEROS, Case, make_case
from convviz.cases.setting_in_words import setting_in_words
from convviz.check.as_convolution import in_terms_of, seen_of
from convviz.check.call_outcome import SEVERAL, Tried, period_of, ratio_of
from convviz.check.calling.student_function import Student
from convviz.check.channel_order import exchanged_channels, paired_wrongly
from convviz.check.diagnose import Diagnosis, Seen, diagnose, diagnosis, sometimes, unexplained
from convviz.check.foreign_sums import early_update, penalty
from convviz.check.further_questions import wrong_answers
from convviz.check.one_hot_probes import OneHotProbes, single
from convviz.check.probe_analysis import counts, readings, unknown
from convviz.check.probe_formula import axes_exchanged
from convviz.check.probe_linearity import broken_premise, is_bias_alone
from convviz.check.probe_one_window import one_window
from convviz.check.probe_relations import sign_passed
from convviz.check.same_padding import other_rule, own_padding
from convviz.check.side_effects import not_finite, random_results, side_effects, stale
from convviz.check.size_limits import needed, size_limit
from convviz.check.smallest_failing_geometry import Failure
from convviz.check.where_and_when_wrong import (
    ONLY,
    alike,
    is_moved,
    mark_of,
    order_of,
    places,
    remainder_miscounted,
)
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.mistakes.catalogue import catalogue

say = sentences("check")
say_call = sentences("calling_student_code")


Probes = Mapping[str, OneHotProbes]


def explain(
    student: Student, probes: Probes, tried: Sequence[Tried], failure: Failure | None = None
) -> Iterator[Diagnosis]:
    """Yield what explains the wrong results of a task, result by result, best first.

    ``probes`` ask for more; ``failure`` is what random geometries say besides, where only one of the cases is wrong.
    """
    task = student.task
    results = ", ".join(tried[0].right) if tried else ""
    if name := student.unzeroed:
        yield diagnosis(catalogue()["G09"], say("unzeroed", name=name), results)
        return
    further, tried = [one for one in tried if one.case.way], [one for one in tried if not one.case.way]
    if not failure and all(one.is_right for one in tried):
        for one in further:
            yield from () if one.is_right else wrong_answers(one)
        return
    if rule := other_rule(task, tried) or ("padding" in student.lacking and own_padding(task, tried)):
        yield rule
        return
    if any(one.answer.message == say_call("plain_bias") for one in tried):
        return  # which says it all
    if unknown := [one for one in tried if one.answer.kind == "not_finite"]:  # a NaN differs from every number
        yield not_finite(unknown, tried)
        tried = [one for one in tried if one not in unknown]
        if not any(one.answer.kind != "ok" or not one.fits for one in tried):
            return
        failure = None
    if found := side_effects(student, tried, results):
        yield from found
        return
    first = next((one.case for one in tried if one.answer.kind == "ok" and not one.fits), None)
    if first and not failure:
        student.close()
        if student.tried(first).is_right:  # in a fresh process: after other calls something is kept
            fit = [student.tried(first).fits for _ in range(SEVERAL)]
            is_random = False in fit and True in fit[fit.index(False) :] and not period_of(fit)
            names = comma([name for name in task.results if any(name in one.wrong for one in tried)])
            yield random_results(results) if is_random else stale("kept", say_call("after_others", names=names), names)
            return
    tried = _by_geometry(student, tried)
    if raised := _raised(student, tried, results, failure):
        yield raised
    every = {result: [seen_of(task, result, one) for one in tried] for result in (tried[0].right if tried else ())}
    wrong = {result: [one.got is not None and not one.is_right for one in seen] for result, seen in every.items()}
    # First what the first failing case has, which is the one that is shown: a border spoils an output in few cases.
    for result in sorted(filter(lambda name: any(wrong[name]), wrong), key=lambda name: wrong[name].index(True)):
        seen = every[result]
        found = diagnose(probes[result].of, seen)
        if not found and not seen[0].case.quantised and (once := sometimes(probes[result].of, seen)):
            spoilt = [one.case for one, is_wrong in zip(seen, wrong[result], strict=True) if is_wrong]
            mark = "" if failure else _all_others(spoilt, seen)
            found = [dataclasses.replace(once, evidence=f"{mark} {once.evidence}".strip())]
        elif not found or found[0].is_partial:
            found = _unnamed(probes[result], seen, found, failure)
        if failure and found and (when := _when(student, failure)):
            found = _said_first(when, found)
        yield from (in_terms_of(task, result, each, student.turns) for each in found)


def _by_geometry(student: Student, tried: Sequence[Tried]) -> Sequence[Tried]:
    """Return the cases; one of special numbers that is wrong with others as well is called by its geometry."""
    wrong = [one for one in tried if not one.is_right]
    if len(wrong) != 1 or wrong[0].case.name not in (ZEROS, NOTHING):
        return tried
    spec = wrong[0].case.spec
    if student.tried(make_case("other numbers", spec, 76, student.task.quantised)).is_right:
        return tried
    named = dataclasses.replace(wrong[0].case, name=setting_in_words(spec))
    return [dataclasses.replace(one, case=named) if one is wrong[0] else one for one in tried]


def _said_first(when: str, found: list[Diagnosis]) -> list[Diagnosis]:
    """Return diagnoses that say first when it is wrong, as everything else is right; a name keeps its own sentence."""
    best, *others = found
    if best.id == "?":
        evidence = f"{best.title} {best.evidence}".replace(when, "").strip()
        return [dataclasses.replace(best, title=when, evidence=evidence), *others]
    if others:  # which of them it is nobody knows
        return [Diagnosis("?", best.of, when, "", ""), *found]
    return [dataclasses.replace(best, evidence=f"{when} {best.evidence}", is_partial=True)]


def _all_others(wrong: Sequence[Case], seen: Sequence[Seen]) -> str:
    """Return in a sentence what the wrong cases have and all others lack; nothing where others gave no result."""
    if any(one.got is None for one in seen):
        return ""
    return mark_of(wrong, [one.case for one in seen if one.is_right])


def _when(student: Student, failure: Failure) -> str:
    """Return in a sentence when it fails at random, by what was drawn and by what is asked besides."""
    return mark_of(failure.wrong, failure.others, lambda: size_limit(student, failure.smallest.case.spec))


def _raised(student: Student, tried: Sequence[Tried], results: str, failure: Failure | None) -> Diagnosis | None:
    """Return what the cases that end in an exception have in common, where no other has it and all others are right."""
    raised = [one for one in tried if one.answer.kind == "raised"]
    others = [one for one in tried if one.answer.kind != "raised"]
    right = [one.case for one in others] if all(one.fits for one in others) else []
    wrong = [one.case for one in raised]
    mark = _when(student, failure) if failure and raised else mark_of(wrong, right)
    is_padding = mark == say("only", which=say("mark.paddings"))  # for which F.pad wants another order
    fix = catalogue()["F08"].fix if is_padding else ""
    return Diagnosis("?", results, mark, raised[0].answer.message, fix) if mark else None


def _unnamed(
    ones: OneHotProbes, seen: Sequence[Seen], partly: list[Diagnosis], failure: Failure | None
) -> list[Diagnosis]:
    of, result, ask = ones.of, ones.result, ones.ask
    wrong = unexplained(of, seen, partly)
    wrong = [one for one in wrong if one.case.name != NOTHING] or wrong  # in which few factors show
    smallest = min(wrong, key=lambda one: one.case.spec.products)
    if failure and (larger := ones.larger(smallest.case)):
        smallest = larger
        wrong.append(larger)
    pairs = [(one.got, one.right) for one in wrong if one.got is not None]
    if size := remainder_miscounted(of, wrong):
        return [Diagnosis("?", result, say("remainder", result=of), size, say("remainder.fix"))]
    mark = "" if failure else _all_others([one.case for one in wrong], seen)
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
        return [dataclasses.replace(broken, of=result)]
    is_binary = of == "grad_weight" and bool(smallest.case.quantised)
    if is_binary and (parts := sign_passed(smallest.case, ask)):
        return [*partly, Diagnosis("?", result, parts[0], " ".join(parts[1:]), "")]
    if smallest.case.quantised and of != "grad_weight" and (number := one_window(result, smallest.case, ask)):
        return [*partly, Diagnosis("?", result, number, "", "")]
    where = [sentence for sentence in (*places(of, pairs, ones.student.reshapes), mark) if sentence]
    also = "" if partly else mark  # what is explained is wrong elsewhere, too
    said = _by_ratio(of, wrong)
    if said is None and not order_of(of, pairs):
        grouped = {case.spec.groups > 1 for case in (*(one.case for one in wrong), *(failure.wrong if failure else ()))}
        only_lines = is_moved(pairs) or alike(of, pairs) != ""
        grouped_alone = grouped == {True} and any(one.is_right and one.case.spec.groups == 1 for one in seen)
        said = _by_products(ones, smallest.case, only_lines, grouped_alone)
    if said is None and partly:
        return partly
    if said is None and (part := _part(ones, smallest.case)):
        said = Diagnosis("?", result, part, "", "")
    elif said is None:
        if not where and (found := next(ones.products(smallest.case), None)) and not (found.found or found.unknown):
            where = [say("read.nothing", result=of)]
        if not (failure or ones.student.task.name.startswith("linear")):
            where += filter(None, [needed(ones.student, wrong[0].case)])
        return [Diagnosis("?", result, where[0], " ".join(where[1:]), "")] if where else []
    return [*partly, dataclasses.replace(said, of=result, evidence=f"{said.evidence} {also}".strip())]


def _exact(of: str, wrong: Sequence[Seen], mark: str) -> Diagnosis | None:
    """Return what explains every wrong number as it is, without a question."""
    if found := penalty(of, wrong) or early_update(of, wrong):
        return found
    grouped = all(one.case.spec.groups > 1 for one in wrong)
    pair = paired_wrongly(wrong) if of == "grad_weight" and grouped else ""
    title = pair or exchanged_channels(of, wrong)
    return Diagnosis("?", of, title, mark, catalogue()["I25"].fix if grouped else "") if title else None


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
    shown = [f"{ratio} ({name})" for ratio, name in list(each.items())[:4]]
    evidence = say("ratios.evidence", result=of, ratios=", ".join(shown))
    return Diagnosis("?", of, say("ratios"), f"{evidence} {say('ratios.fix')}", "")


def _by_products(ones: OneHotProbes, smallest: Case, only_lines: bool, grouped: bool) -> Diagnosis | None:
    """Return how the products lie otherwise than they should.

    With ``only_lines`` by what holds of whole rows and columns alone; ``grouped``: what is wrong all has groups.
    """
    of, counted, found = ones.of, None, None
    for found in ones.products(smallest):
        setting = setting_in_words(found.spec)
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
        setting = setting_in_words(found.spec)
        evidence = say("read.also", setting=setting, what=say("read.unknown.seen").rstrip("."))
        return Diagnosis("?", of, unknown(found), evidence, "")
    is_plain = found is None or not (found.missing or found.unknown or found.spec != single(smallest.spec))
    if only_lines or counted or not is_plain:
        return None if only_lines else counted
    mixed = ones.mixed(smallest)
    if not mixed or (mixed == "groups" and not grouped) or (of == "grad_bias" and mixed == "channels"):
        return None
    if of != "grad_bias" and not smallest.quantised and (order := one_window(of, smallest, ones.ask)):
        return Diagnosis("?", of, order, "", say("window.fix"))
    exchanged, seen = ones.moved(mixed) if mixed in ("samples", "outputs") else (False, "")
    if exchanged:
        return Diagnosis("?", of, say(f"mixed.{mixed}.positions"), seen, say("window.fix"))
    if mixed == "both":
        return diagnosis(catalogue()["G10"], say("mixed.both"), of)
    fix = catalogue()["I25"].fix if mixed == "groups" else say(f"mixed.{mixed}.fix")
    return Diagnosis("?", of, say(f"mixed.{mixed}"), seen, fix)
