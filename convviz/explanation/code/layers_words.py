"""The code of a convolution, in the words of the transposed one that is read the other way.

What is the gradient to the input there is the output here, and its grad_output the input. A line's panels keep the
names that they have in the convolution, as on the board.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from convviz.explanation.code import rotate
from convviz.explanation.code.setting import Setting
from convviz.explanation.code.steps import BIAS, GRAD_BIAS, GRAD_INPUT, INPUT, Step, assign, step
from convviz.settings.names import SHOWN

# Comments speak of the input and the output in general.
IN_COMMENTS = {"input": "output", "output": "input", "grad_output": "input"}
PHRASES = {
    r"the remainder: (.*) that no window read": r"output_padding: \1",
    r"the remainder": "output_padding",
    re.escape(rotate.HIDDEN): "what comes of these cells is cut off whole",
    r"a padding zero adds nothing": "cut off by the padding",
}


def in_layers_words(steps: Iterable[Step]) -> list[Step]:
    """Give every tensor of the convolution the name that it has in the transposed one."""
    return [
        replace(
            one,
            text=_renamed(one.text, SHOWN),
            arguments=tuple(_renamed(argument, SHOWN) for argument in one.arguments),
            after=_renamed(one.after, SHOWN),
            comment=_comment(one.comment),
        )
        for one in steps
    ]


def with_layers_panels(steps: Iterable[Step]) -> list[Step]:
    """Mark lines that are written in the layer's words already with the panels that show these tensors."""
    return [replace(one, panels=tuple(SHOWN.get(panel, panel) for panel in one.panels)) for one in steps]


def add_bias(setting: Setting) -> list[Step]:
    """Return the step that adds the layer's bias to its output, if there is one."""
    return in_layers_words([step(GRAD_INPUT, " += ", BIAS.then("[:, None, None]"))]) if setting.bias else []


def grad_bias(setting: Setting) -> list[Step]:
    """Return the gradient of the layer's bias, if there is one."""
    return in_layers_words([assign(GRAD_BIAS, INPUT, ".sum((0, 2, 3))")]) if setting.bias else []


def _renamed(text: str, names: dict[str, str]) -> str:
    return re.sub(r"\w+", lambda found: names.get(found[0], found[0]), text)


def _comment(text: str) -> str:
    text = _renamed(text, IN_COMMENTS)
    for before, after in PHRASES.items():
        text = re.sub(before, after, text)
    return text
