"""What one address may have of a server, so that another finds room: without a server, and with clocks of our own."""

import asyncio
import random

import pytest

from convviz.serve import shares
from convviz.serve.numbers_socket import Numbers
from convviz.serve.options import ServeError, ServeOptions
from convviz.serve.shares import Budget, Clients, Connections, client_of, forwarded_client
from tests.run_in_thread import run_apart

MIB = 1 << 20


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


# -- budgets -----------------------------------------------------------------------------------------


def test_a_burst_may_be_spent_at_once_and_then_so_much_a_second():
    clock = Clock()
    budget = Budget(16 * MIB, MIB, clock)
    assert [budget.spend(8 * MIB) for _ in range(4)] == [0, 0, 8, 16]
    clock.now += 16
    assert budget.spend(8 * MIB) == 8
    clock.now += 3600
    assert budget.is_whole()
    assert [budget.spend(4096) for _ in range(4096)] == [0] * 4096, "a slider's moves, for a minute"
    assert not budget.is_whole()


def test_nobody_waits_for_longer_than_the_longest_wait_however_much_was_spent():
    clock = Clock()
    budget = Budget(1, 0.1, clock, longest_s=5)
    assert [budget.spend(1) for _ in range(20)][-1] == pytest.approx(5)
    clock.now += 5
    assert budget.spend(0) == pytest.approx(0), "what is beyond it is forgiven"


def test_who_comes_back_has_spent_what_it_had_and_who_owes_nothing_is_forgotten():
    clock = Clock()
    clients = Clients(clock)
    first = clients.join("ann")
    assert clients.join("ann") is first, "the pages of an address share"
    assert first.allowance.spend(seconds=shares.ADDRESS_SECONDS[0]) == 0
    assert first.allowance.spend(seconds=0.25) == pytest.approx(1), "a quarter of the time"
    first.pages = 0
    assert clients.join("ann") is first
    first.pages = 0
    clock.now += 3600
    clients.join("bob")
    assert clients.join("ann") is not first


def test_every_limit_of_bytes_lets_the_largest_picture_through_at_once():
    from convviz.serve.numbers_socket import MAX_FRAME_BYTES
    from convviz.serve.visitor_limits import RECEIVED_BYTES

    for limit in (shares.PAGE_BYTES[0], shares.ADDRESS_BYTES[0], RECEIVED_BYTES // 4):
        assert limit >= MAX_FRAME_BYTES


# -- connections -------------------------------------------------------------------------------------


def test_an_address_that_takes_all_it_gets_leaves_room_for_the_next():
    """However many connections there are, and however many addresses take all that they get."""
    for most in (3, 128, 300, 32768):
        connections, taken = Connections(most, MIB, MIB), []
        for address in range(3):
            count = 0
            while connections.enter((address, count), address):
                count += 1
            taken.append(count)
        assert abs(taken[0] - 0.8 * most) <= 1, (most, taken)
        assert most == 3 or all(count > 0 for count in taken), (most, taken)
        assert sum(taken) == len(connections) <= most, (most, taken)


def test_what_leaves_makes_room_and_nothing_is_kept_of_it():
    connections = Connections(10, MIB, MIB)
    for seed in range(50):
        draw, inside = random.Random(seed), set()
        for step in range(200):
            who = (seed, step)
            if draw.random() < 0.5 and connections.enter(who, draw.choice(["ann", "bob", None])):
                inside.add(who)
                connections.received.add(who, draw.randrange(1000))
                connections.unread.add(who, draw.randrange(1000))
                connections.unread.take(who, draw.randrange(1000))
            elif inside and draw.random() < 0.5:
                connections.move(draw.choice(sorted(inside)), draw.choice(["ann", "bob", "eve"]))
            elif inside:
                gone = draw.choice(sorted(inside))
                inside.discard(gone)
                connections.leave(gone)
            assert len(connections) == len(inside)
            assert sum(connections._taken.values()) == sum(
                address is not None for address in connections._from.values()
            )
        for who in inside:
            connections.leave(who)
    waiting = [(each._bytes, each.all) for each in (connections.received, connections.unread)]
    assert (connections._from, connections._taken, *waiting) == ({}, {}, ({}, 0), ({}, 0))


def test_a_proxys_connections_are_shared_out_by_the_addresses_it_speaks_for():
    connections = Connections(10, MIB, MIB)
    for k in range(10):
        assert connections.enter(k, None), "the proxy itself has no share"
    moved = [connections.move(k, "flood") for k in range(10)]
    assert moved == [True] * 4 + [False] * 6
    connections.leave(9)  # as whoever is refused
    assert connections.enter("next", None)
    assert connections.move("next", "ann")


def test_the_largest_message_of_the_address_that_keeps_most_has_to_go():
    connections = Connections(100, 1000, MIB)
    for k in range(10):
        connections.enter(("flood", k), "flood")
        assert connections.received.add(("flood", k), 90 + (k == 3)) is None
    connections.enter("picture", "ann")
    assert connections.received.add("picture", 100) == ("flood", 3), "though Ann's is the largest of all"
    connections.leave(("flood", 3))
    assert connections.received.add("picture", 50) is None
    connections.received.take("picture")
    assert connections.received.add("picture", 150) is None, "what has been read is not kept"


# -- whose address counts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("0.0.0.0", "0.0.0.0"),
        ("", ""),
    ],
)
def test_a_client_is_an_address_or_a_network_of_ipv6s(address, client):
    assert client_of(address) == client


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("127.0.0.1", "192.0.2.7", "192.0.2.7"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "198.51.100.1, 192.0.2.7", "192.0.2.7"),  # the first is what the visitor says of itself
        ("127.0.0.1", "198.51.100.1, 192.0.2.7, 172.17.0.9", "192.0.2.7"),  # two proxies
        ("::ffff:127.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("127.0.0.1", "192.0.2.7, nonsense", "127.0.0.1"),
        ("192.0.2.9", "192.0.2.7", "192.0.2.9"),  # no proxy of ours
        ("127.0.0.1", "10.0.0.1, " * 500 + "192.0.2.7", "192.0.2.7"),
    ],
)
def test_a_visitors_address_is_the_last_that_no_trusted_proxy_has(peer, forwarded, found):
    options = ServeOptions(trust_proxy=("127.0.0.1", "172.16.0.0/12")).checked()
    assert forwarded_client(peer, forwarded, options.proxies) == found
    assert forwarded_client(peer, forwarded, ()) == peer, "whoever is not trusted is not believed"


