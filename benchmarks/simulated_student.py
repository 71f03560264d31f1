"""A student on a plain websocket, whose every answer is held against autograd through the definition."""

import asyncio
import contextlib
import json
import random
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClosedError, websocket_connect

from convviz.app.step_numbers import TENSORS
from convviz.facts import facts
from convviz.serve.binary_frames import unpacked
from convviz.settings.state import Settings
from convviz.settings.tensors import bias_tensor, grad_tensor, input_tensor, target_tensor, weight_tensor
from tests.autograd_truth import truth, truth_transposed
from tests.random_states import random_states

POOL = 200  # states that are moved to
LATE_S = 30
FILES = re.compile(r'(?:href|src)="(convviz/[^"]+)"')
# Of the largest number in a state: float32 has 24 bits, and a sum here cancels some of them.
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}


class Move(NamedTuple):
    """A state that a control leads to: as the page sends it, and {name: float64 array} of what autograd says."""

    settings: dict
    truth: dict
    dtype: str


def stride_steps():
    """Return the states of the first picture through which its stride's slider goes, from end to end."""
    spec, (low, high) = Settings().to_dict()["spec"], facts("settings")["fields"]["stride"]["offered"]
    return [{"spec": {**spec, "stride": [stride, stride]}} for stride in range(low, high + 1)]


def moves(seed, count=POOL, states="random"):
    """Return states, in float32 and float64, the same for the same seed: random ones of all the app's controls."""
    found = []
    for number, state in enumerate(stride_steps() if states == "stride" else random_states(seed, count)):
        settings = Settings.from_dict({**state, "dtype": ("float64", "float32")[number % 2]})
        given = {"input": input_tensor(settings), "weight": weight_tensor(settings), "bias": bias_tensor(settings)}
        given |= {"target": target_tensor(settings), "grad": grad_tensor(settings)}
        kind = getattr(torch, settings.dtype)
        given = {name: None if each is None else each.to(kind).double() for name, each in given.items()}
        truths = (truth_transposed if settings.transposed else truth)(settings.spec, settings.loss, given)
        wanted = {name: truths[name].detach().numpy().ravel() for name in (*TENSORS, "loss") if name in truths}
        found.append(Move(settings.to_dict(), wanted, settings.dtype))
    return found


def wrong(move, message, buffers):
    """Return what differs from autograd, or an empty text: of the JSON of an answer, and its buffers."""
    kind = message["dtype"] if message["dtype"] == "float64" else "float32"
    got = {name: np.frombuffer(buffer, kind) for name, buffer in zip(message["tensors"], buffers, strict=True)}
    got["loss"] = np.array([message["loss"]])
    if message["dtype"] != move.dtype:
        return f"{message['dtype']} in place of {move.dtype}"
    if lacking := sorted(set(move.truth) - set(got)):
        return f"no {', '.join(lacking)}"
    off = TOLERANCE[move.dtype] * max(1.0, *(float(np.max(np.abs(each))) for each in move.truth.values()))
    for name, truths in move.truth.items():
        if got[name].shape != truths.shape:
            return f"{name}: {got[name].size} numbers in place of {truths.size}"
        if not float(np.max(np.abs(got[name] - truths))) <= off:  # nan is wrong too
            return f"{name} is off by {np.max(np.abs(got[name] - truths)):.1e}"
    return ""


@dataclass
class Seen:
    """What students saw: seconds of each answer, and {what went wrong: how often}."""

    answers: list = field(default_factory=list)
    refused: Counter = field(default_factory=Counter)
    wrong: Counter = field(default_factory=Counter)
    errors: Counter = field(default_factory=Counter)


