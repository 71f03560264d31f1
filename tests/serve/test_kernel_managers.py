"""The kernels of the notebook route: each ends with its page, and leaves no file of the system open."""

import asyncio

import tornado.web
import tornado.websocket
import zmq
from zmq.eventloop.zmqstream import ZMQStream

from convviz.serve import managers
from convviz.serve.managers import NotebookKernel, NotebookKernels
from tests.run_in_thread import run_apart


def test_a_kernel_that_ends_keeps_no_sockets_of_the_page_that_left_meanwhile():
    async def end():
        manager = NotebookKernels()
        manager._kernels["k"] = NotebookKernel()
        stream = ZMQStream(zmq.Socket(manager.context, zmq.DEALER))
        manager.start_buffering("k", "page", {"shell": stream})
        manager.remove_kernel("k")
        closed = stream.closed()
        stream.close()
        manager.context.destroy()
        assert closed

    run_apart(end())


def test_a_kernel_ends_with_its_page_and_a_page_that_only_seemed_to_go_keeps_it(monkeypatch):
    """What a page says before it goes is said, too, before a download; and a lost connection may come back."""
    ended, connections = [], {}
    monkeypatch.setattr(managers, "COMES_BACK_S", 0)
    monkeypatch.setattr(NotebookKernels, "__contains__", lambda self, kernel_id: kernel_id in connections)
    monkeypatch.setattr(NotebookKernels, "kernel_model", lambda self, each: {"connections": connections[each]})

    async def end(self, kernel_id, now):
        ended.append((kernel_id, now))
        raise tornado.web.HTTPError(404)  # as when the page asked for the same meanwhile

    monkeypatch.setattr(NotebookKernels, "shutdown_kernel", end)

    async def case(what):
        manager = NotebookKernels()
        ended.clear()
        connections.clear()
        connections.update({"alone": 0, "watched": 1})
        what(manager)
        await asyncio.sleep(0.01)  # the looks, which wait for 0 s here, have been
        while manager._ending:
            await asyncio.gather(*manager._ending.values())
        return list(ended)

    def closes_after_goodbye(manager):
        manager.go("watched")
        assert manager._ending == {}, "it is there yet"
        manager.lose("watched")

    for name, what, expected in [
        ("sent, and never connected", lambda manager: manager.expect("alone"), ["alone"]),
        ("sent twice", lambda manager: (manager.expect("alone"), manager.expect("alone")), ["alone"]),
        ("connected", lambda manager: manager.expect("watched"), []),
        ("lost, and came back", lambda manager: manager.lose("watched"), []),
        ("goodbye without a connection", lambda manager: manager.go("alone"), ["alone"]),
        ("a download", lambda manager: manager.go("watched"), []),
        ("goodbye, then closed", closes_after_goodbye, ["watched"]),
        ("ended already", lambda manager: (manager.go("gone"), manager.lose("gone"), manager.leave("gone")), []),
    ]:
        assert run_apart(case(what)) == [(each, True) for each in expected], name


def test_the_end_of_a_page_is_no_news():
    def failure(kernel_id):
        try:
            raise RuntimeError(kernel_id)
        except RuntimeError as error:
            return error

    manager = NotebookKernels()
    manager._left.add("left")
    assert not manager.is_news(failure("left"))
    assert not manager.is_news(tornado.websocket.WebSocketClosedError())
    assert manager.is_news(failure("other"))
    assert manager.is_news(None)


def test_the_end_waits_for_what_starts_and_not_for_what_could_not(monkeypatch):
    """Jupyter keeps a failed start among those that are pending, asks it to end with all others, and finds none."""
    asked = []

    async def end(self, now):
        asked.append([*self._pending_kernels])
        if asked[-1]:
            self._pending_kernels["starts"].set_result(None)
            raise tornado.web.HTTPError(404)

    monkeypatch.setattr(NotebookKernels, "shutdown_all", end)

    async def case():
        manager = NotebookKernels()
        loop = asyncio.get_running_loop()
        manager._pending_kernels.update(failed=loop.create_future(), starts=loop.create_future())
        manager._pending_kernels["failed"].set_exception(OSError())
        manager._pending_kernels["failed"].exception()  # seen
        await asyncio.wait_for(manager.end_all(), 30)

    run_apart(case())
    assert asked == [["starts"], []]
