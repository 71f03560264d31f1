"""What an attacker finds at the door of `convviz serve`: the table of docs/security.md, one test a row."""

import uuid

import psutil
import pytest

from convviz.facts.words import sentences
from tests.browser.server import voila_server
from tests.protocol import Channels, ask, refusal, start_kernel

say = sentences("gate")
MIB = 2**20
# Nobody's kernel, in the form of one.
GUESS = "12345678-1234-4234-8234-123456789012"
FORBIDDEN = (
    "execute_request",
    "inspect_request",
    "complete_request",
    "is_complete_request",
    "history_request",
    "input_reply",
    "interrupt_request",
    "debug_request",
    "create_subshell_request",
    "usage_request",
)


class Visit:
    """A visitor with a kernel, whose page asked for it with a secret of his in its address."""

    def __init__(self, url, secret):
        self.secret = secret
        self.kernel_id, self.asking = start_kernel(url, f"?v=1&secret={secret}")
        self.channels = Channels(url, self.kernel_id)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The app with a preheated kernel, as `convviz serve` has it, and its log."""
    log = tmp_path_factory.mktemp("served") / "log"
    with voila_server(preheat=True, arguments=["--log", log]) as server:
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
    heard = []
    while (answer := channels.receive())[:2] != ("kernel_info_reply", last):
        heard.append(answer)
    channels.until_idle(last)
    assert [parent for _, parent, _ in heard if parent in sent] == []
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
    """Return (model id, state) of the app's widget, as any page may ask for them."""
    control = uuid.uuid4().hex
    content = {"comm_id": control, "target_name": "jupyter.widget.control", "data": {}}
    channels.ask("comm_open", content, version="1.0.0")
    answers = channels.ask("comm_msg", {"comm_id": control, "data": {"method": "request_states"}})
    states = next(content["data"]["states"] for kind, content in answers if kind == "comm_msg")
    return next((model, held["state"]) for model, held in states.items() if held["model_name"] == "AnyModel")


def test_tab_your_code_runs_nobodys_code_on_a_server(visit, tmp_path):
    """Whatever a page of one's own making sends: the tab is for notebooks."""
    made = tmp_path / "made"
    model, state = app_of(visit.channels)

    def send(content):
        data = {"method": "custom", "content": content}
        return visit.channels.ask("comm_msg", {"comm_id": model, "data": data})

    opened = send({"type": "compute", "page": "p", "k": 1, "settings": {**state["_state"], "tab": "yours"}})
    assert "nobody's code is run" in str(opened)
    code = f"open({str(made)!r}, 'w').close()\ndef f(x, w): return x"
    check = {"type": "check", "task": "conv2d_backward", "name": "", "code": code}
    answers = send({"type": "tab", "tab": "yours", "message": check})
    assert "'report'" not in str(answers)
    assert not made.exists()


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/voila/static/../../../../../../etc/passwd",
        "/voila/static/..%2f..%2f..%2f..%2f..%2f..%2fetc/passwd",
        "/voila/static//etc/passwd",
        "/voila/static/%2fetc%2fpasswd",
        "/voila/static/....//....//etc/passwd",
        "/voila/static/..\\..\\etc\\passwd",
        "/voila/labextensions/../../../../../../etc/passwd",
        "/voila/labextensions//etc/passwd",
        "/voila/templates/convviz/static/../../../../../../../../etc/passwd",
        "/voila/templates/../../../../etc/passwd/static/x",
        "/voila/api/themes/../../../../../../etc/passwd",
        "/voila/api/themes//etc/passwd",
        "/voila/files/../../../../etc/passwd",
        "/voila/files//etc/passwd",
        "/voila/files/app.ipynb",
        "/voila/files/voila.json",
        "/voila/files/../serve/gate.py",
        "/voila/static/%00",
        "/convviz/..%2f..%2fvoila.json",
        "/convviz/../voila.json",
        "/voila/render/app.ipynb",
        "/voila/tree",
        "/app.ipynb",
        "http://127.0.0.1/voila/files/voila.json",
    ],
)
def test_no_path_leads_to_a_file_of_the_machine(served, path):
    status, _, body = ask(served.url, path)
    assert status == 404
    for secret in (b"root:", b"nbformat", b"tornado_settings", b"find_handler"):
        assert secret not in body


def test_kernels_of_others_are_named_nowhere(served, visit):
    """What protects a kernel is its id, 122 random bits that its page alone is told."""
    known = visit.kernel_id
    assert uuid.UUID(known).version == 4
    for path in ("api/kernels", "api/kernels/", "api/sessions", "api/kernelspecs", "api/status", "api/contents"):
        assert ask(served.url, path)[0] == 404, path
    for method in ("GET", "DELETE"):
        assert ask(served.url, f"api/kernels/{GUESS}", method=method)[0] == 404
    assert refusal(served.url, f"api/kernels/{GUESS}/channels") == 404
    assert refusal(served.url, f"voila/query/{GUESS}", origin="http://evil.example", newer=False) == 403
    assert known.encode() not in ask(served.url, "metrics")[2]
    assert known not in served.log.read_text()
    assert known[:8] in served.log.read_text(), "what the log has of it is no key"
    assert ask(served.url, f"api/kernels/{known}")[0] == 200, "who knows the id may speak to the kernel"


FOREIGN = ("http://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1.evil.example")


@pytest.mark.parametrize("origin", FOREIGN)
def test_page_of_another_origin_reaches_no_kernel(served, visit, origin):
    known = visit.kernel_id
    assert refusal(served.url, "convviz/kernel", origin=origin, newer=False) == 403
    assert refusal(served.url, f"api/kernels/{known}/channels", origin=origin) == 403
    # A form of another site posts without asking first; a link or a script deletes nothing.
    shutdown = f"voila/api/shutdown/{known}"
    for headers in ({"Origin": origin}, {"Referer": f"{origin}/page"}):
        assert ask(served.url, shutdown, method="POST", **headers)[0] == 404
        assert ask(served.url, f"api/kernels/{known}", method="DELETE", **headers)[0] == 404
    for path in ("", "api/kernels/" + known, "health"):
        assert "access-control-allow-origin" not in ask(served.url, path, Origin=origin)[1]
    assert ask(served.url, f"api/kernels/{known}")[0] == 200, "it lives"
