"""What a reading of single ones takes for granted, tried before it is believed: what a result is made of, and how.

A result depends on its two factors and on nothing else, and it is linear in each. Twice a grad_output gives twice the
gradient, its negative the negative, none at all gives none. What breaks one of these was clipped, cut to whole numbers,
divided by its own size, masked or added to, and no product explains it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from convviz.cases.battery import Case, make_case
from convviz.check.call_outcome import errors, ratio_of, same
from convviz.check.diagnosis import Diagnosis, Seen, diagnosis
from convviz.facts import facts
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.mistakes.catalogue import catalogue

say = sentences("check")

Ask = Callable[[Case], torch.Tensor | None]
SINGLE = 2e-6  # of the largest number: what is no further off has the digits of float32
HALF = 5e-3  # the same for float16 and bfloat16
# Parts of 1 that numbers may be rounded to, the coarsest first.
FRACTIONS = sorted({*(10**digits for digits in range(7)), *(2**bits for bits in range(1, 9))})
CONSEQUENCES = ("linear", "sign", "added")  # which rounding, or what is no factor, brings about
FEW = 3  # numbers with one and the same size are no chance any more


def broken_premise(result: str, case: Case, right: torch.Tensor, ask: Ask) -> Diagnosis | None:
    """Return what a function does in a wrong case that no sum of products does; None where it does nothing such."""
    case = case.with_tensor("transposed_bias", torch.zeros_like(case.transposed_bias))
    if result == "output":  # to which a bias is added
        right = right - case.bias.reshape(1, -1, *[1] * (right.dim() - 2))
        case = case.with_tensor("bias", torch.zeros_like(case.bias))
    got = ask(case)
    if got is None or not got.numel() or got.shape != right.shape or same(got, right):
        return None
    found = _coarse(result, got, right, bool(case.quantised))
    for sent in made_of(result):
        if sent != "bias" and not (sent == "weight" and case.quantised):
            found = found or _not_linear(result, sent, case, got, ask)
    if found is None or found[0] in CONSEQUENCES:
        found = _foreign(result, case, got, right, ask) or found
    if found is None or found[0] == "linear":
        found = _few_digits(result, got, right) or found
    if found is None:
        return None
    evidence = say(f"premise.{found[0]}.seen", factors=" · ".join(made_of(result)), **found[1])
    if found[0] == "whole":
        return diagnosis(catalogue()["G08"], evidence, result)
    return Diagnosis("?", result, say(f"premise.{found[0]}", **found[1]), evidence, "")


def is_bias_alone(result: str, wrong: Sequence[Seen], ask: Ask) -> bool:
    """Return whether every wrong output is right as soon as its bias is 0."""
    name = "bias" if result == "output" else "transposed_bias"
    for one in wrong:
        bias = one.case.tensor(name)
        added = bias.reshape(1, -1, *[1] * (one.right.dim() - 2)) if result == "output" else 0
        got = ask(one.case.with_tensor(name, torch.zeros_like(bias)))
        if got is None or not same(got, one.right - added):
            return False
    return result in ("output", "grad_input")


def _coarse(
    result: str, got: torch.Tensor, right: torch.Tensor, is_binary: bool
) -> tuple[str, dict[str, object]] | None:
    several = got.abs().round(decimals=9).unique().numel() > 1  # one size alone may be that of a clip, or none at all
    largest, off = float(right.abs().max()), errors(got, right)
    part = float(off.max()) / largest if largest else math.inf
    words: dict[str, object] = {"result": result, "part": f"{part:.0e}"}
    # What has the digits of the first has those of the second.
    halves = [dtype for dtype in (torch.bfloat16, torch.float16) if same(got.to(dtype).to(got.dtype), got, 1e-12)]
    # Each number is off by a part of its own size: no fixed step does that.
    floats = bool(halves) and bool((off <= torch.finfo(halves[0]).eps * right.abs()).all())
    for parts in FRACTIONS if several and not is_binary and not floats else ():
        if _is_whole(got * parts) and not _is_whole(right * parts):
            return ("whole" if parts == 1 else "fraction"), {"result": result, "parts": parts}
    if halves and part < 0.01:
        return "half", words | {"dtype": str(halves[0]).removeprefix("torch.")}
    if part < SINGLE:
        return "single", words
    return None


def _few_digits(result: str, got: torch.Tensor, right: torch.Tensor) -> tuple[str, dict[str, object]] | None:
    """Return that almost every number is a little off, as rounding on the way leaves it."""
    largest, off = float(right.abs().max()), errors(got, right)
    is_everywhere = 10 * int((off > 1e-6 * right.abs()).sum()) > 9 * off.numel()
    if float(off.max()) < HALF * largest and is_everywhere and ratio_of(got, right) is None:
        return "digits", {"result": result, "part": f"{float(off.max()) / largest:.0e}"}
    return None


def _is_whole(numbers: torch.Tensor) -> bool:
    return bool(((numbers - numbers.round()).abs() < 1e-9).all())


def made_of(result: str) -> list[str]:
    """Return what a result may depend on, its factors, as the board has them."""
    return [name.removeprefix("padded_") for name in facts("picture")["made_of"]["convolution"][result]]


def _foreign(
    result: str, case: Case, got: torch.Tensor, right: torch.Tensor, ask: Ask
) -> tuple[str, dict[str, object]] | None:
    """Return what a result depends on that is none of its factors; a mask of binary weights makes one of the weight."""
    other = make_case("another", case.spec, 6)
    names = [name for name in ("input", "weight", "bias") if not case.quantised and name not in made_of(result)]
    asked = {
        name: [ask(case.with_tensor(name, each)) for each in (other.tensor(name), 0 * other.tensor(name))]
        for name in names
    }
    found = {
        name: none is not None and same(none, right)
        for name, (changed, none) in asked.items()
        if changed is not None and changed.shape == got.shape and not same(changed, got)
    }
    kind = "foreign.output" if len(found) > 1 else "foreign.none" if any(found.values()) else "foreign"
    return (kind, {"result": result, "name": comma(list(found))}) if found else None


def _not_linear(
    result: str, sent: str, case: Case, got: torch.Tensor, ask: Ask
) -> tuple[str, dict[str, object]] | None:
    def scaled(factor: float) -> torch.Tensor | None:
        answer = ask(case.with_tensor(sent, case.tensor(sent) * factor))
        return answer if answer is not None and answer.shape == got.shape else None

    if float(got.abs().max()) < 1e-9:  # rounding, where everything cancels
        return None
    doubled, none, negative = scaled(2), scaled(0), scaled(-1)
    words: dict[str, object] = {"result": result, "sent": sent}
    if doubled is None or none is None or negative is None:
        return None
    if bool(got.any()) and same(doubled, got) and same(none, got) and same(negative, got):
        return "independent", words
    signs = ask(case.with_tensor(sent, case.tensor(sent).sign()))
    if bool(got.any()) and same(doubled, got) and signs is not None and same(signs, got):
        return "signs", words
    if bool(none.abs().max() > 0):
        return "added", words | {"number": f"{float(none.flatten()[none.abs().argmax()]):.6g}"}
    if not same(doubled, 2 * got):
        top = float(got.abs().max())
        if int((got.abs() == top).sum()) >= FEW:
            return "clipped", words | {"number": f"{top:.6g}"}
        return ("size" if same(doubled, got) else "linear"), words
    if not same(negative, -got):
        return "sign", words
    other = make_case("another", case.spec, 5).tensor(sent)
    more, both = (ask(case.with_tensor(sent, numbers)) for numbers in (other, case.tensor(sent) + other))
    fits = more is not None and both is not None and more.shape == both.shape == got.shape
    if fits and more is not None and both is not None and not same(both, got + more):
        return "linear", words
    shifted = ask(case.with_tensor(sent, case.tensor(sent) + 1))
    return ("mean", words) if bool(got.any()) and shifted is not None and same(shifted, got) else None
