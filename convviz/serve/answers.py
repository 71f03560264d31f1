"""How long a page waits for each answer of its kernel, seen from the server."""

from __future__ import annotations

import json
import time
from typing import Any

import tornado.web
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler

MOST_MOVES = 64  # of one page that wait for an answer; it sends one and waits, so more are lost ones


class Answers:
    """Mixed into the handler of a kernel's websocket: measures how long a page waits for each answer."""

    def on_message(self, message: str | bytes) -> None:
        """Remember when the page sent something to a widget.

        Args:
            message: Of the kernel's protocol.
        """
        header = _part(message, 1)
        if header.get("msg_type") == "comm_msg":
            moves = self._moves()
            if len(moves) >= MOST_MOVES:
                del moves[next(iter(moves))]
            moves[str(header.get("msg_id"))] = time.monotonic()
        super().on_message(message)  # type: ignore[misc]

    def write_message(self, message: Any, binary: bool = False) -> Any:
        """Look whether this is the last word of an answer.

        Args:
            message: To the page.
            binary: For the websocket.
        """
        if self._moves() and isinstance(message, bytes) and _part(message, 1).get("msg_type") == "status":
            asked = self._moves().get(str(_part(message, 2).get("msg_id")))
            if asked is not None and _part(message, 4).get("execution_state") == "idle":
                del self._moves()[str(_part(message, 2).get("msg_id"))]
                self.settings["convviz_metrics"].answered(time.monotonic() - asked)  # type: ignore[attr-defined]
        return super().write_message(message, binary)  # type: ignore[misc]

    def _moves(self) -> dict[str, float]:
        return vars(self).setdefault("_moves_under_way", {})


def measured(handler: type[tornado.web.RequestHandler]) -> type[tornado.web.RequestHandler]:
    """Return a handler that measures its kernel's answers, if it speaks to one.

    Args:
        handler: Of any route.
    """
    if not issubclass(handler, KernelWebsocketHandler):
        return handler
    return type(handler.__name__, (Answers, handler), {})


def _part(message: str | bytes, index: int) -> dict[str, Any]:
    """Return a part of a message of Jupyter's newer protocol; nothing of any other, whose sender waits unmeasured.

    Args:
        message: As it goes over the websocket.
        index: 1 is its header, 2 that of what it answers, 4 its content.
    """
    if not isinstance(message, bytes):
        return {}
    begin, end = (int.from_bytes(message[8 * at : 8 * at + 8], "little") for at in (index + 1, index + 2))
    try:
        part = json.loads(message[begin:end])
    except (ValueError, RecursionError):
        return {}
    return part if isinstance(part, dict) else {}
