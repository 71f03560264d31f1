"""The workers of `convviz serve` and the turns in which pages get them, without a server around them."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading

import psutil
import pytest

from convviz.serve.binary_frames import MAX_BRACKETS, packed, read_json, unpacked
from convviz.serve.fair_queue import WAITING_BYTES, Turns, Wish
from convviz.serve.worker import TEXT
from convviz.serve.worker_pool import Order, Workers
from tests.browser.server import ROOT, wait_until
from tests.run_in_thread import run_apart

SLOW = "tests.serve.faulty_worker_answers:answered"


# -- turns -------------------------------------------------------------------------------------------


def put(turns, client, page, kind="compute", slow=False, task=None):
    turns.put(Wish(client, page, kind, slow, task or f"{page}:{kind}"))


def served(turns, most=100):
    """The order in which everything that waits is served by one worker, whose pages read at once."""
    order = []
    while len(order) < most and (wish := turns.take()):
        order.append(wish.task)
        turns.worked(wish)
        turns.read(wish)
    return order


def test_the_newest_wish_of_a_page_wins():
    turns = Turns(2)
    for k in range(5):
        put(turns, "ann", 1, task=f"compute {k}")
        put(turns, "ann", 1, "tab", slow=k % 2 == 0, task=f"tab {k}")  # slow or quick: still one
    assert sorted(served(turns)) == ["compute 4", "tab 4"]


def test_a_newer_wish_has_the_place_of_the_one_that_it_replaces():
    turns = Turns(1)
    for k in range(3):
        put(turns, "ann", 1, "tab", task=f"tab {k}")
        put(turns, "ann", 1, "compute", task=f"compute {k}")
    assert served(turns, 1) == ["tab 2"]
    put(turns, "ann", 1, "tab", task="tab 3")
    put(turns, "ann", 1, "compute", task="compute 3")
    assert served(turns) == ["compute 3", "tab 3"], "whoever asks for both anew waits for neither for ever"


def test_turns_are_seconds_and_whoever_comes_waits_for_none_that_others_have_had():
    """One client's requests take a hundred times as long: it gets as many seconds as each other, not as many turns."""
    for seconds in (0.1, 1.0):
        turns, had, asked = Turns(1), {"flood": 0.0, "class": 0.0}, 0
        while sum(had.values()) < 20 * seconds:
            for page in range(5):
                put(turns, "flood", ("flood", page))
                put(turns, "class", ("class", page))
            wish = turns.take()
            spent = seconds if wish.client == "flood" else seconds / 100
            had[wish.client] += spent
            turns.worked(wish, spent)
            turns.read(wish)
            assert abs(had["flood"] - had["class"]) <= 1.01 * seconds, (asked, had)
        put(turns, "ann", "a")
        assert turns.take().page == "a", "whoever comes has had least"


def test_one_page_of_a_client_gets_no_more_seconds_than_another():
    turns, had = Turns(1), {"long": 0.0, "short": 0.0}
    for _ in range(500):
        put(turns, "class", "long")
        put(turns, "class", "short")
        wish = turns.take()
        spent = 1.0 if wish.page == "long" else 0.01
        had[wish.page] += spent
        turns.worked(wish, spent)
        turns.read(wish)
        assert abs(had["long"] - had["short"]) <= 1.01, had


def test_who_had_the_workers_while_nobody_waited_owes_nothing():
    turns = Turns(1)
    for _ in range(9):
        put(turns, "ann", "a")
        wish = turns.take()
        turns.worked(wish, 5.0)
        turns.read(wish)
    put(turns, "ann", "a")
    put(turns, "bob", "b")
    assert served(turns) == ["a:compute", "b:compute"]


def test_nobody_delays_another_by_more_than_one_request():
    """A client with many pages, and a page with many wishes, flood the line; whoever comes then is next but one."""
    for seed in range(50):
        draw = random.Random(seed)
        turns = Turns(1)
        for page in range(20):
            for kind in ("compute", "tab", "ask"):
                put(turns, "flood", page, kind)
        before = draw.randrange(20)
        assert len(served(turns, before)) == before
        put(turns, "ann", "a1")
        put(turns, "ann", "a2")
        put(turns, "bob", "b")
        order = served(turns)
        # Two other clients, so one turn of each: Ann's first page and Bob's are among the first three.
        assert max(order.index("a1:compute"), order.index("b:compute")) <= 2, order
        # A client's pages take turns, too.
        assert order.index("a2:compute") <= 5, order


