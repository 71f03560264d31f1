"""The app: controls and board around one model."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar

import ipywidgets as widgets

from convviz.app.controls import Controls
from convviz.app.kernel import KernelPad
from convviz.app.linked import linked_widget
from convviz.app.model import Model
from convviz.app.share import Share
from convviz.app.start import start_settings
from convviz.app.tabs.tabs import Tabs
from convviz.app.traits import SettingTraits
from convviz.app.upload import Upload, read_picture
from convviz.board import payload
from convviz.board.widget import Board
from convviz.facts.words import sentences
from convviz.ops.stages import Stages
from convviz.settings.as_python import as_python
from convviz.settings.link import briefly, from_link, to_link
from convviz.settings.state import Settings, Source
from convviz.spec import ConvSpec
from convviz.views import captions
from convviz.views.figures import figure
from convviz.views.output_padding import layers_story
from convviz.views.panels import equations, panel
from convviz.views.remainder import story

if TYPE_CHECKING:
    import plotly.graph_objects as go

DEVICE_VARIABLE = "CONVVIZ_DEVICE"
VOILA_VARIABLE = "VOILA_KERNEL_ID"  # Voilà sets it in every kernel before the first cell
# How a sentence marks code, and what is strong.
MARKS = {r"`([^`]+)`": r"<code>\1</code>", r"\*\*([^*]+)\*\*": r"<b>\1</b>"}
say = sentences("app")
say_page = sentences("board")


class App(SettingTraits, widgets.VBox):
    """An interactive picture of a 2-D convolution and its backward pass, as an ipywidgets Box."""

    # Makes the page of a state. ``convviz/__init__.py`` puts it here: app and export stand side by side and do not
    # know each other. Without it nothing offers to save a page.
    page_maker: ClassVar[Callable[[Mapping[str, Any]], bytes] | None] = None
    # Makes the still picture that a saved notebook keeps beside the app; put here as well.
    still_maker: ClassVar[Callable[[Stages, Settings], str] | None] = None

    def __init__(
        self,
        spec: ConvSpec | None = None,
        input: Any = None,
        weight: Any = None,
        bias: Any = None,
        grad_output: Any = None,
        loss: str | None = None,
        target: Any = None,
        device: str | None = None,
        dtype: str | None = None,
        *,
        state: Mapping[str, Any] | None = None,
        link: str | None = None,
        theme: str = "auto",
        transposed: bool = False,
    ) -> None:
        """Open the app.

        Args:
            spec: the geometry; default: what the tensors' shapes say, else 8 x 8, kernel 3, stride 2, padding 1.
            input: ``[H, W]``, ``[C_in, H, W]`` or ``[N, C_in, H, W]``, a tensor, an array or nested lists.
            weight: ``[kH, kW]`` or ``[C_out, C_in / groups, kH, kW]``.
            bias: ``[C_out]``.
            grad_output: ``[H_out, W_out]`` or ``[N, C_out, H_out, W_out]``: the loss is then the weighted sum.
            loss: one of facts' choices, such as ``"mean"``; a target belongs to those that take one.
            target: of the half squared error, shaped as grad_output.
            device: ``"cpu"`` or the machine's accelerator; default: the variable CONVVIZ_DEVICE, else the cpu.
            dtype: ``"float32"``, ``"float64"`` or ``"bfloat16"``.
            state: what ``state()`` returned; the other arguments are then left out.
            link: what ``link()`` returned, or the address of a page that ends in it; a device may stand beside it.
                What the link cannot have is said on the page, and has its default.
            theme: ``"auto"``, ``"light"`` or ``"dark"``.
            transposed: show ``torch.nn.ConvTranspose2d``: weight is then ``[C_in, C_out / groups, kH, kW]``, and spec
                the geometry of the convolution that is read the other way: its input is the output here.

        Raises:
            ValueError: the arguments contradict each other or conv2d's rules, or are too large for the board.
        """
        tensors = {
            "input": input,
            "weight": weight,
            "bias": bias,
            "grad_output": grad_output,
            "target": target,
        }
        device = device or os.environ.get(DEVICE_VARIABLE) or None
        self.model = Model(
            start_settings(
                spec, tensors, loss, device, dtype, state=state, link=link, theme=theme, transposed=transposed
            )
        )
        self.board = Board(self._on_board)
        self._kernel = KernelPad(self.model)
        self._controls = Controls(self.model)
        self._upload = Upload(self._on_picture, lambda sentence: self.model.tell(sentence, failed=True))
        self._controls.upload_slot.children = (self._upload,)
        self._introduction = ""
        self._heading = widgets.HTML()
        self._heading.add_class("cv-heading")
        self._notice = widgets.HTML()
        self._notice.add_class("cv-notice")
        self._tabs = Tabs(self.model)
        self._drawn: tuple[Any, ...] | None = None  # what the board's structure was made for
        self._version = 0
        self._step = 0
        self._show_result()
        super().__init__(self._layout())
        self.add_class("cv-app")
        self.follow_model()
        self.model.observe(self._on_settings, names="settings")  # the result is there by then
        self.model.observe(self._on_notice, names=("notice", "failed"))
        self.model.observe(self._on_selected, names="selected")
        self.model.observe(self._on_history, names=("can_undo", "can_redo"))
        if link is not None:
            self.model.tell(briefly(from_link(link)[1]))

    def state(self) -> dict[str, Any]:
        """Return the settings as plain data: what ``App(state=...)`` and ``set_state`` take."""
        return self.model.state()

    def link(self) -> str:
        """Return the settings as a short text: what ``App(link=...)`` takes, and a served page after ``?``.

        It leaves the device out, so that it opens on every machine.

        Raises:
            ValueError: the settings hold too many numbers for a link.
        """
        return to_link(self.model.settings)

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to the settings that ``state()`` described.

        Raises:
            ValueError: the state is of a newer version, or is not possible.
        """
        self.model.set_state(state)

    def figure(self, name: str) -> go.Figure:
        """Return one panel as a plotly figure.

        Args:
            name: as on the page, such as ``"grad_weight"``.

        Raises:
            ValueError: there is no such panel now.
        """
        return figure(panel(self.model.result, self.model.settings.plane, name))

    def sliders(self, *names: str) -> tuple[widgets.Widget, ...]:
        """Return ordinary ipywidgets, linked to the app both ways, for a layout of one's own.

        Args:
            names: of traits, such as ``"stride"``; ``"kernel"`` is a grid of sliders.

        Raises:
            ValueError: there is no control for a name.
        """
        return tuple(linked_widget(self, name) for name in names)

    def introduce(self, text: str) -> None:
        """Show these sentences above the app instead of its own."""
        self._introduction = f"<p>{_escaped(text)}</p>"
        self._heading.value = self._introduction

    def __repr__(self) -> str:
        """Return the call that opens the same: a notebook keeps it beside the app."""
        try:
            return f"convviz.App(link={self.link()!r})"
        except ValueError:  # too many numbers for a link
            return "convviz.App(state=...)"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any] | None:
        """Return the view, and a still picture for those who open or convert the notebook without a kernel."""
        bundle: dict[str, Any] | None = super()._repr_mimebundle_(**kwargs)
        maker = type(self).still_maker
        # Nobody saves Voilà's page, but every visitor would wait for the picture.
        if bundle is not None and maker is not None and VOILA_VARIABLE not in os.environ:
            bundle["text/html"] = maker(self.model.result, self.model.settings)
        return bundle

    def close(self) -> None:
        """Close the app and every widget in it."""
        if not hasattr(self, "_undo"):  # ipywidgets closes on deletion, also what was never built
            return
        self.model.unobserve_all()
        self._tabs.close()
        for child in _all_below(self):
            child.close()
        super().close()

    # -- putting it together ---------------------------------------------------------------------------

    def _layout(self) -> list[widgets.Widget]:
        style = widgets.HTML(f"<style>{files('convviz.app').joinpath('app.css').read_text(encoding='utf-8')}</style>")
        style.add_class("cv-style")
        self._undo = _button(say_page("undo"), say("undo"), lambda: self.model.attempt(self.model.undo))
        self._redo = _button(say_page("redo"), say("redo"), lambda: self.model.attempt(self.model.redo))
        reset = _button(say_page("reset"), say("reset"), lambda: self.model.attempt(self.model.reset))
        share = Share(lambda: as_python(self.model.settings), self._page if type(self).page_maker else None)
        tools = widgets.HBox([self._undo, self._redo, reset, share])
        tools.add_class("cv-tools")
        self._on_history(None)
        controls = widgets.Box([tools, self._notice, self._kernel.group, *self._controls.groups])
        controls.add_class("cv-controls")
        picture = widgets.Box([self._tabs.bar, self._tabs.slot, self.board])
        picture.add_class("cv-picture")
        body = widgets.Box([controls, picture])
        body.add_class("cv-body")
        return [style, self._heading, body]

    # -- the model moved -------------------------------------------------------------------------------

    def _on_settings(self, _: dict[str, Any]) -> None:
        self._controls.refresh()
        self._kernel.refresh()
        self._show_result()
        self._tabs.show()
        self.follow_model()

    def _show_result(self) -> None:
        """Send the board what changed: the structure with a new geometry or plane, the values at every step."""
        result, settings = self.model.result, self.model.settings
        one_scale = settings.scale == "equation"
        rows = equations(result, settings.plane, settings.input_view)
        shown_as = (one_scale, settings.input_view, settings.link_axes)
        drawn = (settings.spec, settings.plane, settings.bias is None, settings.transposed, shown_as)
        new_structure = drawn != self._drawn
        if new_structure:
            self._drawn = drawn
            heading = say("heading.transposed" if settings.transposed else "heading")
            self._heading.value = self._introduction or f"<p>{_marked_up(heading)}</p>"
            self._version += 1
        self._step += 1
        truth, truth_ok = captions.truth(result)
        texts = {
            "version": self._version,
            "step": self._step,
            "loss": captions.loss(result),
            "truth": truth,
            "truth_ok": truth_ok,
            "formulas": {row.name: captions.formula(result, settings.plane, row.name, row.view) for row in rows},
            "notes": {row.name: captions.note(result, row.name, row.view) for row in rows},
        }
        with self.board.hold_sync():
            if new_structure:
                structure = payload.structure(rows, settings.plane, one_scale, settings.transposed)
                geometry = payload.geometry(settings.spec, settings.plane, settings.transposed)
                told = (layers_story if settings.transposed else story)(settings.spec, settings.link_axes)
                more = {"geometry": geometry, "remainder": payload.remainder(told), "version": self._version}
                self.board.structure = structure | more
            self.board.values = payload.values(rows, one_scale) | texts
            self.board.theme = settings.theme
            # Typed numbers may be many: apart, and sent again only when they change.
            state = settings.to_dict()
            self.board.sources = {name: state.pop(name) for name in ("input", "target", "grad")}
            self.board.state = state

    def _on_notice(self, _: dict[str, Any]) -> None:
        text = self.model.notice
        role = "alert" if self.model.failed else "status"
        self._notice.value = (
            f'<p role="{role}" data-failed="{str(self.model.failed).lower()}">{_escaped(text)}</p>' if text else ""
        )

    def _on_selected(self, _: dict[str, Any]) -> None:
        self.board.selected = self.model.selected

    def _on_history(self, _: dict[str, Any] | None) -> None:
        self._undo.disabled = not self.model.can_undo
        self._redo.disabled = not self.model.can_redo

    # -- the user did something ------------------------------------------------------------------------

    def _on_board(self, message: dict[str, Any]) -> None:
        self.model.attempt(lambda: self.model.act(message))

    def _page(self) -> bytes | None:
        """Return what is shown as a page; None where it cannot be one, and the notice says why."""
        made: list[bytes] = []

        def make() -> None:
            maker = type(self).page_maker
            if maker is not None:
                made.append(maker(self.state()))
            self.model.tell("")

        self.model.attempt(make)
        return made[0] if made else None

    def _on_picture(self, data: bytes) -> None:
        def use() -> None:
            source = Source.of((read_picture(data) * 1000).round() / 1000, "image")
            self.model.apply(self.model.settings.replace(input=source))

        self.model.attempt(use)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _marked_up(text: str) -> str:
    """Return a sentence of ours as HTML."""
    marked = _escaped(text)
    for mark, tag in MARKS.items():
        marked = re.sub(mark, tag, marked)
    return marked


def _button(word: str, tooltip: str, action: Any) -> widgets.Button:
    button = widgets.Button(description=word, tooltip=tooltip, layout=widgets.Layout(width="auto"))
    button.on_click(lambda _: action())
    return button


def _all_below(box: widgets.Widget) -> list[widgets.Widget]:
    """Every widget inside a box, with the layouts and styles that they made."""
    found: list[widgets.Widget] = []
    for child in getattr(box, "children", ()):
        found += [child, *_all_below(child)]
    parts = [getattr(widget, name, None) for widget in [box, *found] for name in ("layout", "style")]
    return found + [part for part in parts if isinstance(part, widgets.Widget)]
