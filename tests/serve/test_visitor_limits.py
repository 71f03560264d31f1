"""What the server does with connections that are slow, large or too many; on a loop of the test's own."""

import asyncio
import contextlib
import gc
import socket
import weakref

import pytest
import tornado.web
from tornado.websocket import WebSocketHandler

from convviz.facts.words import sentences
from convviz.serve.access_control import Gate
from convviz.serve.fair_queue import Turns
from convviz.serve.kernel_websocket import Channel
from convviz.serve.metrics import Log, Metrics
from convviz.serve.numbers_socket import Numbers
from convviz.serve.options import ServeOptions
from convviz.serve.shares import Clients
from convviz.serve.visitor_limits import RESERVE, UNREAD_BYTES, BoundedServer
from tests.run_in_thread import run_apart

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
say = sentences("access_control")


class Hears(tornado.web.RequestHandler):
    """Answers whoever gets so far."""

    def get(self):
        self.finish("heard")

    post = get


class Talks(Channel):
    """Sends its page a hundred MiB, and has no kernel."""

    get, on_close = WebSocketHandler.get, WebSocketHandler.on_close
    select_subprotocol = WebSocketHandler.select_subprotocol
    prepare = set_default_headers = lambda self: None

    def open(self):
        while len(self.settings["reported"]) < 100 and not self.ws_connection.is_closing():
            self.write_message(bytes(2**20), binary=True)
            self.settings["reported"].append(1)

    async def on_message(self, message):
        """Hear nothing."""


class NoWorkers:
    """Workers whom nobody asks."""

    devices = ("cpu",)

    def __init__(self):
        self.turns = Turns(1)

    async def ready(self):
        """There are none."""


class Page(Numbers):
    """A page's connection, whose messages nobody answers."""

    get, prepare = WebSocketHandler.get, lambda self: None

    def _hear(self, frame):
        self.settings["reported"].append(frame)
        return bytes(2**20) if frame == "answer" else None


def upgrade(path):
    """The header with which a page opens a websocket."""
    return HEAD.replace(b"/ ", f"/{path} ".encode(), 1) + (
        b"Upgrade: websocket\r\nConnection: Upgrade\r\nOrigin: http://localhost\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )


async def connected(port, address, sent=b""):
    """Connect from an address of this machine; it is a client of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    writer.write(sent)
    return reader, writer


async def page_of(port, address):
    """Open a page's websocket; return its two ends once it has heard what computes."""
    reader, writer = await connected(port, address, upgrade("page"))
    await reader.readuntil(b"}")
    return reader, writer


async def status(port, address, path="", *headers):
    """Ask for a page; return its status, and 0 where the connection is closed without an answer."""
    lines = b"".join(each + b"\r\n" for each in headers)
    asks = HEAD.replace(b"/ ", f"/{path} ".encode(), 1) + lines + b"Connection: close\r\n\r\n"
    with contextlib.suppress(ConnectionResetError):
        reader, writer = await connected(port, address, asks)
        with contextlib.closing(writer):
            return int((await reader.read()).partition(b" ")[2][:3] or 0)
    return 0


def hang_up(connections):
    for _, writer in connections:
        writer.transport.abort()


async def until(condition):
    """Let the loop run until something is so."""
    while not condition():
        await asyncio.sleep(0)


def frame(size, sent):
    """A message of so many bytes, of which so many are sent."""
    return bytes([0x82, 0xFF]) + size.to_bytes(8, "big") + bytes(4) + bytes(sent)


def with_server(what, proxies=(), **bounds):
    """Run what(port, refused, server) beside a server with these bounds; return what the handlers have sent."""
    reported, refused = [], []
    options = ServeOptions(trust_proxy=proxies)
    settings = {"reported": reported, "convviz_metrics": Metrics(Log(None))}

    async def run():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            page = ("/page", Page, {"workers": NoWorkers(), "clients": Clients()})
            app = tornado.web.Application([("/(?:health)?", Hears), ("/talks", Talks), page], **settings)
            gate = Gate(app, options, refused.append)
            server = BoundedServer(gate, refused.append, proxies=options.proxies, **bounds)
            server.add_socket(listener.dup())
            await asyncio.wait_for(what(listener.getsockname()[1], refused, server), 30)
            server.stop()

    run_apart(run())
    return reported


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HT", HEAD, HEAD.replace(b"GET", b"POST") + b"Content-Length: 10\r\n\r\nhalf", HEAD + b"\r\n"],
    ids=["nothing", "a word", "half a header", "half a body", "a request, and no other"],
)
def test_who_is_slow_loses_the_connection(sent):
    async def come(port, refused, server):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        heard = await reader.read()  # until the server hangs up
        assert heard.endswith(b"heard") == sent.endswith(b"\r\n\r\n")

    with_server(come, silent_s=0.1, body_s=0.1)


def test_the_last_connections_are_closed_at_once_and_a_free_place_is_taken():
    async def come(port, refused, server):
        first, *_ = held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for _, writer in held:
            writer.write(HEAD)
        assert await status(port, "127.0.0.1") == 503
        assert refused == ["connections"]
        reader, writer = first
        writer.write(b"Connection: close\r\n\r\n")
        assert (await reader.read()).endswith(b"heard")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"Connection: close\r\n\r\n")
        assert (await reader.read()).endswith(b"heard")

    with_server(come, connections=3)


