"""A layer of somebody's own model, opened in the app with its real numbers."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from convviz.app.app import App
from convviz.explanation.layer.crop_window import choose_window, cut
from convviz.explanation.layer.layer_sentences import layer_story
from convviz.explanation.layer.record_run import record_layer
from convviz.ops.devices_and_dtypes import DTYPES, available_devices, device_name


def explain(
    module: torch.nn.Module,
    x: Any,
    *,
    layer: str | torch.nn.Module | None = None,
    loss: Callable[[Any], torch.Tensor] | None = None,
    window: Mapping[str, int | slice] | None = None,
    run: int = 0,
    theme: str = "auto",
    lang: str | None = None,
) -> App:
    """Run a model forward and backward on a batch, and open the app on one of its convolutions.

    Where a layer is too large for the board, a window of it is shown, and the page says which numbers are then the
    layer's own. The model, its gradients, its running statistics, torch's random numbers and x stay as they were.

    Args:
        module: an ``nn.Conv2d`` or ``nn.ConvTranspose2d``, torch's or ours, or a model that has one.
        x: a batch ``[N, C_in, H, W]``, or whatever the model takes; a tuple of arguments, or a dict of named ones.
        layer: which layer of the model, by its name, such as ``"features.0"``, or itself; default: the only one.
        loss: a function from the model's output to a number; default: the sum of the output.
        window: what to show: any of ``samples``, ``in_channels``, ``out_channels``, ``rows`` and ``columns``, the last
            two of the layer's output, each a number or a slice; default: all that fits, else the first of it.
        run: which run of the layer to show where the model calls it more than once, counted from 0.
        theme: ``"auto"``, ``"light"`` or ``"dark"``.
        lang: the language of the app, such as ``"zh-Hans"``; default: the browser's.

    Returns:
        The app. Its button Reset leads back to these numbers. Its tensors, such as ``app.grad_input``, are those of the
        window that it shows; ``app.introduction()`` says which window, and which of them are the layer's own.

    Raises:
        TypeError: an argument is of another type.
        ValueError: there is no such layer, it did not run or is no plain 2-D convolution, the loss cannot be
            differentiated by its output, the window is not there, or numbers are not finite.
    """
    made = record_layer(module, x, layer, loss, run)
    shown = choose_window(made, window)
    parts = cut(made, shown)
    dtype = made.output.dtype if made.output.dtype in DTYPES.values() else torch.float32
    device = device_name(made.output.device)
    app = App(
        shown.spec,
        parts["input"],
        parts["weight"],
        parts["bias"],
        parts["grad_output"],
        device=device if device in available_devices() else "cpu",
        dtype=str(dtype).removeprefix("torch."),
        theme=theme,
        transposed=made.transposed,
        lang=lang,
    )
    app.introduce(lambda: layer_story(made, shown, loss, dtype))
    return app
