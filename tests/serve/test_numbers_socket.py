"""The page's websocket of a real server: what it computes, whom it refuses, and what is left when it ends.

Also what is there where that is all, without the notebook.
"""

import contextlib
import io
import itertools
import json
import os
import random
import re
import signal

import psutil
import pytest
import websocket
from PIL import Image

from convviz.app.page_requests import answered
from convviz.facts.features import TABS
from convviz.facts.i18n.current_language import languages
from convviz.facts.words import sentences
from convviz.serve.binary_frames import packed, unpacked
from tests.browser.server import voila_server, wait_until
from tests.random_states import random_states
from tests.serve_client import ask, connect, refusal

say = sentences("server_failures")


def png():
    """A grey picture of 3 x 2 pixels, as a file."""
    file = io.BytesIO()
    Image.new("L", (3, 2), 128).save(file, "PNG")
    return file.getvalue()


PNG = png()
# Nobody's kernel, in the form of one.
GUESS = "12345678-1234-4234-8234-123456789012"


@pytest.fixture(scope="module")
def served():
    """A server with two workers, where two races may run."""
    with voila_server(arguments=["--workers", "2", "--races", "2"]) as server:
        yield server


class Page:
    """What a page is to the server."""

    def __init__(self, server):
        self.socket = connect(server.url, "live/numbers", newer=False)
        self.facts, _ = self.hear()
        self.id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def hear(self):
        return unpacked(self.socket.recv())

    def send(self, **request):
        self.id += 1
        self.socket.send(json.dumps({"id": self.id, **request}))
        return self.id

    def ask(self, **request):
        asked = self.send(**request)
        message, buffers = self.hear()
        assert message["id"] == asked
        return message, buffers

    def raw(self, **request):
        """The very bytes that answer."""
        self.socket.send(json.dumps({"id": 1, **request}))
        return self.socket.recv()


def workers(server):
    """The processes that compute, and what they are forked from."""
    found = psutil.Process(server.process.pid).children(recursive=True)
    return [each for each in found if "convviz.serve.worker" in each.cmdline()]


def racers(server):
    """The processes that race, the oldest first."""
    found = psutil.Process(server.process.pid).children()
    return sorted(
        (each for each in found if "convviz.lab.race_worker" in each.cmdline()), key=lambda each: each.create_time()
    )


def test_the_first_thing_that_a_page_hears_is_what_computes(served):
    with Page(served) as page:
        assert page.facts.pop("version")
        assert page.facts == {"type": "facts", "devices": ["cpu"], "device": "cpu", "makes_pages": True}


def test_any_worker_gives_the_same_bytes_for_every_tab_and_request(served):
    """Whoever is asked, in whatever order: 2 workers, then 2 that have never answered anything."""
    asked = [{"type": kind, "settings": {}} for kind in ("compute", "python", "page")]
    asked += [{"type": "compute", "settings": state} for state in random_states(24, 4)]
    spoken = itertools.cycle(languages())
    asked += [
        {"type": "tab", "tab": tab, "settings": {}, "language": tag} for tab, tag in zip(TABS, spoken, strict=False)
    ]
    with Page(served) as page:
        first = [page.raw(**each) for each in asked]
        again = [page.raw(**each) for each in reversed(asked)][::-1]
        for worker in workers(served)[1:]:
            worker.kill()
        fresh = [page.raw(**each) for each in asked]
    for request, *answers in zip(asked, first, again, fresh, strict=True):
        name = str(request)[:100]
        if request["type"] == "compute":
            answer = answered({**request, "id": 1})
            assert unpacked(answers[0]) == unpacked(packed(answer.message, answer.buffers)), "as here"
        assert answers[0] == answers[1], f"after others: {name}"
        assert answers[0] == answers[2], f"from a fresh worker: {name}"
        assert unpacked(answers[0])[0]["type"] in ("numbers", "tab", "python", "page"), name


def test_a_picture_comes_back_as_a_source(served):
    with Page(served) as page:
        page.socket.send_binary(packed({"type": "picture", "id": 7}, [PNG]))
        message, _ = page.hear()
        assert (message["type"], message["id"], message["source"]["kind"]) == ("picture", 7, "image")
        page.socket.send_binary(packed({"type": "picture", "id": 8, "language": "zh-TW"}, [b"no picture"]))
        message, _ = page.hear()
        assert (message["type"], message["id"]) == ("refused", 8)
        assert re.search("[\u4e00-\u9fff]", message["sentence"])


