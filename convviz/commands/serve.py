"""``convviz serve``: the app as a web page."""

from __future__ import annotations

import argparse
import sys

from convviz.serve.options import DEFAULT_HOST, MADE, ServeOptions


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``convviz serve``."""
    parser.add_argument("notebook", nargs="?", help="another notebook to serve in place of the app")
    parser.add_argument("--port", type=int, help="port to use (default: 8866, or the next free one)")
    parser.add_argument(
        "--host", default=DEFAULT_HOST, help="address to listen on (default: 127.0.0.1; 0.0.0.0: every one)"
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
    parser.add_argument(
        "--base-url",
        default="/",
        metavar="/PATH/",
        help="path that everything is served below, as a proxy passes it on",
    )
    parser.add_argument(
        "--token",
        nargs="?",
        const=MADE,
        metavar="VALUE",
        help="let in only who opens the address with ?token=VALUE; without a value one is made and printed",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer under this name, too, such as course.example.edu (repeatable). Behind a proxy that passes the "
        "visitor's Host on, as its websockets need, name the proxy's public name. Default: a server that listens on "
        "127.0.0.1 answers to localhost alone, one that listens elsewhere to every name",
    )
    parser.add_argument(
        "--allow-frame",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="let pages of this origin frame the app, such as https://course.example.edu (repeatable; default: none)",
    )
    parser.add_argument(
        "--lang",
        metavar="TAG",
        help="language of the page, such as zh-Hant, where its address asks for none with ?lang= "
        "(default: the visitor's browser's)",
    )
    parser.add_argument(
        "--log",
        metavar="FILE",
        help="write one JSON object a line about what happens, without visitors' addresses; - is standard output",
    )


def run(options: argparse.Namespace) -> int:
    """Serve until it is stopped; return the exit code."""
    from convviz.facts.choosing import chosen
    from convviz.serve import serve

    lang, unknown = chosen(options.lang)
    if unknown:
        print(f"convviz: {unknown}", file=sys.stderr)
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
            base_url=options.base_url,
            token=options.token,
            allow_host=tuple(options.allow_host),
            allow_frame=tuple(options.allow_frame),
            log=options.log,
            lang=lang if options.lang else None,
        )
    )
