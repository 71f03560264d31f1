"""How much one visitor may take of the server: seconds, bytes and connections."""

import contextlib
from collections.abc import Callable
from typing import Any

import tornado.httpserver
import tornado.httputil
from tornado.iostream import IOStream

from convviz.serve.options import ServeError

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SILENT_S = 75.0  # from a connection's begin, or its last answer, to a whole header: longer than proxies keep one open
BODY_S = 30.0
HEADER_BYTES = 32 * 1024  # a link with its numbers has a few thousand
BODY_BYTES = 64 * 1024  # no page of ours sends one at all
UNREAD_BYTES = 32 * 1024 * 1024  # that wait for a visitor who does not read
FILES = 65_536
FILES_A_CONNECTION = 2  # its own, and its share of the files, workers and kernels that the server has open
CONNECTIONS_A_STUDENT = 8  # a browser opens six at most for the page's files, beside the one that stays
LEAST_CONNECTIONS = 128
MIN_FILES = 256  # the server's own, the workers' and a browser's connections: with less, nobody gets through


class BoundedServer(tornado.httpserver.HTTPServer):
    """Closes connections that take too long, send too much, or are too many."""

    def initialize(  # type: ignore[override]
        self,
        inside: tornado.httputil.HTTPServerConnectionDelegate,
        refused: Callable[[str], None],
        *,
        silent_s: float = SILENT_S,
        body_s: float = BODY_S,
        connections: int = FILES // FILES_A_CONNECTION,
    ) -> None:
        """Serve an application; ``refused`` hears "connections" of each that is closed at once."""
        super().initialize(
            inside,
            idle_connection_timeout=silent_s,
            body_timeout=body_s,
            max_header_size=HEADER_BYTES,
            max_body_size=BODY_BYTES,
        )
        self._refused = refused
        self._most = connections
        self._streams: set[IOStream] = set()

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        if len(self._streams) >= self._most:
            self._streams = {each for each in self._streams if not each.closed()}
        if len(self._streams) >= self._most:
            self._refused("connections")
            stream.close()
            return
        self._streams.add(stream)
        stream.max_write_buffer_size = UNREAD_BYTES
        super().handle_stream(stream, address)


def connections_for(class_size: int | None) -> int:
    """Refuse where the system allows too few files."""
    allowed = raise_file_limit()
    if class_size is None:
        return allowed
    wanted = CONNECTIONS_A_STUDENT * class_size
    if allowed < wanted:
        raise ServeError(
            f"--class {class_size} needs {FILES_A_CONNECTION * wanted} open files, and this system allows "
            f"{FILES_A_CONNECTION * allowed}: raise the limit first, for example with "
            f"ulimit -n {FILES_A_CONNECTION * wanted}."
        )
    return max(wanted, LEAST_CONNECTIONS)


def raise_file_limit() -> int:
    """Let this process open as many files as it may; return how many connections that is."""
    if resource is None:
        return FILES // FILES_A_CONNECTION
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # as on macOS, which allows less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    allowed: int = wanted if soft == resource.RLIM_INFINITY else min(soft, FILES)
    if allowed < MIN_FILES:
        raise ServeError(
            f"serving needs {MIN_FILES} open files, and this system allows {allowed}: "
            f"raise the limit first, for example with ulimit -n {4 * MIN_FILES}."
        )
    return allowed // FILES_A_CONNECTION
