"""Speaks with `convviz serve` as a page does, and as no page would: plain sockets, without a browser."""

import contextlib
import json
import re
import socket
import urllib.parse
import uuid

import websocket
from jupyter_server.services.kernels.connection.base import deserialize_msg_from_ws_v1, serialize_msg_to_ws_v1

from tests.browser.server import wait_until

NEWER = "v1.kernel.websocket.jupyter.org"
WITHIN_S = 60


def ask(url, path="", *, method="GET", body=b"", **headers):
    """Return (status, headers in lower case, body) of an answer; status 0 is a connection closed without one.

    Args:
        url: Of the server.
        path: Sent as it is, below the server's own; one that begins with a slash stands for itself.
        method: Of the request.
        body: Sent behind the header.
        **headers: By name, with _ for -; None leaves one out.
    """
    parts = urllib.parse.urlsplit(url)
    target = path if path.startswith("/") else (parts.path or "/") + path
    wanted = {"Host": parts.netloc, "Connection": "close", **({"Content-Length": str(len(body))} if body else {})}
    wanted.update({name.replace("_", "-"): value for name, value in headers.items()})
    lines = [
        f"{method} {target} HTTP/1.1",
        *(f"{name}: {value}" for name, value in wanted.items() if value is not None),
    ]
    with socket.create_connection((parts.hostname, parts.port), timeout=WITHIN_S) as connection:
        try:
            connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
            received = b"".join(iter(lambda: connection.recv(65536), b""))
        except (ConnectionResetError, BrokenPipeError):
            received = b""
    head, _, rest = received.partition(b"\r\n\r\n")
    first, *others = head.decode("latin-1").split("\r\n")
    named = [line.partition(": ") for line in others]
    return int(first.split()[1]) if first else 0, {name.lower(): value for name, _, value in named}, rest


def connect(url, path, *, origin="own", host=None, newer=True, headers=()):
    """Open a websocket as a browser does from a page of some origin.

    Args:
        url: Of the server.
        path: Below the server's own.
        origin: "own" is the server's; None sends none, as no browser does.
        host: The Host header; None sends the server's.
        newer: Whether to ask for Jupyter's newer protocol.
        headers: More lines.

    Raises:
        websocket.WebSocketBadStatusException: It is refused.
    """
    parts = urllib.parse.urlsplit(url)
    return websocket.create_connection(
        f"ws://{parts.netloc}{parts.path}{path}",
        timeout=WITHIN_S,
        origin=f"http://{parts.netloc}" if origin == "own" else origin,
        suppress_origin=origin is None,
        host=host,
        subprotocols=[NEWER] if newer else None,
        header=list(headers),
    )


def refusal(url, path, **how):
    """Return the status with which a websocket is refused; 101 if it is not."""
    try:
        connect(url, path, **how).close()
    except websocket.WebSocketBadStatusException as refused:
        return refused.status_code
    return 101


def start_kernel(url, query="", **headers):
    """Get a kernel as the notebook's page does; return its id."""
    status, _, page = ask(url, f"voila/render/app.ipynb{query}", **headers)
    assert status == 200, page
    return re.search(rb'"kernelId": "([\w-]+)"', page)[1].decode()


@contextlib.contextmanager
def page_that_leaves(server, query="", **headers):
    """Ask for the notebook's page; yield the process of its kernel as soon as there is one, and leave.

    The kernel goes with the page, and need not have run the notebook, which takes it seconds.
    """
    parts, before = urllib.parse.urlsplit(server.url), {*server.kernels()}
    lines = [f"GET {parts.path}voila/render/app.ipynb{query} HTTP/1.1", f"Host: {parts.netloc}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    with socket.create_connection((parts.hostname, parts.port), timeout=WITHIN_S) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        yield wait_until(
            lambda: [kernel for name, kernel in server.kernels().items() if name not in before],
            what="the page has a kernel",
        )[0]


class Channels:
    """A page's connection to its kernel."""

    def __init__(self, url, kernel_id, *, newer=True, headers=()):
        self.newer = newer
        self.session = uuid.uuid4().hex
        path = f"api/kernels/{kernel_id}/channels?session_id={self.session}"
        self.socket = connect(url, path, newer=newer, headers=headers)

    def send(self, kind, content, channel="shell", version="2.1.0"):
        """Send a message, which says this version of the widgets' protocol; return its id."""
        name = uuid.uuid4().hex
        header = {
            "msg_id": name,
            "msg_type": kind,
            "session": self.session,
            "username": "",
            "version": "5.3",
            "date": "",
        }
        message = {"header": header, "parent_header": {}, "metadata": {"version": version}, "content": content}
        if self.newer:
            pack = lambda part: json.dumps(part).encode()  # noqa: E731
            self.socket.send_binary(serialize_msg_to_ws_v1(message, channel, pack))
        else:
            self.socket.send(json.dumps({**message, "channel": channel, "buffers": []}))
        return name

    def receive(self):
        """Return (type, id of what it answers, content) of the next message."""
        got = self.socket.recv()
        if self.newer:
            _, (header, parent, _, content, *_) = deserialize_msg_from_ws_v1(got)
            return json.loads(header)["msg_type"], json.loads(parent).get("msg_id"), json.loads(content)
        message = json.loads(got) if isinstance(got, str) else {}
        return message["msg_type"], message["parent_header"].get("msg_id"), message["content"]

    def until_idle(self, name):
        """Return (type, content) of all that answers a message, up to the kernel's idle for it."""
        answers = []
        while True:
            kind, parent, content = self.receive()
            if parent == name:
                answers.append((kind, content))
                if kind == "status" and content["execution_state"] == "idle":
                    return answers

    def ask(self, kind, content, **how):
        """Send a message; return what answers it."""
        return self.until_idle(self.send(kind, content, **how))
