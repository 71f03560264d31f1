"""States the language, for readers and their machines, of each page, and says the theme's own words in it."""

import gettext
import re
from pathlib import Path

import sphinx
from live_boards import language_of

from convviz.facts.i18n.current_language import ENGLISH

CATALOGUES = Path(sphinx.__file__).with_name("locale")
THEIRS = {"zh-Hans": "zh_CN", "zh-Hant": "zh_TW"}  # what Sphinx calls the language
# Words of the theme for which Sphinx has no translation.
OURS = {
    "zh-Hans": {
        "On this page": "本页内容",
        "Back to top": "回到顶部",
        "Skip to content": "跳到正文",
        "Next": "下一页",
        "Previous": "上一页",
        "Home": "首页",
        "Made with ": "制作工具：",
    },
    "zh-Hant": {
        "On this page": "本頁內容",
        "Back to top": "回到頂端",
        "Skip to content": "跳到正文",
        "Next": "下一頁",
        "Previous": "上一頁",
        "Home": "首頁",
        "Made with ": "製作工具：",
    },
}
CAPTION = re.compile(r'(?=<p class="caption")')


def speak(app, pagename, templatename, context, doctree):
    """Set the language of a page."""
    tag = context["language"] = language_of(pagename)
    if tag in THEIRS:
        theirs = gettext.translation("sphinx", CATALOGUES, [THEIRS[tag]]).gettext
        context["gettext"] = lambda text: OURS[tag].get(text) or theirs(text)


def order_navigation(app, pagename, templatename, context, doctree):
    """Give the headings of the table of contents their level; who reads Chinese finds the Chinese part first."""
    tree = context["furo_navigation_tree"].replace('role="heading"', 'role="heading" aria-level="2"')
    start, *parts = CAPTION.split(tree)
    if context["language"] != ENGLISH:
        parts = parts[-1:] + parts[:-1]
    context["furo_navigation_tree"] = "".join([start, *parts])


def setup(app):
    app.connect("html-page-context", speak)
    app.connect("html-page-context", order_navigation, priority=900)  # once the theme has made it
    return {"parallel_read_safe": True, "parallel_write_safe": True}
