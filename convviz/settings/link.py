"""The settings as a link: one short line that a person can read, a page has in its address, and every use opens.

``v=2&size=8x6&stride=2&weight=box&tab=code``: the version, then what differs from its first picture. It leaves the
device out, so that it opens everywhere. ``web/rules/settings_link.js`` says the same for the page.
"""

import re
from collections.abc import Mapping
from functools import reduce
from typing import Any
from urllib.parse import parse_qs

from convviz.facts.loss_inputs import GIVEN, kinds_taken
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec
from convviz.settings.link_values import PATTERNS, notice_arguments, read, write
from convviz.settings.schema import FACTS, FIELDS
from convviz.settings.state import Settings

say = sentences("rules")
say_broken = sentences("break_it")

LIMITS: dict[str, int] = FACTS["limits"]["link"]
LINK_VERSION: int = FACTS["link_version"]
# From which picture a link of a version differs: the first picture was another each time. With v=2 its 1 stood in the
# middle, where a rotated kernel has the number that it had before.
BASES = {
    "1": Settings(),
    "2": Settings.from_dict(FACTS["first_picture"] | FACTS["link_2"]),
    str(LINK_VERSION): Settings.first_picture(),
}
# "theme" and "template" are words of Voilà's own in an address, and would cost a page its preheated kernel: a key
# has another name.
KEYS = {field.link: field for field in FIELDS.values() if field.link}


def to_link(settings: Settings | Mapping[str, Any]) -> str:
    """Return the settings, or ``App.state()``, without the device."""
    shown = settings if isinstance(settings, Settings) else Settings.from_dict(settings)
    # The shortest; of two as short the newest.
    link = min((_differing(shown, version) for version in reversed(BASES)), key=len)
    if len(link) > (most := LIMITS["characters_written"]):  # what servers, mail and chat let through
        raise ValueError(say("link.full", most=most))
    return link


def from_link(text: str) -> tuple[Settings, list[str]]:
    """Return the settings of a link or an address, on the cpu, and a sentence for all left out."""
    newest = BASES[str(LINK_VERSION)]
    if len(text) > (most := LIMITS["characters_read"]):
        return newest, [say("link.longer", most=most)]
    pairs = _pairs(_own_part(text))
    is_ours = _has_key(pairs)
    version = pairs.pop("v", ["1"])[0]  # without one it is from before there were two
    base = BASES.get(version, newest) if is_ours else newest
    notices = _about_version(version)
    given: dict[str, Any] = {}
    for name, values in pairs.items():
        if name not in KEYS:
            continue
        if len(values) > 1:
            notices.append(say("link.repeated", name=name, times=len(values)))
        try:
            given[name] = read(KEYS[name], values[0])
        except ValueError:
            key = KEYS[name]
            notices.append(say(f"link.{key.kind}", name=name, value=_shortened(values[0]), **notice_arguments(key)))
    unknown = [name for name in pairs if name not in KEYS]
    if unknown:
        named = LIMITS["unknown_keys_named"]
        names, more = ", ".join(map(_shortened, unknown[:named])), len(unknown) - named
        unread = say("link.unknown_more", names=names, more=more) if more > 0 else say("link.unknown", names=names)
        notices.append(unread)
    spec, left_out = _geometry(given, base)
    fields = {KEYS[name].name: value for name, value in given.items() if not KEYS[name].spec}
    settings = base.replace(spec=spec, **fields)
    return settings, notices + left_out + _not_taken(given, settings) + _not_broken(given, settings)


def _differing(settings: Settings, version: str) -> str:
    parts = [f"v={version}"]
    for name, key in KEYS.items():
        value, usual = (getattr(each.spec if key.spec else each, key.name) for each in (settings, BASES[version]))
        if value != usual:
            parts.append(f"{name}={write(key, value)}")
    return "&".join(parts)


def is_link(text: str) -> bool:
    return _has_key(_pairs(_own_part(text)))


def briefly(notices: list[str]) -> str:
    more = len(notices) - LIMITS["sentences_shown"]
    return " ".join(notices[: LIMITS["sentences_shown"]] + ([say("link.more", more=more)] if more > 0 else []))


def _shortened(text: str) -> str:
    return text[: LIMITS["characters_of_a_bad_value"]]


def _own_part(text: str) -> str:
    """Cut the link out of an address: after # where it is one, else after the question mark."""
    address, _, fragment = re.sub(r"[ \t\r\n]+", "", text).partition("#")
    if _has_key(_pairs(fragment)):
        return fragment
    _, mark, query = address.partition("?")
    if mark:
        return query
    return "" if "://" in address else address


def _has_key(pairs: Mapping[str, Any]) -> bool:
    return any(name == "v" or name in KEYS for name in pairs)


def _pairs(link: str) -> dict[str, list[str]]:
    own = link.replace("&amp;", "&").replace("+", "%2B")  # as in the source of a page; a plus is one here, and no space
    return parse_qs(own, keep_blank_values=True)


def _about_version(text: str) -> list[str]:
    if text in BASES:
        return []
    if PATTERNS["whole"].fullmatch(text) and int(text) > LINK_VERSION:
        return [say("link.newer", version=int(text), own=LINK_VERSION)]
    return [say("link.version", own=LINK_VERSION, value=_shortened(text))]


def _geometry(given: Mapping[str, Any], base: Settings) -> tuple[ConvSpec, list[str]]:
    """Return the geometry of the keys; if impossible, without as few of them as will do."""
    transposed = given.get("transposed", False)
    names = [name for name in FACTS["left_out_first"] if name in given]
    reasons = []
    for left_out in ([], *([name] for name in names), *(names[:count] for count in range(2, len(names) + 1))):
        kept = {KEYS[name].name: given[name] for name in names if name not in left_out}
        try:
            spec = Settings(spec=base.spec.replace(**kept), transposed=transposed).spec
        except ValueError as error:
            reasons.append(str(error))
            continue
        shown = [f"{name}={write(KEYS[name], given[name])}" for name in left_out]
        keys = reduce(lambda these, last: say("list.and", these=these, last=last), shown) if shown else ""
        return spec, [say("link.left_out", count=len(shown), keys=keys, why=reasons[0])] if shown else []
    raise AssertionError("without any of its keys a geometry is that of the first picture")


def _not_taken(given: Mapping[str, Any], settings: Settings) -> list[str]:
    kinds = {name: kinds_taken(settings.loss, name) for name in GIVEN if name in given}
    return [
        say("link.taken", name=name, words=", ".join(words), loss=settings.loss, value=given[name].kind, first=words[0])
        for name, words in kinds.items()
        if words and given[name].kind not in words
    ]


def _not_broken(given: Mapping[str, Any], settings: Settings) -> list[str]:
    left_out = given.get("broken") and not settings.broken
    return [say_broken("link.transposed", value=given["broken"])] if left_out else []
