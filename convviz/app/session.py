"""What the kernel knows of one app: the settings, and the numbers that follow from them. No widgets."""

from collections.abc import Callable, Mapping
from typing import Any

import traitlets

from convviz.app.page_requests import computed
from convviz.app.validate_request import sentence_of
from convviz.ops.stages import Stages
from convviz.settings.compute import compute
from convviz.settings.schema import VIEW
from convviz.settings.state import Settings


class Session(traitlets.HasTraits):
    """Where torch computes for one app; ``notice``: what was last done, and whether it failed."""

    settings = traitlets.Instance(Settings)
    result = traitlets.Instance(Stages)
    notice = traitlets.Tuple(traitlets.Unicode(), traitlets.Bool(), default_value=("", False))

    def __init__(self, settings: Settings | None = None) -> None:
        first = settings or Settings.first_picture()
        super().__init__(settings=first, result=compute(first))

    def apply(self, settings: Settings, notices: list[str] | None = None) -> None:
        """Go to new settings and compute; after an error all stays as it was."""
        old, old_result = self.settings, self.result
        if settings != old:
            result = old_result if _same_numbers(old, settings) else compute(settings)
            try:
                self._set(settings, result)
            except Exception:  # somebody who watches could not follow: all goes back, so that the page stays whole
                self._set(old, old_result)
                raise
        self.notify(" ".join(notices or []))

    def numbers_of(self, settings: Settings) -> Stages:
        """Return the numbers of any settings: the session's own, where these differ in the view only."""
        return self.result if _same_numbers(self.settings, settings) else computed(settings)

    def notify(self, sentence: str, failed: bool = False) -> None:
        self.notice = (sentence, failed)

    def attempt(self, action: Callable[[], None]) -> str:
        """Run an action of the user; an error is returned as a sentence."""
        try:
            action()
        except Exception as error:
            return sentence_of(error)
        return ""

    def state(self) -> dict[str, Any]:
        return self.settings.to_dict()

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.apply(Settings.from_dict(state))

    def _set(self, settings: Settings, result: Stages) -> None:
        with self.hold_trait_notifications():
            self.settings = settings
            self.result = result


def _same_numbers(one: Settings, other: Settings) -> bool:
    return one == other.replace(**{name: getattr(one, name) for name in VIEW})
