"""Python for one setting, to copy: the same convolution and its gradients, written in seven ways.

Each snippet runs, with its preamble, in an empty notebook that has torch (or NumPy), and holds only the steps that this
setting needs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from convviz.explanation.snippet_setting import Setting
from convviz.features.code.read_template import PANELS, Line, Value, write
from convviz.features.code.template_values import values
from convviz.settings.tensor_display_names import shown_name

WAYS = ("definition", "unfold", "einsum", "rotate", "aten", "function", "numpy")


@dataclass(frozen=True)
class Snippet:
    """Code for one setting, in one way; each line with the stages that it makes or reads."""

    name: str
    drawn: tuple[Line, ...]  # the preamble: input, weight, bias and grad_output at random
    written: tuple[Line, ...]
    transposed: bool = False  # if so, stages have the names of the convolution that is read the other way

    @property
    def preamble(self) -> str:
        return joined(self.drawn)

    @property
    def code(self) -> str:
        return joined(self.written)


def joined(lines: Iterable[Line]) -> str:
    return "".join(f"{text}\n" for text, _ in lines)


def snippets(setting: Setting) -> tuple[Snippet, ...]:
    filled, transposed = values(setting), setting.transposed
    # The gradient of a border of zeros is not shown.
    shown = (panel for panel in PANELS if panel != "grad_padded_input" or setting.spec.padding_mode != "zeros")
    panels = {shown_name(panel, transposed): panel for panel in shown}
    return tuple(_snippet(name, filled, panels, transposed) for name in WAYS)


def _snippet(name: str, filled: Mapping[str, Value], panels: Mapping[str, str], transposed: bool) -> Snippet:
    drawn = write("preamble_numpy" if name == "numpy" else "preamble", filled, panels)
    lines = write(f"transposed/{name}" if transposed else name, filled, panels)
    return Snippet(name, tuple(drawn), tuple(lines), transposed)
