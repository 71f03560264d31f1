"""Which language the sentences have: that of the caller, English where nobody says otherwise.

It is of the context, not of the process: two apps of one kernel may differ. Who adds a catalogue,
``languages/<tag>.po``, names it nowhere else.
"""

import contextlib
import contextvars
import functools
import json
from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import ParamSpec, TypeVar

from convviz.facts.i18n.translatable_texts import Catalogue
from convviz.optional_dependencies import needs

ENGLISH = "en"
FOLDER: Traversable = files("convviz.facts.i18n").joinpath("languages")
ENDING = ".po"
READY = ".catalogue"  # what a wheel has in its place: JSON, which is read without a package
LONGEST = 35  # letters of a language's tag, as RFC 5646 asks every reader to take

P = ParamSpec("P")
T = TypeVar("T")
_spoken: contextvars.ContextVar[str] = contextvars.ContextVar("convviz_language", default=ENGLISH)


def language() -> str:
    return _spoken.get()


@contextlib.contextmanager
def use_locale(tag: str) -> Iterator[None]:
    token = _spoken.set(tag)
    try:
        yield
    finally:
        _spoken.reset(token)


def each_language(make: Callable[P, T]) -> Callable[P, T]:
    """Return a function that makes its result once for each language and arguments."""
    made: dict[object, T] = {}

    @functools.wraps(make)
    def ask(*args: P.args, **kwargs: P.kwargs) -> T:
        key = (language(), args, tuple(sorted(kwargs.items())))
        if key not in made:
            made[key] = make(*args, **kwargs)
        return made[key]

    return ask


def languages() -> list[str]:
    """English first."""
    tags = {
        stem
        for stem, dot, ending in (path.name.rpartition(".") for path in FOLDER.iterdir())
        if dot + ending in (ENDING, READY)
    }
    return [ENGLISH, *sorted(tags)]


@functools.cache
def catalogue(tag: str) -> Catalogue:
    ready = FOLDER.joinpath(f"{tag}{READY}")
    if ready.is_file():
        made: Catalogue = json.loads(ready.read_text(encoding="utf-8"))
        return made
    with needs(f"the language {tag} of a checkout"):
        from convviz.facts.i18n.read_po import read
    return read(tag, FOLDER.joinpath(f"{tag}{ENDING}").read_text(encoding="utf-8"))


def match_locale(wanted: object) -> str | None:
    """Return our language for a stranger's tag, by script and language: ``zh_TW`` is ``zh-Hant``; None for none."""
    if not isinstance(wanted, str) or len(wanted) > LONGEST:
        return None
    by_name = {tag.lower(): tag for tag in languages()}
    plain = wanted.strip().replace("_", "-").lower()
    if plain in by_name:
        return by_name[plain]
    return next((tag for tag in languages() if _written(tag) == _written(plain)), None) if plain else None


def negotiate_locale(header: str) -> str | None:
    """Return the first language of ours that a browser asks for with ``Accept-Language``."""
    wishes: list[tuple[float, str]] = []
    for part in header.split(",")[:20]:
        tag, _, weight = part.partition(";")
        try:
            wishes.append((float(weight.strip().removeprefix("q=") or 1), tag))
        except ValueError:
            continue
    ordered = sorted((wish for wish in wishes if wish[0] > 0), key=lambda wish: -wish[0])
    return next(filter(None, (match_locale(wanted) for _, wanted in ordered)), None)


@functools.lru_cache(maxsize=256)  # strangers ask for what they like
def _written(tag: str) -> tuple[str, str]:
    """Return language and script of a tag, of one of ours what is likely if it names none."""
    name, *rest = tag.lower().split("-")
    script = next((part.title() for part in rest if len(part) == 4 and part.isalpha()), "")
    region = next((part.upper() for part in rest if len(part) == 2 and part.isalpha()), "")
    ours = next((each for each in languages() if each.lower().partition("-")[0] == name), "")
    if not script and ours:
        likely = {"": "Latn"} if ours == ENGLISH else catalogue(ours)["scripts"]
        script = likely.get(region) or likely.get("", "")
    return name, script
