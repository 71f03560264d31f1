"""The widget that carries the app's script and sheet: one a kernel and language, however many apps there are."""

from __future__ import annotations

import hashlib
from typing import ClassVar

import traitlets

from convviz.app.styled_widget import StyledWidget
from convviz.facts.i18n.current_language import language
from convviz.web.widget_assets import carrier_script


class Script(StyledWidget):
    """Half a megabyte that all apps share: an app's own script waits for it in the page, by its key."""

    key = traitlets.Unicode().tag(sync=True)

    _shared: ClassVar[dict[str, Script]] = {}  # those of this process, as its comm is, by their languages

    @classmethod
    def taken(cls, *, shared: bool) -> Script:
        """Return one of the spoken language, ``shared`` by all apps of this process; let go of it once."""
        if not shared:
            own = cls()
            own._apps = 1
            return own
        common = cls._shared.get(language())
        if common is None or common.comm is None:  # somebody may have closed all widgets
            common = cls._shared[language()] = cls()
        common._apps += 1
        return common

    def __init__(self) -> None:
        # Text, not a Path: anywidget watches a Path for changes and so keeps every closed widget alive.
        self._esm = carrier_script()
        super().__init__(key=hashlib.sha256(self._esm.encode()).hexdigest()[:12])
        self._apps = 0

    def let_go(self) -> None:
        """Close it with the last of its apps."""
        self._apps -= 1
        if self._apps == 0:
            self.layout.close()
            self.close()
