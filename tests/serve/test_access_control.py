"""What stands at the door of `convviz serve`, what can be seen of it, and how it begins anew."""

import asyncio
import http.client
import json
import re
import signal
import socket
import sys
import threading
import urllib.parse

import psutil
import pytest
import tornado.web
from prometheus_client.parser import text_string_to_metric_families

from convviz.cli import main
from convviz.facts.words import sentences
from convviz.serve.access_control import Gate, content_policy, is_loopback
from convviz.serve.binary_frames import unpacked
from convviz.serve.metrics import descendants, memory_of
from convviz.serve.options import ServeError, ServeOptions
from convviz.serve.visitor_limits import BoundedServer
from convviz.serve.zero_downtime_restart import all_answered
from tests.browser.server import voila_server, wait_until
from tests.run_in_thread import run_apart
from tests.serve_client import ask, connect, page_that_leaves, refusal

say = sentences("access_control")
HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
FRAME = "https://lms.example.edu"
NAME = "course.example.edu"
KEYS = {"time", "event", "reason"}


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"base_url": "/convviz"}, "--base-url must be a path"),
        ({"base_url": "//evil.example/"}, "--base-url must be a path"),
        ({"token": "short"}, "--token must have 8 to 200 letters"),
        ({"class_size": 0}, "--class must be the number of students, 1 or more"),
        ({"workers": 0}, "--workers must be the number of processes, 1 or more"),
        ({"races": -1}, "--races must be 0, for none, or more"),
        ({"allow_host": ("https://course.example.edu",)}, "--allow-host must be a name alone"),
        ({"allow_host": ("course.example.edu:80",)}, "--allow-host must be a name alone"),
        ({"allow_frame": ("course.example.edu",)}, "--allow-frame must be an origin"),
        ({"trust_proxy": ("nginx",)}, "--trust-proxy must be the address of a proxy"),
        ({"allow_frame": ("https://a.example; script-src *",)}, "--allow-frame must be an origin"),
    ],
)
def test_a_value_that_no_server_can_follow_is_one_sentence(wrong, rule):
    with pytest.raises(ServeError, match=re.escape(rule)) as refused:
        ServeOptions(**wrong).checked()
    (value,) = wrong.values()
    assert repr(value[0] if isinstance(value, tuple) else value) in str(refused.value), "what was received"
    assert "\n" not in str(refused.value)


def test_a_log_that_cannot_be_written_costs_one_sentence(tmp_path, capsys):
    where = tmp_path / "none" / "log"
    assert main(["serve", "--port", "0", "--log", str(where)]) == 1
    said = capsys.readouterr().err
    assert said == f"convviz: --log must be a file that can be written, or -, and {str(where)!r} is not: " + (
        "No such file or directory.\n"
    )


def test_a_token_is_made_where_one_is_wished_for():
    made = {ServeOptions(token="").checked().token for _ in range(3)}
    assert len(made) == 3
    assert all(re.fullmatch(r"[\w-]{32}", token) for token in made)
    assert ServeOptions(token="of-my-own").checked().token == "of-my-own"
    assert ServeOptions().checked().token is None


