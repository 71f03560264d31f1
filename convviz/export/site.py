"""The site for a static host: the article in front, the live page behind it; no kernel, relative addresses alone."""

import contextlib
import functools
import os
import re
from pathlib import Path

from convviz.export.article.page import article_parts, site_article
from convviz.export.live_page import FOLDER, live_html, live_parts, tag_of
from convviz.export.page_assets import SHOWN
from convviz.facts.i18n.current_language import ENGLISH, languages, use_locale
from convviz.file_io import write

INDEX = "index.html"
PAGE = re.compile(r"[A-Za-z-]+\.html")
NAME = re.compile(r"[a-z_-]+-(?P<tag>[0-9a-f]{16})\.[a-z]+")
OURS = b"data-convviz-site"  # stands in the page, so that another index.html is known


def front_of(tag: str) -> str:
    """Return the name of the article's page in a language; the app had these names once, and its links lead on."""
    return INDEX if tag == ENGLISH else f"{tag}.html"


def app_of(tag: str) -> str:
    """Return the name of the app's page in a language."""
    return "app.html" if tag == ENGLISH else f"app-{tag}.html"


@functools.cache
def site_files() -> dict[str, bytes]:
    """Return path below the folder → content; two pages a language, other names are hashes of the content."""
    files: dict[str, bytes] = {}
    apps, fronts = ({tag: page_of(tag) for tag in languages()} for page_of in (app_of, front_of))
    body = f"<body {OURS.decode()}>"
    for tag, app in apps.items():
        with use_locale(tag):
            parts = live_parts("static_site", SHOWN) | _parts_of_article()
            names = {part: file for part, (file, _) in parts.items()}
            live = {part: name for part, name in names.items() if part not in article_parts()}
            files[app] = live_html(live, {}, pages=apps, body=body).encode()
            files[fronts[tag]] = site_article(FOLDER, names, app, fronts, body).encode()
        files |= {FOLDER + file: content for file, content in parts.values()}
    return files


def _parts_of_article() -> dict[str, tuple[str, bytes]]:
    return {
        part: (f"{part}-{tag_of(content.encode())}.{ending}", content.encode())
        for part, (ending, content) in article_parts().items()
    }


def write_site(folder: Path) -> dict[str, bytes]:
    """Write the site into a new or empty folder, or over an earlier one, and return its files.

    The pages come after the files that they name, and what the pages before them named goes last: who asks meanwhile
    gets a whole site. Where one cannot be written, a new folder stays empty.
    """
    files, there = site_files(), _own(folder)
    try:
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise type(error)(f"the folder {folder} cannot be made: {error.strerror}; choose another one") from error
    try:
        for name in sorted(files, key=lambda name: not name.startswith(FOLDER)):
            path = folder / name
            if name not in there or path.read_bytes() != files[name]:
                write(path, files[name], "site")
    except OSError:
        if not there:  # an older site is whole without the new files, and names them where its pages are new
            for name in files:
                (folder / name).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # somebody else's file came in: the disk is what to name
                (folder / FOLDER).rmdir()
        raise
    for name in there - set(files):
        (folder / name).unlink()
    return files


def _own(folder: Path) -> set[str]:
    if not os.path.lexists(folder):
        return set()
    if not folder.is_dir():
        raise ValueError(f"a site is a folder, and {folder} is a file: choose another name")
    own: set[str] = set()
    for path in sorted([*folder.iterdir(), *(folder / FOLDER).glob("*")]):
        name = path.relative_to(folder).as_posix()
        if f"{name}/" == FOLDER and path.is_dir() and not path.is_symlink():
            continue
        if _is_ours(path, name):
            own.add(name)
        elif not path.name.startswith("."):
            raise ValueError(
                f"the folder of a site holds nothing else, and {folder} has {name}, which is not of a site that "
                "convviz wrote: choose a new or an empty folder, or one with a site to renew"
            )
    return own


def _is_ours(path: Path, name: str) -> bool:
    """Return whether we wrote a file: the page says so, every other name is a hash of its content."""
    if path.is_symlink() or not path.is_file():
        return False
    if PAGE.fullmatch(name):
        return OURS in path.read_bytes()
    named = NAME.fullmatch(path.name) if name.startswith(FOLDER) else None
    return named is not None and named["tag"] == tag_of(path.read_bytes())
