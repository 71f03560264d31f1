"""Which language somebody gets who asks for one."""

import warnings

from convviz.facts import facts
from convviz.facts.i18n.current_language import ENGLISH, language, languages, match_locale, use_locale
from convviz.facts.words import sentences

say = sentences("language")


def chosen(wanted: str | None) -> tuple[str, str]:
    """Return a tag's language, of None the one spoken here, and a sentence where it is not there."""
    if wanted is None:
        return language(), ""
    tag = match_locale(wanted)
    return (ENGLISH, say("unknown", got=f"{wanted!r:.40}", known=known())) if tag is None else (tag, "")


def requested_language(wanted: str | None) -> str:
    """Return the language that somebody gets, with a warning where it is another one."""
    tag, unknown = chosen(wanted)
    if unknown:
        warnings.warn(unknown, stacklevel=4)  # of who called the function that takes a language, itself called by one
    return tag


def known() -> str:
    return ", ".join(f"{tag} ({name})" for tag, name in own_names().items())


def own_names() -> dict[str, str]:
    names: dict[str, str] = {}
    for tag in languages():
        with use_locale(tag):
            names[tag] = facts("language")["name"]
    return names
