"""What a function was not asked: settings that it has no argument for, and cases that were skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from convviz.check.calling.student_function import Student
from convviz.check.settings_in_scope import NUMBERS, SWITCHES
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences

say = sentences("calling_student_code")


def left_out(student: Student, reasons: Collection[str]) -> tuple[str, ...]:
    """Return in a few words each what a function was not asked; ``reasons`` are those of the cases that were not."""
    lacking = student.lacking
    known = {say(id, name=name) for name in lacking for id in ("no.argument", "no.read")}
    known |= {say("no.scope", name=name) for name in (*NUMBERS, *SWITCHES)}  # which is stated
    others = Counter(reason for reason in reasons if reason not in known)
    found = [say("left.argument", names=comma(lacking))] * bool(lacking)
    found += [say("left.reason", reason=reason, count=count) for reason, count in others.items()]
    return tuple(found)
