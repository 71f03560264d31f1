"""Serves a folder as any static host does, for the length of a test."""

import contextlib
import functools
import http.server
import threading


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, and knows the type of a module on every system."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}  # noqa: RUF012

    def log_message(self, *details):
        """Say nothing."""


@contextlib.contextmanager
def serve_folder(folder, handler=Quiet):
    """Yield the address of the folder's host, which ends in a slash."""
    with serve(functools.partial(handler, directory=str(folder))) as address:
        yield address


@contextlib.contextmanager
def serve(handler):
    """Yield the address of a host that answers with a handler."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join(10)
