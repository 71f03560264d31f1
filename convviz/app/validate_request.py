"""What a page asks for, read strictly: a message is a stranger's, and what is another thing a ``RequestError``."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from convviz.facts.words import sentences

say = sentences("app")
log = logging.getLogger(__name__)

MAX_MESSAGE_CHARS = 600  # of a sentence on the page
MAX_PAGE_ID_CHARS = 64  # letters of a name: a page's, a tab's, a box's
MAX_WHOLE = 2**53  # what JavaScript counts to
DEEPEST = 8  # dicts and lists within each other; the settings need 5


class RequestError(ValueError):
    """What a message asks for is possible with no settings."""


def brief(value: Any) -> str:
    """Return how a stranger's value begins, for a sentence."""
    try:
        return f"{value!r:.40}"
    except (RecursionError, ValueError):  # nested too deeply, or a number with too many digits
        return type(value).__name__


def sentence_of(error: Exception, of: str = "action") -> str:
    """Return what an error says, short enough to read; one that nobody foresaw is logged: the app must live on."""
    sentence = str(error)
    if not isinstance(error, ValueError):
        from convviz.ops.devices_and_dtypes import (
            is_out_of_memory,  # the server, which has no torch, reads messages, too
        )

        log.error("the %s failed", of, exc_info=error)
        memory, kind = is_out_of_memory(error), type(error).__name__
        failed = say("memory") if memory else say(f"{of}.failed", kind=kind, why=error)
        sentence = f"{failed} {say(f'{of}.kept')}"
    half = MAX_MESSAGE_CHARS // 2  # it may name what a stranger sent
    return sentence if len(sentence) <= MAX_MESSAGE_CHARS else f"{sentence[:half]} … {sentence[-half:]}"


def shown(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what a tab draws, or ``{"error": sentence}``."""
    try:
        return make()
    except RequestError:
        raise
    except Exception as error:
        return {"error": sentence_of(error, "tab")}


def asked(message: Any) -> Any:
    if not isinstance(message, Mapping):
        raise RequestError(say("message", got=brief(message)))
    _check_depth(message)
    return message.get("type")


def _check_depth(message: Mapping[str, Any]) -> None:
    level: list[Any] = [message]
    for _ in range(DEEPEST):
        inner = (each.values() if isinstance(each, Mapping) else each for each in level)
        level = [each for values in inner for each in values if isinstance(each, (Mapping, list, tuple))]
        if not level:
            return
    raise RequestError(say("message.deep", most=DEEPEST))


def check_dict(what: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RequestError(say("message.dict", what=what, got=brief(value)))
    return value


def check_keys(what: str, message: Any, known: Sequence[str]) -> Mapping[str, Any]:
    checked = check_dict(what, message)
    for key in checked:
        if key not in known:
            id = "message.keys" if known else "message.no_keys"
            raise RequestError(say(id, what=what, known=", ".join(known), got=brief(key)))
    return checked


def one_of(message: Mapping[str, Any], key: str, known: Sequence[str], default: str) -> str:
    value = message.get(key, default)
    if not isinstance(value, str) or value not in known:
        raise RequestError(say("message.word", key=key, known=", ".join(known), got=brief(value)))
    return value


def flag(message: Mapping[str, Any], key: str) -> bool:
    value = message.get(key, False)
    if not isinstance(value, bool):
        raise RequestError(say("message.flag", key=key, got=brief(value)))
    return value


def whole(message: Mapping[str, Any], key: str, default: int | None = None) -> int:
    return whole_number(key, message.get(key, default))


def whole_number(key: str, value: Any) -> int:
    if type(value) is not int or abs(value) > MAX_WHOLE:
        raise RequestError(say("message.index", key=key, got=brief(value)))
    return value


def page_name(message: Mapping[str, Any]) -> str:
    """Return which page asks: a kernel's messages go to all pages."""
    page = message.get("page")
    if not isinstance(page, str) or len(page) > MAX_PAGE_ID_CHARS:
        raise RequestError(say("message.page", most=MAX_PAGE_ID_CHARS, got=brief(page)))
    return page
