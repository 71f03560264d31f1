"""The websocket of a page: what it asks goes to the workers, what they answer goes back.

A page's frame is text with JSON, or packed where it brings bytes (``binary_frames.py``); the server's are always
packed: first ``{"type": "facts"}``, then answers, which repeat the request's id.
"""

import asyncio
import logging
import os
import time
from asyncio import Future
from typing import Any

import tornado.iostream
import tornado.web
from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado.ioloop import IOLoop
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from convviz import __version__
from convviz.app.stateful_tab import Tab, tab_with_state
from convviz.facts import facts
from convviz.facts.features import HELD, SLOW, STATEFUL
from convviz.facts.i18n.current_language import ENGLISH, match_locale, use_locale
from convviz.facts.words import sentences
from convviz.serve.binary_frames import HEAD_BYTES, packed, read_json, unpacked
from convviz.serve.fair_queue import Wish
from convviz.serve.first_page import NUMBERS
from convviz.serve.handlers import PlainErrors
from convviz.serve.shares import PING_S, Clients, client_of
from convviz.serve.visitor_limits import answer_of, let_go, message_was_read
from convviz.serve.worker import BINARY, TEXT
from convviz.serve.worker_pool import Order, Workers

KINDS = ("compute", "tab", "python", "page", "picture", "act")
NEWEST_WINS = ("compute", "tab", "ask")
SLOW_KINDS = ("page", "picture")
ACT_BYTES = 1 << 14
MAX_FRAME_BYTES = facts("settings")["limits"]["picture"]["bytes"] + HEAD_BYTES
NOTIFY_SECONDS = 4.0  # with the seconds that a request may take less than a page's patience, numbers/ask_server.js
MAX_REQUEST_ID = 1 << 53  # the page's numbers are exact up to it
TRY_LATER, BAD, LARGE = 1013, 1008, 1009
GONE = (WebSocketClosedError, tornado.iostream.StreamClosedError, tornado.iostream.StreamBufferFullError)

say = sentences("server_failures")
say_app = sentences("app")
log = logging.getLogger("tornado.application")


def numbers_routes(server_url: str, workers: Workers, clients: Clients) -> list[tuple[Any, ...]]:
    return [(server_url + NUMBERS, Numbers, {"workers": workers, "clients": clients})]


