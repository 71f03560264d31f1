"""The reader of the templates: which lines a setting keeps, what is filled in, and which panels a line belongs to.

A template, ``templates/<way>.txt``, is the code itself, with a margin: ``condition | code``. The condition is a Python
expression over the values of the setting; a line without one always stays. In the code,

* ``{value}`` is filled in; one that is empty takes the comma before it along;
* ``name := other`` writes no line: from there on, name is written as other;
* ``include parts/<part>`` stands for the lines of that file; ``in the layer's words`` after it, with every tensor
  called what the transposed convolution calls it.

A line belongs to the panels of the tensors that it computes or reads, or that ``#@ names`` at its end says. A variable
that is made of one tensor alone shows the same panels as that tensor.
"""

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from types import CodeType

from convviz.settings.tensor_display_names import SHOWN

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

Value = str | int | tuple[int, ...]
Line = tuple[str, tuple[str, ...]]

PLACE = re.compile(r"(, )?\{(\w+)\}")
NAME = re.compile(r"(?<![\w.])[a-z]\w*")
# These take a tensor's shape or format, not its numbers.
NO_NUMBERS = re.compile(r"zeros_like\(\w+\)|\w+\.(new_zeros|dtype)\b")
LAYERS_WORDS = " in the layer's words"


def write(name: str, values: Mapping[str, Value], panels: Mapping[str, str]) -> list[Line]:
    """Return a template's lines for a setting, each with its panels; ``panels``: name in the template → the panel."""
    return Writer(panels).lines(_kept(name, values))


@functools.cache
def _rows(name: str) -> tuple[tuple[CodeType, str], ...]:
    file = files("convviz.features.code").joinpath("templates", f"{name}.txt")
    split = (row.partition("|") for row in file.read_text(encoding="utf-8").splitlines())
    return tuple((compile(when.strip() or "True", name, "eval"), text.removeprefix(" ")) for when, _, text in split)


def _kept(name: str, values: Mapping[str, Value]) -> Iterator[str]:
    for condition, text in _rows(name):
        if not eval(condition, {}, values):  # the templates are our own code
            continue
        margin, include, part = text.partition("include ")
        if not include:
            yield _filled(text, values)
            continue
        for line in _kept(part.removesuffix(LAYERS_WORDS), values):
            yield margin + (_renamed(line, SHOWN) if part.endswith(LAYERS_WORDS) else line)


def _filled(text: str, values: Mapping[str, Value]) -> str:
    def fill(place: re.Match[str]) -> str:
        value = values[place[2]]
        written = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        return (place[1] or "") + written if written else ""

    return PLACE.sub(fill, text)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return NAME.sub(lambda found: names.get(found[0], found[0]), text)


class Writer:
    """Follows, from line to line, how each name is written and which panels show it."""

    def __init__(self, panels: Mapping[str, str]) -> None:
        self._tensors = frozenset(panels)
        self._shown = {name: {panel} for name, panel in panels.items()}
        self._written: dict[str, str] = {}

    def lines(self, texts: Iterable[str]) -> list[Line]:
        """Return the lines of the code; a comment of its own belongs to no panel."""
        found: list[Line] = []
        for text in texts:
            name, same, other = text.strip().partition(" := ")
            if same:
                self._written[name] = self._written.get(other, other)
                self._shown[name] = self._shown.get(name, set()) | self._shown.get(other, set())
            else:
                found += self._statement(text)
        return found

    def _statement(self, text: str) -> list[Line]:
        text, marked, named = text.partition("#@")
        code, _, comment = (part.strip() for part in text.partition("# "))
        margin = " " * (len(text) - len(text.lstrip()))
        panels = self._panels(code, named if marked else code)
        lines = _broken(_renamed(code, self._written), margin) if code else []
        if len(lines) == 1 and comment and len(f"{lines[0]}  # {comment}") <= WIDTH:
            lines, comment = [f"{lines[0]}  # {comment}"], ""
        above = [(f"{margin}# {comment}", ())] if comment else []
        return [*above, *((line, panels) for line in lines)] or [("", ())]

    def _panels(self, code: str, named: str) -> tuple[str, ...]:
        if code.endswith(":"):
            return ()  # the head of a block computes nothing
        made, _, value = code.partition(" = ")
        if made.isidentifier() and made not in self._tensors and made not in self._written:
            sources = self._known(value)
            self._shown[made] = self._shown[sources.pop()] if len(sources) == 1 else set()
        shown = {panel for name in self._known(named) for panel in self._shown[name]}
        return tuple(sorted(shown, key=PANELS.index))

    def _known(self, code: str) -> set[str]:
        return {name for name in NAME.findall(NO_NUMBERS.sub("", code)) if self._shown.get(name)}


def _broken(code: str, margin: str) -> list[str]:
    """Break a call that is too long as formatters do: all arguments on one line, or each on its own."""
    if len(margin + code) <= WIDTH:
        return [margin + code]
    tree = ast.parse(f"{code} pass" if code.endswith(":") else code)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    call = max(calls, key=lambda node: _end(node) - _end(node.func))
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    arguments = [code[each.col_offset : _end(each)] for each in given]
    inner = f"{margin}{' ' * INDENT}"
    whole = inner + ", ".join(arguments)
    lines = [whole] if len(whole) <= WIDTH else [f"{inner}{argument}," for argument in arguments]
    return [margin + code[: _end(call.func) + 1], *lines, margin + code[_end(call) - 1 :]]


def _end(node: ast.expr | ast.keyword) -> int:
    assert node.end_col_offset is not None  # ast.parse says it of all that it reads
    return node.end_col_offset
