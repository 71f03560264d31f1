"""Which geometries a function can be asked: those that it has arguments for, inside its scope."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from convviz.cases.same_padding import padding_word
from convviz.cases.settings_in_scope import Scope
from convviz.cases.tasks import GEOMETRY, Task
from convviz.check.calling.call_plan import ALONE, FLAGS, PAIRS
from convviz.check.calling.find_plan import Found
from convviz.check.calling.function_or_class import Subject
from convviz.check.calling.names_and_layouts import role_of
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("calling_student_code")
PLAIN = {name: getattr(ConvSpec(3), name) for name in (*GEOMETRY, "kernel_size")}


@dataclass(eq=False)
class Askable:
    """What a function can be asked, as far as its signature and its answers say."""

    task: Task
    subject: Subject
    found: Found
    scope: Scope
    square: bool  # whether it reads one size for both axes of a kernel
    speaks: bool  # whether it takes a padding in words as well
    stated: frozenset[ConvSpec]  # the geometries of the cases
    single: set[str] = field(default_factory=set)  # the settings that it takes one number for, once that is known
    borders: dict[str, bool] = field(default_factory=dict)  # those that it was asked with: whether it takes them
    takes_strided_same: bool = False  # whether it gave numbers for padding="same" and a stride above 1

    def lacks(self, spec: ConvSpec) -> str | None:
        """Return why a geometry cannot be asked, such as "it has no argument for dilation"; None if it can."""
        if not self._is_of_task(spec):
            return say("no.pooling" if self.task.pooling else "no.row")
        if outside := self.scope.leaves_out(spec):
            return say("no.scope", name=outside)
        uneven = any(before != after for before, after in spec.padding)
        if uneven and self.task.is_transposed:
            return say("no.sides")
        if not set(GEOMETRY) & set(self.task.arguments):
            return None
        if self.task.pooling:
            if uneven and "ceil_mode" in self.not_passed():
                return say("no.read" if self.subject.is_adapter else "no.argument", name="ceil_mode")
        elif self.found.plan.words:
            if padding_word(spec) is None:
                return say("no.word")
        elif uneven and not (self.found.plan.sides or (self.speaks and padding_word(spec))):
            return say("no.sides")
        # Code that pads by itself may do so by the kernel's size: that is asked where the caller says so.
        padded = {"padding"} if self.found.plan.sides and spec in self.stated else set()
        for name, value in self.built_in(spec).items():
            if getattr(spec, name) != value and name not in padded:
                return say("no.read" if self.subject.is_adapter else "no.argument", name=name)
        return self._no_size(spec) or self._no_pair(spec)

    def nearest(self, spec: ConvSpec) -> ConvSpec | None:
        """Return a geometry like this one that it can be asked, None where none is found."""
        try:
            spec = self.task.fit(self.scope.nearest(self.task.fit(spec)))
            if self.task.pooling and "ceil_mode" in self.not_passed():
                spec = spec.replace(padding=[before for before, _ in spec.padding])
            if set(GEOMETRY) & set(self.task.arguments):
                spec = _with(spec, padding_mode=self._border(spec))
                spec = _with(spec, **self.built_in(spec))
                worded = {"padding"} if self.in_words(spec) else set()
                single = {*self.single, *["kernel_size"] * self.square} - {"output_padding", *worded}
                spec = _with(spec, **{name: (getattr(spec, name)[0],) * 2 for name in single})
                if worded:
                    spec = spec.replace(padding="same" if spec.stride == (1, 1) else "valid")
                if self._no_size(spec) or self._no_pair(spec):
                    rows, columns = (size - rest for size, rest in zip(spec.input_size, spec.remainder, strict=True))
                    spec = spec.replace(input_size=(rows, columns))
        except ValueError:  # the kernel does not fit any more
            return None
        return None if self.lacks(spec) else spec

    def built_in(self, spec: ConvSpec | None = None) -> dict[str, Any]:
        """Return the geometry that is no argument: torch's defaults, or what the function has built in.

        A pooling without a stride of its own moves by the window of whatever geometry it is asked for.
        """
        found, passed = self.found, self._passed()
        known = found.spec is not None and found.score[0] > 0
        names = (*GEOMETRY, *["kernel_size"] * bool(self.task.pooling))
        own = {name: getattr(found.spec, name) if known else PLAIN[name] for name in names if name not in passed}
        if self.task.pooling and spec and found.spec and "stride" in own and "kernel_size" not in own:
            own["stride"] = spec.kernel_size if found.spec.stride == found.spec.kernel_size else own["stride"]
        return own | dict(ALONE.get(found.plan.data, {}))

    def not_passed(self) -> tuple[str, ...]:
        """Return what switches a pooling has that the function knows nothing of."""
        return tuple(name for name in FLAGS if self.task.pooling and name not in self._passed())

    def _is_of_task(self, spec: ConvSpec) -> bool:
        try:
            return self.task.fit(spec) == spec
        except ValueError:  # what a pooling has not
            return False

    def in_words(self, spec: ConvSpec) -> bool:
        """Return whether a geometry's padding is given as a word: as a number it would be four."""
        plan, uneven = self.found.plan, any(before != after for before, after in spec.padding)
        return plan.words or (self.speaks and uneven and not plan.sides)

    @property
    def has_rest(self) -> bool:
        """Whether it makes an output that is as large as a stride with a remainder leaves open."""
        return self.task.is_transposed and "output" in self.task.results

    @property
    def takes_rest(self) -> bool:
        """Whether a remainder is among its settings, as ``output_padding``."""
        return self.has_rest or "output_padding" in self.subject.binding.roles | self.found.read

    def _border(self, spec: ConvSpec) -> str:
        """Return a geometry's border; in the place of one that it refuses everywhere another that it takes."""
        taken = sorted(mode for mode, takes in self.borders.items() if takes)
        if self.borders.get(spec.padding_mode, True) or not taken:
            return spec.padding_mode
        return "zeros" if "zeros" in taken else taken[spec.products % len(taken)]

    def _passed(self) -> set[str]:
        """Return what the function receives, keys that it reads from a dict among them."""
        found = self.found
        if self.subject.is_adapter and found.read:
            return found.read
        passed = set(self.subject.binding.roles) | set(found.plan.form)
        if found.score[0] < 0 and passed & {"params", "dict", "case"}:  # it never got as far as to read them
            return passed | set(GEOMETRY)
        roles = (role_of(key, (*GEOMETRY, "kernel_size", *FLAGS)) for key in found.read)
        passed |= {role.split(".")[0] for role in roles if role}
        if self.task.pooling:
            return passed
        # Where courses hand over a dict, it has both: to read one and forget the other is a mistake.
        return passed | ({"stride", "padding"} if found.read and passed & {"stride", "padding"} else set())

    def _no_size(self, spec: ConvSpec) -> str | None:
        """Say where a size cannot be known: a remainder leaves it open."""
        passed = self._passed()
        if self.subject.style in ("pair", "class"):  # its own forward pass has both
            return None
        if self.has_rest and not passed & {"output_padding", "input_size"} and any(spec.remainder):
            return say("no.argument", name="output_padding")
        if self.task.name == "conv2d_input" and not passed & {"input_size", "input", "output_padding", "cache"}:
            return say("no.input_size") if any(spec.remainder) else None
        if self.task.results == ("grad_weight",) and not passed & {"weight_size", "weight", "cache"}:
            further = any(r >= d for r, d in zip(spec.remainder, spec.dilation, strict=True))
            return say("no.weight_size") if further else None
        return None

    def _no_pair(self, spec: ConvSpec) -> str | None:
        if self.square and spec.kernel_size[0] != spec.kernel_size[1]:
            return say("no.square")
        for name in PAIRS:
            pair = spec.remainder if name == "output_padding" else getattr(spec, name)
            if name in self.single and pair[0] != pair[1] and not (name == "padding" and self.in_words(spec)):
                return say("no.pair", name=name)
        return None


def _with(spec: ConvSpec, **changes: Any) -> ConvSpec:
    """Return a geometry with some fields changed; mostly it has them so, and is not checked anew."""
    is_so = all(getattr(spec, name) == value for name, value in changes.items())
    return spec if is_so else spec.replace(**changes)


def speaks(subject: Subject, found: Found) -> bool:
    """Return whether a function takes a padding in words as well."""
    return "padding" in subject.binding.roles and (found.plan.words or subject.knows_words)
