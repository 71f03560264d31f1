"""The app: one widget, as one opens it in Python. ``page_widget.py`` has its side that talks to the page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import ipywidgets as widgets

from convviz import process_limits
from convviz.app.dashboard_controls import linked_widget
from convviz.app.page_widget import PageWidget
from convviz.app.permissions import is_served
from convviz.app.session import Session
from convviz.app.start_settings import start_settings
from convviz.explanation.load_lesson import readable
from convviz.facts.i18n.choose_language import chosen
from convviz.facts.i18n.current_language import use_locale
from convviz.geometry.spec import ConvSpec
from convviz.ops.stages import Stages
from convviz.ops.to_tensor import TensorLike
from convviz.settings.link import briefly, from_link, to_link
from convviz.settings.state import Settings
from convviz.views.figures import figure
from convviz.views.panels import panel

if TYPE_CHECKING:
    import plotly.graph_objects as go

DEVICE_VARIABLE = "CONVVIZ_DEVICE"


class App(PageWidget):
    """An interactive picture of a 2-D convolution and its backward pass, as one ipywidget."""

    # Makes the still picture that a saved notebook keeps beside the app; put here as well.
    still_maker: ClassVar[Callable[[Stages, Settings], str] | None] = None

    def __init__(
        self,
        spec: ConvSpec | None = None,
        input: TensorLike | None = None,
        weight: TensorLike | None = None,
        bias: TensorLike | None = None,
        grad_output: TensorLike | None = None,
        loss: str | None = None,
        target: TensorLike | None = None,
        device: str | None = None,
        dtype: str | None = None,
        *,
        state: Mapping[str, Any] | None = None,
        link: str | None = None,
        theme: str = "auto",
        transposed: bool = False,
        lesson: str | None = None,
        lang: str | None = None,
    ) -> None:
        """Open the app.

        Args:
            spec: the geometry; default: the sizes of the tensors with torch's stride 1, padding 0, dilation 1 and
                groups 1. Sizes, numbers and a loss that are not given are those of the first picture.
            input: ``[H, W]``, ``[C_in, H, W]`` or ``[N, C_in, H, W]``, a tensor, an array or nested lists.
            weight: ``[kH, kW]`` or ``[C_out, C_in / groups, kH, kW]``.
            bias: ``[C_out]``.
            grad_output: ``[H_out, W_out]`` or ``[N, C_out, H_out, W_out]``: the loss is then the weighted sum.
            loss: one of facts' choices, such as ``"mean"``; a target belongs to those that take one.
            target: of the half squared error, shaped as grad_output; of the cross-entropy 1 at one cell, else 0.
            device: ``"cpu"`` or the machine's accelerator; default: the variable CONVVIZ_DEVICE, else the cpu.
            dtype: ``"float32"``, ``"float64"`` or ``"bfloat16"``.
            state: what ``state()`` returned; the other arguments are then left out.
            link: what ``link()`` returned, or the address of a page that ends in it; a device may stand beside it.
                What the link cannot have is said on the page, and has its default.
            theme: ``"auto"``, ``"light"`` or ``"dark"``.
            transposed: show ``torch.nn.ConvTranspose2d``: weight is then ``[C_in, C_out / groups, kH, kW]``, and spec
                the geometry of the convolution that is read the other way: its input is the output here.
            lesson: name of a lesson that the page starts, such as ``"why_rotated"``, or the path of a file with one.
            lang: the language of the app, such as ``"zh-Hans"``; in place of one that is not there it speaks English,
                and says so. Default: the browser's. Its menu changes it. Errors that Python raises are English.

        Raises:
            ValueError: the arguments contradict each other or conv2d's rules, or are too large for the board; or there
                is no such lesson.
        """
        language, unknown = chosen(lang)
        if lesson is not None:
            readable(lesson)  # what is wrong with it is said in English, as all errors are
        tensors = {"input": input, "weight": weight, "bias": bias, "grad_output": grad_output, "target": target}
        device = device or os.environ.get(DEVICE_VARIABLE) or None
        session = Session(
            start_settings(
                spec, tensors, loss, device, dtype, state=state, link=link, theme=theme, transposed=transposed
            )
        )
        with use_locale(language):
            session.notify(" ".join(filter(None, [unknown, briefly(from_link(link)[1]) if link else ""])))
        super().__init__(session, language, chosen=lang is not None, lesson=lesson)
        process_limits.apply()

    def state(self) -> dict[str, Any]:
        """Return the settings as plain data: what ``App(state=...)`` and ``set_state`` take."""
        return self.session.state()

    def link(self) -> str:
        """Return the settings as a short text: what ``App(link=...)`` takes, and a served page after ``?``.

        It leaves the device out, so that it opens on every machine.

        Raises:
            ValueError: the settings hold too many numbers for a link.
        """
        return to_link(self.session.settings)

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to the settings that ``state()`` described.

        Raises:
            ValueError: the state is of a newer version, or is not possible.
        """
        self.session.set_state(state)

    def figure(self, name: str) -> go.Figure:
        """Return one panel as a plotly figure.

        Args:
            name: as on the page, such as ``"grad_weight"``.

        Raises:
            ValueError: there is no such panel now.
        """
        return figure(panel(self.session.result, self.session.settings.plane, name))

    def sliders(self, *names: str) -> tuple[widgets.Widget, ...]:
        """Return ordinary ipywidgets, linked to the app both ways, for a layout of one's own.

        Args:
            names: of traits, such as ``"stride"``; ``"kernel"`` is a grid of sliders.

        Raises:
            ValueError: there is no control for a name.
        """
        return tuple(linked_widget(self, name) for name in names)

    def __repr__(self) -> str:
        """Return the call that opens the same: a notebook keeps it beside the app."""
        try:
            return f"convviz.App(link={self.link()!r})"
        except ValueError:  # too many numbers for a link
            return "convviz.App(state=...)"

    def _ipython_display_(self) -> None:
        """Show the app, and above it a still picture for those who open or convert the notebook without a kernel.

        The picture is an output of its own: in one with the view, JupyterLab would write "model not found" over it.
        """
        from IPython.display import display

        maker = type(self).still_maker
        # Nobody saves Voilà's page, but every visitor would wait for the picture.
        if maker is not None and not is_served():
            with use_locale(self._language):
                picture = maker(self.session.result, self.session.settings)
            words = f"<p>{escape(self._introduction)}</p>" if self._introduction else ""
            still = f'<div data-convviz-still="{self._facts["id"]}">{words}{picture}</div>'
            display({"text/html": still, "text/plain": repr(self)}, raw=True)
        data, metadata = self._repr_mimebundle_() or ({"text/plain": repr(self)}, {})
        display(data, metadata=metadata, raw=True)
