"""The code tab: Python for the present setting, seven ways, as files to copy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from convviz.app.session import Session
from convviz.app.tabs.base import Send, Tab
from convviz.explanation.code.snippet_file import GIVEN, SnippetFile, snippet_file, too_large
from convviz.explanation.code.snippets import snippets
from convviz.explanation.code.template import PANELS
from convviz.facts.words import sentences
from convviz.settings.names import shown_name

say = sentences("app")


class CodeTab(Tab):
    """Shows code, and which of its lines make or read which panel."""

    def __init__(self, session: Session, send: Send) -> None:
        """Start with tensors that the code draws itself."""
        self._with_numbers = False
        super().__init__(session, send)

    def act(self, message: Mapping[str, Any]) -> None:
        """Write the board's numbers into the code, or leave them out."""
        if message.get("type") == "numbers":
            self._with_numbers = message.get("on") is True
            self.refresh()

    def data(self) -> dict[str, Any]:
        """Return every way as a file, with its lines' panels."""
        settings = self.session.settings
        tensors = self._tensors()
        reason = too_large(tensors)
        given = tensors if self._with_numbers and not reason else None
        written = snippets(
            settings.spec,
            bias=settings.bias is not None,
            dtype=settings.dtype,
            device=settings.device,
            transposed=settings.transposed,
        )
        return {
            "ways": [
                {"name": each.name, "label": say(f"code.{each.name}"), "title": each.title}
                | _plain(snippet_file(each, given))
                for each in written
            ],
            "numbers": {"on": self._with_numbers, "reason": reason},
            "called": {name: shown_name(name, settings.transposed) for name in PANELS},
            # The board draws the input of a convolution within its padding only.
            "inside": {} if settings.transposed else {"input": "padded_input"},
        }

    def _tensors(self) -> dict[str, torch.Tensor]:
        transposed = self.session.settings.transposed
        found = {name: getattr(self.session.result, shown_name(name, transposed)) for name in GIVEN}
        return {name: tensor for name, tensor in found.items() if tensor is not None}


def _plain(file: SnippetFile) -> dict[str, Any]:
    return {
        "text": file.text,
        "panels": {str(number): list(names) for number, names in file.lines},
        "tensors": list(file.tensors),
    }
