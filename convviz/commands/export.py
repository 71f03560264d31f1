"""``convviz export``: a page that lives without Python, a module, or a picture."""

import argparse
import functools
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from convviz.commands.exit_with_error import Refusal, language_of, refusing

STDOUT = Path("-")
PICTURE_ENDINGS = (".svg", ".png", ".gif")
PICTURE_OPTIONS = ("panel", "equation", "step", "theme")
PAGE_OPTIONS = ("controls", "title", "lang", "height", "lesson", "intro", "no_plotly")


def arguments(parser: argparse.ArgumentParser) -> None:
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
    parser.add_argument("--lang", metavar="TAG", help="language of the page, such as zh-Hans (default: en)")
    parser.add_argument("--height", type=int, help="pixels of the page (default: as high as it needs)")
    parser.add_argument(
        "--lesson",
        metavar="NAME",
        help="the lesson that the page starts: a name of `convviz lesson list`, or your own FILE.json",
    )
    parser.add_argument(
        "--intro", metavar="TEXT", help="words above the board: *emphasis*, **strong**, `code`, [links](https://...)"
    )
    parser.add_argument(
        "--no-plotly",
        action="store_const",
        const=True,
        help="a page of a third of the bytes: no panel of it opens as a figure",
    )
    parser.add_argument(
        "--module", action="store_true", help="write an ES module that defines <convviz-board>, and that MyST draws"
    )
    parser.add_argument("--article", action="store_true", help="write the article about the backward pass, as one page")
    _picture_arguments(parser)


def _picture_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a picture instead of a page, for slides and papers")
    forms = group.add_mutually_exclusive_group()
    for form, what in (("svg", "SVG"), ("png", "PNG"), ("gif", "GIF of all steps")):
        forms.add_argument(f"--{form}", dest="form", action="store_const", const=form, help=f"write {what}")
    group.add_argument("--panel", metavar="NAME", help="one panel, such as grad_input")
    group.add_argument("--equation", metavar="NAME", help="one equation: forward, input, weight or bias")
    group.add_argument("--step", type=int, metavar="N", help="one step of the equation, counted from 0")
    group.add_argument("--theme", help="light (default) or dark")


def run(options: argparse.Namespace) -> int:
    """Return 2 when the state cannot be read."""
    if options.module and options.form:
        raise Refusal(f"--module and --{options.form} are two files: call export once for each")
    if options.module:
        return _export_module(options)
    if options.article:
        return _export_article(options)
    if options.form or options.output.suffix.lower() in PICTURE_ENDINGS:
        return _export_picture(options)
    if given := _given(options, *PICTURE_OPTIONS):
        raise Refusal(f"{', '.join(given)} belong to a picture: add --svg, --png or --gif")
    from convviz.export.page_assets import DEFAULT_CONTROLS

    controls = DEFAULT_CONTROLS if options.controls is None else tuple(filter(None, options.controls.split(",")))
    language = language_of(options)

    def make(state: Any) -> bytes:
        _load_torch()  # for the still picture: the page computes its numbers itself
        from convviz.export.page import page_bytes

        page = {name: getattr(options, name) for name in ("height", "title", "lesson")}
        page |= {"intro": options.intro or "", "plotly": not options.no_plotly}
        return page_bytes(state, lang=language, controls=controls, **page)

    return _written(options, "page", make)


def _load_torch() -> None:
    """Load torch without the garbage collector, which finds nothing there: a seventh less."""
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
    """Write the given state; what its link could not say goes to stderr."""
    from convviz.export.state_from_dict_or_link import read_state
    from convviz.file_io import write

    with refusing(OSError, ValueError, code=2):  # as for every word on the command line that cannot be read
        state, notices = (None, []) if options.state is None else read_state(options.state)
    with refusing(OSError, ValueError):
        content = make(state)
        if options.output == STDOUT:
            sys.stdout.buffer.write(content)
            sys.stdout.flush()
        else:
            write(options.output, content, what)
    for notice in notices:
        print(f"convviz: {notice}", file=sys.stderr)
    if options.output != STDOUT:
        print(f"wrote {options.output}")
    return 0


def _given(options: argparse.Namespace, *names: str) -> list[str]:
    return [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) is not None]


def _export_picture(options: argparse.Namespace) -> int:
    if given := _given(options, *PAGE_OPTIONS):
        raise Refusal(f"{', '.join(given)} belong to a page, and a picture has none of it: leave out")
    part = {name: getattr(options, name) for name in PICTURE_OPTIONS if getattr(options, name) is not None}

    def make(state: Any) -> bytes:
        _load_torch()
        from convviz.export.picture import form_of, picture_bytes

        return picture_bytes(state, form_of(options.output, options.form), **part)

    return _written(options, "picture", make)


def _export_module(options: argparse.Namespace) -> int:
    from convviz.export.es_module import module_bytes

    if given := [name for name in _given(options, *PAGE_OPTIONS, *PICTURE_OPTIONS) if name != "--lang"]:
        reason = "one module serves many places, and each says this by itself; leave it out"
        raise Refusal(f"--module takes no {', '.join(given)}: {reason}")
    return _written(options, "module", functools.partial(module_bytes, lang=language_of(options)))


def _export_article(options: argparse.Namespace) -> int:
    form = [f"--{options.form}"] if options.form else []
    given = [name for name in _given(options, "state", *PAGE_OPTIONS, *PICTURE_OPTIONS) if name != "--lang"]
    if given := given + form:
        raise Refusal(f"--article takes no {', '.join(given)}: its sections say what they show; leave it out")

    def make(_state: Any) -> bytes:
        _load_torch()
        from convviz.export.article.page import article_bytes

        return article_bytes(lang=language_of(options))

    return _written(options, "article", make)
