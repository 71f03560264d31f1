"""What a simulated student's browser speaks: HTTP over six kept connections, websockets, Jupyter's messages."""

import asyncio
import itertools
import json
import struct
import time
import uuid
from dataclasses import dataclass

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

CONNECTIONS = 6  # at once to one server, as Chromium and Firefox have them
CONNECTS_WITHIN_S = 60
LARGEST_MESSAGE = 64 * 2**20
JUPYTER = "v1.kernel.websocket.jupyter.org"  # the protocol that JupyterLab's front end asks for
GOES = 1001  # the code with which a browser closes the websockets of a tab that is closed
# As Chromium sends them; the server reads them all.
HEADERS = (
    "User-Agent: convviz-benchmark\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n"
    "Accept-Language: en\r\nConnection: keep-alive\r\n"
)


class HttpError(Exception):
    """An answer that is no success."""


@dataclass
class Answer:
    """What a server answered.

    Attributes:
        status: Its number.
        body: As it travelled, packed or not.
        packed: Whether it is gzipped.
    """

    status: int
    body: bytes
    packed: bool


class Files:
    """A browser's connections to one server, each with one request at a time.

    Attributes:
        received: Bytes of all answers, as they travelled.
    """

    def __init__(self, host, port):
        self._place = (host, port)
        self._room = asyncio.Semaphore(CONNECTIONS)
        self._free = []
        self.received = 0

    async def get(self, path, method="GET", check=True):
        """Return the Answer to a request; with ``check`` an error is raised."""
        async with self._room:
            answer = await self._answered(path, method)
        if check and answer.status >= 400:
            raise HttpError(f"{answer.status} for {path.split('?')[0]}")
        self.received += len(answer.body)
        return answer

    async def get_all(self, paths):
        """Ask for many files at once."""
        await asyncio.gather(*(self.get(path) for path in paths))

    async def _answered(self, path, method):
        while self._free:  # one that the server has closed meanwhile is of no use: as in a browser, the next is tried
            try:
                return await self._ask(self._free.pop(), path, method)
            except (ConnectionError, asyncio.IncompleteReadError):
                continue
        return await self._ask(await asyncio.open_connection(*self._place), path, method)

    async def _ask(self, connection, path, method):
        reader, writer = connection
        try:
            host, port = self._place
            own = f"Origin: http://{host}:{port}\r\nContent-Length: 0\r\n" if method == "POST" else ""
            writer.write(f"{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\n{HEADERS}{own}\r\n".encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = await _body(reader, headers)
        except BaseException:
            writer.close()
            raise
        self._free.append(connection)
        return Answer(int(first.split()[1]), body, headers.get("content-encoding") == "gzip")

    def close(self):
        """Close all connections."""
        for _, writer in self._free:
            writer.close()
        self._free = []


async def _body(reader, headers):
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", 0)))
    parts = []
    while size := int(await reader.readline(), 16):
        parts.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(parts)


async def open_socket(host, port, path, jupyter=False):
    """Return a websocket as a browser opens it: over its page's origin, compressed where the server wants it."""
    request = HTTPRequest(
        f"ws://{host}:{port}{path}",
        headers={"Origin": f"http://{host}:{port}"},
        connect_timeout=CONNECTS_WITHIN_S,
        request_timeout=CONNECTS_WITHIN_S,
    )
    names = [JUPYTER] if jupyter else None
    return await websocket_connect(
        request, compression_options={}, max_message_size=LARGEST_MESSAGE, subprotocols=names
    )


def cut(socket):
    """Break a websocket's connection without a word, as a line that fails does."""
    if socket.protocol is not None:
        socket.protocol.stream.close()


def message(kind, session, content, metadata=None):
    """Return the bytes of a message to the kernel, as JupyterLab's front end packs it.

    Args:
        kind: Jupyter's message type.
        session: Names the connection.
        content: Plain data.
        metadata: The same.
    """
    date = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    header = {
        "date": date,
        "msg_id": uuid.uuid4().hex,
        "msg_type": kind,
        "session": session,
        "username": "",
        "version": "5.2",
    }
    parts = [b"shell", *(json.dumps(part).encode() for part in (header, {}, metadata or {}, content))]
    offsets = [8 * (len(parts) + 2)]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets) + b"".join(parts)


def parts_of(data):
    """Return (header, content, buffers) of a message from the kernel, as bytes."""
    (count,) = struct.unpack_from("<Q", data)
    offsets = struct.unpack_from(f"<{count}Q", data, 8)
    parts = [data[start:end] for start, end in itertools.pairwise(offsets)]
    _, header, _, _, content, *buffers = parts
    return header, content, buffers
