"""What an attacker finds at the door of `convviz serve`: the table of docs/security.md, one test a row.

That nothing of Jupyter is there where the notebook is off is held in test_numbers_socket.py.
"""

import contextlib
import gzip
import json
import re
import socket
import urllib.parse
import uuid
import zlib
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
import websocket

from convviz.facts.words import sentences
from convviz.serve.access_control import content_policy
from convviz.serve.binary_frames import unpacked
from convviz.serve.options import ServeOptions
from tests.browser.server import voila_server, wait_until
from tests.serve_client import Channels, ask, connect, page_that_leaves, refusal, start_kernel

say = sentences("access_control")
MIB = 2**20
KERNELS = 2  # at a time: each takes seconds to start
# Nobody's kernel, in the form of one.
GUESS = "12345678-1234-4234-8234-123456789012"
FORBIDDEN = (
    "execute_request", "inspect_request", "complete_request", "is_complete_request", "history_request", "input_reply",
    "interrupt_request", "debug_request", "create_subshell_request", "usage_request",
)  # fmt: skip


class Visit:
    """A visitor with a kernel, whose page asked for it with a secret of his in its address."""

    def __init__(self, url, secret):
        self.secret = secret
        self.kernel_id = start_kernel(url, f"?v=1&secret={secret}")
        self.channels = Channels(url, self.kernel_id)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The app as `convviz serve` has it on one's own machine, with its notebook of fewer kernels, and its log."""
    log = tmp_path_factory.mktemp("served") / "log"
    fewer = f"from convviz.serve import managers\nmanagers.MAX_KERNELS = {KERNELS}"
    with voila_server(arguments=["--log", log], prepare=fewer) as server:
        server.log = log
        yield server


@pytest.fixture(scope="module")
def visit(served):
    """The first visitor, who stays."""
    return Visit(served.url, "first-visitors-own")


def memory(server):
    """The server's own bytes."""
    return psutil.Process(server.process.pid).memory_info().rss


def is_well(server):
    return ask(server.url, "health")[::2] == (200, b'{"status": "ok"}')


def test_code_is_executed_over_no_channel(visit, tmp_path):
    channels = visit.channels
    made = tmp_path / "made"
    code = f"open({str(made)!r}, 'w').close()"
    content = {
        "code": code,
        "silent": False,
        "user_expressions": {"x": code},
        "cursor_pos": 1,
        "value": code,
        "command": "evaluate",
        "arguments": {"expression": code},
    }
    sent = [channels.send(kind, content, channel) for channel in ("shell", "control", "stdin") for kind in FORBIDDEN]
    last = channels.send("kernel_info_request", {})
    # The reply and the kernel's "idle" come over two sockets of its own, so either may be first.
    heard, awaited = [], {("kernel_info_reply", last), ("idle", last)}
    while awaited:
        kind, parent, content = channels.receive()
        heard.append(parent)
        awaited.discard((content.get("execution_state", kind), parent))
    assert [parent for parent in heard if parent in sent] == []
    assert not made.exists()


def test_a_message_of_the_older_protocol_is_never_read(served, visit):
    """The newest Voilà reads the kernel's own message of it as of the newer one, and fills the memory with a list."""
    assert refusal(served.url, f"api/kernels/{visit.kernel_id}/channels", newer=False) == 400


def test_comm_to_what_is_no_widget_reaches_nothing(visit):
    names = {"_model_module": "os", "_model_name": "system", "_view_module": "os", "_view_name": "system"}
    state = {**names, "_model_module_version": "*", "_view_module_version": "*"}
    for target in ("builtins.exec", "os.system", "jupyter.widget"):
        comm = uuid.uuid4().hex
        content = {"comm_id": comm, "target_name": target, "target_module": "os", "data": {"state": state}}
        answers = visit.channels.ask("comm_open", content)
        assert [content["comm_id"] for kind, content in answers if kind == "comm_close"] == [comm]
        # The kernel's own words of it, with the folders that it lies in, stay in the kernel.
        assert "site-packages" not in str(answers)
        assert "Traceback" not in str(answers)
        answers = visit.channels.ask("comm_msg", {"comm_id": comm, "data": {"code": "1"}})
        assert {kind for kind, _ in answers} <= {"status", "stream"}, "nobody answers"


