"""The command line. Each command is an entry of COMMANDS and a file in ``commands/``; it imports what it needs late."""

import argparse
import contextlib
import io
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from convviz import __version__
from convviz.commands import audit, check, doctor, exercise, export, lab, lesson, serve, site
from convviz.commands.exit_with_error import Refusal, refusing
from convviz.optional_dependencies import NotInstalled, needs


class Command(NamedTuple):
    """One subcommand, and the module that declares its ``arguments`` and can ``run`` it."""

    name: str
    summary: str
    module: Any


# All but tab, newline, and the carriage return of a progress bar.
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n\r"}


class Legible:
    """A terminal's stream that writes control characters as escapes: no text of a file moves the cursor, or worse."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text with its control characters spelled out."""
        return int(self._stream.write(text.translate(CONTROLS)))


COMMANDS = (
    Command("serve", "serve the app as a web page, without any outside request", serve),
    Command("export", "write the app as a page that lives without Python, or a picture", export),
    Command("site", "write the live page as a folder for any static host", site),
    Command("lab", "race layers on MNIST, fairly and in lockstep, or show a race", lab),
    Command("check", "tell what is wrong with a backward pass of your own", check),
    Command("audit", "tell which mistakes a check of your own would let pass", audit),
    Command("exercise", "write an exercise by hand that shows chosen mistakes", exercise),
    Command("lesson", "list the lessons, or check one of your own", lesson),
    Command("doctor", "tell versions, devices and what is missing, on one screen", doctor),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, the process's own where none is given; return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal of another alphabet costs no line
    parser = build_parser()
    out: Any = sys.stdout and Legible(sys.stdout)  # a stream that is closed is None
    err: Any = sys.stderr and Legible(sys.stderr)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        options = parser.parse_args(argv)
        if options.run is None:
            parser.print_help()
            return 0
        if options.run is not serve.run:
            return _run(options)
    return _run(options)  # the server's own log has colours, and prints no text of a file


def _run(options: argparse.Namespace) -> int:
    try:
        with refusing(NotInstalled), needs(f"convviz {options.command}"):
            return int(options.run(options))
    except Refusal as refusal:
        print(f"convviz: {refusal}", file=sys.stderr)
        return refusal.code


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with one subparser for each entry of COMMANDS."""
    parser = argparse.ArgumentParser(prog="convviz", description="The backward pass of conv2d, to touch.")
    parser.add_argument("--version", action="version", version=f"convviz {__version__}")
    parser.set_defaults(run=None)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        subparser = subparsers.add_parser(command.name, help=command.summary, description=command.summary)
        command.module.arguments(subparser)
        subparser.set_defaults(run=command.module.run, command=command.name)
    return parser
