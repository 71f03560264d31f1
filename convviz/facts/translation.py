"""The facts in another language: what its catalogue says, and English where that has no sentence."""

from __future__ import annotations

import functools
import gettext
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from convviz.facts import spoken
from convviz.facts.spoken import ENDING
from convviz.facts.texts import Text, with_texts

if TYPE_CHECKING:
    from babel.messages.catalog import Message

COUNTS = (*range(201), 10**6)  # by which the forms of a catalogue are told apart


def translated(name: str, data: Any, tag: str) -> Any:
    """Return what a file of facts holds, in another language.

    Args:
        name: of the file, such as ``"words/rules"``.
        data: what it holds in English.
        tag: of the language.
    """
    there = catalogue(tag)
    made = with_texts(name, data, lambda context, text: there.get(context, text))
    return made | {"tag": tag} if name == "language" else made


@functools.cache
def catalogue(tag: str) -> Mapping[str, Text]:
    """Return the translated texts of a language by their contexts.

    Args:
        tag: of one of ``languages()``.
    """
    from babel.messages.pofile import read_po

    with spoken.FOLDER.joinpath(f"{tag}{ENDING}").open("rb") as file:
        read = read_po(file)
    forms = plural_forms(tag, read.plural_expr)
    found: dict[str, Text] = {}
    for message in read:
        if not message.id or message.fuzzy or not message.context:
            continue
        strings = strings_of(message)
        if not is_whole(message):
            continue
        if not message.pluralizable:
            found[message.context] = strings[0]
        elif len(strings) > max(forms.values()):
            found[message.context] = {name: strings[index] for name, index in forms.items()}
    return found


def is_whole(message: Message) -> bool:
    """Return whether a translation has all its forms; one of them is empty only where it is in English, too."""
    strings = strings_of(message)
    return all(strings) or bool(message.pluralizable and "" in message.id and strings[-1])


def strings_of(message: Message) -> list[str]:
    """Return all forms of a translation."""
    return [message.string or ""] if isinstance(message.string, str | None) else list(message.string)


def plural_forms(tag: str, expression: str) -> dict[str, int]:
    """Return CLDR's names of the forms of a language, as JavaScript has them, with their places in the catalogue.

    Args:
        tag: of the language.
        expression: the rule in the head of the catalogue, by which gettext finds the place of a number's form.
    """
    place = gettext.c2py(expression)
    name = category(tag)
    return {"other": place(COUNTS[-1])} | {name(count): place(count) for count in COUNTS}


@functools.cache
def category(tag: str) -> Callable[[float], str]:
    """Return what tells CLDR's name of the form that a number of things has in a language.

    Args:
        tag: of the language.
    """
    from babel import Locale

    form: Callable[[float], str] = Locale(tag.partition("-")[0]).plural_form
    return form
