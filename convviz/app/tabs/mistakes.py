"""The tab Mistakes: the page computes all of it, from the numbers that stand on its board."""

from __future__ import annotations

from typing import Any

from convviz.app.tabs.base import Tab


class MistakesTab(Tab):
    """Says once that it is there: what it shows follows the board, in a page without a kernel as well."""

    def data(self) -> dict[str, Any]:
        """Return that nothing is awaited."""
        return {"state": "alone"}

    def follow(self) -> None:
        """Leave it to the page, which has the numbers."""
