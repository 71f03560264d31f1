"""The tab Stack: several layers like the board's, and the gradient on its way back through them."""

from __future__ import annotations

from convviz.app.tabs.base import PageTab


class StackTab(PageTab):
    """Computed in the page, from the settings of its board."""
