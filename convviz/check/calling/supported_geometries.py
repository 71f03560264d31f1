"""Which geometries a function can be asked: those that it has arguments for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from convviz.check.calling.call_plan import PAIRS, Plan, padding_word
from convviz.check.calling.find_plan import Found
from convviz.check.calling.function_or_class import Subject
from convviz.check.calling.inspect_source import knows_words
from convviz.check.calling.names_and_layouts import role_of
from convviz.check.settings_in_scope import Scope
from convviz.check.tasks import GEOMETRY, Task
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("calling_student_code")
PLAIN: dict[str, Any] = {
    "stride": (1, 1), "padding": ((0, 0), (0, 0)), "dilation": (1, 1), "groups": 1, "padding_mode": "zeros"
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Reach:
    """What a function has arguments for."""

    task: Task
    subject: Subject
    found: Found
    square: bool  # whether it reads one size for both axes of a kernel
    scope: Scope

    @property
    def plan(self) -> Plan:
        """How it is called."""
        return self.found.plan

    @property
    def speaks(self) -> bool:
        """Whether it takes a padding in words as well."""
        return "padding" in self.subject.binding.roles and knows_words(self.subject.codes)

    @property
    def _one_kernel(self) -> bool:
        return self.plan.pairs == "int" and self.subject.makes_layers and not self.found.uneven_kernel

    def _in_words(self, spec: ConvSpec) -> bool:
        """Return whether a geometry's padding is given as a word: as a number it would be four."""
        return self.plan.words or (self.speaks and any(before != after for before, after in spec.padding))

    def lacks(self, spec: ConvSpec) -> str | None:
        """Return why a geometry cannot be asked, such as "it has no argument for dilation"; None if it can."""
        if outside := self.scope.leaves_out(spec):
            return say("no.scope", name=outside)
        if not set(GEOMETRY) & set(self.task.arguments):
            return None
        if self.plan.words:
            if padding_word(spec) is None:
                return say("no.word")
        elif any(before != after for before, after in spec.padding) and not (self.speaks and padding_word(spec)):
            return say("no.sides")
        for name, value in self._built_in().items():
            if getattr(spec, name) != value:
                return say("no.argument", name=name)
        return self._no_size(spec) or self._no_pair(spec)

    def nearest(self, spec: ConvSpec) -> ConvSpec | None:
        """Return a geometry like this one that it can be asked, None where none is found."""
        try:
            spec = self.scope.nearest(spec)
            if set(GEOMETRY) & set(self.task.arguments):
                spec = spec.replace(**self._built_in())
                if self.plan.pairs == "int" or self.found.unsure_of_pairs:
                    names = ("stride", "dilation") if self._in_words(spec) else ("stride", "padding", "dilation")
                    spec = spec.replace(**{name: (getattr(spec, name)[0],) * 2 for name in names})
                if self.square or self._one_kernel:
                    spec = spec.replace(kernel_size=spec.kernel_size[0])
                if self._in_words(spec):
                    spec = spec.replace(padding="same" if spec.stride == (1, 1) else "valid")
                if self._no_size(spec) or self._no_pair(spec):
                    rows, columns = (size - rest for size, rest in zip(spec.input_size, spec.remainder, strict=True))
                    spec = spec.replace(input_size=(rows, columns))
        except ValueError:  # the kernel does not fit any more
            return None
        return None if self.lacks(spec) else spec

    def _built_in(self) -> dict[str, Any]:
        """Return the geometry that is no argument: torch's defaults, or what the function has built in."""
        roles, found = self._roles(), self.found
        grouped = {"groups"} if self.plan.data == "HW" else set()  # its planes are chosen here
        known = found.spec is not None and found.score[0] > 0
        return {
            name: getattr(found.spec, name) if known else value
            for name, value in PLAIN.items()
            if name not in roles | grouped
        }

    def _roles(self) -> set[str]:
        """Return what the function is told, keys that it reads from a dict among them."""
        told = set(self.subject.binding.roles) | set(self.plan.form)
        if self.found.score[0] < 0 and told & {"params", "dict"}:  # it never got as far as to read them
            return told | set(GEOMETRY)
        told |= {role for key in self.found.read if (role := role_of(key, (*GEOMETRY, "kernel_size")))}
        # Where courses hand over a dict, it has both: to read one and forget the other is a mistake.
        both = {"stride", "padding"} if self.found.read and told & {"stride", "padding"} else set()
        return told | both

    def _no_size(self, spec: ConvSpec) -> str | None:
        """Say where a size cannot be known: a remainder leaves it open."""
        roles, name = self._roles(), self.task.name
        if self.subject.passes is not None:  # its own forward pass has both
            return None
        if name == "conv_transpose2d" and not roles & {"output_padding", "input_size"} and any(spec.remainder):
            return say("no.argument", name="output_padding")
        if name == "conv2d_input" and not roles & {"input_size", "input", "output_padding", "cache"}:
            return say("no.input_size") if any(spec.remainder) else None
        if name == "conv2d_weight" and not roles & {"weight_size", "weight", "cache"}:
            further = any(r >= d for r, d in zip(spec.remainder, spec.dilation, strict=True))
            return say("no.weight_size") if further else None
        return None

    def _no_pair(self, spec: ConvSpec) -> str | None:
        if self.square and spec.kernel_size[0] != spec.kernel_size[1]:
            return say("no.square")
        if self.plan.pairs != "int":
            return None
        transposed = ("remainder",) if self.task.name == "conv_transpose2d" else ()
        pairs = (*PAIRS[:3], *(("kernel_size",) if self._one_kernel else ()), *transposed)
        for name in pairs:
            pair = getattr(spec, name)
            if pair[0] != pair[1] and not (name == "padding" and self._in_words(spec)):
                return say("no.pair", name="output_padding" if name == "remainder" else name)
        return None
