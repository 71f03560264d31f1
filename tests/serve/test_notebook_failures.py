"""What a page of the notebook and the operator read where a kernel fails; the page's own faults are no event."""

import contextlib

import pytest
import websocket

from convviz.facts.words import sentences
from convviz.serve.binary_frames import unpacked
from tests.browser.server import voila_server, wait_until
from tests.serve_client import Channels, ask, connect, start_kernel

NOTEBOOK = "voila/render/app.ipynb"
# A disk that is full, or a kernel that dies at once, as long as a file is there.
FAILS = """
import errno, os, sys
from pathlib import Path
import jupyter_client.connect
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
full, dies = (Path(os.environ["FAILS"], name) for name in ("full", "dies"))
writes, launches = jupyter_client.connect.secure_write, LocalProvisioner.launch_kernel
def secure_write(*arguments, **options):
    if full.exists():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return writes(*arguments, **options)
def launch_kernel(self, cmd, **options):
    return launches(self, [sys.executable, "-c", ""] if dies.exists() else cmd, **options)
jupyter_client.connect.secure_write = secure_write
LocalProvisioner.launch_kernel = launch_kernel
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fails")
    with voila_server(prepare=FAILS, env={"FAILS": str(folder), "IPYTHONDIR": str(folder / "ipython")}) as server:
        server.folder = folder
        yield server
        assert server.interrupt() == 0, "what failed does not keep it from ending"


def test_a_full_disk_is_a_sentence_for_the_page_and_a_line_for_the_operator(served):
    said = len(served.said)
    (served.folder / "full").touch()
    status, _, page = ask(served.url, NOTEBOOK)
    (served.folder / "full").unlink()
    assert (status, page.decode()) == (503, sentences("access_control")("no_kernel") + "\n")
    lines = wait_until(lambda: served.said[said:], what="the operator reads why")
    assert lines == ["A kernel cannot start: [Errno 28] No space left on device"]
    assert served.kernels() == {}


def test_a_kernel_that_dies_at_once_is_a_part_of_a_page_and_a_line_for_the_operator(served):
    said = len(served.said)
    (served.folder / "dies").touch()
    status, _, page = ask(served.url, NOTEBOOK)
    (served.folder / "dies").unlink()
    assert status == 200
    assert b"voila_finish" not in page, "which is how the page knows that it is not whole"
    lines = wait_until(lambda: served.said[said:], what="the operator reads why")
    assert lines == ["A kernel ended before its page was complete."]


def test_a_visitor_writes_nothing_into_the_operators_output(served):
    said = len(served.said)
    packed = ["Sec-WebSocket-Extensions: permessage-deflate"]
    kernel_id = start_kernel(served.url)
    channels = Channels(served.url, kernel_id, headers=packed)
    for kind in ("comm_open", "comm_msg", "comm_close", "comm_info_request", "kernel_info_request"):
        for content in ({}, [], {"comm_id": 5}, {"comm_id": "x", "data": 5}):
            channels.send(kind, content)
    channels.ask("kernel_info_request", {})
    page = connect(served.url, "live/numbers", newer=False, headers=packed)
    assert unpacked(page.recv())[0]["type"] == "facts"
    for connection in (channels.socket, page):
        connection.sock.sendall(bytes([0xC2, 0x83, 0, 0, 0, 0]) + b"\7\7\7")  # said to be compressed, and is not
        with contextlib.suppress(websocket.WebSocketConnectionClosedException, ConnectionResetError):
            while connection.recv():
                pass  # until it is closed
    watching = Channels(served.url, kernel_id)
    watching.ask("kernel_info_request", {})
    served.kill_kernel(kernel_id)
    wait_until(lambda: "restarted failed" in "\n".join(served.said[said:]), what="the end of a kernel is reported")
    assert served.said[said:] == ["[ConvvizVoila] ERROR | kernel … restarted failed!"], "nothing else, and not its id"
