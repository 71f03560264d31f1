"""The article as HTML: one file that asks nobody for anything, or a page of the site, which shares its files."""

import base64
import hashlib
import os
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from convviz import __version__
from convviz.export.article.sections import figure_of, inline_html, question_of, sections, still_of, task_of
from convviz.export.es_module import element_styles
from convviz.export.live_page import ICON
from convviz.export.page import inert
from convviz.export.page_assets import BOARD, page_facts, to_json
from convviz.facts.i18n.choose_language import own_names, requested_language
from convviz.facts.i18n.current_language import each_language, language, use_locale
from convviz.facts.words import sentences
from convviz.file_io import utf8, write
from convviz.web.bundle import bundle_several
from convviz.web.widget_assets import joined

HERE = files("convviz.export.article")
say = sentences("article")


def export_article(path: str | os.PathLike[str], *, lang: str | None = None) -> Path:
    """Write the article about the backward pass as one HTML file, whose pictures live without Python.

    Args:
        path: of the file; a file that is there is replaced once the new one is whole.
        lang: the page's language, as ``export_html`` takes it.

    Returns:
        The path that was written.

    Raises:
        OSError: the file cannot be written.
    """
    return write(Path(path), article_bytes(lang=lang), "article")


def article_bytes(*, lang: str | None = None) -> bytes:
    with use_locale(requested_language(lang)):
        return utf8(_alone(), "article")


@each_language
def article_parts() -> dict[str, tuple[str, str]]:
    """Return the files of the article: part → ending and content."""
    script = f"{bundle_several(BOARD, {'article': 'page/article.js'})}\narticle.start();\n"
    return {
        "article_styles": ("css", joined([HERE.joinpath("article.css")])),
        "article_head": ("js", HERE.joinpath("head.js").read_text(encoding="utf-8")),
        "article": ("js", script),
    }


def article_data(more: Mapping[str, Any]) -> str:
    facts = {**page_facts(), "plotly": None, "styles": element_styles(), **more}
    return f'<script type="application/json" id="convviz-article">{to_json(facts)}</script>'


def _alone() -> str:
    styles, head, script = (inert(content) for _, content in article_parts().values())
    policy = (
        f"default-src 'none'; script-src {_hash(head)} {_hash(f'{chr(10)}{script}')}; style-src {_hash(styles)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return document(
        head=f"""<meta http-equiv="Content-Security-Policy" content="{policy}">
<style>{styles}</style>
<script>{head}</script>""",
        end=f'{article_data({})}\n<script type="module">\n{script}</script>',
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def site_article(folder: str, names: Mapping[str, str], app: str, pages: Mapping[str, str], body: str) -> str:
    """Return the front page of a site in the language that is spoken here.

    ``names`` are those of the parts below ``folder``, ``app`` is the address of the app, ``pages`` those of the
    article in each language; ``body`` is the tag that marks a page as the site's.
    """
    languages = {tag: {"name": name, "page": pages[tag]} for tag, name in own_names().items()}
    return document(
        head=f"""<link rel="stylesheet" href="{folder}{names["article_styles"]}">
<script src="{folder}{names["article_head"]}" data-app="{app}"></script>
<script type="module" src="{folder}{names["article"]}"></script>""",
        end=article_data({"languages": languages}),
        body=body,
        app=app,
        languages=pages,
    )


def document(
    *, head: str, end: str, body: str = "<body>", app: str = "", languages: Mapping[str, str] | None = None
) -> str:
    shown_sections = sections()
    return f"""<!doctype html>
<html lang="{language()}" data-convviz-version="{__version__}">
<head>
<meta charset="utf-8">
{head}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(say("title"))}</title>
<link rel="icon" href="{ICON}">
</head>
{body}
<main>
<header>
{_ways(app, languages or {})}<h1>{escape(say("title"))}</h1>
<p>{inline_html(say("lead"))}</p>
<noscript><p>{escape(say("noscript"))}</p></noscript>
</header>
<div class="pin" role="region" aria-label="{escape(say("figure"))}">
{figure_of(shown_sections[0])}
<p class="said" role="status"></p>
</div>
<div class="text">
{"".join(map(_section, shown_sections))}{_doors(app)}</div>
</main>
{end}
</body>
</html>
"""


def _ways(app: str, languages: Mapping[str, str]) -> str:
    names = own_names()
    ways = [
        f'<a href="{escape(page)}?lang={tag}" hreflang="{tag}" lang="{tag}">{escape(names[tag])}</a>'
        for tag, page in languages.items()
        if tag != language()
    ]
    to_app = [f'<a href="{escape(app)}">{escape(say("app"))}</a>'] if app else []
    return f"<nav>{' '.join([*ways, *to_app])}</nav>\n" if ways or to_app else ""


def _section(section: Mapping[str, Any]) -> str:
    paragraphs = "\n".join(f"<p>{inline_html(each)}</p>" for each in section["paragraphs"])
    lines = escape("\n".join(section.get("code", ())))
    code = f'\n<pre tabindex="0"><code>{lines}</code></pre>' if lines else ""  # a stop: it scrolls on a phone
    parts = [paragraphs + code, question_of(section), task_of(section), still_of(section)]
    said = escape(section["said"])
    marks = "".join(f' data-{name}="{escape(section[name])}"' for name in ("state", "band", "cell"))
    return f"""<section id="{section["id"]}"{marks} data-said="{said}">
<h2>{escape(section["title"])}</h2>
{"".join(f"{part}{chr(10)}" for part in parts if part)}</section>
"""


def _doors(app: str) -> str:
    doors = [
        (say("doors.code"), say("doors.code.words")),
        (say("doors.net"), say("doors.net.words")),
        (say("doors.teach"), say("doors.teach.words")),
    ]
    items = "".join(f"<li><h3>{escape(title)}</h3><p>{inline_html(words)}</p></li>" for title, words in doors)
    install = f"<p>{inline_html(say('doors.install'))}</p>\n"
    way = f'<p><a class="app" href="{escape(app)}">{escape(say("app"))}</a></p>' if app else ""
    return f'<section id="doors">\n<h2>{escape(say("doors.title"))}</h2>\n<ul>{items}</ul>\n{install}{way}</section>\n'