@pytest.mark.parametrize(
    ("name", "loopback"),
    [
        ("localhost", True),
        ("app.localhost", True),
        ("127.9.9.9", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("localhost.example", False),
        ("127.0.0.1.example", False),
    ],
)
def test_loopback_is_known_by_name_and_number(name, loopback):
    assert is_loopback(name) == loopback


def test_the_notebook_is_for_the_machine_itself_unless_somebody_says_so():
    for options, served in [
        ({}, True),
        ({"host": "::1"}, True),
        ({"host": "0.0.0.0"}, False),
        ({"allow_host": (NAME,)}, False),
        ({"class_size": 3}, False),
        ({"notebook": False}, False),
        ({"host": "0.0.0.0", "notebook": True}, True),
    ]:
        assert ServeOptions(**options).has_notebook == served, options


def test_only_the_notebooks_page_may_have_scripts_in_it():
    live, notebook = (content_policy(ServeOptions(allow_frame=(FRAME,)), notebook=each) for each in (False, True))
    assert live.endswith(f"frame-ancestors 'self' {FRAME}")
    assert notebook == live.replace("script-src 'self'", "script-src 'self' 'unsafe-inline'") != live
    assert "script-src 'self' blob:;" in live
    assert "unsafe-eval" not in notebook
    assert "frame-src" not in live


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server below a path, for who has the token, under one more name, in one more frame, with a log."""
    log = tmp_path_factory.mktemp("guarded") / "log"
    words = ["--base-url", "/a/course/", "--allow-host", NAME, "--allow-frame", FRAME, "--log", log, "--notebook"]
    words += ["--workers", "2", "--token"]
    with voila_server(arguments=words) as server:
        server.log = log
        address, server.token = server.url.split("?token=")
        server.address, server.url = server.url, address
        yield server


@pytest.fixture(scope="module")
def cookie(guarded):
    """The header of who has opened the address once."""
    _, headers, _ = ask(guarded.url, f"?token={guarded.token}")
    return {"Cookie": headers["set-cookie"].split(";")[0]}


def lines(server):
    """What the log has."""
    return [json.loads(line) for line in server.log.read_text(encoding="utf-8").splitlines()]


def sample(server, name, **labels):
    """Return a number of the metrics; None where there is none."""
    _, _, text = ask(server.url, "metrics")
    for family in text_string_to_metric_families(text.decode()):
        for each in family.samples:
            if each.name == name and each.labels == labels:
                return each.value
    return None


def test_the_address_that_is_printed_lets_in_and_a_cookie_keeps_it(guarded, cookie):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/a/course/\?token=[\w-]{32}", guarded.address)
    status, headers, _ = ask(guarded.url, f"?v=1&token={guarded.token}&lesson=backward")
    assert (status, headers["location"]) == (302, "/a/course/?v=1&lesson=backward"), "the address loses it"
    name, value = cookie["Cookie"].split("=")
    assert headers["set-cookie"] == f"{name}={value}; Path=/a/course/; HttpOnly; SameSite=Lax"
    assert guarded.token not in headers["set-cookie"]
    # Behind TLS that ends at a proxy all cookies are for TLS alone: ours, and the one that Jupyter sets for a kernel.
    kernel = "api/kernels/12345678-1234-4234-8234-123456789012"
    for path, known in ((f"?token={guarded.token}", {}), (kernel, cookie)):
        forwarded = ask(guarded.url, path, X_Forwarded_Proto="https", **known)[1]["set-cookie"]
        assert forwarded.endswith("; Secure"), path
    status, _, page = ask(guarded.url, "", **cookie)
    assert status == 200
    assert b'id="convviz-main"' in page


def test_without_the_token_everything_but_health_is_refused_with_a_sentence(guarded, cookie):
    script = re.search(rb'"(convviz/script-[\w.-]+)"', ask(guarded.url, "", **cookie)[2])[1].decode()
    guess = "12345678-1234-4234-8234-123456789012"
    for path in ("", "?v=1", "?token=", "?token=wrong-token", f"?tokens={guarded.token}", script, "nothing", "/",
                 f"api/kernels/{guess}", f"voila/api/shutdown/{guess}", "voila/static/voila.js",
                 "voila/render/app.ipynb"):  # fmt: skip
        for method in ("GET", "HEAD", "POST", "DELETE"):
            status, _, body = ask(guarded.url, path, method=method)
            assert status == 403, (method, path)
            assert body.decode().strip() == ("" if method == "HEAD" else say("token"))
    for wrong in ("x", "é", cookie["Cookie"].split("=")[1] + "0"):
        given = f"{cookie['Cookie'].split('=')[0]}={wrong}".encode().decode("latin-1")
        assert ask(guarded.url, "", Cookie=given)[0] == 403, wrong
    for path in ("live/numbers", f"api/kernels/{guess}/channels"):
        assert refusal(guarded.url, path) == 403
        assert refusal(guarded.url, f"{path}?token=wrong-token") == 403
    assert ask(guarded.url, script, **cookie)[0] == 200
    assert ask(guarded.url, f"{script}?token={guarded.token}")[0] == 200, "who keeps no cookies"
    assert ask(guarded.url, "health")[::2] == (200, b'{"status": "ok"}')
    assert ask(guarded.url, "health", method="HEAD")[0] == 200


def test_everything_is_below_the_path(guarded, cookie):
    assert ask(guarded.url, "/a/course")[::2] == (302, b"")
    assert ask(guarded.url, "/a/course?v=1")[1]["location"] == "/a/course/?v=1"
    for path in (
        "/",
        "/health",
        "/metrics",
        "/live/numbers",
        "/voila/render/app.ipynb",
        "/voila/static/voila.js",
        "/a/",
        "/a/coursehealth",
    ):
        assert ask(guarded.url, path, **cookie)[0] == 404, path
    assert b'"numbers":"live/numbers"' in ask(guarded.url, "", **cookie)[2], "from the page's own address"


def test_who_may_look_and_who_may_frame(guarded, cookie):
    assert ask(guarded.url, "metrics")[1]["content-type"].startswith("text/plain")
    refused = (403, say("metrics").encode() + b"\n")
    # A proxy on this machine asks from loopback, too: it names the visitor, or the name that he asked for.
    for named in ({"X_Forwarded_For": "203.0.113.7"}, {"Forwarded": "for=203.0.113.7"}, {"Host": NAME}):
        assert ask(guarded.url, "metrics", **named)[::2] == refused
        assert ask(guarded.url, f"metrics?token={guarded.token}", **named)[0] == 200
        assert ask(guarded.url, "metrics", **named, **cookie)[0] == 200
    assert ask(guarded.url, "health", Host=f"{NAME.upper()}.:443")[0] == 200
    assert ask(guarded.url, "health", Host=f"x.{NAME}")[::2] == (403, say("host", host=f"x.{NAME}").encode() + b"\n")
    for path in ("", "health", "nothing"):
        policy = ask(guarded.url, path)[1]["content-security-policy"]
        assert policy.endswith(f"frame-ancestors 'self' {FRAME}"), path


def test_what_happens_is_counted_and_logged_without_a_visitor_in_it(guarded, cookie):
    page = connect(
        guarded.url, "live/numbers?secret=of-a-visitor", newer=False, headers=[f"Cookie: {cookie['Cookie']}"]
    )
    reported, _ = unpacked(page.recv())
    assert reported["type"] == "facts"
    page.send(json.dumps({"type": "compute", "id": 1, "language": "en", "settings": {}}))
    assert unpacked(page.recv())[0]["type"] == "numbers"
    page.send(json.dumps({"type": "compute", "id": 2, "language": "en", "settings": []}))
    assert unpacked(page.recv())[0]["type"] == "refused"
    for name, labels, value in [
        ("convviz_pages", {}, 1),
        ("convviz_workers", {}, 2),
        ("convviz_requests_total", {"kind": "compute"}, 2),
        ("convviz_answer_seconds_count", {}, 2),
    ]:
        assert sample(guarded, name, **labels) == value, name
    if sys.platform == "linux":
        assert sample(guarded, "convviz_memory_bytes", part="server") > 20e6
        assert sample(guarded, "convviz_memory_bytes", part="workers") > 1e6  # they may have started since
        pid = guarded.process.pid
        started = descendants(pid)
        assert set(started) == {child.pid for child in psutil.Process(pid).children(recursive=True)} != set()
        assert all(memory_of(each) > 1e6 for each in started)
        # The process that workers are forked from goes by its own name; the others are its children.
        stem = next(child for child in psutil.Process(pid).children() if "convviz.serve.worker" in child.cmdline())
        for worker in stem.children():
            worker.kill()
        page.send(json.dumps({"type": "compute", "id": 3, "language": "en", "settings": {}}))
        assert unpacked(page.recv())[0]["type"] == "numbers"
        assert sample(guarded, "convviz_workers_ended_total", reason="died") >= 1
    assert sample(guarded, "convviz_refused_total", reason="token") > 0
    assert sample(guarded, "convviz_refused_total", reason="host") > 0
    page.close()
    wait_until(lambda: sample(guarded, "convviz_pages") == 0, what="a page that goes is not counted any more")

    reported = lines(guarded)
    assert all(set(line) <= KEYS for line in reported)
    assert {line["reason"] for line in reported if line["event"] == "refused"} <= {
        "token",
        "host",
        "metrics",
        "request",
    }
    text = guarded.log.read_text(encoding="utf-8")
    for secret in (guarded.token, "secret", "127.0.0.1", "/a/course", NAME):
        assert secret not in text, secret


def test_a_visitors_address_reaches_no_kernel_but_the_visitors_own(guarded, cookie):
    """Voilà hands a kernel what was asked for; the token is taken out before anything sees it."""
    with page_that_leaves(guarded, f"?token={guarded.token}&secret=of-visitor-1") as first:
        assert "of-visitor-1" in first.environ()["VOILA_REQUEST_URL"]
        with page_that_leaves(guarded, "?secret=of-visitor-2", **cookie) as second:
            reported = second.environ()
    assert "of-visitor-2" in reported["VOILA_REQUEST_URL"]
    for hidden in ("of-visitor-1", guarded.token, cookie["Cookie"]):
        assert hidden not in str(reported)


class Knocking(threading.Thread):
    """Asks for the server's health again and again, as many visitors do; `answers` has what came of it."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.parts = urllib.parse.urlsplit(url)
        self.answers = []
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            try:
                connection = http.client.HTTPConnection(self.parts.netloc, timeout=60)
                connection.request("GET", f"{self.parts.path}health")
                self.answers.append(connection.getresponse().status)
            except OSError as error:
                self.answers.append(repr(error))
            finally:
                connection.close()


def restart(server, visitors):
    """Have the server begin anew, and wait until everybody has come again; return how many files it has open."""
    starts = [line["event"] for line in lines(server)].count("started")
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: [line["event"] for line in lines(server)].count("started") > starts, what="it begins anew")
    came = [len(visitor.answers) for visitor in visitors]
    wait_until(lambda: all(len(visitor.answers) > before + 1 for visitor, before in zip(visitors, came, strict=True)))
    return psutil.Process(server.process.pid).num_fds()


