"""The network in a notebook: the picture, and in its place the app while one of its convolutions is open."""

import contextlib
from typing import Any

import anywidget
import ipywidgets
import traitlets

from convviz.app.explain import open_layer
from convviz.app.validate_request import RequestError
from convviz.facts.choose_language import chosen
from convviz.facts.current_language import use_locale
from convviz.features.network.network import Network
from convviz.features.network.page_data import page, reply_to
from convviz.features.network.words import say
from convviz.views.theme import COLORSCALES
from convviz.web.bundle import bundle
from convviz.web.widget_assets import HERE, pane_styles, tab_file


class NetworkPane(anywidget.AnyWidget):
    """The picture of a network: bars, maps forward and backward, a lens."""

    _css = pane_styles("network")

    data = traitlets.Dict().tag(sync=True)
    theme = traitlets.Enum(("auto", "light", "dark"), default_value="auto").tag(sync=True)
    colorscales = traitlets.Dict(COLORSCALES).tag(sync=True)

    def __init__(self, data: dict[str, Any], *, theme: str) -> None:
        self._esm = bundle(HERE, tab_file("network"))  # here: in the language that is spoken now
        super().__init__(data=data, theme=theme)


class NetworkView(ipywidgets.VBox):
    """A network to point at; a convolution in it opens in the app, and a button leads back to where one was."""

    def __init__(self, network: Network, *, theme: str = "auto", lang: str | None = None) -> None:
        self.network, self._theme, self._lang = network, theme, lang
        self._language, _ = chosen(lang)
        self._app: ipywidgets.Widget | None = None
        with use_locale(self._language):
            self._pane = NetworkPane(page(network) | {"step": 1}, theme=theme)
            self._back = ipywidgets.Button(description=say("back"), icon="arrow-left", layout={"width": "max-content"})
        self._back.on_click(lambda _: self._return())
        self._pane.on_msg(self._answer)
        super().__init__([self._pane])

    def __repr__(self) -> str:
        """Return a line: a notebook keeps it beside the view."""
        return f"NetworkView({self.network!r})"

    def close(self) -> None:
        self._return()
        for part in (self._pane, self._back):
            part.layout.close()
            part.close()
        super().close()

    def _answer(self, _: object, message: Any, buffers: list[bytes]) -> None:
        with contextlib.suppress(RequestError), use_locale(self._language):  # from a page of another version
            if isinstance(message, dict) and message.get("ask") == "open":
                self._pane.send(self._open(message))
            else:
                self._pane.send(reply_to(message, self.network))

    def _open(self, message: dict[str, Any]) -> dict[str, Any]:
        """Show a convolution in the app, at the window around a cell; the pane stays as it is, out of sight."""
        try:
            made, window = self.network.layer(message.get("operation"), message.get("cell"), message.get("back", 0))
            app = open_layer(made, window=window, theme=self._theme, lang=self._lang)
        except ValueError as error:
            return {"refused": str(error)}
        self._return()
        self._app = app
        self._pane.layout.display = "none"
        self.children = [self._pane, self._back, app]
        return {"opened": message.get("operation")}

    def _return(self) -> None:
        if self._app is None:
            return
        self.children = [self._pane]
        self._pane.layout.display = None
        self._app.close()
        self._app = None