def app_of(channels):
    """Return the id of the app's widget, as any page may ask for it."""
    control = uuid.uuid4().hex
    content = {"comm_id": control, "target_name": "jupyter.widget.control", "data": {}}
    channels.ask("comm_open", content, version="1.0.0")
    answers = channels.ask("comm_msg", {"comm_id": control, "data": {"method": "request_states"}})
    states = next(content["data"]["states"] for kind, content in answers if kind == "comm_msg")
    return next(model for model, held in states.items() if "_state" in held["state"])


def test_tab_your_code_runs_nobodys_code_on_a_server(served, visit, tmp_path):
    """Whatever a page of one's own making sends, to a kernel and to the workers: the tab is for notebooks."""
    made = tmp_path / "made"
    model = app_of(visit.channels)

    def send(content):
        data = {"method": "custom", "content": content}
        return visit.channels.ask("comm_msg", {"comm_id": model, "data": data})

    act = {"type": "act", "tab": "yours"}
    opened = send({**act, "message": {"type": "refresh"}})
    assert "runs no visitor's code" in str(opened)
    code = f"open({str(made)!r}, 'w').close()\ndef f(x, w): return x"
    check = {"type": "check", "task": "conv2d_backward", "name": "", "code": code}
    answers = send({**act, "message": check})
    assert "'report'" not in str(answers)
    page = connect(served.url, "live/numbers", newer=False)
    page.recv()
    for message in ({"type": "refresh"}, check):
        page.send(json.dumps({**act, "language": "en", "message": message}))
    page.send(json.dumps({"type": "compute", "id": 1, "language": "en", "settings": {}}))
    heard = []
    while not heard or heard[-1]["type"] != "numbers":
        heard.append(unpacked(page.recv())[0])
    page.close()
    assert "runs no visitor's code" in str(heard)
    assert {each["data"].get("report") for each in heard if each["type"] == "tab"} <= {None}
    assert not made.exists()


PATHS = (
    "/../../../../etc/passwd", "/..%2f..%2f..%2f..%2fetc/passwd", "//etc/passwd",
    "/voila/static/../../../../../../etc/passwd", "/voila/static/..%2f..%2f..%2f..%2f..%2f..%2fetc/passwd",
    "/voila/static//etc/passwd", "/voila/static/%2fetc%2fpasswd", "/voila/static/....//....//etc/passwd",
    "/voila/static/..\\..\\etc\\passwd", "/voila/labextensions/../../../../../../etc/passwd",
    "/voila/labextensions//etc/passwd", "/voila/templates/convviz/static/../../../../../../../../etc/passwd",
    "/voila/templates/../../../../etc/passwd/static/x", "/voila/api/themes/../../../../../../etc/passwd",
    "/voila/api/themes//etc/passwd", "/voila/files/../../../../etc/passwd", "/voila/files//etc/passwd",
    "/voila/files/app.ipynb", "/voila/files/voila.json", "/voila/files/../serve/access_control.py",
    "/voila/static/%00", "/convviz/..%2f..%2fvoila.json", "/convviz/../voila.json", "/voila/render/other.ipynb",
    "/voila/render/app.ipynb/..", "/voila/render/", "/voila/tree", "/app.ipynb",
    "http://127.0.0.1/voila/files/voila.json",
)  # fmt: skip


def test_no_path_leads_to_a_file_of_the_machine(served):
    for path in PATHS:
        status, _, body = ask(served.url, path)
        assert status == 404, path
        for secret in (b"root:", b"nbformat", b"tornado_settings", b"find_handler"):
            assert secret not in body, path


