"""The command line. Each command is one entry of COMMANDS, and imports what it needs when it runs."""

from __future__ import annotations

import argparse
import gc
import importlib.metadata
import io
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convviz import __version__
from convviz.commands import lab

# What a bug report needs; "doctor" prints their versions.
PACKAGES = ("torch", "voila", "plotly", "anywidget", "ipywidgets", "jupyter_server", "ipykernel")


@dataclass(frozen=True)
class Command:
    """One subcommand.

    Attributes:
        name: What the user types.
        summary: One line for --help.
        add_arguments: Declares its options on a parser.
        run: Does the work and returns the exit code.
    """

    name: str
    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def _serve_arguments(parser: argparse.ArgumentParser) -> None:
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
        "--races", type=int, default=0, metavar="N", help="most races in the tab Race at a time (default: none)"
    )


def _serve(options: argparse.Namespace) -> int:
    from convviz.serve import serve

    return serve(
        options.notebook,
        port=options.port,
        host=options.host,
        device=options.device,
        open_browser=options.open,
        preheat=not options.no_preheat,
        kernels=options.kernels,
        races=options.races,
    )


def _export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--state",
        metavar="LINK",
        help="what to show: a link, the address of a page with one, or a file with the JSON of App.state() "
        "(default: the first picture)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="the file to write; - for stdout"
    )
    parser.add_argument("--controls", metavar="NAMES", help="names with commas between, such as kernel,stride,loss")
    parser.add_argument("--title", help="of the page")
    parser.add_argument("--lang", default="en", help="language of the page, for screen readers (default: en)")
    parser.add_argument("--height", type=int, help="pixels of the page (default: as high as it needs)")
    parser.add_argument("--lesson", metavar="NAME", help="the lesson that the page starts, such as why_rotated")
    parser.add_argument(
        "--intro", metavar="TEXT", help="words above the board: *emphasis*, **strong**, `code`, [links](https://...)"
    )
    parser.add_argument("--module", action="store_true", help="write an ES module, for MyST's {anywidget} directive")
    _picture_arguments(parser)


def _picture_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a picture instead of a page, for slides and papers")
    forms = group.add_mutually_exclusive_group()
    for form, what in (("svg", "SVG"), ("png", "PNG"), ("gif", "GIF of all steps"), ("tikz", "TikZ")):
        forms.add_argument(f"--{form}", dest="form", action="store_const", const=form, help=f"write {what}")
    group.add_argument("--panel", metavar="NAME", help="one panel, such as grad_input")
    group.add_argument("--equation", metavar="NAME", help="one equation: forward, input, weight or bias")
    group.add_argument("--step", type=int, metavar="N", help="one step of the equation, counted from 0")
    group.add_argument("--theme", help="light (default) or dark")


def _export(options: argparse.Namespace) -> int:
    if options.module and options.form:
        print(f"convviz: --module and --{options.form} are two files: call export once for each", file=sys.stderr)
        return 1
    if options.module:
        return _export_module(options)
    if options.form or options.output.suffix.lower() in PICTURE_ENDINGS:
        return _export_picture(options)
    if given := _given(options, PICTURE_OPTIONS):
        print(f"convviz: {', '.join(given)} belong to a picture: add --svg, --png, --gif or --tikz", file=sys.stderr)
        return 1
    from convviz.export.parts import DEFAULT_CONTROLS

    controls = DEFAULT_CONTROLS if options.controls is None else tuple(filter(None, options.controls.split(",")))
    title = {} if options.title is None else {"title": options.title}
    page = {"lang": options.lang, "controls": controls, "height": options.height, "lesson": options.lesson, **title}
    page["intro"] = options.intro or ""

    def make(state: Any) -> bytes:
        _load_torch()  # for the still picture: the page computes its numbers itself
        from convviz.export.page import page_bytes

        return page_bytes(state, **page)

    return _written(options, "page", make)


def _load_torch() -> None:
    """Load torch, nine tenths of an export's time, without the garbage collector: a seventh less.

    A thousand modules are made and none dies, so there is nothing to look for, now or at the end of the process.
    """
    if "torch" in sys.modules:
        return
    enabled = gc.isenabled()
    gc.disable()
    try:
        import torch  # noqa: F401
    finally:
        if enabled:
            gc.enable()
    gc.freeze()


def _written(options: argparse.Namespace, what: str, make: Callable[[Any], bytes]) -> int:
    """Write the state that was given; what its link could not say, or why nothing is written, goes to stderr."""
    from convviz.export.file import write
    from convviz.export.given import read_state

    try:
        state, notices = (None, []) if options.state is None else read_state(options.state)
    except (OSError, ValueError) as error:
        print(f"convviz: {error}", file=sys.stderr)
        return 2  # as for every word on the command line that cannot be read
    try:
        content = make(state)
        if options.output == STDOUT:
            sys.stdout.buffer.write(content)
            sys.stdout.flush()
        else:
            write(options.output, content, what)
    except (OSError, ValueError) as error:
        print(f"convviz: {error}", file=sys.stderr)
        return 1
    for notice in notices:
        print(f"convviz: {notice}", file=sys.stderr)
    if options.output != STDOUT:
        print(f"wrote {options.output}")
    return 0