def test_the_pages_of_one_client_take_turns():
    turns = Turns(1)
    for kind in ("compute", "tab", "ask"):
        put(turns, "class", 1, kind)
    put(turns, "class", 2)
    put(turns, "class", 3)
    assert served(turns) == ["1:compute", "2:compute", "3:compute", "1:tab", "1:ask"]


@pytest.mark.parametrize(("workers", "most"), [(1, 1), (2, 1), (4, 3)])
def test_slow_wishes_leave_a_worker_to_the_others(workers, most):
    turns = Turns(workers)
    for page in range(8):
        put(turns, page, page, "tab", slow=True)
    at_work = []
    while wish := turns.take():
        at_work.append(wish)
    assert len(at_work) == most
    put(turns, "ann", "a")
    assert turns.take().page == "a"
    assert turns.take() is None
    turns.worked(at_work[0])
    assert turns.take().slow


def test_neither_line_waits_for_more_than_one_of_the_other():
    turns = Turns(1)
    for page in range(4):
        put(turns, page, page)
        put(turns, page, page, "tab", slow=True)
    assert [task.endswith("tab") for task in served(turns)] == [False, True] * 4


def test_who_does_not_read_gets_no_more():
    turns = Turns(4)
    put(turns, "ann", "a", task="first")
    unread = turns.take()
    turns.worked(unread)
    put(turns, "ann", "a", task="second")
    put(turns, "ann", "other")
    assert turns.take().page == "other"
    assert turns.take() is None
    turns.read(unread)
    assert turns.take().task == "second"


def test_what_waits_is_bounded_in_bytes():
    turns = Turns(1)
    large = WAITING_BYTES // 2
    assert turns.has_room("ann", 2 * large)
    for page, size in ((1, 5), (2, large), (1, large)):
        turns.put(Wish("ann", page, "picture", True, None, size))
    assert not turns.has_room("ann", large)
    assert turns.has_room("ann", 100), "what is small is not counted"
    turns.take()
    assert turns.has_room("ann", large)
    turns.leave("ann", 2)
    assert turns.has_room("ann", 2 * large)


def test_one_address_leaves_room_for_anothers_picture():
    turns, picture = Turns(1), 9 << 20
    page = 0
    while turns.has_room("flood", picture):
        turns.put(Wish("flood", page, "picture", True, None, picture))
        page += 1
    assert page > 8
    assert turns.has_room("bob", picture)


def test_a_page_that_leaves_takes_its_wishes_along():
    turns = Turns(2)
    put(turns, "ann", "a")
    put(turns, "ann", "a", "tab", slow=True)
    put(turns, "ann", "b")
    assert turns.waiting("ann", "a") == {"compute", "tab"}
    turns.leave("ann", "a")
    turns.leave("nobody", "x")
    assert not turns.waiting("ann", "a")
    assert served(turns) == ["b:compute"]
    assert turns._lines == {False: {}, True: {}}, "nothing is kept of who has gone"


# -- the packed form ---------------------------------------------------------------------------------


def test_a_frame_comes_back_and_its_buffers_lie_at_multiples_of_8():
    for sizes in ([], [0], [1], [8, 3, 0, 17], [100]):
        buffers = [bytes(range(size)) for size in sizes]
        message = {"type": "ä", "numbers": [1, 2.5], "pad": "x" * len(sizes)}
        frame = packed(message, buffers)
        assert len(frame) % 8 == 0
        assert (4 + int.from_bytes(frame[:4], "little")) % 8 == 0
        assert unpacked(frame) == (message, buffers)


def test_a_number_that_json_has_not_goes_by_its_name():
    frame = packed({"loss": float("nan"), "all": [float("inf"), (-float("inf"), 1.5)]})
    assert unpacked(frame)[0] == {"loss": "nan", "all": ["inf", ["-inf", 1.5]]}


def test_a_message_of_brackets_is_refused_before_it_is_read(monkeypatch):
    """Each makes an object, a hundred times as large as its text."""
    read = []
    monkeypatch.setattr(json, "loads", lambda text, **_: read.append(text) or {})
    for text in ("[]," * MAX_BRACKETS, '{"a":' * MAX_BRACKETS, "[{" * MAX_BRACKETS):
        read_json(text[:MAX_BRACKETS])
        with pytest.raises(ValueError, match="brackets at most"):
            read_json(text + "[")
        assert len(read) == 1, text[:9]
        read.clear()


