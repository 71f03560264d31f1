"""Live boards and lessons in pages of the documentation, each in the language of its folder.

`{board} LINK` and `{lesson} NAME` show the page that `convviz site` writes, in a frame: script and plotly are files of
the whole site, so a reader loads them once. Each lesson has a page of its own, written here before the build.
"""

from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.directives.other import TocTree
from sphinx.util.docutils import SphinxDirective

from convviz.export.site import app_of, write_site
from convviz.facts import facts
from convviz.facts.i18n.current_language import ENGLISH, languages, use_locale
from convviz.facts.words import sentences
from convviz.lessons import lesson, names

SITE = "live"  # the folder of the live page, beside the pages of the documentation
OPEN_ALONE = {
    "en": "Open it in a window of its own",
    "zh-Hans": "在单独的窗口中打开",
    "zh-Hant": "在單獨的視窗中開啟",
}
PAGE = """---
hide-toc: true
---
# {title}

```{{lesson}} {name}
```

{steps}
"""


def language_of(docname):
    """Return the language of a page: its folder's name, or English."""
    folder = docname.split("/")[0]
    return folder if folder in languages() else ENGLISH


def folder_of(tag):
    """Return the folder of a language's pages, with its / at the end."""
    return "" if tag == ENGLISH else f"{tag}/"


class Board(SphinxDirective):
    """A live board; what is given is the link of its state."""

    required_arguments = 1
    option_spec = {"title": directives.unchanged}  # noqa: RUF012

    def run(self):
        tag = language_of(self.env.docname)
        root = "../" * self.env.docname.count("/")
        with use_locale(tag):
            address = escape(f"{root}{SITE}/{app_of(tag)}?lang={tag}#{self.fragment()}")
            title, alone = escape(self.title()), escape(OPEN_ALONE.get(tag, OPEN_ALONE[ENGLISH]))
        html = (
            f'<figure class="live"><iframe src="{address}" title="{title}"></iframe>'
            f'<figcaption><a href="{address}">{alone}</a></figcaption></figure>'
        )
        return [nodes.raw("", html, format="html")]

    def fragment(self):
        return self.arguments[0]

    def title(self):
        return self.options.get("title") or sentences("live_page")("heading")


class Lesson(Board):
    """A lesson, played from its first step; what is given is its name."""

    def fragment(self):
        if self.arguments[0] not in names():
            raise self.error(f"a lesson is one of {', '.join(names())}: got {self.arguments[0]!r}")
        return f"lesson={self.arguments[0]}"

    def title(self):
        return title_of(self.arguments[0])


class Lessons(TocTree):
    """The table of the lessons' pages of this language, in the order in which they build up."""

    def run(self):
        folder = folder_of(language_of(self.env.docname))
        self.options["maxdepth"] = 1
        self.content = StringList([f"/{folder}lessons/{name}" for name in names()], source=self.env.docname)
        return super().run()


def title_of(name):
    return facts("words/lesson_titles")[f"{name}.title"]


def write_lessons(app):
    """Write the page of each lesson, where it is not there as it should be, in each language that has a start page."""
    for tag in languages():
        folder = Path(app.srcdir, folder_of(tag), "lessons")
        if not folder.with_name("index.md").is_file():
            continue
        folder.mkdir(exist_ok=True)
        for path in folder.glob("*.md"):
            if path.stem not in ("index", *names()):  # of a lesson that is gone
                path.unlink()
        for name in names():
            with use_locale(tag):
                page = lesson_page(name)
            path = folder / f"{name}.md"
            if not path.is_file() or path.read_text(encoding="utf-8") != page:
                path.write_text(page, encoding="utf-8")


def lesson_page(name):
    """Return the page of a lesson: its title, the lesson itself, and its steps as a list for whoever looks for one."""
    words = facts(f"words/guided/{name}")
    steps = "\n".join(f"1. {words[step['title']]}" for step in lesson(name)["steps"])
    return PAGE.format(title=title_of(name), name=name, steps=steps)


def write_live_page(app, error):
    if error is None and app.builder.format == "html":
        write_site(Path(app.outdir, SITE))


def setup(app):
    app.add_directive("board", Board)
    app.add_directive("lesson", Lesson)
    app.add_directive("lessons", Lessons)
    app.connect("builder-inited", write_lessons)
    app.connect("build-finished", write_live_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
