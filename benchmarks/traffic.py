"""Reads what a page, its server and a kernel tell each other, from the browser's own record."""

import base64
import json
import struct
import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """One message.

    Attributes:
        received: Whether the page got it; otherwise the page sent it.
        size: Its bytes before compression.
        packed: Its bytes after the compression that our server and Chromium agree on.
        kind: Our type, such as "compute", or Jupyter's, such as "comm_msg".
        comm: The widget it is for, or "".
    """

    received: bool
    size: int
    packed: int
    kind: str
    comm: str


class Traffic:
    """Everything over a page's websockets since it was made, and the bytes of its files as they travelled.

    Attributes:
        frames: The messages, in order.
        files: Bytes of answers to requests, compressed as they came, headers included.
    """

    def __init__(self, page):
        self.frames = []
        self.files = 0
        # permessage-deflate keeps one window a direction; level 6 is tornado's.
        self._deflate = {way: zlib.compressobj(6, zlib.DEFLATED, -15) for way in (True, False)}
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.webSocketFrameReceived", lambda event: self._note(True, event["response"]))
        session.on("Network.webSocketFrameSent", lambda event: self._note(False, event["response"]))
        session.on("Network.loadingFinished", self._note_file)

    def travelled(self):
        """Return the bytes so far, files and messages, compressed."""
        return self.files + sum(frame.packed for frame in self.frames)

    def _note_file(self, event):
        self.files += event["encodedDataLength"]

    def _note(self, received, response):
        if response["opcode"] not in (1, 2):  # a ping
            return
        binary = response["opcode"] == 2
        data = base64.b64decode(response["payloadData"]) if binary else response["payloadData"].encode()
        deflate = self._deflate[received]
        packed = len(deflate.compress(data)) + len(deflate.flush(zlib.Z_SYNC_FLUSH)) - 4
        kind, comm = _kind(data, binary)
        self.frames.append(Frame(received, len(data), packed, kind, comm))


def _kind(data, binary):
    """Return the type of a message, and the widget that it is for."""
    if not binary:
        message = json.loads(data)
        if "header" not in message:
            return message["type"], ""
        return message["header"]["msg_type"], message["content"].get("comm_id", "")
    if data[4:5] == b"{":  # our own: the size of its JSON, in four bytes, and then that
        (size,) = struct.unpack_from("<I", data)
        return json.loads(data[4 : 4 + size])["type"], ""
    # v1.kernel.websocket.jupyter.org: a count, offsets, parts.
    (count,) = struct.unpack_from("<Q", data)
    offsets = struct.unpack_from(f"<{count}Q", data, 8)
    parts = [data[start:end] for start, end in zip(offsets, [*offsets[1:], len(data)], strict=True)]
    _, header, _, _, content, *_ = parts
    return json.loads(header)["msg_type"], json.loads(content).get("comm_id", "")
