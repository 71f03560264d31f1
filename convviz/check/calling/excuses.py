"""Why a function need not take a case that it fails for: what it refuses, what it takes one number for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

from convviz.cases.battery import Case, make_case
from convviz.cases.further_questions import FLOAT32, NO_BIAS
from convviz.cases.same_padding import padding_word
from convviz.cases.settings_in_scope import with_one_number
from convviz.check.call_outcome import Answer
from convviz.check.calling.askable import Askable
from convviz.check.calling.case_runner import Asker
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("calling_student_code")


@dataclass(frozen=True, eq=False)
class Excuses:
    """The excuses of one function, found by asking it for more."""

    askable: Askable  # in which is noted what was learned
    asker: Asker
    right: Callable[[Case], Mapping[str, torch.Tensor]]  # what is right in a case
    short: dict[str, str] = field(default_factory=dict)  # of a reason with the code's own message: without it
    # what it takes one number for, as it was seen at a geometry: a case is looked at twice
    seen: dict[ConvSpec, list[str]] = field(default_factory=dict)

    def of(self, case: Case, answer: Answer, fresh: bool = False) -> str | None:
        """Return why it need not take a case, by what it answered; None where it has to.

        ``fresh``: what it keeps of one call, such as indices by sizes, must not answer the next.
        """
        why = self._why(case, answer, fresh)
        if why is None:
            self.askable.borders[case.spec.padding_mode] = True
            self.askable.takes_strided_same |= answer.kind != "raised" and self._is_strided_same(case.spec)
        else:
            self.askable.borders.setdefault(case.spec.padding_mode, answer.kind != "refused")
        return why

    def _why(self, case: Case, answer: Answer, fresh: bool) -> str | None:
        is_strict, message = self.askable.scope.strict, answer.message.rstrip(".")
        if answer.kind == "refused":
            message = message.removeprefix(say("raised", type="\0", text="", where="").partition("\0")[0])
        if answer.kind == "said_once" or (answer.kind == "refused" and not is_strict):
            return self._no(f"no.{answer.kind}", message)
        if answer.kind == "raised":
            # Torch has that word for a stride of 1 only, too; who takes it for one above 1 has to take it everywhere.
            if self._is_strided_same(case.spec) and not (is_strict or self.askable.takes_strided_same):
                return self._no("no.same", message)
            if case.way == FLOAT32:
                return self._no("no.float32", message)
            if case.way == NO_BIAS and self.askable.subject.demands_bias:
                return self._no("no.bias", message)
        elif answer.kind != "ok" or answer.has(self.right(case)):
            return None
        if fresh or case.spec not in self.seen:
            self.seen[case.spec] = self._single(case.spec, fresh)
        self.askable.single.update(self.seen[case.spec])
        return self.askable.lacks(case.spec)

    def _is_strided_same(self, spec: ConvSpec) -> bool:
        return self.askable.in_words(spec) and padding_word(spec) == "same" and spec.stride != (1, 1)

    def _no(self, id: str, message: str) -> str:
        reason = say(id, message=message)
        self.short[reason] = say(f"{id}.short")
        return reason

    def _single(self, spec: ConvSpec, fresh: bool) -> list[str]:
        """Return the settings that it takes one number for: two equal ones raise, or give other numbers than one."""
        task, plan = self.askable.task, self.askable.found.plan
        if task.is_row:
            return []
        known = plan.pairs.split()
        has_kernel = self.askable.subject.makes_layers or bool(task.pooling)
        names, specs = with_one_number(spec, self.askable.takes_rest, has_kernel)
        names = [name for name in names if name not in known and known != ["pair"]]
        cases = [make_case("one number", each, 3, task.rule) for each in specs] if names else []
        asked = ((each, self.asker.ask(plan, each, twice=False)) for each in cases)
        case, one = next((pair for pair in asked if not pair[1].failed), (None, None))
        if case is None or one is None:
            return []
        if fresh:
            self.asker.close()
        plans = {name: dataclasses.replace(plan, pairs=" ".join([*known, name])) for name in names}
        twos = {name: self.asker.ask(each, case, twice=False) for name, each in plans.items()}
        wrong = [name for name, two in twos.items() if two.failed or not two.has(one.results)]
        # What is random, or kept, differs whatever it is given: then only what is right tells one number from two.
        again = not wrong or one.has(self.right(case)) or self.asker.ask(plan, case, twice=False).has(one.results)
        return wrong if again else []