def test_every_request_speaks_its_own_language(served):
    with Page(served) as page:
        said = {
            tag: page.ask(type="compute", settings={"digit": "x"}, language=tag)[0]["sentence"]
            for tag in ("en", "zh-Hans", "zh-TW", "xx", 5)
        }
        assert said["en"] == said["xx"] == said[5]
        assert len(set(said.values())) == 3
        server_says = page.ask(type="nothing", language="zh-Hant")[0]["sentence"]
        assert re.search("[\u4e00-\u9fff]", server_says)


def mangled(draw):
    """A frame that no page of ours sends: text or bytes."""
    good = {"type": "compute", "id": 3, "settings": {"digit": 4}, "language": "en"}
    odd = [None, True, -1, 1.5, 2**60, "", "x" * 300, [], {}, [[]] * 50, "\ud800", {"type": "compute"}]
    if (which := draw.randrange(6)) == 0:
        return json.dumps(good)[: draw.randrange(60)]
    if which == 1:
        return draw.randbytes(draw.randrange(200))
    if which == 2:
        frame = bytearray(packed({"type": "picture", "id": 1}, [PNG]))
        frame[draw.randrange(len(frame))] ^= 1 << draw.randrange(8)
        return bytes(frame)
    if which == 3:
        return draw.choice(["NaN", "[" * 5000, '{"id":1' + "0" * 5000 + "}", "5", '"text"', '{"id": NaN}', "\0", "{}"])
    name = draw.choice(["type", "id", "settings", "language", "tab", "choices", "ask", "message", "more"])
    good["type"] = draw.choice(["compute", "tab", "act", "python", "page", "picture", "facts"])
    return json.dumps({**good, "tab": draw.choice(TABS), name: draw.choice(odd)})


def test_what_no_page_sends_is_refused_in_a_sentence_or_ends_the_connection(served):
    draw = random.Random(24)
    page = Page(served)
    closed = 0
    for k in range(200):
        frame = mangled(draw)
        page.socket.send(
            frame, websocket.ABNF.OPCODE_BINARY if isinstance(frame, bytes) else websocket.ABNF.OPCODE_TEXT
        )
        page.socket.send(json.dumps({"type": "python", "id": 10_000 + k, "settings": {}}))
        while True:
            opcode, data = page.socket.recv_data()
            if opcode == websocket.ABNF.OPCODE_CLOSE:
                assert int.from_bytes(data[:2], "big") in (1003, 1007, 1008), (frame, data)
                page, closed = Page(served), closed + 1
                break
            message, _ = unpacked(data)
            if message["type"] == "refused":
                assert message["sentence"], frame
            if message.get("id") == 10_000 + k:
                break
    assert closed > 20
    page.socket.close()
    assert not [line for line in served.said if "Traceback" in line or "Error" in line], served.said


def test_the_newest_settings_win_and_a_second_page_waits_for_none(served):
    """A page floods while its first request is computed; another's answer comes though the flood is not over."""
    with Page(served) as flood, Page(served) as other:
        asked = [flood.send(type="compute", settings={"digit": k % 10, "seed": k}) for k in range(300)]
        assert other.ask(type="compute", settings={})[0]["type"] == "numbers"
        answered = []
        while not answered or answered[-1] != asked[-1]:
            answered.append(flood.hear()[0]["id"])
        assert answered == sorted(set(answered)), "none twice, none out of order"


def test_a_request_that_waits_still_is_not_asked_for_twice(served):
    with Page(served) as page:
        kinds = [page.send(type="page", settings={}) and "page" for _ in range(4)]
        heard = [page.hear()[0] for _ in kinds]
        refused = [message for message in heard if message["type"] == "refused"]
        assert {message["type"] for message in heard} == {"page", "refused"}
        assert {message["sentence"] for message in refused} == {say("busy")}


def test_tabs_with_a_state_are_shown_as_they_are_at_first(served):
    with Page(served) as page:
        page.send(type="act", tab="yours", message={"type": "refresh"})
        message, _ = page.hear()
        assert "id" not in message
        assert message["data"]["why_not"]
        page.send(type="act", tab="race", message={"type": "leave"})  # nobody races: nothing to say
        page.send(type="act", tab="race", message={"type": "refresh"})
        message, _ = page.hear()
        assert (message["type"], message["tab"], message["data"]["state"]) == ("tab", "race", "ready")
        page.send(type="act", tab="code", message={"type": "refresh"})
        assert page.hear()[0]["type"] == "refused"


