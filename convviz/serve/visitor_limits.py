"""How much one visitor may take of the server: seconds, bytes and connections."""

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import tornado.httpserver
import tornado.httputil
from tornado.iostream import IOStream
from tornado.websocket import WebSocketHandler

from convviz.serve.options import ServeError, is_loopback
from convviz.serve.shares import Connections, Proxies, client_of, is_proxy

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SILENT_S = 75.0  # from a connection's begin, or its last answer, to a whole header: longer than proxies keep one open
BODY_S = 30.0
HEADER_BYTES = 32 * 1024  # a link with its numbers has a few thousand
BODY_BYTES = 64 * 1024  # no page of ours sends one at all
UNREAD_BYTES = 32 * 1024 * 1024  # that wait for a visitor who does not read
RECEIVED_BYTES = 64 * 1024 * 1024  # of all messages that have not come whole, or wait to be read
ALL_UNREAD_BYTES = 128 * 1024 * 1024  # of all answers that their pages have not read
FILES = 65_536
FILES_A_CONNECTION = 2  # its own, and its share of the files, workers and kernels that the server has open
# A browser opens six at most for the page's files, beside the one that stays. A class that comes from one address has
# four fifths of all.
CONNECTIONS_A_STUDENT = 10
RESERVE = 8  # connections from this machine beyond all others, for whoever asks whether the server is well
LEAST_CONNECTIONS = 128
MIN_FILES = 256  # the server's own, the workers' and a browser's connections: with less, nobody gets through


class VisitorStream(IOStream):
    """A connection that its server hears of: what comes, and that it ends."""

    def __init__(self, made: IOStream, server: "BoundedServer") -> None:
        super().__init__(made.socket, max_buffer_size=made.max_buffer_size, read_chunk_size=made.read_chunk_size)
        self.max_write_buffer_size = UNREAD_BYTES
        self._server = server
        self.is_reserve = False  # whether it is there for the server's health alone

    def read_from_fd(self, buf: bytearray | memoryview) -> int | None:
        size = super().read_from_fd(buf)
        if size and self._server.makes_room(self._server.shares.received.add(self, size), self):
            raise ConnectionResetError("too many bytes wait")
        return size

    def close_fd(self) -> None:
        super().close_fd()
        self._server.left(self)

    def read_whole(self) -> None:
        """Hear that what has come so far has been read, or need not be."""
        self._server.shares.received.take(self)

    @contextlib.contextmanager
    def sending(self, size: int) -> Iterator[None]:
        """Count an answer until its visitor has read it."""
        unread = self._server.shares.unread
        if self._server.makes_room(unread.add(self, size), self):
            self.close()
        try:
            yield
        finally:
            unread.take(self, size)

    def may_ask(self, request: tornado.httputil.HTTPServerRequest) -> bool:
        """Return whether the visitor who asks over this connection has a share of them."""
        self.read_whole()
        return not self.is_reserve and self._server.shares.move(self, client_of(request.remote_ip or ""))


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
        received_bytes: int = RECEIVED_BYTES,
        unread_bytes: int = ALL_UNREAD_BYTES,
        proxies: Proxies = (),
    ) -> None:
        """Serve an application; ``refused`` hears "connections" or "bytes" of each that is closed at once."""
        super().initialize(
            inside,
            idle_connection_timeout=silent_s,
            body_timeout=body_s,
            max_header_size=HEADER_BYTES,
            max_body_size=BODY_BYTES,
        )
        self._refused = refused
        self._proxies = proxies
        self._reserve: deque[VisitorStream] = deque()
        self.shares: Connections[VisitorStream] = Connections(connections, received_bytes, unread_bytes)

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        visitor, peer = VisitorStream(stream, self), str(address[0])
        # Whom a proxy speaks for, only its headers say.
        share = None if is_proxy(peer, self._proxies) else client_of(peer)
        if not self.shares.enter(visitor, share) and not self._keep(visitor, peer):
            self._refused("connections")
            visitor.close()
            return
        super().handle_stream(visitor, address)

    def makes_room(self, greedy: VisitorStream | None, asking: VisitorStream) -> bool:
        """End a connection that has to go, if any; return whether it is the one that asks, which ends itself."""
        if greedy is None:
            return False
        self._refused("bytes")
        if greedy is not asking:
            greedy.close()
        return greedy is asking

    def left(self, stream: VisitorStream) -> None:
        self.shares.leave(stream)
        if stream.is_reserve:
            self._reserve.remove(stream)

    def _keep(self, stream: VisitorStream, peer: str) -> bool:
        """Keep a connection from this machine in reserve: the newest ones, because a probe soon goes."""
        if not is_loopback(peer):
            return False
        if len(self._reserve) == RESERVE:
            self._reserve[0].close()
        stream.is_reserve = True
        self._reserve.append(stream)
        return True


def message_was_read(handler: WebSocketHandler) -> None:
    """Notify a websocket's connection that its message is no longer waiting."""
    if stream := _stream_of(handler):
        stream.read_whole()


def answer_of(handler: WebSocketHandler, size: int) -> contextlib.AbstractContextManager[None]:
    """Let an answer over a websocket count until it is read."""
    stream = _stream_of(handler)
    return stream.sending(size) if stream else contextlib.nullcontext()


def _stream_of(handler: WebSocketHandler) -> VisitorStream | None:
    stream = getattr(handler.ws_connection, "stream", None)  # of one that has gone there is none
    return stream if isinstance(stream, VisitorStream) else None


def let_go(handler: WebSocketHandler) -> None:
    """Let a websocket that has ended keep nothing of what had come: timers of its pings hold its handler for hours."""
    handler.request.server_connection = None  # and with it the connection, and what had come of a message


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
