"""``convviz serve``: the app as a web page."""

import argparse

from convviz.commands.exit_with_error import language_of
from convviz.serve.options import DEFAULT_HOST, MADE, ServeOptions


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, help="port to use (default: 8866, or the next free one)")
    parser.add_argument(
        "--host", default=DEFAULT_HOST, help="address to listen on (default: 127.0.0.1; 0.0.0.0: every one)"
    )
    parser.add_argument("--device", help="where torch computes: cpu, cuda, cuda:1, mps, ... (default: the app chooses)")
    parser.add_argument("--open", dest="open_browser", action="store_true", help="open the page in a browser")
    parser.add_argument(
        "--class",
        dest="class_size",
        type=int,
        metavar="N",
        help="serve a class of N students: says at the start whether they fit the machine, and limits the connections",
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes that compute for all visitors (default: one a core)"
    )
    parser.add_argument(
        "--notebook",
        action=argparse.BooleanOptionalAction,
        help="serve the notebook of the app, too, at voila/render/app.ipynb, with a kernel a page, 4 at most "
        "(default: where only this machine is served)",
    )
    parser.add_argument(
        "--races",
        type=int,
        metavar="N",
        help="most races in the tab Race at a time (default: one where only this machine is served, else none)",
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
        "--trust-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="believe the proxy at this address, such as 127.0.0.1, or in this network, such as 172.16.0.0/12, whose "
        "address a visitor has: the last one in its X-Forwarded-For (repeatable; default: none, and all visitors of a "
        "proxy share what one address may have)",
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
    from convviz.serve import serve

    lang = language_of(options)
    given = {name: value for name, value in vars(options).items() if name in ServeOptions.__dataclass_fields__}
    several = {name: tuple(given[name]) for name in ("allow_host", "allow_frame", "trust_proxy")}
    return serve(ServeOptions(**given | several | {"lang": lang if options.lang else None}))
