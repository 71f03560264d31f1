"""The settings as a link: one short line that a person can read, a page has in its address, and every use opens.

``v=1&size=8x6&stride=1&weight=box&tab=code``: the version, then what differs from the app's first picture, in torch's
words where torch has them. A link leaves the device out, so that it opens on a machine without an accelerator.
``board/js/rules/link.js`` says the same for the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from convviz.facts import facts
from convviz.plane import Plane
from convviz.settings import link_values as form
from convviz.settings.state import CHOICES, KINDS, MOST, MOST_PLANES, NAMED_KINDS, VERSION, Settings
from convviz.spec import ConvSpec

FACTS = facts("settings")
LIMITS: dict[str, int] = FACTS["limits"]["link"]
MOST_WRITTEN = LIMITS["characters_written"]  # what servers, mail and chat let through
MOST_READ = LIMITS["characters_read"]
TOO_LONG = (
    f"these settings hold too many numbers for a link, which has up to {MOST_WRITTEN} characters: "
    "use 'Copy as Python', or keep the dict that App.state() returns in a file"
)
SHOWN = LIMITS["characters_of_a_bad_value"]  # that its sentence repeats
NAMED = LIMITS["unknown_keys_named"]
TOLD = LIMITS["sentences_shown"]  # on a page
VALUES = "or numbers with their shape, such as values:1x1x2x2:0.5,1,-1,0"


@dataclass(frozen=True)
class Key:
    """What one key of a link means.

    Attributes:
        field: the field of Settings, or of ConvSpec.
        rule: what a value looks like, in words.
        read: from the text; ValueError for another form.
        write: to the text.
    """

    field: str
    rule: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = form.write_plain


def _pair(field: str) -> Key:
    rule = f"a whole number from 1 to {MOST[field]}, or height and width such as 3x2"
    return Key(field, rule, lambda text: form.read_pair(text, 1, MOST[field]), form.write_pair)


def _whole(field: str, low: int, high: int) -> Key:
    return Key(field, f"a whole number from {low} to {high}", lambda text: form.read_whole(text, low, high))


def _planes(field: str) -> Key:
    return _whole(field, 1, MOST_PLANES.get(field, MOST_PLANES["in_channels"]))  # groups divide the channels


def _sides(field: str) -> Key:
    most = MOST[field]
    rule = f"a whole number from 0 to {most}, or height and width such as 1x0, or both sides such as 1,2x0,1"
    return Key(field, rule, lambda text: form.read_sides(text, 0, most), form.write_sides)


def _word(field: str) -> Key:
    words = tuple(CHOICES[field])
    rule = f"one of {', '.join(filter(None, words))}"
    return Key(field, rule, lambda text: form.read_word(text, words))


def _flag(field: str) -> Key:
    return Key(field, "1 or 0", form.read_flag)


def _source(field: str) -> Key:
    rule = f"one of {', '.join(NAMED_KINDS[field])}, {VALUES}"
    return Key(field, rule, lambda text: form.read_source(text, tuple(KINDS[field])), form.write_source)


def _bias(field: str) -> Key:
    return Key(field, "numbers such as 0.5,-1, one a channel", form.read_bias, form.write_bias)


def _plane(field: str) -> Key:
    rule = "three indices from 0, such as 0,1,0: sample, output channel, input channel"
    return Key(field, rule, _read_plane, lambda plane: f"{plane.sample},{plane.out_channel},{plane.in_channel}")


def _read_plane(text: str) -> Plane:
    indices = [form.read_whole(part, 0, 10**9) for part in text.split(",")]
    if len(indices) != 3:
        raise ValueError
    return Plane(*indices)


FORMS: dict[str, Callable[[str], Key]] = {
    "pair": _pair,
    "sides": _sides,
    "planes": _planes,
    "whole": lambda field: _whole(field, *FACTS["limits"]["controls"][field]),
    "word": _word,
    "flag": _flag,
    "source": _source,
    "bias": _bias,
    "plane": _plane,
}


def _keys(part: str) -> dict[str, Key]:
    return {name: FORMS[key["form"]](key["field"]) for name, key in FACTS["link_keys"][part].items()}


# "theme" and "template" are words of Voilà's own in an address, and would cost a page its preheated kernel: a key
# has another name.
GEOMETRY = _keys("geometry")
OTHER = _keys("other")
KEYS = GEOMETRY | OTHER
# A geometry that is not possible loses the first of these keys without which it is.
LEAST_NEEDED = tuple(FACTS["link_keys"]["left_out_first"])


def to_link(settings: Settings | Mapping[str, Any]) -> str:
    """Return the settings, or the dict that ``App.state()`` returns, as a link: without the device.

    Raises:
        ValueError: the dict is no state, or the numbers in it are too many for a link.
    """
    shown = settings if isinstance(settings, Settings) else Settings.from_dict(settings)
    default = Settings()
    parts = [f"v={VERSION}"]
    for name, key in KEYS.items():
        here, there = (_owner(each, name) for each in (shown, default))
        value = getattr(here, key.field)
        if value != getattr(there, key.field):
            parts.append(f"{name}={key.write(value)}")
    link = "&".join(parts)
    if len(link) > MOST_WRITTEN:
        raise ValueError(TOO_LONG)
    return link


def from_link(text: str) -> tuple[Settings, list[str]]:
    """Read a link, or the address of a page that has one, as well as it can be read.

    Args:
        text: any text.

    Returns:
        The settings, on the cpu, and one sentence for everything that had to be left out.
    """
    if len(text) > MOST_READ:
        return Settings(), [f"A link has up to {MOST_READ} characters: this one is longer and is left out."]
    pairs = _pairs(_own_part(text))
    notices = _about_version(pairs.pop("v", [str(VERSION)])[0])
    given: dict[str, Any] = {}
    for name, values in pairs.items():
        if name not in KEYS:
            continue
        if len(values) > 1:
            notices.append(f"{name} stands {len(values)} times in the link: the first is taken.")
        try:
            given[name] = KEYS[name].read(values[0])
        except ValueError:
            notices.append(f"{name} is {KEYS[name].rule}: got '{values[0][:SHOWN]}'; its default is taken.")
    unknown = [name for name in pairs if name not in KEYS]
    if unknown:
        more = f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
        named = ", ".join(name[:SHOWN] for name in unknown[:NAMED])
        notices.append(f"The link has keys that this convviz does not know and leaves out: {named}{more}.")
    spec, left_out = _geometry(given)
    fields = {OTHER[name].field: value for name, value in given.items() if name in OTHER}
    return Settings(spec=spec, **fields), notices + left_out


def is_link(text: str) -> bool:
    """Return whether a text, or the address of a page, has a key of a link in it."""
    return _has_key(_own_part(text))


def briefly(notices: list[str]) -> str:
    """Return the sentences about a link as one line for the page."""
    more = len(notices) - TOLD
    return " ".join(notices[:TOLD] + ([f"And {more} more of this kind."] if more > 0 else []))


def _owner(settings: Settings, name: str) -> Settings | ConvSpec:
    return settings.spec if name in GEOMETRY else settings


def _own_part(text: str) -> str:
    """Cut the link out of an address: the part after # where it is a link, else the part after the question mark."""
    address, _, fragment = re.sub(r"[ \t\r\n]+", "", text).partition("#")
    if _has_key(fragment):
        return fragment
    _, mark, query = address.partition("?")
    if mark:
        return query
    return "" if "://" in address else address