BAD_ADDRESSES = (
    "/logout", "/login", "/nothing", "/a/b", "//", "/voila", "/voila/", "/%00", "/favicon.ico", "/api/contents",
    "/voila/tree", "/voila/query/12345678-1234-1234-1234-123456789012", "/voila/templates/", "/voila/templates/x",
    "/voila/templates/convviz", "/voila/templates/convviz/x/y", "/voila/templates/convviz/static/",
    "/voila/templates/convviz/static/none.css", "/voila/templates/../../static/x", "/voila/templates/a/static/b%00",
    "/voila/templates/%2e%2e/static/../../x", "/voila/templates/nope/static/page.css", "/voila/static/",
    "/voila/static/nope", "/voila/static/%00", "/voila/static/..%2f..", "/voila/files/x", "/voila/files/%00",
    "/voila/labextensions/", "/voila/labextensions/%00", "/voila/labextensions/anywidget", "/voila/api/themes/",
    "/voila/api/themes/%00", "/api/kernels/12345678-1234-1234-1234-123456789012",
    "/api/kernels/12345678-1234-1234-1234-123456789012/channels",
)  # fmt: skip


def test_every_answer_is_guarded_and_a_bad_address_is_no_event(served):
    said = len(served.said)
    answers = [(path, "GET", 404) for path in BAD_ADDRESSES]
    answers += [("/voila/static/%ff", "GET", 400), ("/api/kernels/%ff", "GET", 404)]
    answers += [(path, "PUT", 405) for path in ("/", "/voila/templates/x", "/voila/static/voila.js")]
    answers += [
        (path, "GET", 200)
        for path in (
            "/",
            "/health",
            "/voila/static/voila.js",
            "/voila/templates/convviz/static/page.css",
            "/voila/labextensions/anywidget/package.json",
        )
    ]
    for path, method, expected in answers:
        status, headers, body = ask(served.url, path, method=method)
        assert status == expected, path
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["content-security-policy"].startswith(content_policy(ServeOptions())), path
        assert headers["referrer-policy"] == "same-origin", path
        assert status == 200 or b"Traceback" not in body, path
    assert served.said[said:] == []


def test_cookies_stay_with_the_page(served, visit):
    assert "samesite=lax" in ask(served.url, f"api/kernels/{visit.kernel_id}")[1]["set-cookie"].lower()


def test_kernels_of_others_are_named_nowhere(served, visit):
    """What protects a kernel is its id, 122 random bits that its page alone knows."""
    known = visit.kernel_id
    assert uuid.UUID(known).version == 4
    for path in ("api/kernels", "api/kernels/", "api/sessions", "api/kernelspecs", "api/status", "api/contents"):
        assert ask(served.url, path)[0] == 404, path
    for method in ("GET", "DELETE"):
        assert ask(served.url, f"api/kernels/{GUESS}", method=method)[0] == 404
    assert refusal(served.url, f"api/kernels/{GUESS}/channels") == 404
    assert known.encode() not in ask(served.url, "metrics")[2]
    assert known not in served.log.read_text()
    assert ask(served.url, f"api/kernels/{known}")[0] == 200, "who knows the id may speak to the kernel"


FOREIGN = ("http://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1.evil.example")


@pytest.mark.parametrize("origin", FOREIGN)
def test_page_of_another_origin_reaches_no_kernel(served, visit, origin):
    known = visit.kernel_id
    assert refusal(served.url, "live/numbers", origin=origin, newer=False) == 403
    assert refusal(served.url, f"api/kernels/{known}/channels", origin=origin) == 403
    # A form of another site posts without asking first; browsers name its origin.
    assert ask(served.url, f"voila/api/shutdown/{known}", method="POST", Origin=origin)[0] == 404
    assert ask(served.url, f"api/kernels/{known}", method="DELETE", Origin=origin)[0] == 404
    for path in ("", "api/kernels/" + known, "health"):
        assert "access-control-allow-origin" not in ask(served.url, path, Origin=origin)[1]
    # Files that are the same for everybody: without it a page in a sandboxed frame could not load its script.
    (script,) = re.findall(rb'src="(convviz/script-[^"]+)"', ask(served.url, "")[2])
    assert ask(served.url, script.decode(), Origin=origin)[1]["access-control-allow-origin"] == "*"
    assert ask(served.url, f"api/kernels/{known}")[0] == 200, "it lives"


