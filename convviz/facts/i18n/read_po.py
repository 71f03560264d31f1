"""Reads the catalogue of a language, a PO file; a wheel has the result, see ``hatch_build.py``."""

import gettext
import io

from babel import Locale
from babel.core import get_global
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from convviz.facts.i18n.translatable_texts import Catalogue, Text

COUNTS = (*range(201), 10**6)  # by which the forms of a catalogue are told apart


def read(tag: str, text: str) -> Catalogue:
    read = read_po(io.StringIO(text))
    forms = plural_forms(tag, read.plural_expr)
    found: dict[str, Text] = {}
    for message in read:
        if not message.id or message.fuzzy or not message.context or not is_whole(message):
            continue
        strings = strings_of(message)
        if not message.pluralizable:
            found[message.context] = strings[0]
        elif len(strings) > max(forms.values()):
            found[message.context] = {name: strings[index] for name, index in forms.items()}
    return {"texts": found, "plural": read.plural_expr, "forms": forms, "scripts": scripts(tag)}


def is_whole(message: Message) -> bool:
    """Return whether all forms are there; one is empty only where it is in English, too."""
    strings = strings_of(message)
    return all(strings) or bool(message.pluralizable and "" in message.id and strings[-1])


def strings_of(message: Message) -> list[str]:
    return [message.string or ""] if isinstance(message.string, str | None) else list(message.string)


def plural_forms(tag: str, expression: str) -> dict[str, int]:
    """Return CLDR's names of a language's forms, and their places by gettext's expression."""
    place, name = gettext.c2py(expression), Locale(tag.partition("-")[0]).plural_form
    return {"other": place(COUNTS[-1])} | {name(count): place(count) for count in COUNTS}


def scripts(tag: str) -> dict[str, str]:
    """Return region → script that CLDR holds most likely where a tag names none; "" is no region."""
    name = tag.partition("-")[0].lower()
    likely = {key.partition("_"): full.split("_")[1] for key, full in get_global("likely_subtags").items()}
    return {region: script for (of, _, region), script in likely.items() if of == name and len(region) != 4}
