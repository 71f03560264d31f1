"""What each address may have of the server: connections, bytes and seconds. Knows no server.

An address counts, not a page: whoever wants more opens more pages, and has one address.
"""

import asyncio
import ipaddress
import math
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

# An address takes at most this many times what is free still. Alone it gets four fifths of all; and however much it
# takes, the next address finds room.
TIMES_FREE = 4
# What a page, and all pages of an address, may send at once, and then a second. A page may send a picture; a class has
# one address where its school, or a proxy, hides the others.
PAGE_BYTES, PAGE_SECONDS = (16 << 20, 1 << 20), (1.0, 0.1)
ADDRESS_BYTES, ADDRESS_SECONDS = (256 << 20, 16 << 20), (4.0, 0.25)
LONGEST_S = 5.0  # that a page waits before it is read on: less than its patience, numbers/ask_server.js
PING_S = 0.001  # that a ping counts; no browser sends one


Who = TypeVar("Who", bound=Hashable)


def has_share(mine: float, all_: float, most: float, more: float = 1) -> bool:
    """Return whether an address that has ``mine`` of the ``all_`` that are taken may take more."""
    return all_ + more <= most and mine + more <= TIMES_FREE * (most - all_)


def client_of(address: str) -> str:
    """Return the client behind an address: one has a whole network of IPv6's, 64 bits wide, for itself."""
    try:
        number = ipaddress.ip_address(address)
    except ValueError:  # a socket of the file system has none
        return address
    if isinstance(number, ipaddress.IPv4Address):
        return str(number)
    if number.ipv4_mapped:
        return str(number.ipv4_mapped)
    return str(ipaddress.ip_network((number.packed[:8] + bytes(8), 64)))


Proxies = Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network]


def is_proxy(address: str, proxies: Proxies) -> bool:
    """Return whether an address is that of a proxy which is trusted."""
    try:
        number = ipaddress.ip_address(address.strip())
    except ValueError:
        return False
    number = getattr(number, "ipv4_mapped", None) or number
    return any(number in network for network in proxies)


def forwarded_client(peer: str, forwarded: str, proxies: Proxies) -> str:
    """Return the last address that is no trusted proxy's: of a connection, or of its X-Forwarded-For.

    Each proxy adds, at the end, whom it met. What stands before is what a visitor says, and anybody can say it.
    """
    found = peer
    for forwarder in reversed(forwarded.split(",")):
        if not is_proxy(found, proxies):
            break
        try:
            found = str(ipaddress.ip_address(forwarder.strip()))
        except ValueError:  # nothing, or not a number: whom it met nobody knows
            break
    return found


@dataclass
class Budget:
    """So much at once, and then so much a second."""

    burst: float
    a_second: float
    clock: Callable[[], float] = time.monotonic
    longest_s: float = math.inf  # that one wait takes: what is beyond it is forgiven
    _spent: float = 0.0
    _since: float = 0.0

    def spend(self, amount: float) -> float:
        """Return the seconds until it may be spent."""
        self._pay()
        self._spent = min(self._spent + amount, self.burst + self.longest_s * self.a_second)
        return max(0.0, (self._spent - self.burst) / self.a_second)

    def is_whole(self) -> bool:
        self._pay()
        return self._spent == 0

    def _pay(self) -> None:
        now = self.clock()
        self._spent, self._since = max(0.0, self._spent - (now - self._since) * self.a_second), now


class Allowance:
    """The bytes and the seconds of the server's loop that a page, or an address, may take."""

    def __init__(
        self,
        bytes_: tuple[float, float],
        seconds: tuple[float, float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing spent; each pair is what may be taken at once, and then a second."""
        self._bytes, self._seconds = Budget(*bytes_, clock, LONGEST_S), Budget(*seconds, clock, LONGEST_S)

    def spend(self, bytes_: int = 0, seconds: float = 0.0) -> float:
        """Return the seconds until both may be spent."""
        return max(self._bytes.spend(bytes_), self._seconds.spend(seconds))

    def is_whole(self) -> bool:
        return self._bytes.is_whole() and self._seconds.is_whole()


@dataclass(eq=False)
class Client:
    """What the pages of one address share; ``turn`` is held by the one whose message the server reads."""

    allowance: Allowance
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    pages: int = 0


class Clients:
    """The addresses whose pages are connected, and those that have spent too much to be forgotten yet."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[Hashable, Client] = {}

    def join(self, address: Hashable) -> Client:
        """Return the client of a page that comes; who comes back has spent what it had."""
        self._known = {
            known: each for known, each in self._known.items() if each.pages or not each.allowance.is_whole()
        }
        fresh = Client(Allowance(ADDRESS_BYTES, ADDRESS_SECONDS, self._clock))
        client = self._known.setdefault(address, fresh)
        client.pages += 1
        return client

    def page(self) -> Allowance:
        return Allowance(PAGE_BYTES, PAGE_SECONDS, self._clock)


class Waiting(Generic[Who]):
    """Bytes that wait for each connection, so many of all together."""

    def __init__(self, most: int, address_of: Callable[[Who], Hashable]) -> None:
        self._most, self._address_of = most, address_of
        self._bytes: dict[Who, int] = {}
        self.all = 0

    def add(self, who: Who, size: int) -> Who | None:
        """Count bytes; return who has to go, the largest of the address that keeps most, where there are too many."""
        self._bytes[who] = self._bytes.get(who, 0) + size
        self.all += size
        if self.all <= self._most:
            return None
        kept: Counter[Hashable] = Counter()
        for each, bytes_ in self._bytes.items():
            kept[self._address_of(each)] += bytes_
        ((greediest, _),) = kept.most_common(1)
        return max((each for each in self._bytes if self._address_of(each) == greediest), key=self._bytes.__getitem__)

    def take(self, who: Who, size: int | None = None) -> None:
        """Forget bytes of a connection that wait no longer, by default all of them."""
        had = self._bytes.pop(who, 0)
        left = 0 if size is None else max(0, had - size)
        if left:
            self._bytes[who] = left
        self.all -= had - left


class Connections(Generic[Who]):
    """Who is connected from where, what has come of their messages, and what they have not read of answers."""

    def __init__(self, most: int, received_bytes: int, unread_bytes: int) -> None:
        self._most = most
        self._from: dict[Who, Hashable] = {}
        self._taken: Counter[Hashable] = Counter()
        self.received: Waiting[Who] = Waiting(received_bytes, self._from.get)
        self.unread: Waiting[Who] = Waiting(unread_bytes, self._from.get)

    def __len__(self) -> int:
        return len(self._from)

    def __iter__(self) -> Iterator[Who]:
        return iter(self._from)

    def enter(self, who: Who, address: Hashable) -> bool:
        """Let a connection in, if its address has a share; None is a proxy's, whose visitors have shares each."""
        if not self._has_share(address):
            return False
        self._from[who] = address
        self._taken[address] += address is not None
        return True

    def move(self, who: Who, address: Hashable) -> bool:
        """Count a connection for another address, if that has a share."""
        if who not in self._from or self._from[who] == address:
            return True
        here = self.leave(who)
        if self.enter(who, address):
            return True
        self._from[who] = here
        self._taken[here] += here is not None
        return False

    def leave(self, who: Who) -> Hashable:
        """Forget a connection; return what its address was."""
        self.received.take(who)
        self.unread.take(who)
        address = self._from.pop(who, None)
        self._taken[address] -= 1
        if self._taken[address] <= 0:
            del self._taken[address]
        return address

    def _has_share(self, address: Hashable) -> bool:
        mine = self._taken[address] if address is not None else 0
        return has_share(mine, len(self._from), self._most)
