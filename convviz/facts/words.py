"""The sentences that a visitor reads: each has an id and named arguments, and stands once, for Python and JavaScript.

The files in ``data/words/`` hold them. A text names its arguments in braces; one that depends on a number of things has
the forms of its language, chosen by the argument ``count``::

"rows": {"one": "{count} row", "other": "{count} rows"}
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from convviz.facts import facts
from convviz.facts.i18n.current_language import ENGLISH, language
from convviz.facts.i18n.translatable_texts import Text
from convviz.facts.load_english_facts import FEATURES

ARGUMENT = re.compile(r"\{(\w+)\}")


def sentences(part: str) -> Callable[..., str]:
    """Return what says the sentences of one file in ``data/words/``: ``say(id, name=value, ...)``.

    ``"features/<name>"`` has those of a feature, in the ``words.json`` of its folder.
    """
    file = f"{part}/words" if part.startswith(FEATURES) else f"words/{part}"

    def say(id: str, /, **arguments: Any) -> str:
        table: Mapping[str, Text] = facts(file)
        if id not in table:
            raise KeyError(f"{file}.json has no sentence {id!r}; write it there")
        return filled(id, table[id], arguments)

    return say


def filled(id: str, text: Text, arguments: Mapping[str, Any]) -> str:
    chosen = text if isinstance(text, str) else text.get(_form(arguments["count"]), text["other"])

    def argument(found: re.Match[str]) -> str:
        if found[1] not in arguments:
            raise KeyError(f"the sentence {id!r} needs {found[1]!r}: got {', '.join(arguments) or 'no argument'}")
        return str(arguments[found[1]])

    return ARGUMENT.sub(argument, chosen)


def _form(count: float) -> str:
    if language() == ENGLISH:
        return "one" if count == 1 else "other"
    from convviz.facts.i18n.translation import category

    return category(language())(count)