STDOUT = Path("-")
PICTURE_ENDINGS = (".svg", ".png", ".gif", ".tex")
# What these are when nobody gives them.
PICTURE_OPTIONS = {"panel": None, "equation": None, "step": None, "theme": None}
PAGE_OPTIONS = {"controls": None, "title": None, "lang": "en", "height": None, "lesson": None, "intro": None}


def _given(options: argparse.Namespace, defaults: Mapping[str, str | None]) -> list[str]:
    return [f"--{name}" for name, default in defaults.items() if getattr(options, name) != default]


def _export_picture(options: argparse.Namespace) -> int:
    if given := _given(options, PAGE_OPTIONS):
        print(f"convviz: {', '.join(given)} belong to a page, and a picture has none of it: leave out", file=sys.stderr)
        return 1
    part = {name: getattr(options, name) for name in PICTURE_OPTIONS if getattr(options, name) is not None}

    def make(state: Any) -> bytes:
        _load_torch()
        from convviz.export.picture import form_of, picture_bytes

        return picture_bytes(state, form_of(options.output, options.form), **part)

    return _written(options, "picture", make)


def _export_module(options: argparse.Namespace) -> int:
    from convviz.export.module import module_bytes

    if given := _given(options, {**PAGE_OPTIONS, **PICTURE_OPTIONS}):
        told = "one module serves many places, and each says this by itself; leave it out"
        print(f"convviz: --module takes no {', '.join(given)}: {told}", file=sys.stderr)
        return 1
    return _written(options, "module", module_bytes)


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def _doctor(options: argparse.Namespace) -> int:
    rows, healthy = diagnosis()
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
    return 0 if healthy else 1


COMMANDS = (
    Command("serve", "serve the app as a web page, without any outside request", _serve_arguments, _serve),
    Command("export", "write the app as a page that lives without Python, or a picture", _export_arguments, _export),
    Command("lab", "race layers on MNIST, fairly and in lockstep, or show a race", lab.arguments, lab.run),
    Command("doctor", "tell versions, devices and what is missing, on one screen", _no_arguments, _doctor),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code.

    Args:
        argv: The words after `convviz`; None takes them from the process.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal of another alphabet costs no line
    parser = build_parser()
    options = parser.parse_args(argv)
    if options.run is None:
        parser.print_help()
        return 0
    return int(options.run(options))


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with one subparser for each entry of COMMANDS."""
    parser = argparse.ArgumentParser(prog="convviz", description="The backward pass of conv2d, to touch.")
    parser.add_argument("--version", action="version", version=f"convviz {__version__}")
    parser.set_defaults(run=None)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        subparser = subparsers.add_parser(command.name, help=command.summary, description=command.summary)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    return parser


def version(package: str) -> str:
    """Return a package's installed version, or a sentence that it is missing.

    Args:
        package: Its name on the package index.
    """
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return f"not installed: pip install {package.replace('_', '-')}"


def diagnosis() -> tuple[list[tuple[str, str]], bool]:
    """Return the lines of `convviz doctor`, as pairs of name and value, and whether nothing is missing."""
    versions = [(package, version(package)) for package in PACKAGES]
    checks = [_devices(), _labextension(), _template()]
    rows = [("convviz", __version__), ("python", f"{platform.python_version()} ({sys.platform})"), *versions]
    rows += [(name, value) for name, value, _ in checks]
    missing = any(value.startswith("not installed") for _, value in versions)
    return rows, not missing and all(good for *_, good in checks)


def _devices() -> tuple[str, str, bool]:
    try:
        from convviz.ops.device import available_devices
    except ImportError as missing:
        return "devices", f"unknown, because torch does not load: {missing}", False
    return "devices", ", ".join(available_devices()), True


def _labextension() -> tuple[str, str, bool]:
    """Find the front end of anywidget, without which our pictures stay blank."""
    name = "labextension"
    try:
        from jupyter_core.paths import jupyter_path
    except ImportError:
        return name, "not looked for, because jupyter_core is not installed: pip install voila", False
    for folder in jupyter_path("labextensions"):
        if (Path(folder) / "anywidget" / "package.json").is_file():
            return name, f"anywidget, in {folder}", True
    return name, "anywidget's is not found: pip install --force-reinstall anywidget", False


def _template() -> tuple[str, str, bool]:
    """Find our page template and, below it, Voilà's own, from which it takes all that it does not change."""
    from convviz.serve import SHARE, environment, kernel_environment

    try:
        from voila.paths import collect_template_paths
    except ImportError:
        return "template", "not looked for, because Voilà is not installed: pip install voila", False
    with environment(kernel_environment(None)):
        folders = collect_template_paths(["voila", "nbconvert"], "convviz", prune=True)
    for part in ("convviz", "lab", "base"):
        if not any(folder.endswith(part) for folder in folders):
            return "template", f"{part!r} of Voilà is not found: pip install --force-reinstall voila", False
    return "template", f"convviz, in {SHARE}", True
