"""The facts in another language: what its catalogue says, and English where that has no sentence."""

import functools
import gettext
from collections.abc import Callable
from typing import Any

from convviz.facts.i18n.current_language import catalogue
from convviz.facts.i18n.translatable_texts import with_texts


def translated(name: str, data: Any, tag: str) -> Any:
    there = catalogue(tag)["texts"]
    made = with_texts(name, data, lambda context, text: there.get(context, text))
    return made | {"tag": tag} if name == "language" else made


@functools.cache
def category(tag: str) -> Callable[[float], str]:
    """Return what determines CLDR's name of the form that so many things have in a language."""
    there = catalogue(tag)
    place, names = gettext.c2py(there["plural"]), {place: name for name, place in there["forms"].items()}
    return lambda count: names[place(int(count))] if count == int(count) else "other"
