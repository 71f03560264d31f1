"""Files of Voilà and JupyterLab, as the server sends them: packed once a process, and kept by the browser."""

from __future__ import annotations

import functools
import gzip
import mimetypes
import os
from pathlib import Path
from typing import Any

import tornado.web

FOR_EVER = "public, max-age=31536000, immutable"  # for an address that names its content
LEVEL = 6  # two thirds of a second for all of JupyterLab; the best level takes twice that for one hundredth less
SMALL = 1000  # bytes that travel in one packet, packed or not
KEPT = 400  # packed files in memory: Voilà's front end has a hundred, of 2 MB together
TEXT = ("text/", "application/javascript", "application/json", "image/svg+xml")


def takes_gzip(request: Any) -> bool:
    """Return whether who asks unpacks gzip."""
    wanted = [part.split(";") for part in request.headers.get("Accept-Encoding", "").lower().split(",")]
    return any(name.strip() == "gzip" and "q=0" not in "".join(rest).split() for name, *rest in wanted)


@functools.lru_cache(KEPT)
def packed(path: str, changed: int, size: int) -> bytes:
    """Return a file, gzipped; one that changed, in nanoseconds, or has another size is another file."""
    return gzip.compress(Path(path).read_bytes(), LEVEL, mtime=0)


class Files(tornado.web.StaticFileHandler):
    """Mixed into the handlers of files: packed for who wants it, and an address that leads to no file is one."""

    async def get(self, path: str, include_body: bool = True) -> None:
        """Send a file."""
        try:
            await super().get(path, include_body=include_body)
        except (AssertionError, OSError, ValueError) as wrong:  # Voilà takes an address apart without looking
            raise tornado.web.HTTPError(404) from wrong
        except tornado.web.HTTPError as refused:
            raise tornado.web.HTTPError(404 if refused.status_code == 403 else refused.status_code) from refused

    def set_headers(self) -> None:
        """Set the headers; tornado calls this when it knows the file, and asks for its bytes only afterwards."""
        super().set_headers()
        kind = mimetypes.guess_type(str(self.absolute_path))[0] or ""
        if not kind.startswith(TEXT):
            return
        self.set_header("Vary", "Accept-Encoding")
        if takes_gzip(self.request) and "Range" not in self.request.headers:
            self._pack()

    def _pack(self) -> None:
        status = os.stat(str(self.absolute_path))
        # A handler that changes what stands in its files gives their changed bytes by itself.
        if status.st_size < SMALL or self.get_content_size() != status.st_size:
            return
        content = packed(str(self.absolute_path), status.st_mtime_ns, status.st_size)
        self.set_header("Content-Encoding", "gzip")
        # For this answer only: tornado's ETag asks the class, and stays that of the file.
        vars(self)["get_content"] = lambda *_: content
        vars(self)["get_content_size"] = lambda: len(content)
