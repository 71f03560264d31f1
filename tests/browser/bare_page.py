"""The board's JavaScript in a bare page, for tests that call its functions without an app around them."""

import dataclasses
from importlib.resources import files

from convviz.geometry.shown_plane import Plane
from convviz.web.bundle import bundle_several

JS = files("convviz.web")


def expose(page, *paths):
    """Make all that these files export global in a page.

    Args:
        page: of Playwright.
        paths: of files in ``convviz/web``, such as ``"picture/find_linked_cells.js"``.
    """
    names = {f"file{number}": path for number, path in enumerate(paths)}
    page.add_script_tag(content=f"{{ {bundle_several(JS, names)} Object.assign(window, {', '.join(names)}); }}")


def geometry(spec, plane=Plane(), transposed=False):
    """Return what ``geometryOf`` in ``rules/conv_geometry.js`` takes, for a script that calls it."""
    return [spec.to_dict(), dataclasses.asdict(plane), transposed]
