"""The convolution as matrices."""

from __future__ import annotations

from typing import Any

from convviz.app.tabs.base import Tab


class MatrixTab(Tab):
    """The weight, for now."""

    script = "tab_matrix.js"

    def data(self) -> dict[str, Any]:
        """Return the shown plane of the weight."""
        return {"values": self.model.result.weight[0, 0].tolist()}
