"""Live boards and lessons in pages of the documentation, each in its language.

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

from convviz.export.site import INDEX, write_site
from convviz.facts import facts
from convviz.lessons import lesson, names

SITE = "live"  # the folder of the live page, beside the pages of the documentation
ENGLISH = "en"
LANGUAGES = {"en": "Open it in a window of its own"}  # of the folders; English is that of all other pages
PAGE = """---
hide-toc: true
---
# {title}

```{{lesson}} {name}
```

{steps}
"""


def language_of(docname):
    """Return the language of a page, by its folder."""
    folder = docname.split("/")[0]
    return folder if folder in LANGUAGES else ENGLISH


class Board(SphinxDirective):
    """A live board: the link of its state, in whole or, after a lesson's name, none."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"title": directives.unchanged}  # noqa: RUF012

    def run(self):
        root = "../" * self.env.docname.count("/")
        address = f"{root}{SITE}/{INDEX}#{self.fragment()}"
        title, open_alone = self.title(), LANGUAGES[language_of(self.env.docname)]
        html = (
            f'<figure class="live"><iframe src="{escape(address)}" title="{escape(title)}"></iframe>'
            f'<figcaption><a href="{escape(address)}">{escape(open_alone)}</a></figcaption></figure>'
        )
        return [nodes.raw("", html, format="html")]

    def fragment(self):
        return self.arguments[0]

    def title(self):
        return self.options.get("title", "The backward pass of a convolution, live")


class Lesson(Board):
    """A lesson, played from its first step."""

    def fragment(self):
        if self.arguments[0] not in names():
            raise self.error(f"a lesson is one of {', '.join(names())}: got {self.arguments[0]!r}")
        return f"lesson={self.arguments[0]}"

    def title(self):
        return facts("words/path")[f"{self.arguments[0]}.title"]


class Lessons(TocTree):
    """The table of the lessons' pages, in the order in which they build up."""

    def run(self):
        self.options["maxdepth"] = 1
        self.content = StringList(names(), source=self.env.docname)
        return super().run()


def write_lessons(app):
    """Write the page of each lesson, where it is not there as it should be."""
    for name in names():
        path = Path(app.srcdir, "lessons", f"{name}.md")
        page = lesson_page(name)
        if not path.is_file() or path.read_text(encoding="utf-8") != page:
            path.write_text(page, encoding="utf-8")


def lesson_page(name):
    """Return the page of a lesson: its title, the lesson itself, and its steps as a list for whoever looks for one."""
    words = facts(f"words/guided/{name}")
    steps = "\n".join(f"1. {words[step['title']]}" for step in lesson(name)["steps"])
    return PAGE.format(title=facts("words/path")[f"{name}.title"], name=name, steps=steps)


def say_language(app, pagename, templatename, context, doctree):
    """Tell browsers and screen readers the language of a page."""
    context["language"] = language_of(pagename)


def write_live_page(app, error):
    if error is None and app.builder.format == "html":
        write_site(Path(app.outdir, SITE))


def setup(app):
    app.add_directive("board", Board)
    app.add_directive("lesson", Lesson)
    app.add_directive("lessons", Lessons)
    app.connect("builder-inited", write_lessons)
    app.connect("html-page-context", say_language)
    app.connect("build-finished", write_live_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
