"""Kernels forked from a warm process: they live, end and compute as kernels do, and nothing of them is left behind."""

import asyncio
import contextlib
import functools
import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import IPython
import pytest
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

from convviz.kernels.parent import WarmError, WarmParent
from convviz.kernels.process import ForkedProcess
from convviz.kernels.provisioner import SharedTorchProvisioner, kernel_arguments, own_streams
from tests.apart import run_apart

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kernels are forked on Linux only")
COMMAND = [sys.executable, "-m", "ipykernel_launcher", "-f", "kernel.json"]
PATIENCE_S = 60


def awaited(test):
    """Have a test that waits run to its end."""

    @functools.wraps(test)
    def run(*args, **kwargs):
        run_apart(test(*args, **kwargs))

    return run


@pytest.fixture(scope="module", autouse=True)
def forked():
    """Have Jupyter fork kernels while these tests run; it reads the wish once a process, maybe before they began."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("JUPYTER_DEFAULT_PROVISIONER_NAME", "convviz-shared")
        KernelProvisionerFactory.clear_instance()
        yield
    KernelProvisionerFactory.clear_instance()


@pytest.fixture(scope="module")
def warm():
    """Return the warm process that all kernels of these tests come from."""
    WarmParent.clear_instance()
    parent = WarmParent.instance()
    yield parent
    parent.close()
    WarmParent.clear_instance()


class Kernel:
    """A kernel as a test asks it."""

    def __init__(self, manager, client):
        self.manager, self.client = manager, client

    @property
    def process(self):
        return self.manager.provisioner.process

    async def run(self, code, prints=None):
        """Return what some code prints; ``prints`` is set when it has printed something; its error is one here."""
        printed, errors = [], []
        prints = prints or asyncio.Event()

        def hear(message):
            if message["msg_type"] == "error":
                errors.append("\n".join(message["content"]["traceback"]))
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])
                prints.set()

        await self.client.execute_interactive(textwrap.dedent(code), timeout=PATIENCE_S, output_hook=hear)
        assert not errors, errors
        return "".join(printed).strip()


@contextlib.asynccontextmanager
async def kernel(environment=(), **options):
    """Yield a kernel that our provisioner started."""
    manager = AsyncKernelManager(kernel_name="python3")
    manager.log.setLevel(logging.WARNING)
    await manager.start_kernel(env={**os.environ, "OMP_NUM_THREADS": "1", **dict(environment)}, **options)
    client = manager.client()
    client.start_channels()
    try:
        await client.wait_for_ready(PATIENCE_S)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)


def until(is_so, what):
    """Wait until something is so."""
    ends = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < ends, f"waited {PATIENCE_S} seconds in vain until {what}"
        os.sched_yield()


def runs(pid):
    """Return whether a process is there that is no zombie."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def children(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


CONVOLUTION = """
    import torch
    x = torch.arange(25.).reshape(1, 1, 5, 5).requires_grad_()
    torch.nn.functional.conv2d(x, torch.ones(1, 1, 3, 3)).sum().backward()
    print(int(x.grad.sum()), torch.get_num_threads())
"""


@awaited
async def test_a_kernel_computes_is_interrupted_restarted_and_ended(warm):
    async with kernel() as one:
        assert isinstance(one.manager.provisioner, SharedTorchProvisioner)
        assert isinstance(one.process, ForkedProcess)
        pid = one.process.pid
        assert str(pid) in children(warm.pid)
        assert await one.run(CONVOLUTION) == "81 1"
        works = asyncio.Event()
        busy = asyncio.ensure_future(one.run("print('works', flush=True)\nwhile True: pass", works))
        await works.wait()
        await one.manager.interrupt_kernel()
        with pytest.raises(AssertionError, match="KeyboardInterrupt"):
            await busy
        assert await one.run("print(x.shape)") == "torch.Size([1, 1, 5, 5])"
        await one.manager.restart_kernel(now=False)
        await one.client.wait_for_ready(PATIENCE_S)
        assert one.process.pid != pid
        assert not runs(pid)
        assert await one.run("print('x' in globals())") == "False"
        pid = one.process.pid
    until(lambda: not Path(f"/proc/{pid}").exists(), "the kernel has ended and is no zombie")


@awaited
async def test_kernels_share_nothing_that_should_differ(warm, tmp_path):
    drawn = "import random, numpy, torch\nprint(random.random(), numpy.random.rand(), torch.rand(1).item())"
    seen = "import os\nprint(os.environ.get('CONVVIZ_TEST'), os.getcwd(), 'JPY_PARENT_PID' in os.environ)"
    async with (
        kernel({"CONVVIZ_TEST": "first"}, cwd=str(tmp_path)) as one,
        kernel() as other,
    ):
        numbers = [(await each.run(drawn)).split() for each in (one, other)]
        assert not set(numbers[0]) & set(numbers[1])
        assert await one.run(seen) == f"first {tmp_path} True"
        assert (await other.run(seen)).startswith("None ")
        # Widgets were imported before there was a kernel; they find it all the same.
        talks = "import ipywidgets\nprint(ipywidgets.IntSlider().comm is not None)"
        assert await one.run(talks) == "True"


