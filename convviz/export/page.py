"""Write the board as one HTML file that lives without Python and asks nobody for anything."""

import os
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from convviz import __version__
from convviz.explanation.load_lesson import readable
from convviz.export.page_assets import (
    CONTROLS,
    DEFAULT_CONTROLS,
    bundles,
    own_tabs,
    page_facts,
    page_styles,
    plotly_text,
    to_json,
)
from convviz.export.state_from_dict_or_link import State, given_settings, introduction, page_settings
from convviz.export.still_picture import still_figures
from convviz.export.teacher_text import intro_html
from convviz.facts import facts
from convviz.facts.features import RECORDED
from convviz.facts.i18n.choose_language import requested_language
from convviz.facts.i18n.current_language import language, use_locale
from convviz.facts.words import sentences
from convviz.file_io import utf8, write
from convviz.lessons import lesson_bundle, short_name
from convviz.settings.compute import compute
from convviz.settings.link import to_link
from convviz.settings.state import Settings
from convviz.web.minify import packed_script

say = sentences("app")


def export_html(
    state: State,
    path: str | os.PathLike[str],
    *,
    lang: str | None = None,
    controls: Sequence[str] = DEFAULT_CONTROLS,
    height: int | None = None,
    title: str | None = None,
    lesson: str | None = None,
    intro: str = "",
    plotly: bool = True,
) -> Path:
    """Write one self-contained HTML page in which the board lives on without Python.

    Args:
        state: what ``App.state()`` returned, an App itself, whose ``introduction()`` comes along, or None for the
            app's first picture; or a text: a link, the address of a page with one, or a file with the JSON of a state,
            as on the command line.
        path: of the file; a file that is there is replaced once the new one is whole.
        lang: the page's language, such as ``"zh-Hans"``; in place of one that is not there it speaks English, with a
            warning. Default: the language that is spoken here, which an app in another one has set.
        controls: names of groups (``kernel``, ``geometry``, ``channels``, ``input``, ``loss``, ``look``) or of single
            controls (such as ``stride``), shown in a fixed order; ``()`` for the board alone.
        height: pixels of the page, which then scrolls inside; default: as high as it needs, sent to the page around.
        title: of the page; default: what it is about.
        lesson: name of the lesson that the page starts, such as ``"why_rotated"``, or the path of a file with a lesson
            of your own; without one a button starts the first.
        intro: words above the board, with ``*emphasis*``, ``**strong**``, code between backticks and
            ``[links](https://...)``; all else is shown as it was typed.
        plotly: whether the page carries plotly, two thirds of its bytes. Without it all cells keep their colours and
            numbers; no panel opens as a figure or is saved as a picture, and a race has no curves.

    Returns:
        The path that was written.

    Raises:
        ValueError: the state is of a newer version or too large, or there is no such control or lesson.
        OSError: a file cannot be read or written.
    """
    content = page_bytes(
        state, lang=lang, controls=controls, height=height, title=title, lesson=lesson, intro=intro, plotly=plotly
    )
    return write(Path(path), content, "page")


def page_bytes(
    state: State,
    *,
    lang: str | None = None,
    controls: Sequence[str] = DEFAULT_CONTROLS,
    height: int | None = None,
    title: str | None = None,
    lesson: str | None = None,
    intro: str = "",
    plotly: bool = True,
) -> bytes:
    groups = _check_controls(controls)
    if height is not None and (type(height) is not int or height < 100):
        raise ValueError(f"height is a whole number of 100 pixels or more, or None: got {height!r}")
    for name, text in (("title", title), ("intro", intro)):
        if text is not None and not isinstance(text, str):
            raise ValueError(f"{name} is a text: got {text!r:.40}; write it between quotes")
    shown: dict[str, Any] = {"controls": groups, "height": height, "lesson": None, "lessons": {}}
    if lesson is not None:
        name, of_page = short_name(lesson), readable(lesson)
        shown |= {"lesson": name}
        if controls is DEFAULT_CONTROLS:  # those that are to be moved belong to them
            shown["controls"] = _check_controls([*groups, *of_page["lesson"].get("controls", [])])
    settings = page_settings(given_settings(state))
    with use_locale(requested_language(lang)):
        if lesson is not None:
            shown["lessons"] = {shown["lesson"]: lesson_bundle(lesson)}
        title = say("page.title") if title is None else title
        words = "\n\n".join(filter(None, (intro, introduction(state))))
        return utf8(_page(settings, shown, title=title, intro=words, plotly=plotly), "page")


def _check_controls(controls: Sequence[str]) -> list[str]:
    known = [name for group, names in CONTROLS.items() for name in (group, *names)]
    names = [controls] if isinstance(controls, str) else list(controls)
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"a control is one of {', '.join(known)}: got {', '.join(map(repr, unknown))}")
    return names


def _page(settings: Settings, shown: dict[str, Any], *, title: str, intro: str, plotly: bool) -> str:
    data, height = {**page_facts(), "state": settings.to_dict(), **shown}, shown["height"]
    words = f'<div class="cv-intro">{intro_html(intro)}</div>\n' if intro.strip() else ""
    fixed = f"body {{ height: {height}px; overflow: auto; }}\n" if height else ""
    computed = compute(settings, compare=False)
    lesson = shown["lesson"] and shown["lessons"][shown["lesson"]]["lesson"]
    tabs = own_tabs(settings.tab, lesson, bare=not shown["controls"])
    if recorded := {tab: facts(f"features/{tab}/recorded") for tab in tabs if tab in RECORDED}:
        data["recorded"] = recorded
    packed = f'<script type="text/plain" id="convviz-plotly">{plotly_text()}</script>\n' if plotly else ""
    picture = still_figures(computed, settings.plane, settings.input_view, settings.scale)
    return f"""<!doctype html>
<html lang="{language()}" data-convviz-version="{__version__}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{page_styles(tabs)}{fixed}</style>
</head>
<body>
<main class="cv-app cv-page cv-look">
<div class="cv-headline"><h1>{escape(title)}</h1></div>
{words}<noscript><p>{escape(say("page.noscript"))}</p></noscript>
<div class="cv-still" id="convviz-still">
{picture}
</div>
<div id="convviz-live"></div>
{_made(settings)}
</main>
<script type="application/json" id="convviz-data">{to_json(data)}</script>
{packed}<script type="module">
{_script(tabs)}
</script>
</body>
</html>
"""


def _made(settings: Settings) -> str:
    try:
        link = to_link(settings.replace(dtype=Settings().dtype))
        code = escape(f'convviz.App(link="{link}")')
        call = f"{escape(say('page.call'))} <code>{code}</code>"
    except ValueError:  # more typed numbers than a link holds
        call = escape(say("page.typed"))
    version_line = escape(say("page.version", version=__version__))
    return f"""<footer class="cv-made"><details><summary>{escape(say("page.made"))}</summary>
<p>{version_line} {call}</p></details></footer>"""


def _script(tabs: tuple[str, ...]) -> str:
    start = files("convviz.export").joinpath("start_page.js").read_text(encoding="utf-8")
    return inert(f"{bundles(tabs)}\n{packed_script(start)}")


def inert(script: str) -> str:
    """Return a script that no HTML parser takes for its own end."""
    # Inside a string the backslash changes nothing; in our own code neither stands anywhere else.
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
