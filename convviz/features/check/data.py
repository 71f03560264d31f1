"""The tab Check: gradcheck's verdicts, the gradients held against finite differences, in float32 beside float64."""

from collections.abc import Mapping
from typing import Any

import torch

from convviz.app.to_json import plain
from convviz.features.check.gradcheck import EPS, GRADCHECK, Checked, Slopes, check_gradients
from convviz.ops.losses import LOSSES
from convviz.ops.stages import Stages
from convviz.settings.state import Settings
from convviz.settings.tensor_display_names import shown_name
from convviz.views.panels import panel


def data(settings: Settings, stages: Stages, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return the check for every eps: the page goes from one to another by itself."""
    check = check_gradients(stages, settings.plane)
    return {
        "eps": list(EPS),
        "gradcheck": GRADCHECK,
        "bend": LOSSES[stages.loss_kind].bend,
        "size": check.size,
        "spacing": check.spacing,
        "gradients": [_gradient(settings, stages, checked) for checked in check.gradients],
    }


def _gradient(settings: Settings, stages: Stages, checked: Checked) -> dict[str, Any]:
    called = shown_name(checked.panel, stages.transposed)
    return {
        "panel": checked.panel,
        "label": panel(stages, settings.plane, called).label,
        "size": list(checked.size),
        "slopes": {dtype: _slopes(slopes) for dtype, slopes in checked.slopes.items()},
    }


def _slopes(slopes: Slopes) -> dict[str, Any]:
    largest = slopes.difference.abs().nan_to_num(nan=torch.inf).amax((1, 2))
    return {
        "analytic": plain(slopes.analytic),
        "difference": plain(slopes.difference, digits=4),  # enough, and a quarter of the bytes
        "largest": plain(largest),
        "passes": slopes.passes,
        "warning": slopes.warning,
    }