def test_who_does_not_read_loses_the_connection():
    async def come(port, refused, server):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(upgrade("talks"))
        await reader.readuntil(b"\r\n\r\n")
        while await reader.read(2**20):  # until the server hangs up
            pass

    reported = with_server(come)
    assert UNREAD_BYTES // 2**20 - 1 <= len(reported) < 50


# -- what has come of a message


def test_nothing_is_kept_of_a_page_that_closes_in_the_midst_of_a_message():
    """And at once: the timers of its pings would hold it for hours."""

    async def come(port, refused, server):
        pages = [await page_of(port, "127.0.0.2") for _ in range(3)]
        for _, writer in pages:
            writer.write(frame(2**20, 2**19))
            await writer.drain()
        held = [weakref.ref(each) for each in server.shares]
        assert len(held) == 3
        await until(lambda: server.shares.received.all >= 3 * 2**19)
        gc.collect()
        gc.disable()  # what only it would find may stay for a long time
        hang_up(pages)
        await until(lambda: not any(each() for each in held))
        assert server.shares.received.all == 0

    try:
        assert with_server(come) == []
    finally:
        gc.enable()


def test_unfinished_messages_of_one_address_make_room_for_anothers():
    async def come(port, refused, server):
        flood = [await page_of(port, "127.0.0.2") for _ in range(8)]
        for _, writer in flood:
            writer.write(frame(2**20, 2**19))
            await writer.drain()
        fair = await page_of(port, "127.0.0.3")
        fair[1].write(frame(2**20, 2**20))
        await until(lambda: server.request_callback._inside.settings["reported"])
        assert set(refused) == {"bytes"}
        assert 8 - len(refused) <= 4, "of three MiB the others have half each"
        hang_up([*flood, fair])

    heard = with_server(come, received_bytes=3 * 2**20)
    assert [len(each) for each in heard] == [2**20]


def test_answers_that_one_address_does_not_read_make_room_for_anothers():
    """Each is small enough for itself; a hundred bytes ask for megabytes."""
    asks = bytes([0x81, 0x80 | 6]) + bytes(4) + b"answer"

    async def come(port, refused, server):
        flood = [await page_of(port, "127.0.0.2") for _ in range(12)]
        for _, writer in flood:
            writer.transport.pause_reading()
            writer.write(asks * 12)
        await until(lambda: "bytes" in refused)
        reader, writer = fair = await page_of(port, "127.0.0.3")
        writer.write(asks)
        await reader.readexactly(2**20)
        assert server.shares.unread.all <= 3 * 2**20
        hang_up([*flood, fair])
        await until(lambda: server.shares.unread.all == 0)

    with_server(come, unread_bytes=3 * 2**20)


# -- connections


@pytest.mark.parametrize("how", ["silent", "idle websockets"])
def test_one_address_does_not_shut_out_the_others(how):
    async def come(port, refused, server):
        held = []
        for _ in range(60):
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                held.append(await (page_of if how != "silent" else connected)(port, "127.0.0.2"))
        await until(lambda: len(server.shares) == 32)  # four fifths of all
        for address in ("127.0.0.1", "127.0.0.3"):
            assert await status(port, address) == 200, address
            assert await status(port, address, "health") == 200, address
        hang_up(held)
        await until(lambda: len(server.shares) == 0)

    with_server(come, connections=40)


def test_a_full_server_answers_its_own_machine_that_it_is_well_and_others_that_it_is_full():
    async def come(port, refused, server):
        held = [await connected(port, f"127.0.1.{k}") for k in range(12)]  # each with an address of its own
        await until(lambda: len(server.shares) == 12)
        silent = [await connected(port, "127.0.0.1") for _ in range(2 * RESERVE)]
        assert await status(port, "127.0.0.1", "health") == 200, (
            "though as many have come to the reserve and say nothing"
        )
        assert await status(port, "127.0.0.1") == 503
        hang_up(held + silent)

    with_server(come, connections=12)


def test_behind_a_proxy_the_address_that_it_reports_has_the_share():
    async def come(port, refused, server):
        for _ in range(60):
            await page(port, b"192.0.2.1")
        assert "connections" in refused
        assert await status(port, "127.0.0.1", "", b"X-Forwarded-For: 192.0.2.1") == 503
        assert await status(port, "127.0.0.1", "", b"X-Forwarded-For: 192.0.2.2") == 200
        assert await status(port, "127.0.0.1", "", b"X-Forwarded-For: 192.0.2.2, 192.0.2.1") == 503
        assert await status(port, "127.0.0.9", "", b"X-Forwarded-For: 192.0.2.1") == 200, "no proxy: not believed"
        hang_up(kept)

    kept = []

    async def page(port, address):
        asks = upgrade("page").replace(b"\r\n", b"\r\nX-Forwarded-For: " + address + b"\r\n", 1)
        kept.append(await connected(port, "127.0.0.1", asks))
        await kept[-1][0].readuntil(b"\r\n\r\n")

    with_server(come, connections=40, proxies=("127.0.0.1",))
