"""Python for one setting, to copy: the same convolution and its gradients, written in seven ways.

Each snippet runs, with its preamble, in an empty notebook that has torch (or NumPy), and holds only the steps that this
setting needs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from convviz.explanation.code.read_template import PANELS, Line, Value, write
from convviz.explanation.code.snippet_setting import Setting
from convviz.explanation.code.template_values import values
from convviz.settings.tensor_display_names import shown_name

Marks = tuple[tuple[int, tuple[str, ...]], ...]

WAYS = ("definition", "unfold", "einsum", "rotate", "aten", "function", "numpy")


@dataclass(frozen=True)
class Snippet:
    """Code for one setting, in one way, and the stages that each line makes or reads, numbered from 1."""

    name: str
    preamble: str  # draws input, weight, bias and grad_output at random
    code: str
    lines: Marks
    transposed: bool = False  # if so, stages have the names of the convolution that is read the other way
    preamble_lines: Marks = ()


def snippets(setting: Setting) -> tuple[Snippet, ...]:
    filled, transposed = values(setting), setting.transposed
    # The gradient of a border of zeros is not shown.
    shown = (panel for panel in PANELS if panel != "grad_padded_input" or setting.spec.padding_mode != "zeros")
    panels = {shown_name(panel, transposed): panel for panel in shown}
    return tuple(_snippet(name, filled, panels, transposed) for name in WAYS)


def _snippet(name: str, filled: Mapping[str, Value], panels: Mapping[str, str], transposed: bool) -> Snippet:
    drawn = write("preamble_numpy" if name == "numpy" else "preamble", filled, panels)
    lines = write(f"transposed/{name}" if transposed else name, filled, panels)
    return Snippet(name, _text(drawn), _text(lines), _marked(lines), transposed, _marked(drawn))


def _text(lines: Iterable[Line]) -> str:
    return "".join(f"{text}\n" for text, _ in lines)


def _marked(lines: Iterable[Line]) -> Marks:
    return tuple((number, panels) for number, (_, panels) in enumerate(lines, 1) if panels)