def _has_key(link: str) -> bool:
    return any(name == "v" or name in KEYS for name in _pairs(link))


def _pairs(link: str) -> dict[str, list[str]]:
    """Return the values of every key, in the order of the link."""
    found: dict[str, list[str]] = {}
    for part in link.replace("&amp;", "&").split("&"):  # as it stands in the source of a page
        if part:
            name, _, value = part.partition("=")
            found.setdefault(_unescaped(name), []).append(_unescaped(value))
    return found


def _unescaped(text: str) -> str:
    """Undo what mail and chat do to commas and colons; other characters have no meaning in a link."""
    return re.sub("%([0-7][0-9A-Fa-f])", lambda found: chr(int(found[1], 16)), text)


def _about_version(text: str) -> list[str]:
    if text == str(VERSION):
        return []
    if form.WHOLE.fullmatch(text) and int(text) > VERSION:
        known = f"this convviz reads version {VERSION}: what it knows is shown; update convviz for the rest"
        return [f"The link is of version {int(text)}, {known}."]
    return [f"v is the version of the link, {VERSION}: got '{text[:SHOWN]}'; it is read as version {VERSION}."]


def _geometry(given: Mapping[str, Any]) -> tuple[ConvSpec, list[str]]:
    """Return the geometry that the keys give; where it is not possible, without as few of them as will do."""
    transposed = given.get("transposed", False)

    def made(left_out: tuple[str, ...]) -> ConvSpec:
        kept = {GEOMETRY[name].field: given[name] for name in GEOMETRY if name in given and name not in left_out}
        spec = Settings().spec.replace(**kept)
        return Settings(spec=spec, transposed=transposed).spec

    try:
        return made(()), []
    except ValueError as error:
        reason = str(error)
    names = tuple(name for name in LEAST_NEEDED if name in given)
    for left_out in [*((name,) for name in names), *(names[:count] for count in range(2, len(names)))]:
        try:
            spec = made(left_out)
        except ValueError:
            continue
        return spec, [_left_out(left_out, given, reason)]
    return Settings().spec, [_left_out(names, given, reason)]


def _left_out(names: tuple[str, ...], given: Mapping[str, Any], reason: str) -> str:
    shown = " and ".join(f"{name}={GEOMETRY[name].write(given[name])}" for name in names)
    return f"{shown} {'is' if len(names) == 1 else 'are'} left out: {reason}."