def test_a_restart_refuses_nobody_and_keeps_the_token(guarded, cookie):
    visitors = [Knocking(guarded.url) for _ in range(8)]
    for visitor in visitors:
        visitor.start()
    files = [restart(guarded, visitors) for _ in range(2)]
    for visitor in visitors:
        visitor.ended.set()
    for visitor in visitors:
        visitor.join(60)
    assert {answer for visitor in visitors for answer in visitor.answers} == {200}
    assert guarded.kernels() == {}, "those that the test before started"
    assert ask(guarded.url, "", **cookie)[0] == 200
    addresses = [line for line in guarded.said if line.startswith("convviz is served")]
    assert addresses == [f"convviz is served at {guarded.address} - stop with Ctrl+C"] * 3
    assert abs(files[1] - files[0]) <= len(visitors), "the visitors come and go; nothing else stays open"
    assert guarded.interrupt() == 0
    assert [line["event"] for line in lines(guarded)[-5:]] == ["restarts", "started", "restarts", "started", "stopped"]


class Takes(tornado.web.RequestHandler):
    """Takes its time."""

    async def get(self):
        await self.settings["may_answer"].wait()
        self.finish("heard")


def test_a_restart_lets_go_when_what_was_asked_for_is_answered():
    async def run():
        may_answer = asyncio.Event()
        app = tornado.web.Application([("/", Takes)], may_answer=may_answer)
        gate = Gate(app, ServeOptions(), lambda why: None)
        app.settings["log_function"] = gate.answered
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            server = BoundedServer(gate, lambda why: None)
            server.add_socket(listener.dup())
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            assert not gate.is_answering()
            writer.write(HEAD + b"Connection: close\r\n\r\n")
            async with asyncio.timeout(30):
                while not gate.is_answering():
                    await asyncio.sleep(0)
            server.stop()
            waits = asyncio.ensure_future(all_answered(gate.is_answering))
            may_answer.set()
            assert (await reader.read()).endswith(b"heard")
            await waits
            assert not gate.is_answering()

    run_apart(run())
