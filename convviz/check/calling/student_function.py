"""A student's function, with how it is called and which geometries it can be asked: those that it has arguments for."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from convviz.check.battery import Case, make_case
from convviz.check.call_outcome import Answer, Tried
from convviz.check.calling.ask_back import question
from convviz.check.calling.call_plan import PAIRS, Plan
from convviz.check.calling.case_runner import Asker
from convviz.check.calling.find_plan import PROBES, Found, cure
from convviz.check.calling.function_or_class import Subject
from convviz.check.calling.further_ways import demands_bias, ways_of
from convviz.check.calling.inspect_source import knows_words, mentions, reverses, unzeroed
from convviz.check.calling.likely_plans import plans
from convviz.check.calling.names_and_layouts import role_of
from convviz.check.further_questions import FLOAT32, LINEAR_SPEC, NO_BIAS, SPEC, right_of
from convviz.check.same_padding import padding_word
from convviz.check.settings_in_scope import Scope, with_one_number
from convviz.check.tasks import GEOMETRY, Task
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("calling_student_code")
LIKELY = 5  # ways of calling a function that are tried in a scope
PLAIN = {name: getattr(ConvSpec(3), name) for name in GEOMETRY}


@dataclass(frozen=True, eq=False)
class Student:
    """A student's function, with what was found out about how to call it."""

    task: Task  # with the output among its results where a forward pass of its own is there
    results: tuple[str, ...]  # names of those that it gives; without grad_bias if it knows no bias
    square: bool  # whether it reads one size for both axes of a kernel
    _nothing: Answer | None  # to every case, where there is nothing to call
    _subject: Subject
    _found: Found
    _asker: Asker
    _scope: Scope
    _cases: Sequence[Case]
    _said: tuple[str, ...]
    _remarks: set[str] = field(default_factory=set)
    _tried: dict[Case, Answer] = field(default_factory=dict)
    _rights: dict[Case, dict[str, torch.Tensor]] = field(default_factory=dict)
    _pairs: set[ConvSpec] = field(default_factory=set)  # those that it cannot be asked with two numbers

    @property
    def plan(self) -> Plan:
        """How it is called."""
        return self._found.plan

    @property
    def calls(self) -> int:
        """How many calls finding that out took."""
        return self._found.calls

    @property
    def is_told_sizes(self) -> bool:
        """Whether it has an argument for the size of a kernel."""
        return bool({"weight_size", "kernel_size"} & self._subject.binding.roles)

    def fits(self, scope: Scope) -> bool:
        """Return whether it is right at a small case inside a scope, called in one of the likeliest ways."""
        for spec in PROBES[:2]:
            case = make_case("probe", scope.nearest(self.task.fit(spec)), 1, self.task.quantised)
            for plan in itertools.islice(plans(self._subject, self._found.stated), LIKELY):
                answer = self._asker.ask(plan, case, twice=False)
                if answer.kind in ("timeout", "crashed"):
                    return False
                if answer.results and answer.has(
                    {name: value for name, value in self.right(case).items() if name in answer.results}
                ):
                    return True
        return False

    @property
    def question(self) -> str:
        """What it needs to know to call it, and how that is said; empty where it knows all."""
        return "" if self._nothing else question(self._subject, self._found.score[0] >= 0)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Sentences: what was assumed about its arguments and its arrays, and what was seen in the cases so far."""
        pairs = [say("remark.one_number", count=len(self._pairs))] if self._pairs else []
        return (*self._said, *(say(f"remark.{id}") for id in sorted(self._remarks)), *pairs)

    @property
    def lacking(self) -> list[str]:
        """The settings that it has no argument for."""
        return [name for name in self._built_in() if name in self.task.arguments]

    @property
    def unzeroed(self) -> str:
        """The name of an array that its code makes without zeros and adds to; empty if there is none."""
        return unzeroed(self._subject.codes)

    @property
    def reshapes(self) -> bool:
        """Whether its code reshapes anything, as far as it can be read."""
        return any(mentions(code, "reshape", "view", "ravel") for code in self._subject.codes)

    @property
    def turns(self) -> bool:
        """Whether its code reverses anything, as far as it can be read."""
        return any(map(reverses, self._subject.codes))

    @property
    def strides(self) -> bool:
        """Whether its code lays a view of its own over an array."""
        return any(mentions(code, "as_strided") for code in self._subject.codes)

    @functools.cached_property  # every geometry asks for it, and it reads the source
    def speaks(self) -> bool:
        """Whether it takes a padding in words as well."""
        return "padding" in self._subject.binding.roles and (self.plan.words or knows_words(self._subject.codes))

    def close(self) -> None:
        """End its process, if it has one, and with it all that its code kept; a question begins another."""
        self._asker.close()

    def try_all(self, cases: Sequence[Case], at_once: int) -> list[Answer | None]:
        """Return what one call for each case gives, up to one that ends the process; None where it refuses."""
        answers = self._asker.ask_all(self.plan, cases, at_once)
        answers = [self._cured(case, answer) for case, answer in zip(cases, answers, strict=False)]
        return [None if self._is_left_out(each) else each for each in answers]

    def right(self, case: Case) -> dict[str, torch.Tensor]:
        """Return what is right, of what it gives: who takes no bias is not asked for a gradient of one."""
        if case not in self._rights:
            whole = right_of(self.task, case)
            self._rights[case] = {name: value for name, value in whole.items() if name.split()[0] in self.results}
        return self._rights[case]

    def tried(self, case: Case) -> Tried:
        """Return what came of one case, beside what is right."""
        return Tried(case, self.answer(case), self.right(case))

    def answer(self, case: Case) -> Answer:
        """Return what came of one case."""
        answer = self._nothing or self._found.ended or self._tried.pop(case, None) or self._cured(case)
        if answer.kind in ("refused", "one_number", "said_once"):
            answer = dataclasses.replace(answer, kind="raised")
        self._remarks.update(answer.remarks if case in self._cases else ())
        return answer

    def takes(self, case: Case) -> str | None:
        """Return None, or why this case is not asked: a missing argument, its own assert, or what it raises."""
        if self._nothing:
            return None
        if lacks := self._lacks(case.spec):
            return lacks
        tried = (self._found.ended, *self._tried.values())
        if any(each and each.kind in ("timeout", "crashed") for each in tried):
            return None
        answer = self._cured(case, self._tried.pop(case, None))
        if self._is_left_out(answer):
            return say(f"no.{answer.kind}", message=answer.message.rstrip("."))
        if answer.kind == "raised" and (excuse := self._excuse(case, answer)):
            return say(f"no.{excuse}", message=answer.message.rstrip("."))
        self._tried[case] = answer
        return None

    def further(self, seed: int) -> list[Case]:
        """Return what it can be asked beside the settings, at a plain one of them."""
        spec = self.nearest(LINEAR_SPEC if self.task.name.startswith("linear") else SPEC)
        ways = ways_of(self._subject, self.plan) if spec is not None else []
        made = [make_case(way, spec or SPEC, seed + at, self.task.quantised) for at, way in enumerate(ways)]
        return [dataclasses.replace(case, way=case.name) for case in made]

    def _excuse(self, case: Case, answer: Answer) -> str:
        """Return the id of the reason why it need not take a case that raises; empty where there is none."""
        strided = case.spec.stride != (1, 1) and self._in_words(case.spec) and padding_word(case.spec) == "same"
        if strided and not self._scope.strict:  # as torch, which has it for stride 1 only
            return "same"
        if case.way == FLOAT32:
            return "float32"
        return "bias" if case.way == NO_BIAS and demands_bias(self._subject) else ""

    def _is_left_out(self, answer: Answer) -> bool:
        return answer.kind in ("one_number", "said_once") or (answer.kind == "refused" and not self._scope.strict)

    def _cured(self, case: Case, answer: Answer | None = None) -> Answer:
        answer = answer or self._asker.ask(self.plan, case)
        for plan in cure(self._subject, self.plan, answer):  # what was enough for the probe may not be for every case
            again = self._asker.ask(plan, case)
            answer = answer if again.failed else again
        # Once two numbers raised, wrong ones of theirs are an accident: NumPy multiplies two windows by a pair.
        if (answer.kind == "raised" or self._pairs) and self._takes_one_number(case, answer):
            self._pairs.add(case.spec)
            return dataclasses.replace(answer, kind="one_number")
        return answer

    def _takes_one_number(self, case: Case, answer: Answer) -> bool:
        """Return whether it fails for two equal numbers as for two others, and is right for one: two are the reason."""
        found = None if self.task.is_row else with_one_number(case.spec, self._has_rest)
        if not found or Tried(case, answer, self.right(case)).is_right:
            return False
        names, spec = found
        equal = make_case("one number", spec, 3, self.task.quantised)
        two = self._asker.ask(dataclasses.replace(self.plan, pairs=" ".join(names)), equal)
        if not two.failed and (answer.kind == "raised" or Tried(equal, two, self.right(equal)).is_right):
            return False
        return Tried(equal, self._asker.ask(self.plan, equal), self.right(equal)).is_right

    @property
    def _has_rest(self) -> bool:
        """Whether it makes an output that is as large as a stride with a remainder leaves open."""
        return self.task.is_transposed and "output" in self.task.results

    @property
    def _one_kernel(self) -> bool:
        return self.plan.pairs == "int" and self._subject.makes_layers and not self._found.uneven_kernel

    def _in_words(self, spec: ConvSpec) -> bool:
        """Return whether a geometry's padding is given as a word: as a number it would be four."""
        uneven = any(before != after for before, after in spec.padding)
        return self.plan.words or (self.speaks and uneven and not self.plan.sides)

    def _lacks(self, spec: ConvSpec) -> str | None:
        """Return why a geometry cannot be asked, such as "it has no argument for dilation"; None if it can."""
        if self.task.fit(spec) != spec:
            return say("no.row")
        if outside := self._scope.leaves_out(spec):
            return say("no.scope", name=outside)
        uneven = any(before != after for before, after in spec.padding)
        if uneven and self.task.is_transposed:
            return say("no.sides")
        if not set(GEOMETRY) & set(self.task.arguments):
            return None
        if self.plan.words:
            if padding_word(spec) is None:
                return say("no.word")
        elif uneven and not (self.plan.sides or (self.speaks and padding_word(spec))):
            return say("no.sides")
        # Code that pads by itself may do so by the kernel's size: that is asked where the caller says so.
        padded = bool(self.plan.sides) and any(case.spec == spec for case in self._cases)
        for name, value in self._built_in().items():
            if getattr(spec, name) != value and not (padded and name == "padding"):
                return say("no.read" if self._subject.is_adapter else "no.argument", name=name)
        return self._no_size(spec) or self._no_pair(spec)

    def nearest(self, spec: ConvSpec) -> ConvSpec | None:
        """Return a geometry like this one that it can be asked, None where none is found."""
        try:
            spec = self._scope.nearest(self.task.fit(spec))
            if set(GEOMETRY) & set(self.task.arguments):
                spec = spec.replace(**self._built_in())
                if (self.plan.pairs == "int" or self._found.unsure_of_pairs) and not self.task.is_row:
                    names = ("stride", "dilation") if self._in_words(spec) else ("stride", "padding", "dilation")
                    spec = spec.replace(**{name: (getattr(spec, name)[0],) * 2 for name in names})
                if (self.square or self._one_kernel) and not self.task.is_row:
                    spec = spec.replace(kernel_size=spec.kernel_size[0])
                if self._in_words(spec):
                    spec = spec.replace(padding="same" if spec.stride == (1, 1) else "valid")
                if self._no_size(spec) or self._no_pair(spec):
                    rows, columns = (size - rest for size, rest in zip(spec.input_size, spec.remainder, strict=True))
                    spec = spec.replace(input_size=(rows, columns))
        except ValueError:  # the kernel does not fit any more
            return None
        return None if self._lacks(spec) else spec

    def _built_in(self) -> dict[str, Any]:
        """Return the geometry that is no argument: torch's defaults, or what the function has built in."""
        roles, found = self._roles(), self._found
        grouped = {"groups"} if self.plan.data == "HW" else set()  # its planes are chosen here
        known = found.spec is not None and found.score[0] > 0
        return {
            name: getattr(found.spec, name) if known else value
            for name, value in PLAIN.items()
            if name not in roles | grouped
        }

    def _roles(self) -> set[str]:
        """Return what the function is told, keys that it reads from a dict among them."""
        told = set(self._subject.binding.roles) | set(self.plan.form)
        if self._subject.is_adapter and self._found.read:
            return self._found.read
        if self._found.score[0] < 0 and told & {"params", "dict", "case"}:  # it never got as far as to read them
            return told | set(GEOMETRY)
        told |= {role for key in self._found.read if (role := role_of(key, (*GEOMETRY, "kernel_size")))}
        # Where courses hand over a dict, it has both: to read one and forget the other is a mistake.
        both = {"stride", "padding"} if self._found.read and told & {"stride", "padding"} else set()
        return told | both

    def _no_size(self, spec: ConvSpec) -> str | None:
        """Say where a size cannot be known: a remainder leaves it open."""
        roles = self._roles()
        if self._subject.style in ("pair", "class"):  # its own forward pass has both
            return None
        if self._has_rest and not roles & {"output_padding", "input_size"} and any(spec.remainder):
            return say("no.argument", name="output_padding")
        if self.task.name == "conv2d_input" and not roles & {"input_size", "input", "output_padding", "cache"}:
            return say("no.input_size") if any(spec.remainder) else None
        if self.task.results == ("grad_weight",) and not roles & {"weight_size", "weight", "cache"}:
            further = any(r >= d for r, d in zip(spec.remainder, spec.dilation, strict=True))
            return say("no.weight_size") if further else None
        return None

    def _no_pair(self, spec: ConvSpec) -> str | None:
        if self.square and spec.kernel_size[0] != spec.kernel_size[1]:
            return say("no.square")
        if self.plan.pairs != "int" or self.task.is_row:
            return None
        pairs = (*PAIRS[:3], *["kernel_size"] * self._one_kernel, *["remainder"] * self._has_rest)
        for name in pairs:
            pair = getattr(spec, name)
            if pair[0] != pair[1] and not (name == "padding" and self._in_words(spec)):
                return say("no.pair", name="output_padding" if name == "remainder" else name)
        return None
