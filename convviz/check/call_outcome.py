"""What came of asking a student's function for one case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

KINDS = (
    "ok",  # it gave all that the task asks for; whether it is right is not said here
    "not_defined",  # the function is None
    "raised",  # an exception, SystemExit among them
    "refused",  # its own assert or NotImplementedError: it is not made for this case
    "one_number",  # it raises for a stride, padding or dilation as a pair, and is right for it as a number
    "timeout",  # it ran longer than it was given
    "crashed",  # its process ended, killed or out of memory
    "wrong_type",  # not numbers, or not as many results as the task has
    "not_finite",  # nan or inf
    "changed_input",  # a tensor that it was given is another one afterwards
    "keeps_state",  # called twice with the same numbers it gives two answers
)


@dataclass(frozen=True, eq=False)
class Answer:
    """One call of a student's function."""

    kind: str  # one of ``KINDS``
    # what it gave, by the names of the task's results, on the CPU, in the dtype in which it came, its axes put into
    # torch's order (``[N, C, H, W]``, ``[C_out, C_in / groups, kH, kW]``, ``[C_out]``) as far as its shape allows; what
    # came beside a failure as well, so that it can be looked at
    results: Mapping[str, torch.Tensor] = field(default_factory=dict)
    message: str = ""  # what is wrong, in a sentence that says what to do; empty for ``"ok"``
    seconds: float = 0.0  # that the student's own code took
    remarks: tuple[str, ...] = ()  # ids of what was taken in another form than the task's, such as a bias of more axes
    read: frozenset[str] = frozenset()  # the keys that were read from dicts on the way

    @property
    def failed(self) -> bool:
        """Whether the student's code threw something."""
        return self.kind in ("raised", "refused")