@awaited
async def test_a_kernel_has_threads_and_processes_of_its_own(warm):
    async with kernel({"OMP_NUM_THREADS": "2"}) as one:
        assert await one.run(CONVOLUTION) == "81 2"
        large = """
            a = torch.ones(600, 600, requires_grad=True)
            (a @ a).relu().sum().backward()
            data = torch.utils.data.DataLoader(torch.arange(8), batch_size=2, num_workers=2)
            print(a.grad.sum().item(), [batch.tolist() for batch in data])
        """
        assert await one.run(large) == "432000000.0 [[0, 1], [2, 3], [4, 5], [6, 7]]"


@awaited
async def test_a_kernel_loads_nothing_that_the_warm_process_has_not(warm):
    loaded = "import sys\nprint(*sorted(sys.modules))"
    app = "import convviz\napp = convviz.App()\nfor k in (2, 3, 4): app.kernel_size = k"
    async with kernel({"CONVVIZ_PAGE": "1"}) as one:
        before = set((await one.run(loaded)).split())
        await one.run(app)
        assert set((await one.run(loaded)).split()) - before == set()


@awaited
async def test_kernels_outlive_the_warm_process_and_the_next_one_has_another(warm):
    async with kernel() as one:
        gone = warm.pid
        os.kill(gone, signal.SIGKILL)
        assert await one.run(CONVOLUTION) == "81 1"
        async with kernel() as other:
            assert warm.pid != gone
            assert await other.run(CONVOLUTION) == "81 1"
        assert await one.run("print(1)") == "1"
        orphan = one.process.pid
    until(lambda: not runs(orphan), "the orphan has ended")


SERVER = """
import asyncio
from jupyter_client.manager import AsyncKernelManager
from tests.apart import run_apart

async def main():
    manager = AsyncKernelManager(kernel_name="python3")
    await manager.start_kernel()
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready(60)
    from convviz.kernels.parent import WarmParent
    print(WarmParent.instance().pid, manager.provisioner.process.pid, flush=True)
    client.execute("import time; time.sleep(600)")
    await asyncio.sleep(600)

asyncio.run(main())
"""


def test_kernels_end_with_their_server_however_it_ends():
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        pids = [int(word) for word in server.stdout.readline().split()]
        assert all(runs(pid) for pid in pids)
        server.kill()
    for pid in pids:
        until(lambda pid=pid: not runs(pid), "the server's processes have ended")


def test_two_hundred_starts_leave_nothing_open_and_no_zombie(warm):
    warm.fork(["--version"], os.environ, "/", {}).wait(PATIENCE_S)  # it listens from now on
    before = open_files(os.getpid()), open_files(warm.pid)
    for _ in range(200):
        process = warm.fork(["--version"], os.environ, "/", {})
        process.kill()
        assert process.wait(PATIENCE_S) is not None
    until(lambda: children(warm.pid) == [], "all are reaped")
    assert (open_files(os.getpid()), open_files(warm.pid)) == before


def test_what_a_kernel_writes_goes_where_it_is_told(warm, tmp_path):
    with open(tmp_path / "out", "w") as out:
        process = warm.fork(["--version"], os.environ, "/", {"stdout": out.fileno()})
        process.wait(PATIENCE_S)
    assert (tmp_path / "out").read_text().strip() == IPython.__version__


@awaited
async def test_any_other_kernel_starts_the_normal_way(caplog, monkeypatch):
    WarmParent.clear_instance()
    broken = WarmParent.instance(modules=["no_such_module"])
    try:
        for _ in range(2):
            async with kernel() as one:
                assert isinstance(one.process, subprocess.Popen)
                assert await one.run("print(1)") == "1"
    finally:
        broken.close()
        WarmParent.clear_instance()
    said = [record.message for record in caplog.records if "without sharing torch" in record.message]
    assert len(said) == 1
    assert "ended" in said[0]


def test_a_process_with_threads_and_a_request_too_large_are_refused(tmp_path, monkeypatch):
    tmp_path.joinpath("starts_a_thread.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    threaded = WarmParent(modules=["starts_a_thread"])
    try:
        for _ in range(2):
            with pytest.raises(WarmError, match="2 threads instead of one"):
                threaded.fork(["--version"], os.environ, "/", {})
        with pytest.raises(WarmError, match="larger than"):
            threaded.fork(["--version"], {"LARGE": "x" * (1 << 20)}, "/", {})
    finally:
        threaded.close()


def test_which_kernels_can_be_forked(monkeypatch, tmp_path):
    assert kernel_arguments(COMMAND) == ["-f", "kernel.json"]
    assert kernel_arguments([COMMAND[0], "-Xfrozen_modules=off", *COMMAND[1:]]) == ["-f", "kernel.json"]
    for command, why in [
        (["/bin/sh", *COMMAND[1:]], "another Python"),
        (["no-such-python", *COMMAND[1:]], "another Python"),
        ([sys.executable, "-m", "xeus", "-f", "x"], "not ipykernel's"),
        ([sys.executable, "-m"], "not ipykernel's"),
        ([sys.executable], "not ipykernel's"),
    ]:
        with pytest.raises(WarmError, match=why):
            kernel_arguments(command)
    assert own_streams({"stdout": 1, "stderr": None}) == {"stdout": 1}
    with pytest.raises(WarmError, match="pipe"):
        own_streams({"stderr": subprocess.PIPE})
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(WarmError, match="needs Linux"):
        kernel_arguments(COMMAND)
    assert issubclass(SharedTorchProvisioner, LocalProvisioner)
