"""The tab Mistakes: the gradient on the board with a step forgotten."""

from __future__ import annotations

from convviz.app.tabs.base import PageTab


class MistakesTab(PageTab):
    """Computed in the page, from the numbers that stand on its board."""
