"""What every tab is: data that follow from the model, drawn by a pane."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from convviz.app.model import Model, asked, what_failed
from convviz.board.pane import Pane
from convviz.facts.words import sentences

say = sentences("app")
log = logging.getLogger(__name__)


class Tab:
    """A tab of the app. A subclass names its script and makes its data.

    Attributes:
        script: the file in ``board/js`` that draws it.
        slow: whether its data always take longer than a slider may wait: they are then made when the sliders rest.
        pane: the widget.
    """

    script: ClassVar[str]
    slow: ClassVar[bool] = False

    def __init__(self, model: Model) -> None:
        """Make the pane, and its first data."""
        self.model = model
        self.pane = Pane(self.script, lambda message: model.attempt(lambda: self._receive(message)))
        self._step = 0
        self.pane.theme = model.settings.theme
        self.refresh()

    def data(self) -> dict[str, Any]:
        """Return what the pane draws, as plain data.

        Raises:
            ValueError: these settings cannot be shown in this tab; the sentence is shown instead.
        """
        raise NotImplementedError(f"{type(self).__name__} must say what it shows")

    def is_slow(self) -> bool:
        """Return whether these settings' data take longer than a slider may wait."""
        return self.slow

    def act(self, message: Mapping[str, Any]) -> None:
        """Do what a person asked for in the pane."""

    def follow(self) -> None:
        """The model moved: show it now, or ask the page to call when it has time."""
        self.pane.theme = self.model.settings.theme  # that need not wait
        if self.is_slow():
            self.pane.wanted += 1
        else:
            self.refresh()

    def refresh(self) -> None:
        """Make the data anew and send them."""
        self._step += 1
        try:
            made = self.data()
        except ValueError as error:
            made = {"error": str(error)}
        except Exception as error:  # the board must live on; the log keeps what a developer needs
            log.exception("the tab %s failed", type(self).__name__)
            made = {"error": f"{what_failed('tab.failed', error)} {say('tab.kept')}"}
        self.pane.data = made | {"step": self._step, "wanted": self.pane.wanted}

    def close(self) -> None:
        """Close the pane."""
        self.pane.close()

    def _receive(self, message: Mapping[str, Any]) -> None:
        if asked(message) == "refresh":
            self.refresh()
        else:
            self.act(message)
