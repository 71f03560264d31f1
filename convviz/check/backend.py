"""A framework's own operators against the battery: what holds in which setting, as a table."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import torch

from convviz.cases.stated_geometries import Stated
from convviz.check.api import report
from convviz.check.call_outcome import tolerance
from convviz.check.calling.call_plan import AskedCase
from convviz.check.report import CaseResult, Report
from convviz.facts.words import sentences

say = sentences("audit")
PLAIN = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1, "padding_mode": "zeros"}


@dataclass(frozen=True)
class BackendReport:
    """What came of trying a framework's operators."""

    reports: Mapping[str, Report]  #: of each operator that was given, by the name of its task

    @property
    def passed(self) -> bool:
        """Whether every operator is right wherever it was asked."""
        return all(one.passed for one in self.reports.values())

    def table(self) -> tuple[tuple[str, ...], ...]:
        """Return a row of headings, then a row for each case: its name, and what each operator makes of it."""
        names = dict.fromkeys(
            name for one in self.reports.values() for name in (*(case.name for case in one.cases), *one.not_asked)
        )
        rows = [(name, *(_cell(one, name) for one in self.reports.values())) for name in names]
        return (("case", *self.reports), *rows)

    def text(self) -> str:
        """Return the table as plain lines, and below it what was not asked, and why, and what is wrong."""
        table = self.table()
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
        ]
        reasons: dict[str, tuple[dict[str, None], dict[str, None]]] = {}  # each with its operators and cases
        for operator, one in self.reports.items():
            for case, reason in one.not_asked.items():
                names, cases = reasons.setdefault(reason, ({}, {}))
                names[operator] = cases[case] = None
        left = [
            say("not_asked", reason=reason, cases=", ".join(cases), names=", ".join(names))
            for reason, (names, cases) in reasons.items()
        ]
        wrong = [one.text() for one in self.reports.values() if not one.passed]
        return "\n\n".join(filter(None, ["\n".join(lines), "\n".join(left), *wrong]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        return {"passed": self.passed, "reports": {name: one.to_dict() for name, one in self.reports.items()}}

    def _repr_html_(self) -> str:
        return f"<pre style='white-space:pre-wrap'>{escape(self.text())}</pre>"


def backend(
    conv: Callable[..., Any],
    conv_input: Callable[..., Any] | None = None,
    conv_weight: Callable[..., Any] | None = None,
    *,
    dtype: str = "float64",
    seed: int = 0,
    rtol: float | None = None,
    at: Stated | Sequence[Stated] | None = None,
) -> BackendReport:
    """Hold a framework's convolution and its two gradients against torch's, in the settings that show mistakes.

    All three take NumPy's arrays and torch's arguments by name, as far as they have them, and return anything that
    ``numpy.asarray`` takes. What an operator has no argument for, such as ``groups``, is not asked of it, nor
    does it count where it raises ``NotImplementedError``. One of a single argument called ``case`` is an adapter, as
    in ``report``.

    Args:
        conv: ``conv(input, weight, bias, stride, padding, dilation, groups)``, any of the latter five left out.
        conv_input: ``conv_input(input_size, weight, grad_output, stride, ...)``, its gradient by the input.
        conv_weight: ``conv_weight(input, weight_size, grad_output, stride, ...)``, its gradient by the weight.
        dtype: of the arrays that they are given, ``"float64"`` or ``"float32"``.
        seed: of the numbers.
        rtol: how far a number may be off as a part of the largest right one; by default what the dtype
            of arguments and results allows.
        at: geometries of your own in the place of those, as in ``report``.

    Raises:
        ValueError: one of them cannot be called, or the dtype, seed or tolerance is none.
    """
    if dtype not in ("float64", "float32"):
        raise ValueError(say("dtype", dtype=repr(dtype)))
    if rtol is None and dtype == "float32":
        rtol = tolerance(torch.float32)  # also of what comes back in float64: it was given no more
    given: dict[str, Any] = {"seed": seed, "rtol": rtol, "at": at, "time_limit": math.inf}
    operators = {"conv2d": conv, "conv2d_input": conv_input, "conv2d_weight": conv_weight}
    for name, operator in operators.items():
        if not callable(operator) and (operator is not None or name == "conv2d"):
            raise ValueError(say("no_operator", name=name, got=type(operator).__name__))
    return BackendReport(
        {
            # In this process: a framework's threads do not live through a fork.
            # Not at random geometries: many compile for each anew, and say in words of their own what they lack.
            name: _asked(report(_over_arrays(operator, dtype), name, cases="battery", **given))
            for name, operator in operators.items()
            if operator is not None
        }
    )


def _over_arrays(operator: Callable[..., Any], dtype: str) -> Callable[..., Any]:
    """Return the operator as a function of NumPy's arrays in one dtype; its arguments are still those it names.

    One that hands ``**named`` on does not pass torch's defaults on: what is behind it may not have that argument.
    """

    @functools.wraps(operator)
    def over_arrays(*placed: Any, **named: Any) -> Any:
        arrays = [_array(value, dtype) for value in placed]
        not_default = {name: _array(value, dtype) for name, value in named.items() if PLAIN.get(name, ()) != value}
        return np.asarray(operator(*arrays, **not_default))

    return over_arrays


def _asked(found: Report) -> Report:
    """Return a report without the cases of which an operator says itself that it does not have them."""
    words = ("NotImplementedError", *(f"unexpected keyword argument '{name}'" for name in PLAIN))
    lacking = [case for case in found.cases if case.kind == "raised" and any(word in case.message for word in words)]
    reasons = {case.name: case.message.partition("\n")[0].removesuffix(".") for case in lacking}
    kept = tuple(case for case in found.cases if case.name not in reasons)
    return dataclasses.replace(found, cases=kept, not_asked={**found.not_asked, **reasons})


def _array(value: Any, dtype: str) -> Any:
    if isinstance(value, AskedCase):
        return AskedCase(lambda name: _array(getattr(value, name), dtype))
    if isinstance(value, torch.Tensor):
        value = value.detach().numpy()
    return value.astype(dtype) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


def _cell(one: Report, name: str) -> str:
    if name in one.not_asked:
        return "not asked"
    case: CaseResult | None = next((case for case in one.cases if case.name == name), None)
    return "not tried" if case is None else "holds" if case.passed else case.kind.replace("_", " ")
