"""Lines of code that know which panels they make or read.

A ``Value`` is a piece of code together with the panels that show what it stands for. Statements are put together from
values, so a line's panels follow from what is written in it, and nobody has to keep a second list in step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

PANELS = (
    "input",
    "padded_input",
    "weight",
    "bias",
    "output",
    "grad_output",
    "dilated_grad_output",
    "padded_grad_output",
    "rotated_weight",
    "grad_padded_input",
    "grad_input",
    "grad_weight",
    "grad_bias",
)
WIDTH = 88
INDENT = 4


@dataclass(frozen=True)
class Value:
    """An expression, and the panels that show its numbers.

    Attributes:
        text: the code.
        panels: names of stages; several where the setting makes them the same tensor, such as padded_input and
            input without padding.
    """

    text: str
    panels: tuple[str, ...] = ()

    def then(self, suffix: str) -> Value:
        """Return the same numbers in another arrangement: ``weight`` and ``.flip(-2, -1)``, say."""
        return replace(self, text=self.text + suffix)

    def shown_as(self, *panels: str) -> Value:
        """Return the value that other panels show as well."""
        return replace(self, panels=self.panels + panels)


INPUT, WEIGHT, BIAS, OUTPUT, GRAD_OUTPUT, GRAD_INPUT, GRAD_WEIGHT, GRAD_BIAS = (
    Value(name, (name,))
    for name in ("input", "weight", "bias", "output", "grad_output", "grad_input", "grad_weight", "grad_bias")
)
Part = Value | str


@dataclass(frozen=True)
class Step:
    """One statement, comment or blank line.

    Attributes:
        text: the code, up to the opening bracket if there are arguments.
        arguments: those of a call that may have to be broken over several lines.
        after: what follows the arguments, from the closing bracket on.
        comment: why; at the end of the line if it fits there, else above.
        panels: names of the stages that it makes or reads.
        indent: how many blocks it stands in.
    """

    text: str = ""
    arguments: tuple[str, ...] = ()
    after: str = ""
    comment: str = ""
    panels: tuple[str, ...] = ()
    indent: int = 0


BLANK = Step()


def step(*parts: Part, comment: str = "") -> Step:
    """Write a statement."""
    return Step("".join(map(_text, parts)), comment=comment, panels=_panels(parts))


def assign(target: Value, *parts: Part, comment: str = "") -> Step:
    """Write ``target = parts``."""
    return step(target, " = ", *parts, comment=comment)


def call(head: Sequence[Part], arguments: Sequence[Part], *after: Part, comment: str = "") -> Step:
    """Write ``head(arguments)after``, with room to break the line at the arguments."""
    text, end = "".join(map(_text, head)) + "(", ")" + "".join(map(_text, after))
    return Step(text, tuple(map(_text, arguments)), end, comment, _panels([*head, *arguments, *after]))


def note(text: str) -> Step:
    """Write a comment on a line of its own."""
    return Step(comment=text)


def indented(steps: Iterable[Step], blocks: int = 1) -> list[Step]:
    """Move the steps into a block."""
    return [replace(one, indent=one.indent + blocks) for one in steps]


def write(steps: Iterable[Step]) -> tuple[str, tuple[tuple[int, tuple[str, ...]], ...]]:
    """Return the code, and for each line that makes or reads panels its number (from 1) and their names."""
    written = [line for one in steps for line in _lines(one)]
    code = "".join(f"{text}\n" for text, _ in written)
    return code, tuple((number, panels) for number, (_, panels) in enumerate(written, 1) if panels)


def _text(part: Part) -> str:
    return part if isinstance(part, str) else part.text


def _panels(parts: Iterable[Part]) -> tuple[str, ...]:
    named = {panel for part in parts if isinstance(part, Value) for panel in part.panels}
    return tuple(sorted(named, key=PANELS.index))


def _lines(one: Step) -> list[tuple[str, tuple[str, ...]]]:
    """Return each line with its panels; a comment of its own has none."""
    margin = " " * (INDENT * one.indent)
    code = [(margin + text, one.panels) for text in _wrapped(one, WIDTH - len(margin))] if one.text else []
    if not one.comment:
        return code or [("", ())]
    if len(code) == 1 and len(code[0][0]) + len(f"  # {one.comment}") <= WIDTH:
        return [(f"{code[0][0]}  # {one.comment}", one.panels)]
    return [(f"{margin}# {one.comment}", ()), *code]


def _wrapped(one: Step, width: int) -> list[str]:
    """Break a call that is too long the way formatters do: all arguments on one line, or each on its own."""
    whole = one.text + ", ".join(one.arguments) + one.after
    if not one.arguments or len(whole) <= width:
        return [whole]
    margin = " " * INDENT
    inner = margin + ", ".join(one.arguments)
    lines = [inner] if len(inner) <= width else [f"{margin}{argument}," for argument in one.arguments]
    return [one.text, *lines, one.after]