class Student:
    """One page: its files, its socket, one request at a time, sent again when the socket is gone."""

    def __init__(self, address, pool, right, seen, seed):
        """Prepare; ``right`` holds, for all students, the buffers of answers that were right: equal ones are right."""
        self.address, self.pool, self.right, self.seen = address, pool, right, seen
        self.chance, self.number = random.Random(seed), 0
        self.socket = None
        self.turn = asyncio.Lock()

    async def come(self):
        """Open the page; return the seconds until torch's first numbers are there."""
        start = time.perf_counter()
        await fetched(self.address)
        await self.move(start)
        return time.perf_counter() - start

    async def stay(self, every, until):
        """Move a control every few seconds; what is late counts from when it should have been."""
        at = time.perf_counter() + self.chance.uniform(0, every)
        while at < until:
            await asyncio.sleep(max(0, at - time.perf_counter()))
            await self.move(at)
            at += every

    async def move(self, since):
        """Ask for a random state's numbers, and note what came of it, in seconds since a moment."""
        async with self.turn:
            index, self.number = self.chance.randrange(len(self.pool)), self.number + 1
            wish = {"type": "compute", "id": self.number, "language": "en", "settings": self.pool[index].settings}
            try:
                async with asyncio.timeout(LATE_S):
                    message, buffers = await self._answered(json.dumps(wish))
            except TimeoutError:
                self.seen.errors[f"no answer within {LATE_S} s"] += 1
                self.cut()
                return
        self.seen.answers.append(time.perf_counter() - since)
        if message["type"] != "numbers":
            self.seen.refused[message.get("sentence", message["type"])] += 1
        elif self.right.get(index) != buffers:
            if off := wrong(self.pool[index], message, buffers):
                self.seen.wrong[off] += 1
            else:
                self.right[index] = buffers

    async def _answered(self, wish):
        pause = 0.25
        while True:
            with contextlib.suppress(OSError):
                socket = await self.open()
                with contextlib.suppress(WebSocketClosedError):  # reading says so, too
                    await socket.write_message(wish)
                while isinstance(frame := await socket.read_message(), bytes):
                    message, buffers = unpacked(frame)
                    if message.get("id") == self.number:
                        return message, buffers
            self.cut()
            await asyncio.sleep(pause * self.chance.uniform(0.5, 1.5))
            pause = min(2 * pause, 4)

    async def open(self):
        if self.socket is None:
            address = self.address.split("?")[0].replace("http", "ws", 1) + "live/numbers"
            origin = "/".join(self.address.split("/")[:3])
            asking = HTTPRequest(address, headers={"Origin": origin}, connect_timeout=LATE_S, request_timeout=LATE_S)
            try:
                self.socket = await websocket_connect(asking)
            except Exception as error:  # tornado has a dozen kinds
                raise OSError(str(error)) from error
        return self.socket

    async def reopen(self):
        async with self.turn:
            with contextlib.suppress(OSError):
                await self.open()

    def cut(self):
        """Break the socket's connection without a word, as a line that fails does."""
        if self.socket is not None and self.socket.protocol is not None:
            self.socket.protocol.stream.close()
        self.socket = None


async def fetched(address):
    """Fetch a page and the files that it names, over one connection; return their bytes as they travelled."""
    host, _, path = address.removeprefix("http://").partition("/")
    name, _, port = host.partition(":")
    reader, writer = await asyncio.open_connection(name, int(port), limit=1 << 21)
    below = f"/{path}".split("?")[0].rpartition("/")[0] + "/"
    total, wanted = 0, ["/" + path]
    try:
        for number, each in enumerate(wanted):
            packed = "Accept-Encoding: gzip\r\n" if number else ""
            writer.write(f"GET {each} HTTP/1.1\r\nHost: {host}\r\n{packed}\r\n".encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            assert " 200 " in head.splitlines()[0], f"{each}: {head.splitlines()[0]}"
            body = await reader.readexactly(int(re.search(r"(?i)content-length: (\d+)", head)[1]))
            total += len(body)
            if body.startswith(b"<"):
                wanted += [below + file for file in FILES.findall(body.decode())]
    finally:
        writer.close()
    return total
