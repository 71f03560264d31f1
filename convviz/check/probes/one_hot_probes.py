"""A student's gradient asked for single ones, at settings of one channel and one sample, each of them once."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from convviz.cases.battery import Case, make_case
from convviz.cases.random_cases import named
from convviz.cases.setting_in_words import probe_in_words
from convviz.check.as_convolution import as_convolution, case_asked, recipe_of, seen_of
from convviz.check.call_outcome import ratio_of, same
from convviz.check.calling.student_function import Student
from convviz.check.diagnosis import Seen
from convviz.check.probes.traced_products import Provenance, provenance
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec
from convviz.ops.to_tensor import cell_at

say = sentences("check")

# One channel and one sample, asymmetric: what a single 1 leaves behind there can be read off.
PLANES = (ConvSpec((6, 7), kernel_size=(3, 2)), ConvSpec((7, 6), kernel_size=3, stride=2, padding=1))


class OneHotProbes:
    """Asks a student's function for one of its results, and keeps what it said."""

    def __init__(self, student: Student, result: str) -> None:
        """Ask nothing yet."""
        self.student, self.result, self._task = student, result, student.task
        self.of = recipe_of(student.task, result)
        self._known: dict[ConvSpec, Provenance | None] = {}

    def products(self, wrong: Case) -> Iterator[Provenance]:
        """Yield the products of the result at plain settings, then at that of a wrong case.

        All have one channel and one sample; what a function does not take, or gives no plane for, is left out.
        """
        is_masked = self.result == "grad_weight" and self._task.quantised  # then a product may be 0, or one of several
        if is_masked or self._task.pooling or self._task.name.startswith("linear"):
            return
        for spec in dict.fromkeys((*map(self._task.fit, PLANES), single(wrong.spec))):
            if spec not in self._known:
                case = make_case("single ones", spec, 77, self._task.rule)
                refused = self.student.takes(self._asked(case))
                self._known[spec] = None if refused else provenance(self.of, spec, case, self.ask)
            if (found := self._known[spec]) is not None:
                yield found

    def ask(self, case: Case) -> torch.Tensor | None:
        """Return the result for any numbers; None where the student gives none."""
        got = self.student.answer(self._asked(case), once=True).results.get(self.result)
        return None if got is None else as_convolution(self._task, self.result, case, got)

    def setting(self, spec: ConvSpec) -> str:
        """Return in words at what a geometry's single ones were asked: who has no kernel, at one of one cell."""
        asked = self._asked(make_case("single ones", spec, 77)).spec
        # A gradient of a transposed convolution is said in the other's words at last, which exchange both.
        is_output = self._task.is_transposed and self.result in ("output", "grad_bias")
        return probe_in_words("output" if is_output else "input", asked)

    def parts(self, case: Case) -> tuple[str, str, list[int], set[float | None]] | None:
        """Return which samples, channels, rows or columns of what is sent give a wrong result, each alone.

        These are: what is sent, the axis, the indices, and by what each is off; None where no axis parts them.
        """
        sent = "input" if self.of == "output" else "grad_output"
        case = case.without_bias()
        tensor = case.tensor(sent)
        for axis, name in enumerate(("sample", "channel", "row", "column")):
            wrong: dict[int, float | None] = {}
            count = 0  # of those that say something: where right is 0, nothing is anyhow
            for at in range(tensor.shape[axis]):
                alone = torch.zeros_like(tensor)
                alone.select(axis, at).copy_(tensor.select(axis, at))
                seen = self._seen(case.with_tensor(sent, alone))
                if seen.got is None or seen.got.shape != seen.right.shape:
                    return None
                count += bool(seen.right.any())
                if not seen.is_right:
                    wrong[at] = ratio_of(seen.got, seen.right)
            if 0 < len(wrong) < count:
                return sent, name, list(wrong), {None if ratio is None else round(ratio, 6) for ratio in wrong.values()}
        return None

    def larger(self, case: Case) -> Seen | None:
        """Return a wrong result of the same setting with a few windows and two samples more; None if that is right."""
        size = [size + 3 * stride for size, stride in zip(case.spec.input_size, case.spec.stride, strict=True)]
        spec = self._task.fit(case.spec.replace(input_size=size, batch=case.spec.batch + 2))
        made = make_case(case.name, spec, 80, case.rule)
        return self._wrong(named(self._task, made, found=False))

    def mixed(self, wrong: Case) -> str:
        """Return which sums go wrong where one channel of one sample is right, the first of those below; else nothing.

        ``"both"``: several samples of one channel are right, and several channels of one sample, but not both;
        ``"cells"``: two samples are wrong, and so is one with as many cells.
        """
        plane = single(wrong.spec)
        several: dict[str, ConvSpec] = {
            "samples": plane.replace(batch=2),
            "inputs": plane.replace(in_channels=2),
            "outputs": plane.replace(out_channels=2),
            "channels": plane.replace(in_channels=2, out_channels=3),
            "both": plane.replace(in_channels=2, out_channels=3, batch=2),
            "groups": plane.replace(in_channels=4, out_channels=4, groups=2),
        }
        if self._is_wrong(plane):
            return ""
        found = next((name for name, spec in several.items() if self._is_wrong(spec)), "")
        return "cells" if found == "samples" and self._is_wrong(self._twice(plane)) else found

    def _twice(self, plane: ConvSpec) -> ConvSpec:
        """Return a geometry of one sample with twice as many windows, in rows, or in columns of a single row."""
        at = int(plane.input_size[0] == plane.kernel_size[0] == 1)
        size = list(plane.input_size)
        size[at] += plane.output_size[at] * plane.stride[at]
        return plane.replace(input_size=size)

    def moved(self, axis: str) -> tuple[bool, str]:
        """Return whether samples, or output channels, and positions are exchanged, and one 1 that acts as another does.

        That is a sentence; empty where every single 1 of two samples, or channels, acts as itself or as no other one.
        """
        size = 1 if self._task.name.startswith("linear") else (1, 3) if self._task.is_row else (2, 3)
        batch, out = (2, 1) if axis == "samples" else (1, 2)
        case = make_case("one by one", ConvSpec(size, 1, out, 1, batch=batch), 82, self._task.rule)
        case = case.without_bias()
        sent = "input" if self.of == "output" else "grad_output"
        shape = case.tensor(sent).shape
        ones = torch.eye(shape.numel(), dtype=torch.float64)
        asked = [case.with_tensor(sent, one.reshape(shape)) for one in ones]
        seen = [self._seen(each) for each in asked]
        places = []
        for at, one in enumerate(seen):
            if one.is_right:  # in a sum many act alike
                places.append(at)
                continue
            alike = (n for n, other in enumerate(seen) if one.got is not None and same(one.got, other.right))
            places.append(next(alike, at))
        exchanged = torch.arange(len(places)).reshape(2, -1).T.flatten()
        elsewhere = next((at for at, place in enumerate(places) if at != place), None)
        if elsewhere is None:
            return False, ""
        here, there = (list(cell_at(at, shape)) for at in (elsewhere, places[elsewhere]))
        is_exchanged = len(places) > 2 and places in (exchanged.tolist(), exchanged.argsort().tolist())
        moved = say("mixed.moved", sent=sent, here=here, there=there)
        setting = comma([self.setting(case.spec), say("setting.two", what=say(f"size.{axis}"))])
        return is_exchanged, say("seen.probe", what=moved, setting=setting)

    def _asked(self, case: Case) -> Case:
        return case_asked(self._task, self.result, case)

    def _seen(self, case: Case) -> Seen:
        return seen_of(self._task, self.result, self.student.tried(self._asked(case), once=True))

    def _is_wrong(self, spec: ConvSpec) -> bool:
        return self._wrong(make_case("several", spec, 78, self._task.rule)) is not None

    def _wrong(self, case: Case) -> Seen | None:
        spec = case.spec
        no_layer = self._task.name.startswith("linear") and (spec.groups > 1 or spec.input_size != (1, 1))
        if no_layer or self.student.takes(self._asked(case)):
            return None
        seen = self._seen(case)
        return None if seen.got is None or seen.is_right else seen


def single(spec: ConvSpec) -> ConvSpec:
    """Return a geometry with one channel and one sample."""
    return spec.replace(in_channels=1, out_channels=1, groups=1, batch=1)