def test_a_proxy_is_an_address_or_a_network():
    with pytest.raises(ServeError, match=r"--trust-proxy must be the address .* and 'nginx' is none"):
        ServeOptions(trust_proxy=("nginx",)).checked()


# -- turns at the server's loop ----------------------------------------------------------------------


class Reported(Numbers):
    """A page's connection that only notes whose message is read."""

    ws_connection = None

    def __init__(self, name, clients, log):
        self._name, self._log, self._notified = name, log, None
        self._allowance, self._sharing = clients.page(), clients.join(name)

    def _hear(self, frame):
        self._log.append(self._name)


@pytest.mark.parametrize("came", [0, 5])
def test_nobody_waits_for_more_than_one_message_of_another_address(came):
    """Sixty pages of one address send; when so many of those are read, one of another does, and two of a third."""

    async def run():
        clients, log = Clients(), []
        flood = [asyncio.ensure_future(Reported("flood", clients, log).on_message("x")) for _ in range(60)]
        while len(log) < came:
            await asyncio.sleep(0)
        pages = [Reported(name, clients, log) for name in ("ann", "bob", "bob")]
        others = [asyncio.ensure_future(page.on_message("x")) for page in pages]
        await asyncio.gather(*flood, *others)
        after = log[came:]
        assert log.count("flood") == 60
        assert after[: after.index("ann")].count("flood") <= 1, log
        assert after[: after.index("bob")].count("flood") <= 1, log
        last = len(after) - after[::-1].index("bob")
        assert after[:last].count("flood") <= 2, log

    run_apart(run())


def test_a_page_that_has_gone_is_not_read():
    async def run():
        clients, log = Clients(), []
        page = Reported("ann", clients, log)
        page._is_closed = True
        await page.on_message("x")
        assert log == []

    run_apart(run())


def test_the_seconds_that_a_message_takes_are_waited_for_before_the_next_is_read(monkeypatch):
    clock, slept = Clock(), []

    async def run():
        page = Reported("ann", Clients(clock), [])
        burst, a_second = shares.PAGE_SECONDS
        assert page._spend(10, burst) == 0
        assert page._spend(10, a_second) == pytest.approx(1)
        assert Reported("bob", Clients(clock), [])._spend(10, burst) == 0, "nobody else's"
        closed = []
        page.close = lambda *why: closed.append(why)
        page.on_ping(b"x")
        assert closed, "who has nothing left does not ping"
        sleep = asyncio.sleep
        monkeypatch.setattr(asyncio, "sleep", lambda seconds: slept.append(seconds) or sleep(0))
        await page.on_message("x")

    run_apart(run())
    assert slept[-1] == pytest.approx(1, abs=0.2)
