"""Checks the links of the built pages: one that leads nowhere within them is an error; the others are listed."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

from sphinx.errors import ExtensionError
from sphinx.util import logging

logger = logging.getLogger(__name__)
LIST = "links_elsewhere.txt"
EXAMPLE = re.compile(r"\]\((examples/[^)]+\.(?:ipynb|md))\)")


def take_examples_as_files(app, docname, source):
    """Give the files of docs/examples to be downloaded: MyST would look for pages of their names."""
    source[0] = EXAMPLE.sub(r"](path:\1)", source[0])


class Page(HTMLParser):
    """What a page links to, and what in it can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.targets = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.targets |= {given[name] for name in ("id", "name") if given.get(name)}
        self.links |= {given[name] for name in ("href", "src") if given.get(name)}


def check(app, error):
    """Look at every page once all of them are written."""
    if error is not None or app.builder.format != "html":
        return
    root = Path(app.outdir)
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in root.rglob("*.html")}
    elsewhere, dead = set(), []
    for path, page in pages.items():
        for link in page.links:
            if urlsplit(link).scheme or link.startswith("//"):
                elsewhere.add(link)
            elif why := dead_end(path, link, pages):
                dead.append(f"{path.relative_to(root)}: {link} ({why})")
    addresses = sorted(link for link in elsewhere if not link.startswith("data:"))
    (root / LIST).write_text("".join(f"{link}\n" for link in addresses), encoding="utf-8")
    logger.info("%d links to elsewhere are listed in %s: no network, so nobody asked them", len(addresses), LIST)
    if dead:
        raise ExtensionError("links that lead nowhere:\n" + "\n".join(sorted(dead)))


def dead_end(path, link, pages):
    """Return why a link leads nowhere, or nothing."""
    address, fragment = urldefrag(link)
    target = (path.parent / unquote(urlsplit(address).path)).resolve() if address else path
    if not target.is_file():
        return "no such file"
    # What follows = is the state of a live page, not the name of a place in it.
    if fragment and "=" not in fragment and target in pages and unquote(fragment) not in pages[target].targets:
        return "no such place in it"
    return ""


def setup(app):
    app.connect("source-read", take_examples_as_files)
    app.connect("build-finished", check, priority=900)  # after the live page is there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
