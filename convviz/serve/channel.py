"""What goes over a kernel's websocket, held back where it would harm the server."""

import asyncio
import json
import time
from typing import Any

import tornado.web
from tornado.iostream import StreamBufferFullError

MAX_MESSAGE_PARTS = 1024  # of one message; a widget's has five, and one for each of its buffers
UNREADABLE = 1007  # the websocket's word for a message that makes no sense
# A page may send a picture at once; what comes faster than its kernel can take would wait in the server's memory.
BURST_BYTES, BYTES_A_SECOND = 16 * 2**20, 2**20
MESSAGE_BYTES = 4096  # that the smallest one counts
TRACEBACK = b"Traceback (most recent call last)"
# In Jupyter's older one a message with buffers of the kernel's brings the server down: Voilà reads it as of this one,
# and makes a list as long as its first bytes say. Every page of Voilà's speaks this one.
PROTOCOL = "v1.kernel.websocket.jupyter.org"


class Channel:
    """Mixed into the handler of a kernel's websocket."""

    async def get(self, kernel_id: str) -> None:
        """Open the connection for who speaks the protocol."""
        asks = self.request.headers  # type: ignore[attr-defined]
        offered = [name.strip() for name in asks.get("Sec-WebSocket-Protocol", "").split(",")]
        if "Upgrade" in asks and PROTOCOL not in offered:
            raise tornado.web.HTTPError(400)
        await super().get(kernel_id)  # type: ignore[misc]

    async def on_message(self, message: bytes | str) -> None:
        """Pass a page's message on, in due time; the next one is read when this has returned."""
        if isinstance(message, str) or not is_sound(message):
            self.close(UNREADABLE)  # type: ignore[attr-defined]
            return
        await asyncio.sleep(self._too_soon(max(len(message), MESSAGE_BYTES)))
        if self.connection is None:  # type: ignore[attr-defined]  # closed meanwhile
            return
        super().on_message(message)  # type: ignore[misc]

    def write_message(self, message: bytes | str, binary: bool = False) -> Any:
        """Send a message to the page, if it tells nothing of the server's folders."""
        if isinstance(message, str):  # the server's own words, of a kernel that has died
            return super().write_message(message, binary)  # type: ignore[misc]
        if holds_traceback(message):
            return None
        try:
            return super().write_message(message, binary)  # type: ignore[misc]
        except StreamBufferFullError:  # the page does not read what it asks for
            self.ws_connection._abort()  # type: ignore[attr-defined]
            return None

    def _too_soon(self, size: int) -> float:
        """Return the seconds by which a message of this size comes too soon."""
        now = time.monotonic()
        bytes_, then = vars(self).get("_sent", (0.0, now))
        bytes_ = max(0.0, bytes_ - (now - then) * BYTES_A_SECOND) + size
        vars(self)["_sent"] = bytes_, now
        return max(0.0, (bytes_ - BURST_BYTES) / BYTES_A_SECOND)


def is_sound(message: bytes) -> bool:
    """Return whether a message has as many parts as it says; Jupyter makes a list of that length before it looks."""
    parts = int.from_bytes(message[:8], "little")
    return parts <= MAX_MESSAGE_PARTS and 8 * (parts + 1) <= len(message)


def holds_traceback(message: Any) -> bool:
    """Return whether a message is a kernel's own output, and shows the folders of the server."""
    return TRACEBACK in message and part_of(message, 1).get("msg_type") == "stream"


def part_of(message: bytes, index: int) -> dict[str, Any]:
    """Return a part of a message as it goes over the websocket, 1 its header; nothing if it cannot be read."""
    begin, end = (int.from_bytes(message[8 * at : 8 * at + 8], "little") for at in (index + 1, index + 2))
    try:
        part = json.loads(message[begin:end])
    except (ValueError, RecursionError):
        return {}
    return part if isinstance(part, dict) else {}
