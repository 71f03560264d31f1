"""``convviz serve``: the app as a web page."""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``convviz serve``."""
    parser.add_argument("notebook", nargs="?", help="another notebook to serve in place of the app")
    parser.add_argument("--port", type=int, help="port to use (default: 8866, or the next free one)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1; 0.0.0.0: every one)"
    )
    parser.add_argument("--device", help="where torch computes: cpu, cuda, cuda:1, mps, ... (default: the app chooses)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument("--no-preheat", action="store_true", help="start a kernel only when a visitor comes")
    parser.add_argument(
        "--kernels", type=int, default=0, metavar="N", help="most visitors with a kernel at a time (default: all)"
    )
    parser.add_argument(
        "--class",
        dest="class_size",
        type=int,
        metavar="N",
        help="serve a class of N students: N kernels at a time, which have limits and rest when they are not used; "
        "who comes later waits in line",
    )
    parser.add_argument(
        "--idle",
        type=float,
        metavar="MINUTES",
        help="minutes after which a kernel that is not used rests until it is (default: 10 with --class, else never)",
    )
    parser.add_argument(
        "--races", type=int, default=0, metavar="N", help="most races in the tab Race at a time (default: none)"
    )


def run(options: argparse.Namespace) -> int:
    """Serve until it is stopped; return the exit code."""
    from convviz.serve import serve
    from convviz.serve.options import ServeOptions

    return serve(
        ServeOptions(
            notebook=options.notebook,
            port=options.port,
            host=options.host,
            device=options.device,
            open_browser=options.open,
            preheat=not options.no_preheat,
            kernels=options.kernels,
            class_size=options.class_size,
            idle_minutes=options.idle,
            races=options.races,
        )
    )