@pytest.mark.parametrize("host", ["evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example"])
def test_foreign_name_is_refused_on_every_route(served, visit, host):
    """A site whose name leads to this machine from one moment to the next is of the page's own origin for a browser."""
    port = urllib.parse.urlsplit(served.url).port
    known = visit.kernel_id
    answer = say("host", host=host.partition(":")[0]).encode()
    for path in ("", "health", "metrics", "nothing", "live/numbers", f"api/kernels/{known}", "voila/static/voila.js"):
        for method in ("GET", "POST", "DELETE"):
            status, headers, body = ask(served.url, path, method=method, Host=host)
            assert (status, body.strip()) == (403, answer), path
            assert headers["x-content-type-options"] == "nosniff"
    for path in ("live/numbers", f"api/kernels/{known}/channels"):
        assert refusal(served.url, path, host=host, origin=f"http://{host}") == 403, path
    for own in ("localhost", f"LOCALHOST.:{port}", f"[::1]:{port}", "127.0.0.1", "127.1.2.3"):
        assert ask(served.url, "health", Host=own)[0] == 200, own


def test_two_names_are_none(served):
    with socket.create_connection(urllib.parse.urlsplit(served.url).netloc.split(":")) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")


def test_messages_have_a_size(served, visit):
    """Larger ones close the connection before they are read, packed ones, which nobody agreed to, unread."""
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(b"\0" * (300 * MIB)) + packer.flush(zlib.Z_SYNC_FLUSH)
    frame = websocket.ABNF.create_frame(packed[:-4], websocket.ABNF.OPCODE_BINARY)
    frame.rsv1 = 1  # packed
    before = memory(served)
    for path in (f"api/kernels/{visit.kernel_id}/channels", "live/numbers"):
        newer = path.startswith("api")
        large = connect(served.url, path, newer=newer)
        # Its header alone: the server hangs up before the rest has come.
        large.sock.sendall(bytes([0x82, 0xFF]) + (100 * MIB).to_bytes(8, "big") + b"mask")
        assert close_code(large) == 1009, path
        bomb = connect(served.url, path, newer=newer, headers=["Sec-WebSocket-Extensions: permessage-deflate"])
        assert "sec-websocket-extensions" not in bomb.getheaders(), path
        bomb.sock.sendall(frame.format())
        assert close_code(bomb) is None, path
    assert is_well(served)
    assert memory(served) - before < 100 * MIB


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("", 1008),
        ("[" * 100_000, 1008),
        ('{"type": "compute", "id": 1, "settings": [' + "[]," * 300_000 + "0]}", 1008),
        ("[]", 1008),
        ('{"type": "compute"}', 1008),
        ('{"type": "compute", "id": 1e400}', 1008),
        ('{"type": "compute", "id": 1, "settings": "' + "x" * MIB + '"}', 1009),
        (b"", 1008),
        (b"\xff" * 100, 1008),
        ((2**31).to_bytes(4, "little") + b"{}  ", 1008),
    ],
    ids=["none", "nest", "brackets", "list", "no id", "no number", "long", "no bytes", "bytes", "longer than it is"],
)
def test_what_is_no_request_closes_its_connection(served, message, code):
    page = connect(served.url, "live/numbers", newer=False)
    page.send(message, websocket.ABNF.OPCODE_TEXT if isinstance(message, str) else websocket.ABNF.OPCODE_BINARY)
    assert close_code(page) == code
    assert is_well(served)


def close_code(connection):
    """Return the number with which the server closes a websocket; None where it only hangs up."""
    read = connection.frame_buffer.recv_strict
    try:
        while True:
            first, size = read(2)
            size = ({126: 2, 127: 8}.get(size, 0) and int.from_bytes(read({126: 2, 127: 8}[size]), "big")) or size
            data = read(size) if size else b""
            if first & 0x0F == websocket.ABNF.OPCODE_CLOSE:
                return int.from_bytes(data[:2], "big")
    except (websocket.WebSocketConnectionClosedException, ConnectionResetError):
        return None


