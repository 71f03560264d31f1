"""The tab Check: the gradients held against finite differences, in float32 beside float64."""

from __future__ import annotations

import math
from typing import Any

import torch

from convviz.app.tabs.base import Tab
from convviz.explanation.gradcheck import EPS, GRADCHECK, Checked, Slopes, check_gradients
from convviz.ops.losses import LOSSES
from convviz.settings.names import shown_name
from convviz.views.panels import panel


class CheckTab(Tab):
    """Shows gradcheck's verdicts, every cell's |analytic - numeric|, and how it depends on eps."""

    slow = True

    def data(self) -> dict[str, Any]:
        """Return the check of the plane that is shown, for every eps: the page goes from one to another by itself."""
        settings, result = self.session.settings, self.session.result
        check = check_gradients(result, settings.plane)
        return {
            "eps": list(EPS),
            "gradcheck": GRADCHECK,
            "bend": LOSSES[result.loss_kind].bend,
            "size": check.size,
            "spacing": check.spacing,
            "gradients": [self._gradient(checked) for checked in check.gradients],
        }

    def _gradient(self, checked: Checked) -> dict[str, Any]:
        settings, result = self.session.settings, self.session.result
        called = shown_name(checked.panel, result.transposed)
        return {
            "panel": checked.panel,
            "label": panel(result, settings.plane, called).label,
            "size": list(checked.size),
            "slopes": {dtype: _slopes(slopes) for dtype, slopes in checked.slopes.items()},
        }


def _slopes(slopes: Slopes) -> dict[str, Any]:
    largest = slopes.difference.abs().nan_to_num(nan=torch.inf).amax((1, 2))
    return {
        "analytic": _plain(slopes.analytic.tolist()),
        "difference": _plain(slopes.difference.tolist(), digits=4),  # enough, and a quarter of the bytes
        "largest": _plain(largest.tolist()),
        "passes": slopes.passes,
        "warning": slopes.warning,
    }


def _plain(values: Any, digits: int = 17) -> Any:
    """Return nested lists as JSON can hold them: None for what is no finite number."""
    if isinstance(values, list):
        return [_plain(value, digits) for value in values]
    return float(f"{values:.{digits}g}") if math.isfinite(values) else None
