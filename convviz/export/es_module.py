"""Write the board as one ES module: it defines ``<convviz-board>``, and has ``render({ model, el })`` for MyST."""

import os
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from convviz.export.page_assets import (
    CONTROLS,
    DEFAULT_CONTROLS,
    element_bundles,
    page_facts,
    page_styles,
    plotly_code,
    to_json,
)
from convviz.export.state_from_dict_or_link import State, given_settings, page_settings
from convviz.facts.i18n.choose_language import requested_language
from convviz.facts.i18n.current_language import use_locale
from convviz.file_io import utf8, write
from convviz.geometry.spec import ConvSpec
from convviz.lessons import lesson, lesson_bundle, names
from convviz.web.widget_assets import joined

# A rule of page.css about the document itself: a module stands in somebody else's.
DOCUMENT_RULE = re.compile(r"(?<=[{}\n])(?:html|body|:root)[^{}]*\{[^{}]*\}")
FIGURE = files("convviz.web").joinpath("page/bare_figure.css")
# What stands in for them; and the rule that plotly writes into the document's head, which a shadow root does not see.
OWN_RULES = """
:host { display: block; }
:host([band]) { height: 420px; }
:host([hidden]) { display: none; }
.cv-page { background: var(--cv-paper); color-scheme: light; }
.cv-page[data-theme="dark"] { color-scheme: dark; }
.cv-page .js-plotly-plot .plotly .main-svg { position: absolute; top: 0; left: 0; pointer-events: none; }
"""


def export_module(path: str | os.PathLike[str], state: State = None, *, lang: str | None = None) -> Path:
    """Write one ES module that shows the board, without Python, wherever a page has the element ``<convviz-board>``.

    Its attributes say what is shown, for each place in a course anew: ``state`` is a link, ``controls`` are names as
    ``export_html`` takes them, ``lesson`` is the name of one, ``lang`` a language. All may be missing. What calls
    ``render({ model, el })``, as MyST does, gives the first three by ``model.get``; ``state`` may then be what
    ``App.state()`` returned as well, whole or in part.

    Args:
        path: of the file, such as ``convviz.mjs``; a file that is there is replaced once the new one is whole.
        state: what a place shows that says no ``state``, as ``export_html`` takes it; default: the first picture.
        lang: the language of the module, as ``export_html`` takes it.

    Returns:
        The path that was written.

    Raises:
        ValueError: the state is of a newer version or too large.
        OSError: the file cannot be written.
    """
    return write(Path(path), module_bytes(state, lang=lang), "module")


def module_bytes(state: State = None, *, lang: str | None = None) -> bytes:
    settings = page_settings(given_settings(state))
    with use_locale(requested_language(lang)):
        return utf8(_module(settings.to_dict()), "module")


def _module(state: Mapping[str, Any]) -> str:
    shown = {
        **page_facts(),
        "state": state,
        "controls": DEFAULT_CONTROLS,
        "groups": CONTROLS,
        "lessons": {name: lesson_bundle(name) for name in names() if not _has_tabs(name)},
        "spec": ConvSpec((8, 8)).to_dict(),
        "styles": element_styles(),
    }
    end = files("convviz.export").joinpath("myst_render.js").read_text(encoding="utf-8")
    return "\n".join([f"const facts = {to_json(shown)};", plotly_code(), element_bundles(), end])


def element_styles() -> str:
    """Return the rules of an element's shadow root: the page's, none of them about the document."""
    return DOCUMENT_RULE.sub("", page_styles() + joined([FIGURE])) + OWN_RULES


def _has_tabs(name: str) -> bool:
    return any(step.get("tab") for step in lesson(name)["steps"])