@pytest.mark.parametrize(
    "message",
    [
        b"\xff" * 8,
        (2**40).to_bytes(8, "little") + b"x" * 100,
        (1025).to_bytes(8, "little") + b"\0" * 10_000,
        b"",
        b"\0",
        "[" * 100_000,
        '{"channel": "shell", "header": {"msg_type": "execute_request"}}',
    ],
    ids=["the most parts there are", "more parts than bytes", "more parts than any", "none", "half", "nest", "text"],
)
def test_message_that_lies_of_itself_closes_its_connection(served, visit, message):
    channels = Channels(served.url, visit.kernel_id)
    channels.socket.send(
        message, websocket.ABNF.OPCODE_TEXT if isinstance(message, str) else websocket.ABNF.OPCODE_BINARY
    )
    assert close_code(channels.socket) == 1007
    assert is_well(served)
    assert visit.channels.ask("kernel_info_request", {})[-1] == ("status", {"execution_state": "idle"})


def test_bodies_are_small_and_nobody_unpacks_them(served):
    goodbye = f"voila/api/shutdown/{GUESS}"
    before = memory(served)
    assert ask(served.url, goodbye, method="POST", body=b"x" * (64 * 1024 + 1))[0] in (0, 400)
    assert ask(served.url, goodbye, method="POST", Content_Length=str(10**12))[0] == 400
    packed = gzip.compress(b"\0" * (50 * MIB))
    assert len(packed) < 64 * 1024
    assert ask(served.url, goodbye, method="POST", body=packed, Content_Encoding="gzip")[0] == 204
    assert is_well(served)
    assert memory(served) - before < 20 * MIB


def test_long_addresses_and_headers_end_the_connection(served):
    assert ask(served.url, "?" + "x" * 20_000)[0] == 200, "a link with numbers of one's own"
    assert ask(served.url, "?" + "x" * 33_000)[0] in (0, 400)
    assert ask(served.url, "", X_Long="x" * 33_000)[0] in (0, 400)
    assert ask(served.url, "", **{f"X-{number}": "x" for number in range(10_000)})[0] in (0, 400)
    assert is_well(served)


def test_many_connections_do_not_stop_the_next_one(served):
    parts = urllib.parse.urlsplit(served.url)
    with contextlib.ExitStack() as stack:
        for _ in range(500):
            connection = stack.enter_context(socket.create_connection((parts.hostname, parts.port)))
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")  # and no more
        assert is_well(served)


def test_a_page_too_many_of_the_notebook_is_refused_in_a_sentence_until_another_one_goes(served, visit):
    with ThreadPoolExecutor(4) as visitors:  # all at once
        answers = list(visitors.map(lambda _: ask(served.url, "voila/render/app.ipynb"), range(4)))
    refused = [(status, sentence.decode().strip()) for status, _, sentence in answers if status != 200]
    assert refused == [(503, say("kernels", most=KERNELS))] * 3
    assert len(served.kernels()) == KERNELS
    (other,) = set(served.kernels()) - {visit.kernel_id}
    assert ask(served.url, f"voila/api/shutdown/{other}", method="POST")[0] == 204
    wait_until(lambda: set(served.kernels()) == {visit.kernel_id}, what="the kernel of a page that said goodbye ends")
    with page_that_leaves(served):
        assert len(served.kernels()) == KERNELS, "there is room again"


def test_what_was_tried_is_no_event(served, visit):
    """The last of the tests of this server."""
    last = Channels(served.url, visit.kernel_id)  # the first one has answered no ping meanwhile
    assert last.ask("kernel_info_request", {})[-1] == ("status", {"execution_state": "idle"})
    assert len(served.said) == 1, f"the address, and no word of all that was tried: {served.said}"
    assert visit.secret not in served.log.read_text()
    assert visit.secret.encode() not in ask(served.url, "metrics")[2]
