"""Somebody's own model, opened with its real numbers: all of it, or one of its layers in the app."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, overload

import torch
from ipywidgets import Widget

from convviz.app.app import App
from convviz.explanation.layer.crop_window import choose_window, cut
from convviz.explanation.layer.find_layer import SHOWN
from convviz.explanation.layer.layer_sentences import layer_story
from convviz.explanation.layer.record_run import Recorded, record_layer
from convviz.facts.features import tabs_that
from convviz.geometry.shown_plane import Plane
from convviz.ops.devices_and_dtypes import DTYPES, available_devices, device_name

OPEN_MODELS = tabs_that(lambda feature: feature.get("opens_models"))  # a feature, while its folder is there


@overload
def explain(
    module: torch.nn.Conv2d | torch.nn.ConvTranspose2d,
    x: Any,
    *,
    layer: None = None,
    loss: Callable[[Any], torch.Tensor] | None = None,
    window: Mapping[str, int | slice] | None = None,
    run: int = 0,
    theme: str = "auto",
    lang: str | None = None,
) -> App: ...
@overload
def explain(
    module: torch.nn.Module,
    x: Any,
    *,
    layer: str | torch.nn.Module,
    loss: Callable[[Any], torch.Tensor] | None = None,
    window: Mapping[str, int | slice] | None = None,
    run: int = 0,
    theme: str = "auto",
    lang: str | None = None,
) -> App: ...
@overload
def explain(
    module: torch.nn.Module,
    x: Any,
    *,
    layer: None = None,
    loss: Callable[[Any], torch.Tensor] | None = None,
    window: Mapping[str, int | slice] | None = None,
    run: int = 0,
    theme: str = "auto",
    lang: str | None = None,
) -> Widget: ...
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
) -> Widget:
    """Run a model forward and backward on a batch, and open the network, or one of its convolutions in the app.

    The network shows every operation with its gradient. Where a layer is too large for the board, a window of it is
    shown, and the page says which numbers are then the layer's own. The model, its gradients, its running statistics,
    torch's random numbers and x stay as they were.

    Args:
        module: a model; an ``nn.Conv2d`` or ``nn.ConvTranspose2d``, torch's or ours, opens in the app at once.
        x: a batch ``[N, C_in, H, W]``, or whatever the model takes; a tuple of arguments, or a dict of named ones.
        layer: which convolution of the model to open in the app, by its name, such as ``"features.0"``, or itself;
            default: the whole network, or the only convolution where ``window`` or ``run`` speaks of it.
        loss: a function from the model's output to a number; default: the sum of the output.
        window: what to show: any of ``samples``, ``in_channels``, ``out_channels``, ``rows`` and ``columns``, the last
            two of the layer's output, each a number or a slice; default: all that fits, else the first of it.
        run: which run of the layer to show where the model calls it more than once, counted from 0.
        theme: ``"auto"``, ``"light"`` or ``"dark"``.
        lang: the language of the app, such as ``"zh-Hans"``; default: the browser's.

    Returns:
        A widget: the network, or the app. The app's button Reset leads back to these numbers, its tensors, such as
        ``app.grad_input``, are those of the window that it shows; ``app.introduction()`` says which window, and which
        of them are the layer's own.

    Raises:
        TypeError: an argument is of another type.
        ValueError: there is no such layer, it did not run or is no plain 2-D convolution, the loss cannot be
            differentiated by its output, the window is not there, or numbers are not finite.
    """
    asks_for_layer = layer is not None or window is not None or run != 0 or isinstance(module, SHOWN)
    if OPEN_MODELS and not asks_for_layer:
        opener = import_module(f"convviz.features.{OPEN_MODELS[0]}.open_model")
        opened: Widget = opener.open_model(module, x, loss=loss, theme=theme, lang=lang)
        return opened
    made = record_layer(module, x, layer, loss, run)
    return open_layer(made, window=window, loss=loss, theme=theme, lang=lang)


def open_layer(
    made: Recorded,
    *,
    window: Mapping[str, int | slice] | None = None,
    cell: Sequence[int] | None = None,
    loss: Callable[[Any], torch.Tensor] | None = None,
    theme: str = "auto",
    lang: str | None = None,
) -> App:
    """Open the app on what a convolution did in a run, as ``explain`` does.

    Args:
        made: what the layer did.
        window: as ``explain`` takes it.
        cell: ``[sample, channel, row, column]`` of its output, whose plane is shown, and which stands in the middle
            where not all of the layer fits.
        loss: as ``explain`` takes it; so are theme and lang.
        theme: of the app.
        lang: of the app.
    """
    shown = choose_window(made, window, cell)
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
    if cell is not None:
        app.start_at(Plane(cell[0] - shown.samples.start, cell[1] - shown.out_channels.start))
    app.introduce(lambda: layer_story(made, shown, loss, dtype, opened=cell is not None))
    return app
