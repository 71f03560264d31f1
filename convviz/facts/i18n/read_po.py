"""Reads the catalogue of a language, a PO file; a wheel has the result, see ``hatch_build.py``.

Every process of a checkout that names the languages reads them all, so it is done here, in a third of the time that
babel's reader takes; ``update_catalogues.py`` has that one.
"""

from __future__ import annotations

import gettext
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from babel import Locale
from babel.core import get_global

from convviz.facts.i18n.translatable_texts import Catalogue, Text

if TYPE_CHECKING:
    from babel.messages.catalog import Message

COUNTS = (*range(201), 10**6)  # by which the forms of a catalogue are told apart
BLANK = re.compile(r"\n[ \t]*\n")
FIELD = re.compile(r'^(msg\w+)(?:\[\d+\])?[ \t]+("[^\n]*"(?:\n[ \t]*"[^\n]*")*)', re.MULTILINE)
FUZZY = re.compile(r"^#,.*\bfuzzy\b", re.MULTILINE)
PLURAL = re.compile(r"\bplural=\s*([^;\n]+)")
GERMANIC = "(n != 1)"  # gettext's own, where a catalogue has none


def read(tag: str, text: str) -> Catalogue:
    head = next((said["msgstr"][0] for said in messages(text) if "msgctxt" not in said), "")
    expression = (PLURAL.findall(head) or [GERMANIC])[0]
    forms = plural_forms(tag, expression)
    found: dict[str, Text] = {}
    for said in messages(text):
        ids, strings = [*said["msgid"], *said.get("msgid_plural", ())], said["msgstr"]
        if "msgctxt" in said and are_whole(ids, strings):
            (context,) = said["msgctxt"]
            if len(ids) == 1:
                found[context] = strings[0]
            elif len(strings) > max(forms.values()):
                found[context] = {name: strings[index] for name, index in forms.items()}
    return {"texts": found, "plural": expression, "forms": forms, "scripts": scripts(tag)}


def messages(text: str) -> Iterator[dict[str, list[str]]]:
    """Yield the strings of each message by their keywords, those of a plural in order.

    The head is the first, though it may be fuzzy; no other that is, and none that is gone.
    """
    for block in BLANK.split(text):
        said: dict[str, list[str]] = {}
        for keyword, quoted in FIELD.findall(block):
            string = "".join(line.strip()[1:-1] for line in quoted.split("\n")) if "\n" in quoted else quoted[1:-1]
            said.setdefault(keyword, []).append(json.loads(f'"{string}"') if "\\" in string else string)
        if said and ("#" not in block or "msgctxt" not in said or not FUZZY.search(block)):
            yield said


def are_whole(ids: list[str], strings: list[str]) -> bool:
    """Return whether all forms are there; one is empty only where it is in English, too."""
    return all(strings) or bool(len(ids) > 1 and "" in ids and strings[-1])


def is_whole(message: Message) -> bool:
    ids = [message.id] if isinstance(message.id, str) else [*message.id]
    return are_whole(ids, strings_of(message))


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
