"""What goes over a kernel's websocket, held back where it would harm the server."""

import asyncio
import json
import logging
from typing import Any

import tornado.web
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler
from tornado.iostream import StreamBufferFullError

from convviz.serve.shares import PAGE_BYTES, Budget
from convviz.serve.visitor_limits import let_go, message_was_read

MAX_MESSAGE_PARTS = 1024  # of one message; a widget's has five, and one for each of its buffers
GOING_AWAY = 1001  # a page that is closed says so; one that is reloaded, or loses its connection, says nothing
UNREADABLE = 1007  # the websocket's word for a message that makes no sense
MESSAGE_BYTES = 4096  # that the smallest one counts
TRACEBACK = b"Traceback (most recent call last)"
# In Jupyter's older one a message with buffers of the kernel's brings the server down: Voilà reads it as of this one,
# and makes a list as long as its first bytes say. Every page of Voilà's speaks this one.
PROTOCOL = "v1.kernel.websocket.jupyter.org"
log = logging.getLogger("tornado.application")


class Channel(KernelWebsocketHandler):
    """Mixed into the handler of a kernel's websocket: a page that goes away ends its kernel."""

    connection: Any = None
    _is_open = False
    _is_closed = False

    async def pre_get(self) -> None:
        """The page may go meanwhile."""
        await super().pre_get()
        if self._is_closed:
            raise tornado.web.Finish

    async def get(self, kernel_id: str) -> None:
        asks = self.request.headers
        offered = [name.strip() for name in asks.get("Sec-WebSocket-Protocol", "").split(",")]
        if "Upgrade" in asks and PROTOCOL not in offered:
            raise tornado.web.HTTPError(400)
        await super().get(kernel_id)

    async def open(self, kernel_id: str) -> None:
        self._is_open = True
        # What comes faster than its kernel can take would wait in the server's memory.
        self._budget = Budget(*PAGE_BYTES)
        self.set_nodelay(True)
        await super().open(kernel_id)

    async def on_message(self, message: bytes | str) -> None:
        """Pass a page's message on, in due time: the next is read when this has returned."""
        if isinstance(message, str) or not is_sound(message):
            self.close(UNREADABLE)
            return
        await asyncio.sleep(self._budget.spend(max(len(message), MESSAGE_BYTES)))
        if self.connection is not None:  # else it was closed meanwhile
            super().on_message(message)
        message_was_read(self)

    def write_message(self, message: Any, binary: bool = False) -> Any:
        """Send a message, unless the page is gone or it names the server's folders."""
        if self.ws_connection is None or self.ws_connection.is_closing():
            return None
        if not isinstance(message, str) and holds_traceback(message):  # text is the server's own, of a dead kernel
            return None
        try:
            return super().write_message(message, binary)
        except StreamBufferFullError:  # the page does not read what it asks for
            self.ws_connection._abort()
            return None

    def on_close(self) -> None:
        """End the kernel; a connection that is only lost has time to come back."""
        self._is_closed = True
        let_go(self)
        manager: Any = self.kernel_manager
        if self._is_open:
            super().on_close()
        elif self.connection is not None:
            # Jupyter counts a connection down that ends before it was open, though it has not counted it up. Meanwhile
            # there is one more than that: the last one's channels would be kept for the page's next, and it has none.
            manager.notify_connect(self.kernel_id)
            manager.notify_connect(self.kernel_id)
            super().on_close()
            manager.notify_disconnect(self.kernel_id)
        if self.close_code == GOING_AWAY:
            manager.leave(self.kernel_id)
        else:
            manager.lose(self.kernel_id)

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        if not isinstance(value, tornado.web.HTTPError):
            log.error("a connection is closed, because a message of it cannot be read (%s)", typ.__name__)


def is_sound(message: bytes) -> bool:
    """Return whether a message has its parts: Jupyter makes a list before it looks."""
    parts = int.from_bytes(message[:8], "little")
    return parts <= MAX_MESSAGE_PARTS and 8 * (parts + 1) <= len(message)


def holds_traceback(message: Any) -> bool:
    """Return whether a message is a kernel's own output, and shows the folders of the server."""
    return TRACEBACK in message and part_of(message, 1).get("msg_type") == "stream"


def part_of(message: bytes, index: int) -> dict[str, Any]:
    """Return a part of a message over the websocket, 1 its header; nothing if unreadable."""
    begin, end = (int.from_bytes(message[8 * at : 8 * at + 8], "little") for at in (index + 1, index + 2))
    try:
        part = json.loads(message[begin:end])
    except (ValueError, RecursionError):
        return {}
    return part if isinstance(part, dict) else {}