class Numbers(PlainErrors, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """One page's connection; Jupyter refuses one from another origin, or from none."""

    max_message_size = MAX_FRAME_BYTES
    _is_open = _is_closed = False
    _notifies = False  # whether the page will hear that it is in line

    def initialize(self, workers: Workers, clients: Clients) -> None:
        self._workers, self._clients = workers, clients
        self._client = client_of(self.request.remote_ip or "")
        self._allowance = clients.page()
        self._tabs: dict[str, Tab] = {}  # with a state that the server holds, such as a race
        self._notified: Future[None] | None = None  # what they have sent the page last, until it has left

    @property
    def _metrics(self) -> Any:
        return self.settings["convviz_metrics"]

    def set_default_headers(self) -> None:
        """Leave out the headers of pages, as Jupyter's own connections do."""

    @ws_authenticated
    async def get(self) -> None:
        asks = self.request.headers
        if asks.get("Upgrade", "").lower() == "websocket" and "Origin" not in asks:
            raise tornado.web.HTTPError(403)
        if not await ensure_async(self.authorizer.is_authorized(self, self.current_user, "execute", "kernels")):
            raise tornado.web.HTTPError(403)
        await super().get()

    async def open(self) -> None:
        self.set_nodelay(True)
        super().open()
        self._is_open = True
        self._sharing = self._clients.join(self._client)
        self._metrics.pages.inc()
        try:
            await self._workers.ready()
        except (EOFError, OSError, ValueError) as error:
            log.error("No worker starts: %s", error)
            self.close(TRY_LATER, "no worker starts")
            return
        content = {
            "version": __version__,
            "devices": self._workers.devices,
            "device": device_here(),
            "makes_pages": True,
        }
        await self._write(packed({"type": "facts", **content}))

    async def on_message(self, frame: str | bytes) -> None:
        """Hear a message in its turn; the next one of this page is read when this has returned."""
        async with self._sharing.turn:
            await asyncio.sleep(0)  # the other addresses have their turns: none waits for two messages of this one
            began = time.thread_time()
            refused = None if self._is_closed else self._hear(frame)
            waits = self._spend(len(frame), time.thread_time() - began)
        message_was_read(self)
        if refused:
            await self._write(refused)
        if self._notified:  # who does not read is not read
            await self._notified
        await asyncio.sleep(waits)

    def on_ping(self, data: bytes) -> None:
        """Count a ping, which no page sends: its answer needs no turn."""
        if self._spend(len(data), PING_S):
            self.close(BAD, "too many pings")

    def _spend(self, bytes_: int, seconds: float) -> float:
        """Return the seconds until this page, and its address, may send more."""
        return max(each.spend(bytes_, seconds) for each in (self._allowance, self._sharing.allowance))

    def _hear(self, frame: str | bytes) -> bytes | None:
        """Let a message be answered; return a refusal at once."""
        try:
            request = self._read(frame)
        except ValueError as error:
            # What else was meant by it nobody knows: a page of ours sends no such thing.
            self.close(BAD, str(error)[:120].encode("ascii", "replace").decode())
            return None
        if request is None:
            return None
        with use_locale(match_locale(request.get("language")) or ENGLISH):
            try:
                self._ask(request, (TEXT + frame.encode()) if isinstance(frame, str) else BINARY + frame)
            except ValueError as error:
                self._metrics.refused("request")
                return refusal(request, str(error))
        return None

    def on_close(self) -> None:
        for tab in self._tabs.values():
            tab.close()
            self._workers.tabs.discard(tab)
        self._workers.turns.leave(self._client, self)
        self._is_closed = True
        if self._is_open:
            self._sharing.pages -= 1
            self._metrics.pages.dec()
        super().on_close()
        let_go(self)

    def _read(self, frame: str | bytes) -> dict[str, Any] | None:
        """Return a request with an id; None where the connection ends for its size."""
        if isinstance(frame, bytes):
            request, _ = unpacked(frame)
        elif len(frame) > HEAD_BYTES:
            self.close(LARGE)
            return None
        else:
            request = read_json(frame)
        number = request.get("id")
        if request.get("type") != "act" and (type(number) is not int or not 0 <= number < MAX_REQUEST_ID):
            raise ValueError("a request has an id, a whole number")
        if isinstance(frame, bytes) != (request.get("type") == "picture"):
            raise ValueError("a picture, and nothing else, comes as bytes")
        return request

    def _ask(self, request: dict[str, Any], given: bytes) -> None:
        kind, tab = request.get("type"), request.get("tab")
        if not isinstance(kind, str) or kind not in KINDS:
            raise ValueError(say_app("message.type", known=", ".join(KINDS), got=f"{kind!r:.40}"))
        self._metrics.requests.labels(kind).inc()
        if kind == "act":
            self._act(request, given)
            return
        if kind == "tab" and tab in self._tabs:
            self._notify_page({"type": "tab", "tab": tab, "id": request.get("id"), "data": self._tabs[tab].data()})
            return
        slow = kind in SLOW_KINDS or (kind == "tab" and tab in SLOW)
        if kind == "tab" and "ask" in request:
            kind = "ask"
        if kind not in NEWEST_WINS and kind in self._workers.turns.waiting(self._client, self):
            raise ValueError(say("busy"))
        if not self._workers.turns.has_room(self._client, len(given)):
            raise ValueError(say("full"))
        order = Order(given, self._deliver(request))
        self._workers.wish(Wish(self._client, self, kind, slow, order, len(given)))
        self._notify_later()

    def _notify_later(self) -> None:
        """Let the page hear that it is in line, else it takes the connection for lost."""
        if not self._notifies:
            self._notifies = True
            IOLoop.current().call_later(NOTIFY_SECONDS, self._notify)

    def _notify(self) -> None:
        self._notifies = False
        if self._workers.turns.waiting(self._client, self):
            IOLoop.current().spawn_callback(self._write, packed({"type": "waits"}))
            self._notify_later()

    def _act(self, request: dict[str, Any], given: bytes) -> None:
        """Let the page's tab hear, which begins with a start; where it has none, show it as it is at first."""
        tab, message = request.get("tab"), request.get("message")
        if tab not in STATEFUL or not isinstance(message, dict) or len(given) > ACT_BYTES:
            raise ValueError(say_app("message", got=f"{message!r:.40}"))
        if tab in HELD and tab not in self._tabs and message.get("type") == "start":
            made = tab_with_state(tab, lambda content, _: self._notify_page(content), device_here)
            self._tabs[tab] = made
            self._workers.tabs.add(made)
        if tab in self._tabs:
            self._tabs[tab].receive(message)
        elif message.get("type") != "leave":
            order = Order(given, self._deliver(request))
            self._workers.wish(Wish(self._client, self, ("act", tab), False, order))

    def _notify_page(self, message: dict[str, Any]) -> None:
        self._notified = asyncio.ensure_future(self._write(packed(message)))

    def _deliver(self, request: dict[str, Any]) -> Any:
        # Not the whole request: a picture lies in it.
        asked = {name: request.get(name) for name in ("id", "language")}

        async def deliver(frame: bytes, refused: str) -> None:
            if refused:
                self._metrics.refused(refused)
                with use_locale(match_locale(asked["language"]) or ENGLISH):
                    frame = refusal(asked, say(refused))
            await self._write(frame)

        return deliver

    async def _write(self, frame: bytes) -> None:
        """Return when it has left, or nobody is there any more."""
        try:
            with answer_of(self, len(frame)):
                await self.write_message(frame, binary=True)
        except GONE:
            self.close()


def refusal(request: dict[str, Any], sentence: str) -> bytes:
    return packed({"type": "refused", "id": request.get("id"), "sentence": sentence})


def device_here() -> str:
    return os.environ.get("CONVVIZ_DEVICE") or "cpu"
