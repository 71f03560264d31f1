"""The live page as files for a static host: no kernel, no server of ours, relative addresses alone."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

from convviz.export.file import write
from convviz.export.live import FOLDER, live_html, live_parts, tag_of
from convviz.export.parts import SHOWN

INDEX = "index.html"
NAME = re.compile(r"[a-z_-]+-(?P<tag>[0-9a-f]{16})\.[a-z]+")
OURS = b"data-convviz-site"  # stands in the page, so that another index.html is known


@functools.cache
def site_files() -> dict[str, bytes]:
    """Return the files: path below the folder → content. All but the page are named after what they hold."""
    parts = live_parts("site", SHOWN)
    names = {part: f"{part}-{tag_of(content)}.{ending}" for part, (ending, content) in parts.items()}
    page = live_html(names, {}, body=f"<body {OURS.decode()}>")
    return {INDEX: page.encode(), **{FOLDER + names[part]: content for part, (_, content) in parts.items()}}


def write_site(folder: Path) -> dict[str, bytes]:
    """Write the site, and take away what an earlier version of it left there; return its files.

    The page comes after the files that it names, and what the page before it named goes last: who asks meanwhile
    gets a whole site.

    Args:
        folder: New, empty, or with a site in it. What begins with a dot, such as ``.git``, is left alone.

    Raises:
        ValueError: something else stands there.
        OSError: a file cannot be written.
    """
    files, there = site_files(), _own(folder)
    try:
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise type(error)(f"the folder {folder} cannot be made: {error.strerror}; choose another one") from error
    for name in sorted(files, key=lambda name: name == INDEX):
        path = folder / name
        if name not in there or path.read_bytes() != files[name]:
            write(path, files[name], "site")
    for name in there - set(files):
        (folder / name).unlink()
    return files


def _own(folder: Path) -> set[str]:
    """Return the names of the files of ours that stand in a folder.

    Raises:
        ValueError: something else stands there, too.
    """
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
    """Return whether a file is one that we wrote: the page says so, every other one's name tells its content."""
    if path.is_symlink() or not path.is_file():
        return False
    if name == INDEX:
        return OURS in path.read_bytes()
    named = NAME.fullmatch(path.name) if name.startswith(FOLDER) else None
    return named is not None and named["tag"] == tag_of(path.read_bytes())
