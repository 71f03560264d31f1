"""The app's widget in a student's kernel, reached over the websocket that Voilà's front end opens."""

import asyncio
import json
import uuid
from urllib.parse import urljoin

from benchmarks.student_wire import GOES, cut, message, open_socket, parts_of

APP_CLASS = "convviz.app.app.App"
WIDGETS = "jupyter.widget.control"  # the comm that knows all widgets of a kernel
ENDED = {"dead", "restarting", "autorestarting", "terminating"}  # as the page's kernel_watch.js has them


class Lost(Exception):
    """The kernel, or the way to it, is gone; the text says what was seen."""


class Kernel:
    """One connection to one kernel, and the app in it.

    Attributes:
        lost: A future: why the page can no longer reach the app.
        ended: Whether the kernel itself is known to be gone, not only the way to it.
        reading: Cleared while a student's machine does not read what comes.
    """

    def __init__(self, socket, session):
        loop = asyncio.get_running_loop()
        self._socket = socket
        self._session = session
        self._states = loop.create_future()
        self._waiting = {}
        self._app = ""
        self._page = uuid.uuid4().hex[:11]
        self._k = 0
        self.ended = False
        self.lost = loop.create_future()
        self.reading = asyncio.Event()
        self.reading.set()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, page, kernel_id):
        """Connect as the front end of a page does, and find the app among the kernel's widgets."""
        session = str(uuid.uuid4())
        path = urljoin(page.path, f"api/kernels/{kernel_id}/channels?session_id={session}")
        kernel = cls(await open_socket(*page.place, path, jupyter=True), session)
        try:
            await kernel._find_app()
        except BaseException:
            kernel.cut()
            raise
        return kernel

    async def _find_app(self):
        comm = str(uuid.uuid4())
        self._send("kernel_info_request", {})
        opened = {"comm_id": comm, "target_name": WIDGETS, "data": {}}
        self._send("comm_open", opened, {"version": "1.0.0"})
        self._send("comm_msg", {"comm_id": comm, "data": {"method": "request_states"}})
        states = await self._first(self._states)
        self._send("comm_close", {"comm_id": comm, "data": {}})
        apps = [name for name, each in states.items() if each["state"].get("_anywidget_id") == APP_CLASS]
        if len(apps) != 1:
            raise Lost(f"{len(apps)} apps in the kernel")
        (self._app,) = apps

    async def compute(self, settings):
        """Ask for the numbers of settings; return them as they come, and {name: bytes} of the tensors."""
        self._k += 1
        answer = self._waiting[self._k] = asyncio.get_running_loop().create_future()
        content = {"type": "compute", "page": self._page, "k": self._k, "settings": settings}
        self._send("comm_msg", {"comm_id": self._app, "data": {"method": "custom", "content": content}})
        return await self._first(answer)

    async def _first(self, answer):
        """Wait for an answer, or raise Lost."""
        await asyncio.wait((answer, self.lost), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise Lost(self.lost.result())
        return answer.result()

    def _send(self, kind, content, metadata=None):
        if self.lost.done():
            raise Lost(self.lost.result())
        sent = self._socket.write_message(message(kind, self._session, content, metadata), binary=True)
        sent.add_done_callback(lambda done: done.exception())  # a connection that goes is heard of by the reader

    async def _read(self):
        while (data := await self._socket.read_message()) is not None:
            await self.reading.wait()
            if isinstance(data, bytes):
                self._take(*parts_of(data))
        self._lose(f"the kernel's websocket closed ({self._socket.close_code})")

    def _take(self, header, content, buffers):
        kind = json.loads(header)["msg_type"]
        if kind == "comm_msg":
            self._hear(json.loads(content), buffers)
        elif kind == "status" and (state := json.loads(content)["execution_state"]) in ENDED:
            self.end(f"the kernel is said to be {state}")
        elif kind == "shutdown_reply":
            self.end("the kernel was shut down")

    def _hear(self, content, buffers):
        data = content["data"]
        if data.get("method") == "update_states" and not self._states.done():
            self._states.set_result(data["states"])
        elif data.get("method") == "update" and "_numbers" in data["state"]:
            numbers = data["state"]["_numbers"]
            paths = zip(data["buffer_paths"], buffers, strict=True)
            tensors = {path[-1]: buffer for path, buffer in paths if path[:2] == ["_numbers", "tensors"]}
            self._answer(numbers["page"], numbers["k"], (numbers, tensors))
        elif data.get("method") == "custom" and data["content"].get("type") == "refused":
            refused = data["content"]
            self._answer(refused["page"], refused["k"], ValueError(f"refused: {refused['sentence']}"))

    def _answer(self, page, k, what):
        waiting = self._waiting.pop(k, None) if page == self._page else None
        if waiting is None or waiting.done():
            return
        if isinstance(what, Exception):
            waiting.set_exception(what)
        else:
            waiting.set_result(what)

    def end(self, reason):
        """Hear that the kernel itself is gone."""
        self.ended = True
        self._lose(reason)

    def _lose(self, reason):
        if not self.lost.done():
            self.lost.set_result(reason)

    def cut(self):
        """Break the connection without a word."""
        cut(self._socket)

    def close(self):
        """Close it as a browser closes that of a tab that is closed."""
        self.reading.set()
        self._socket.close(GOES)

    async def closed(self):
        """Wait until the connection has ended."""
        self.reading.set()
        await asyncio.wait((self._reader,), timeout=10)
        self._reader.cancel()
