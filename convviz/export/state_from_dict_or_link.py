"""The state that a page or a command is given: a dict, a link, the address of a page, a file. Torch is not needed."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from convviz.facts import facts
from convviz.facts.features import ALONE
from convviz.file_io import read_json
from convviz.settings.link import from_link, is_link
from convviz.settings.state import Settings

MAX_PAGE_PRODUCTS: int = facts("settings")["limits"]["products"]["page"]  # a fifth of a second a step in the page
SHOWN = 80  # characters of what was given that an error repeats


@runtime_checkable
class HasState(Protocol):
    """An App, which this layer does not know."""

    def state(self) -> Mapping[str, Any]: ...


State = str | Mapping[str, Any] | HasState | None  # a link, a state, an App; None for the app's first picture


def read_state(text: str) -> tuple[Any, list[str]]:
    """Return the state of a JSON file, a link or an address, and a sentence for all left out."""
    shown = text[:SHOWN]
    if is_link(text) and not _is_file(text):
        settings, notices = from_link(text)
        return settings.to_dict(), notices
    if "://" in text:
        raise ValueError(f"the address {shown} has no link in it, such as #v=2&size=8: copy one with 'Copy link'")
    try:
        data = read_json(text)
    except OSError as error:
        why = f"{shown} is neither a link such as 'v=2&size=8' nor a file that can be read: {error.strerror}"
        raise type(error)(why) from error
    except ValueError as error:
        raise ValueError(f"{shown} is not the JSON of a state: {error}") from error
    # Where it was computed may be another machine's, and is left aside.
    Settings.from_dict({**data, "device": "cpu"} if isinstance(data, Mapping) else data)
    return data, []


def given_settings(state: State) -> Settings:
    """Read a state as ``export_html`` takes it; what its link could not say is a warning."""
    if isinstance(state, str):
        state, notices = read_state(state)
        for notice in notices:
            warnings.warn(notice, stacklevel=4)  # of who called one of the two, which calls one that gives bytes
    data: Any = state.state() if isinstance(state, HasState) else state
    if data is None:
        return Settings.first_picture()
    if isinstance(data, Mapping) and "device" in data:
        data = {**data, "device": "cpu"}  # it may be another machine's
    return Settings.from_dict(data)


def introduction(state: State) -> str:
    """Return the sentences that stand above an App instead of its own, such as which window of a layer it shows."""
    said = getattr(state, "introduction", None)
    return str(said()) if callable(said) else ""


def page_settings(settings: Settings) -> Settings:
    """Return the settings as a page computes them: float64, on the cpu, with a tab that it has."""
    tab = settings.tab if settings.tab in ALONE else ""
    settings = settings.replace(device="cpu", dtype="float64", tab=tab)
    products = settings.spec.products
    if products > MAX_PAGE_PRODUCTS:
        raise ValueError(
            f"a page computes up to {MAX_PAGE_PRODUCTS // 10**6} million products a step: this geometry takes "
            f"{products / 10**6:.1f} million; export a window of it, or fewer channels"
        )
    return settings


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # a link may be longer than the name of any file
        return False
