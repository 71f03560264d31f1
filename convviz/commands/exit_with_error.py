"""Why a command does nothing: a sentence on stderr, and the exit code."""

import argparse
import contextlib
import sys
from collections.abc import Iterator


def language_of(options: argparse.Namespace) -> str:
    """Return the language that was asked for; where it is not there, say so on stderr and return English."""
    from convviz.facts.i18n.choose_language import chosen

    tag, unknown = chosen(options.lang)
    if unknown:
        print(f"convviz: {unknown}", file=sys.stderr)
    return tag


class Refusal(Exception):
    """Ends a command; the command line prints its sentence and exits with its code."""

    def __init__(self, sentence: str, code: int = 1) -> None:
        super().__init__(sentence)
        self.code = code


@contextlib.contextmanager
def refusing(*errors: type[Exception], code: int = 1) -> Iterator[None]:
    try:
        yield
    except errors as error:
        raise Refusal(str(error), code) from error
