"""The network in a notebook: the picture, and in its place the app while one of its convolutions is open."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets
import torch

from convviz.app.explain import open_layer
from convviz.app.styled_widget import PaneWidget
from convviz.explanation.layer.record_run import record_layer
from convviz.facts.i18n.choose_language import chosen
from convviz.facts.i18n.current_language import use_locale
from convviz.facts.words import sentences
from convviz.features.network.network import Network
from convviz.features.network.operations import Back
from convviz.features.network.page_data import NetworkPage

say = sentences("features/network")


class NetworkPane(PaneWidget):
    """The picture of a network: bars, maps forward and backward, a lens."""


class NetworkView(ipywidgets.VBox):  # type: ignore[misc]
    """A network to point at; a convolution in it opens in the app, and a button leads back to where one was."""

    def __init__(
        self,
        network: Network,
        model: torch.nn.Module,
        x: Any,
        loss: Callable[[Any], torch.Tensor] | None = None,
        *,
        theme: str = "auto",
        lang: str | None = None,
    ) -> None:
        self.network, self._run = network, (model, x, loss)
        self._theme, self._lang = theme, lang
        self._language, _ = chosen(lang)
        self._page = NetworkPage(network)
        self._app: ipywidgets.Widget | None = None
        with use_locale(self._language):
            self._pane = NetworkPane(
                "network", "recorded_tab.js", {"network": self._page.data(), "step": 1}, theme=theme
            )
            self._leave = ipywidgets.Button(description=say("leave"), layout={"width": "max-content"})
        self._leave.on_click(lambda _: self._show_network())
        self._pane.on_msg(self._answer)
        super().__init__([self._pane])

    def __repr__(self) -> str:
        """Return a line: a notebook keeps it beside the view."""
        return f"NetworkView({self.network!r})"

    def close(self) -> None:
        self._show_network()
        for part in (self._pane, self._leave, self):
            part.layout.close()
        for part in (self._pane, self._leave):
            part.close()
        super().close()

    def _answer(self, _: object, message: Any, buffers: list[bytes]) -> None:
        if not isinstance(message, Mapping):
            return
        with use_locale(self._language):
            opens = message.get("ask") == "open"
            reply = self._open(message) if opens else self._page.reply(message)
            self._pane.send(reply | {"id": message.get("id")})

    def _open(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Show a convolution in the app, with a cell of it; the picture stays as it is, out of sight."""
        try:
            app = self.open_convolution(message["operation"], message["cell"], self._page.backs[message.get("back", 0)])
        except (ValueError, TypeError, KeyError, IndexError) as error:
            return {"refused": str(error) if isinstance(error, ValueError) else say("refuse.ask", got=repr(message))}
        self._show_network()
        self._app, self._pane.layout.display = app, "none"
        self.children = [self._pane, self._leave, app]
        return {"opened": message["operation"]}

    def open_convolution(self, operation: int, cell: list[int], back: Back | None = None) -> ipywidgets.Widget:
        """Return the app on a convolution, as ``explain(layer=)`` shows it, with the gradients of a way back.

        Where not all of it fits, the windows around the cell are shown.
        """
        at = self.network.operations[operation]
        if at.opens != "board":
            raise ValueError(say("refuse.board", name=at.title))
        before = self.network.operations[:operation]
        run = sum(each.name == at.name and each.opens == "board" for each in before)
        model, x, loss = self._run
        made = record_layer(model, x, at.name, loss, run)
        if back is not None and back.start["kind"] == "cell":
            made = dataclasses.replace(made, grad_output=self._gradient(operation, back), sent=self._start(back))
        place = [self.network.sample, *(int(each) for each in cell)]
        if len(place) != 4 or not all(0 <= each < size for each, size in zip(place, made.output.shape, strict=True)):
            raise ValueError(say("refuse.cell", name=at.title, shape=list(at.shape), got=place[1:]))
        return open_layer(made, cell=place, loss=loss, theme=self._theme, lang=self._lang)

    def _gradient(self, operation: int, back: Back) -> torch.Tensor:
        """Return what a 1 at one cell sent back, 0 in all samples but its own."""
        at, gradient = self.network.operations[operation], back.gradients[operation]
        if gradient is None:
            raise ValueError(say("refuse.nothing_came", name=at.title, sent=self._start(back)))
        shape = at.output.shape if at.batched else (1, *at.output.shape)
        made = gradient.new_zeros((self.network.batch, *shape[1:]))
        made[self.network.sample] = at.of_sample(gradient, self.network.sample)
        return made

    def _start(self, back: Back) -> str:
        return f"{self.network.operations[back.start['operation']].title}{back.start['cell']}"

    def _show_network(self) -> None:
        if self._app is None:
            return
        self.children = [self._pane]
        self._pane.layout.display = None
        self._app.close()
        self._app = None
