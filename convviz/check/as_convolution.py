"""A task's results as results of a convolution, whose mistakes have names; and what is said of them, said of the task.

A transposed convolution's output is the grad_input of the convolution that a case describes, its grad_input is that
convolution's output, and its grad_weight the very same sum. Its grad_bias is a sum like any other.
"""

from __future__ import annotations

import dataclasses
import re

import torch

from convviz.cases.battery import Case, make_case
from convviz.cases.tasks import Task
from convviz.check.call_outcome import Tried
from convviz.check.diagnosis import Diagnosis, Seen
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("check")
TURNED = {"output": "grad_input", "grad_input": "output"}
# A transposed convolution's input channels are the convolution's output channels; Chinese has no spaces around them.
# What a kernel that is flipped along one axis alone has in reverse, whether the code rotates it or uses it as it is.
HALF = {"I03": "row", "I04": "column"}
# In quotes stands the name of a case, in the task's own words already.
QUOTED = "“[^”]*”|「[^」]*」|"
CHANNELS = re.compile(QUOTED + r"\b([Ii]n|[Oo]ut)(?=put channel)|\bC_(in|out)\b|([输輸][入出])(?=通道)", re.ASCII)
OTHER = {"in": "out", "In": "Out", "out": "in", "Out": "In", "入": "出", "出": "入"}
IMAGE = re.compile(QUOTED + r"\b(grad_)?(in|out)put\b(?! channel)", re.ASCII)  # in Chinese without spaces around it


def recipe_of(task: Task, result: str) -> str:
    """Return which result of a convolution this result of a task is."""
    return TURNED.get(result, result) if task.is_transposed else result


def seen_of(task: Task, result: str, tried: Tried) -> Seen:
    """Return one result of a case as a convolution's."""
    got = tried.answer.results.get(result)
    right = as_convolution(task, result, tried.case, tried.right[result])
    as_seen = None if got is None else as_convolution(task, result, tried.case, got)
    return Seen(case_of_convolution(task, result, tried.case), as_seen, right, tried.case)


def as_convolution(task: Task, result: str, case: Case, got: torch.Tensor) -> torch.Tensor:
    """Return a task's result in the form that a convolution has it in, without a transposed convolution's bias."""
    got = task.whole(got)
    if task.is_transposed and result == "output" and got.dim() == 4 and got.shape[1] == case.spec.in_channels:
        return got - case.transposed_bias.to(got.dtype)[:, None, None]
    return got


def as_result(task: Task, result: str, case: Case, found: torch.Tensor) -> torch.Tensor:
    """Return a convolution's result in the form that the task has it in: the reverse of ``as_convolution``."""
    if task.is_transposed and result == "output" and found.dim() == 4 and found.shape[1] == case.spec.in_channels:
        found = found + case.transposed_bias[:, None, None]
    return task.own(found) if found.dim() == 4 else found


def case_of_convolution(task: Task, result: str, case: Case) -> Case:
    """Return the case of the convolution whose result this is."""
    if task.is_transposed and result == "grad_input":  # which has no bias in it
        return case.without_bias()
    return _exchanged(case, case.input) if task.is_transposed and result == "grad_bias" else case


def case_asked(task: Task, result: str, case: Case) -> Case:
    """Return the case at which a task is asked for that result of a convolution."""
    if not (task.is_transposed and result == "grad_bias"):
        return case
    spec = ConvSpec(case.spec.output_size, case.spec.out_channels, 1, 1, batch=case.spec.batch)
    return make_case(case.name, spec, 81).with_tensor("input", case.grad_output)


def _exchanged(case: Case, sent: torch.Tensor) -> Case:
    """Return a case of kernels of one cell to which this is sent back: its grad_bias is that sum."""
    spec = ConvSpec(tuple(sent.shape[2:]), 1, sent.shape[1], 1, batch=sent.shape[0])
    return make_case(case.name, spec, 81).with_tensor("grad_output", sent)


def in_terms_of(task: Task, result: str, found: Diagnosis, turns: bool = False) -> Diagnosis:
    """Return what is said of a convolution as it is said of a linear layer, or of a transposed convolution's result.

    ``turns``: the code reverses something, so that a kernel that lies wrong may be one that was turned needlessly.
    """
    if task.name.startswith("linear"):
        return dataclasses.replace(found, fix=say("linear_order")) if found.id in ("F10", "W09") else found
    if turns and found.id == "I01":
        found = dataclasses.replace(found, title=say("turned"), fix=say("turned.already"))
    if found.id in HALF:
        found = dataclasses.replace(found, title=say(f"read.reversed.{HALF[found.id]}") + ".")
    if not task.is_transposed or result == "grad_bias":
        return found

    def turned(name: re.Match[str]) -> str:
        if not name[2] or (
            result == "output" and not name[1]
        ):  # a size or a padding: the gradient's, which is no gradient here
            return name[0]
        other = {"in": "output", "out": "input"}[name[2]]
        return other if name[1] else f"grad_{other}"

    def of_channels(name: re.Match[str]) -> str:
        side = name[1] or name[2] or (name[3] or "")[1:]
        if not side:
            return name[0]
        return name[0].removesuffix(side) + OTHER[side]

    keeps = found.id == "G10"  # whose dout is the task's own
    said = (each if keeps else CHANNELS.sub(of_channels, each) for each in (found.title, found.evidence, found.fix))
    title, evidence, fix = (IMAGE.sub(turned, each) for each in said)
    title = say("turned") if found.id == "I01" else title  # which here is also who rotates what they stamp
    fix = say("turned.fix") if found.id in ("I01", "I05") else fix
    return dataclasses.replace(found, of=result, title=title, evidence=evidence, fix=fix)
