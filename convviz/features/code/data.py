"""The code tab: Python for the present setting, seven ways, as files to copy."""

from collections.abc import Mapping
from typing import Any

import torch

from convviz.app.validate_request import flag
from convviz.explanation.snippet_setting import Setting
from convviz.facts.words import sentences
from convviz.features.code.read_template import PANELS
from convviz.features.code.runnable_script import GIVEN, SnippetFile, snippet_file, too_large
from convviz.features.code.snippets import Snippet, snippets
from convviz.ops.stages import Stages
from convviz.settings.state import Settings
from convviz.settings.tensor_display_names import shown_name

say = sentences("features/code")
OF_ITS_OWN = ("unfold", "einsum", "rotate", "aten")  # the ways with another title for a transposed convolution
CHOICES = ("numbers",)


def data(settings: Settings, stages: Stages, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return every way as a file, with the panels of its lines; ``numbers`` writes the board's into it."""
    with_numbers = flag(choices, "numbers")
    transposed = settings.transposed
    found = {name: getattr(stages, shown_name(name, transposed)) for name in GIVEN}
    tensors: dict[str, torch.Tensor] = {name: tensor for name, tensor in found.items() if tensor is not None}
    reason = too_large(tensors)
    given = tensors if with_numbers and not reason else None
    return {
        "ways": [_way(each, snippet_file(each, given)) for each in snippets(Setting.of(settings))],
        "numbers": {"on": with_numbers, "reason": reason},
        "called": {name: shown_name(name, transposed) for name in PANELS},
        # The board draws the input of a convolution within its padding only.
        "inside": {} if transposed else {"input": "padded_input"},
    }


def _way(snippet: Snippet, file: SnippetFile) -> dict[str, Any]:
    direction = "transposed." if snippet.transposed and snippet.name in OF_ITS_OWN else ""
    return {
        "name": snippet.name,
        "label": say(f"way.{snippet.name}"),
        "title": say(f"way.title.{direction}{snippet.name}"),
        "text": file.text,
        "panels": {str(number): list(names) for number, names in file.lines},
        "tensors": list(file.tensors),
    }
