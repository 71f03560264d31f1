"""The race of one page: its tab Race, which the server holds; the race itself is a process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from convviz.app.tabs.race import RaceTab
from convviz.facts.current_language import ENGLISH, match_locale, use_locale


class PageRace(RaceTab):
    """Speaks the language in which its page asked last."""

    def __init__(self, send: Callable[[dict[str, Any]], None], all_races: set[PageRace]) -> None:
        """Begin with no race; ``send`` takes what the page is told."""
        super().__init__(lambda message, _: send(message), lambda: os.environ.get("CONVVIZ_DEVICE") or "cpu")
        self._language = ENGLISH
        self._all = all_races
        all_races.add(self)

    def refresh(self) -> None:
        with use_locale(self._language):
            super().refresh()

    def hear(self, request: Mapping[str, Any]) -> None:
        self._language = match_locale(request.get("language")) or ENGLISH
        with use_locale(self._language):
            if request["message"] == {"type": "leave"}:
                self.leave()
            else:
                self.receive(request["message"])

    def close(self) -> None:
        super().close()
        self._all.discard(self)
