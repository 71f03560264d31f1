"""``python -m convviz.kernels``: the warm process, which a server starts and nobody else.

Its words are two open files, then what to import. The first file is a socket to the server. Of the second, a pipe, only
the server holds the end to write: a kernel ends with it.
"""

from __future__ import annotations

import signal
import socket
import sys

from setproctitle import setproctitle

from convviz.kernels.warm import answer_requests, import_all

TITLE = "convviz: what kernels are forked from"


def main() -> None:
    """Be the warm process, and in each process that is forked from it a kernel."""
    server, lifeline, *modules = sys.argv[1:]
    setproctitle(TITLE)  # at once: it finds its place beside the environment, which imports may move
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the server ends us
    import_all(tuple(modules))
    connection = socket.socket(fileno=int(server))
    connection.send(b"ready")
    request = answer_requests(connection)
    if request is not None:
        from convviz.kernels.forked import run_kernel

        run_kernel(request, int(lifeline))


main()
