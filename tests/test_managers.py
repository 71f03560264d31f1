"""The kernels of all visitors: as many as the machine holds, and none that nobody knows of."""

import asyncio
import errno

import psutil
import pytest
import zmq
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from zmq.eventloop.zmqstream import ZMQStream

from convviz.serve.managers import PatientKernelManager, VisitorKernelManager
from tests.apart import run_apart


def manager_of(tmp_path):
    return PatientKernelManager(
        connection_dir=str(tmp_path),
        root_dir=str(tmp_path),
        kernel_manager_class="convviz.serve.managers.VisitorKernelManager",
    )


def kernels():
    """Return the kernels that this process has started; those of a server that other tests share are not its own."""
    return [
        child
        for child in psutil.Process().children()
        if child.status() != psutil.STATUS_ZOMBIE and "ipykernel_launcher" in " ".join(child.cmdline())
    ]


def test_the_sockets_are_enough_for_thousands_of_kernels(tmp_path):
    manager = manager_of(tmp_path)
    assert manager.context.get(zmq.MAX_SOCKETS) >= 60_000
    manager.context.destroy()


def test_a_kernel_that_ends_keeps_no_sockets_of_the_page_that_left_meanwhile(tmp_path):
    async def end():
        manager = manager_of(tmp_path)
        manager._kernels["k"] = VisitorKernelManager()
        stream = ZMQStream(zmq.Socket(manager.context, zmq.DEALER))
        manager.start_buffering("k", "page", {"shell": stream})
        manager.remove_kernel("k")
        closed = stream.closed()
        stream.close()
        manager.context.destroy()
        assert closed

    run_apart(end())


@pytest.mark.parametrize(
    ("where", "what"),
    [(VisitorKernelManager, "_async_post_start_kernel"), (AsyncMappingKernelManager, "_finish_kernel_start")],
)
def test_a_kernel_whose_start_fails_halfway_is_ended(where, what, tmp_path, monkeypatch):
    seen = []

    async def fails(*args, **options):
        seen.extend(kernels())
        raise zmq.ZMQError(errno.EMFILE)

    monkeypatch.setenv("JUPYTER_DEFAULT_PROVISIONER_NAME", "local-provisioner")
    monkeypatch.setattr(where, what, fails)

    async def start():
        manager = manager_of(tmp_path)
        with pytest.raises(zmq.ZMQError):
            await manager.start_kernel(kernel_name="python3")
        while manager.list_kernel_ids():
            await asyncio.sleep(0)
        manager.context.destroy()

    run_apart(start())
    assert len(seen) == 1, "the kernel's process ran when its start failed"
    psutil.wait_procs(seen, 60)
    assert kernels() == []