def test_a_strangers_frame_is_read_strictly():
    good = packed({"type": "picture", "id": 1}, [b"12345"])
    wrong = [b"", b"\0" * 8, good[:-1], good + b"\0" * 8, b"\xff" * 64, good[:4] + b"\xff" * (len(good) - 4)]
    wrong += [packed({})[:4] + b'{"sizes":[-8]} ' + b" ", good.replace(b"[5]", b"[6.")]
    wrong += [(4).to_bytes(4, "little") + b"[]  ", (12).to_bytes(4, "little") + b'{"sizes":NaN}'[:12]]
    for frame in wrong:
        with pytest.raises(ValueError, match=r"."):
            unpacked(frame)


@pytest.fixture(scope="module", autouse=True)
def imported_by_workers():
    """Let the workers import this folder's answers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        yield


# -- workers -----------------------------------------------------------------------------------------


class Running:
    """Workers on a loop in a thread of its own."""

    def __init__(self, **options):
        self.reasons = []
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.workers = Workers(**{"count": 2, "answers": SLOW, "ended": self.reasons.append, **options})
        self.wait(self.workers.ready())

    def wait(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    def ask_all(self, *settings, slow=False):
        """Ask at the same time, a page each; return the answers, (message, buffers) or the reason why there is none."""
        return self.wait(self._ask_all(settings, slow))

    def ask(self, **settings):
        return self.ask_all(settings)[0]

    async def _ask_all(self, several, slow):
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in several]
        for k, settings in enumerate(several):
            request = TEXT + json.dumps({"type": "compute", "id": k, "settings": settings}).encode()

            async def deliver(frame, refused, future=futures[k]):
                future.set_result(refused or unpacked(frame))

            self.workers.wish(Wish(k, k, "compute", slow, Order(request, deliver)))
        return await asyncio.gather(*futures)

    def close(self):
        self.loop.call_soon_threadsafe(self.workers.close)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


@pytest.fixture(scope="module")
def running():
    started = Running()
    started.ask(x=1)
    yield started
    pids = [*started.workers.pids, started.workers.stem]
    started.close()
    wait_until(lambda: not any(map(is_alive, pids)), 20, "no worker outlives the pool")


def is_alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_request_is_answered_with_its_bytes(running):
    assert running.workers.devices[0] == "cpu"
    answers = running.ask_all(*({"x": k} for k in range(20)))
    assert [message["x"] for message, _ in answers] == list(range(20))
    assert [message["id"] for message, _ in answers] == list(range(20))
    assert all(buffers == [b"abc"] for _, buffers in answers)
    assert {message["pid"] for message, _ in answers} <= set(running.workers.pids)


@pytest.mark.parametrize(
    ("number", "who"),
    [
        (signal.SIGKILL, "all"),
        (signal.SIGSTOP, "one"),
        *((end, "all and the stem") for end in (signal.SIGKILL, signal.SIGSTOP)),
    ],
)
def test_workers_that_are_ended_or_stopped_are_replaced(running, number, who):
    before = running.workers.pids
    struck = before[:1] if who == "one" else before
    if who == "all and the stem":
        struck = [*struck, running.workers.stem]
    for pid in struck:
        os.kill(pid, number)
    answers = running.ask_all(*({"x": k} for k in range(6)))
    assert [message["x"] for message, _ in answers] == list(range(6))
    assert not {message["pid"] for message, _ in answers} & set(struck)
    assert not any(map(is_alive, set(struck) - {running.workers.stem} - set(running.workers.pids))), "they are ended"


def test_a_stem_whose_workers_die_at_once_is_replaced(tmp_path, monkeypatch):
    spoiled = tmp_path / "spoiled"
    monkeypatch.setenv("SPOILED_STEM", str(spoiled))
    running = Running(count=1)
    try:
        stem = running.workers.stem
        spoiled.write_text(str(stem))
        os.kill(running.workers.pids[0], signal.SIGKILL)
        assert running.ask(x=1)[0]["x"] == 1
        assert running.reasons == ["died"], "the worker that was killed"
        assert running.workers.stem != stem
        assert not is_alive(stem)
    finally:
        running.close()


@pytest.mark.parametrize("how", ["dies_once", "stops_once", "stops_within_once"])
def test_the_request_of_a_worker_that_dies_or_is_stopped_is_tried_once_more(running, tmp_path, how):
    message, _ = running.ask(**{how: str(tmp_path / "once")})
    assert message["type"] == "numbers"
    assert (tmp_path / "once").exists()


def test_a_request_that_ends_two_workers_is_refused(running):
    del running.reasons[:]
    assert running.ask(dies=True) == "died"
    assert running.reasons == ["died", "died"]
    assert running.ask(x=1)[0]["x"] == 1


def test_a_worker_that_has_grown_leaves_after_its_answer(running):
    del running.reasons[:]
    message, _ = running.ask(keeps_mib=600)
    assert message["keeps_mib"] == 600
    assert running.reasons == ["grown"]
    assert message["pid"] not in running.workers.pids
    assert running.ask(x=1)[0]["pid"] != message["pid"]


def test_a_request_for_too_much_memory_is_refused_and_the_worker_lives(running):
    del running.reasons[:]
    message, _ = running.ask(keeps_mib=4000)
    assert (message["type"], message["id"]) == ("refused", 0)
    assert "memory" in message["sentence"]
    assert running.reasons == []


def test_a_request_that_takes_too_long_is_ended_and_not_tried_again():
    running = Running(seconds=1)
    try:
        late, *others = running.ask_all({"hangs": True}, {"x": 1}, {"x": 2})
        assert late == "late"
        assert [message["x"] for message, _ in others] == [1, 2]
        assert running.reasons == ["late"]
    finally:
        running.close()


def test_where_an_accelerator_is_nothing_forks_and_each_has_a_worker():
    running = Running(count=7, answers="tests.serve.faulty_worker_with_two_accelerators:answered")
    try:
        assert running.workers.stem is None
        assert running.workers.devices == ["cpu", "cuda:0", "cuda:1"]
        answers = running.ask_all(*({"x": k} for k in range(6)))
        assert [message["x"] for message, _ in answers] == list(range(6))
        assert len(running.workers.pids) == running.workers.count == 2
        os.kill(running.workers.pids[0], signal.SIGKILL)
        answers = running.ask_all(*({"x": k} for k in range(6)))
        assert [message["x"] for message, _ in answers] == list(range(6))
    finally:
        running.close()


@pytest.mark.parametrize("fails", [False, True])
def test_a_turn_is_given_back_though_an_answer_cannot_be_delivered(running, fails):
    async def ask():
        tried = asyncio.Event()

        async def deliver(*_):
            tried.set()
            if fails:
                raise RuntimeError

        request = TEXT + json.dumps({"id": 0, "settings": {}}).encode()
        running.workers.wish(Wish("ann", "a", "compute", False, Order(request, deliver)))
        await tried.wait()
        await asyncio.sleep(0)  # the task ends
        return ("a", False) in running.workers.turns._held

    assert not running.wait(ask())


def test_who_is_answered_as_the_server_ends_is_not_refused():
    async def ask():
        workers = Workers(1, answers=SLOW)
        await workers.ready()
        heard = []

        async def deliver(frame, refused):
            heard.append(refused)

        request = TEXT + json.dumps({"id": 0, "settings": {"hangs": True}}).encode()
        workers.wish(Wish("ann", "a", "compute", False, Order(request, deliver)))
        (task,) = workers._tasks
        await asyncio.sleep(0)
        workers.close()
        await asyncio.wait([task])
        return heard

    assert run_apart(ask()) == [], "the page asks the next one"


def test_workers_that_cannot_start_are_an_error_not_a_wait():
    async def start():
        workers = Workers(answers="tests.no_such_module:answered")
        with pytest.raises(OSError, match="has ended"):
            await workers.ready()
        workers.close()

    run_apart(start())


def test_workers_end_with_a_server_that_is_killed():
    script = f"""
import asyncio, os
from convviz.serve.worker_pool import Workers
async def main():
    workers = Workers(2, answers={SLOW!r})
    await workers.ready()
    print(*workers.pids, workers.stem, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as server:
        pids = [int(each) for each in server.stdout.readline().split()]
        assert [is_alive(pid) for pid in pids] == [True] * 3
        server.kill()
    wait_until(lambda: not any(map(is_alive, pids)), 20, "workers see that nobody asks any more")
