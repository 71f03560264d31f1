"""A student's page of `convviz serve`: its files, and the connection over which it asks for a kernel."""

import asyncio
import gzip
import json
import re
import time
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from benchmarks.student_kernel import Lost
from benchmarks.student_wire import Files, cut, open_socket

DATA = re.compile(r'<script type="application/json" id="convviz-data">(.*?)</script>', re.S)
PAGE_FILES = re.compile(r'<(?:link rel="(?:stylesheet|preload)" href|script type="module" src)="([^"]+)"')
KERNEL_ID = re.compile(r'"kernelId": "([0-9a-f-]{36})"')


class Refused(Exception):
    """The server gives no kernel; the text is its reason."""


@dataclass
class Seen:
    """What one student saw; times in seconds.

    Attributes:
        came: The moment of the arrival, of time.perf_counter().
        page_s: From the arrival to the live page's last byte.
        kernel_s: From the wish for a kernel to the first right numbers of torch.
        answers: From each move of the slider to right numbers of it or of a later one.
        places: In line, in order.
        refused: Why there is no kernel.
        right_asked: When the newest numbers that came, and were right, were asked for, of time.perf_counter().
        errors: What a student should not see.
        story: All that happened, with the seconds since the arrival.
    """

    came: float = field(default_factory=time.perf_counter)
    page_s: float | None = None
    kernel_s: float | None = None
    answers: list[float] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    refused: str = ""
    right_asked: float = 0.0
    errors: list[str] = field(default_factory=list)
    story: list[tuple[float, str]] = field(default_factory=list)

    def note(self, what):
        """Write down what happened now."""
        self.story.append((time.perf_counter() - self.came, what))

    def fail(self, what):
        """Write down what should not have happened."""
        self.errors.append(what)
        self.note(what)


class Page:
    """A page, as long as its tab is open.

    Attributes:
        place: (host, port) of the server.
        path: Of the page; all other addresses lie below it.
        files: The browser's connections to it.
    """

    def __init__(self, address, seen, files, later_files):
        """Prepare; nothing is asked for yet.

        Args:
            address: Of the page.
            seen: Where to note what happens.
            files: Paths of what Voilà's front end loads while the kernel starts.
            later_files: Paths of what it loads once the kernel is there.
        """
        parts = urlsplit(address)
        self.path = parts.path or "/"
        self.place = (parts.hostname, parts.port)
        self.files = Files(*self.place)
        self._seen = seen
        self._front_end = (list(files), list(later_files))
        self._wish = ""
        self._socket = self._listener = None

    async def open(self):
        """Get the page and the files that it names, as a first visit does; a page that is there stays."""
        if self._wish:
            return
        start = time.perf_counter()
        page = text_of(await self.files.get(self.path))
        await self.files.get_all([urljoin(self.path, name) for name in PAGE_FILES.findall(page)])
        self._seen.page_s = time.perf_counter() - start
        self._seen.note("the live page is there")
        self._wish = urljoin(self.path, json.loads(DATA.search(page)[1])["kernel"])

    async def open_plain(self):
        """Get Voilà's own page, which is whole when its kernel has run the notebook; return the kernel's id."""
        start = time.perf_counter()
        page = text_of(await self.files.get(self.path))
        self._seen.page_s = time.perf_counter() - start
        return _kernel_id(page)

    async def kernel_is_there(self, kernel_id):
        """Ask the server for a kernel, as the page does that has lost its way to it."""
        answer = await self.files.get(urljoin(self.path, f"api/kernels/{kernel_id}"), check=False)
        return answer.status == 200

    async def new_kernel(self, when_lost):
        """Ask for a kernel, wait in line for it, and load the front end meanwhile; return its id.

        Args:
            when_lost: Called with the server's reason when it takes the kernel back.
        """
        self.forget()
        before, after = self._front_end
        html, _ = await asyncio.gather(self._ask(when_lost), self.files.get_all(before))
        await self.files.get_all(after)
        self._front_end = ([], [])
        return _kernel_id(html)

    async def _ask(self, when_lost):
        self._socket = await open_socket(*self.place, self._wish)
        self._seen.note("asked for a kernel")
        html = []
        while (data := await self._socket.read_message()) is not None:
            told = json.loads(data)
            if told["type"] == "html":
                html.append(told["html"])
            elif told["type"] == "done":
                self._listener = asyncio.create_task(self._listen(self._socket, when_lost))
                return "".join(html)
            elif told["type"] == "refused":
                raise Refused(told["why"])
            elif told["type"] == "queue":
                self._seen.places.append(told["place"])
                self._seen.note(f"place {told['place']} in line")
        raise Lost(f"the connection that asks for a kernel closed ({self._socket.close_code})")

    async def _listen(self, socket, when_lost):
        """Hear what the server tells of the kernel that it gave."""
        while (data := await socket.read_message()) is not None:
            told = json.loads(data)
            if told["type"] == "lost":
                when_lost(told["why"])

    async def say_goodbye(self, kernel_id):
        """Call what a page calls when its tab is closed."""
        await self.files.get(urljoin(self.path, f"voila/api/shutdown/{kernel_id}"), method="POST", check=False)

    def forget(self):
        """Close the connection that asked for a kernel."""
        if self._listener is not None:
            self._listener.cancel()
        if self._socket is not None:
            self._socket.close()
        self._listener = self._socket = None

    def cut(self):
        """Break that connection without a word."""
        if self._socket is not None:
            cut(self._socket)


def text_of(answer):
    """Return the text of an Answer."""
    return (gzip.decompress(answer.body) if answer.packed else answer.body).decode()


def _kernel_id(html):
    found = KERNEL_ID.search(html)
    if found is None:
        raise Refused("the page names no kernel")
    return found[1]