def test_a_race_belongs_to_its_page_and_ends_with_it(served):
    page = Page(served)
    chosen = {"layers": ["unfold"], "epochs": 20, "train": 4000, "seeds": 5}
    page.send(type="act", tab="race", message={"type": "start", "chosen": chosen}, language="zh-Hans")
    while page.hear()[0]["data"]["state"] != "running":
        pass
    asked = page.send(type="tab", tab="race", settings={})
    while (message := page.hear()[0]).get("id") != asked:
        pass
    assert message["data"]["state"] == "running", "the page's own race, not the recorded one"
    page.send(type="act", tab="race", message={"type": {}})  # as no page of ours does: the race goes on
    page.send(type="act", tab="race", message={"type": "refresh"})
    while page.hear()[0]["type"] != "tab":
        pass
    with Page(served) as other:
        assert other.ask(type="tab", tab="race", settings={})[0]["data"]["state"] == "ready"
    (racer,) = racers(served)
    page.socket.close()
    wait_until(lambda: not racer.is_running(), 20, "the race has ended")


def test_a_race_whose_process_dies_says_so_and_makes_room_for_another(served):
    start = {"type": "act", "tab": "race", "message": {"type": "start", "chosen": {"layers": ["unfold"]}}}
    with Page(served) as page, Page(served) as second, Page(served) as third:
        for each in (page, second):
            each.send(**start)
            assert each.hear()[0]["data"]["state"] == "starting"
        third.send(**start)
        assert third.hear()[0]["data"]["failed"] == sentences("features/race")("room", count=2)
        first, _ = racers(served)
        first.kill()
        while (data := page.hear()[0]["data"])["state"] != "failed":
            pass
        assert data["failed"]
        third.send(**start)
        assert third.hear()[0]["data"]["state"] == "starting"
    wait_until(lambda: not racers(served), 20, "the races have ended with their pages")


def ends(server, how):
    """End a server whose page has just heard an answer, and see that it leaves nothing behind."""
    with Page(server) as page:
        assert page.ask(type="compute", settings={})[0]["type"] == "numbers"
        processes = workers(server)
        os.kill(server.process.pid, how)
        server.process.wait(30)
    wait_until(lambda: not any(each.is_running() for each in processes), 20, "workers have ended")
    assert not [line for line in server.said if "Traceback" in line], server.said
    return len(processes)


@pytest.fixture(scope="module")
def hurried():
    """A server with one worker, in Chinese and without the notebook, that tells soon who waits."""
    soon = "from convviz.serve import numbers_socket as numbers\nnumbers.NOTIFY_SECONDS = 0.01"
    with voila_server(arguments=["--workers", "1", "--no-notebook", "--lang", "zh-HK"], prepare=soon) as server:
        yield server


def test_where_the_notebook_is_off_nothing_of_voila_or_jupyter_is_there(hurried):
    for path in (
        "voila/render/app.ipynb",
        "voila/static/voila.js",
        "voila/templates/convviz/static/page.css",
        "voila/labextensions/anywidget/package.json",
        "voila/api/themes/x",
        f"voila/api/shutdown/{GUESS}",
        f"api/kernels/{GUESS}",
        f"api/kernels/{GUESS}/channels",
    ):
        for method in ("GET", "POST", "DELETE"):
            assert ask(hurried.url, path, method=method)[0] == 404, (method, path)
    assert refusal(hurried.url, f"api/kernels/{GUESS}/channels") == 404
    pages = [ask(hurried.url, query, Accept_Language=wish) for query, wish in (("", "en"), ("?lang=en", "zh"))]
    assert [re.search(rb'<html lang="([\w-]+)', page)[1] for _, _, page in pages] == [b"zh-Hant", b"en"], (
        "what the server was set to comes between the address and the browser"
    )
    assert hurried.kernels() == {}


def test_who_is_in_line_hears_so_before_the_answer_and_nothing_is_left_of_a_server_that_is_killed(hurried):
    """A page takes a connection that says nothing for lost. The last of the tests of this server."""
    with contextlib.ExitStack() as open_pages:
        pages = [open_pages.enter_context(Page(hurried)) for _ in range(2)]
        for page in pages:
            page.send(type="page", settings={})
        heard = []
        for page in pages:
            kinds = [page.hear()[0]["type"]]
            while kinds[-1] == "waits":
                kinds.append(page.hear()[0]["type"])
            heard.append(kinds)
    assert [kinds[-1] for kinds in heard] == ["page"] * 2
    assert any("waits" in kinds for kinds in heard), "whoever was the last in line"
    assert ends(hurried, signal.SIGKILL) == 2, "a worker, and what it is forked from"


def test_nothing_is_left_of_a_server_that_is_interrupted(served):
    """The last of the tests of this server."""
    assert ends(served, signal.SIGINT) == 3
