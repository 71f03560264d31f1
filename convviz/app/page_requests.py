"""Answers the requests of a page: plain data in, plain data and bytes out.

A server's worker gets every request here, a notebook's App those of its tabs. A request carries everything, so any
process can answer it; only a few results are kept.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from convviz.app.step_numbers import numbers
from convviz.app.validate_request import (
    RequestError,
    asked,
    brief,
    check_dict,
    check_keys,
    one_of,
    page_name,
    sentence_of,
    shown,
    whole,
)
from convviz.facts.features import ALONE, TABS, code_of
from convviz.facts.words import sentences
from convviz.ops.stages import Stages
from convviz.settings.as_python import as_python
from convviz.settings.compute import compute
from convviz.settings.schema import VIEW
from convviz.settings.state import DEFAULTS, Settings

PAGE = "convolution.html"  # what the saved page is called
# A request's keys beside its type, its id and the page that asks; whoever calls has read the language.
KEYS = {
    "compute": ("settings",),
    "tab": ("tab", "settings", "choices", "ask"),
    "python": ("settings",),
    "page": ("settings",),
    "picture": (),
}
ALWAYS = ("type", "id", "page", "language")
RESULTS = 4  # that a process keeps: a tab is asked for after its board

PageMaker = Callable[[Mapping[str, Any]], bytes]
StagesOf = Callable[[Settings], Stages]

say = sentences("app")


class Answer(NamedTuple):
    """A message to a page: plain data that JSON can hold, and the bytes beside it."""

    message: dict[str, Any]
    buffers: list[bytes]


def computed(settings: Settings) -> Stages:
    """Return the numbers of the settings, those of the last few without computing."""
    return _computed(settings.replace(**{name: DEFAULTS[name] for name in VIEW}))


_computed = functools.lru_cache(maxsize=RESULTS)(compute)


def answered(request: Any, buffers: Sequence[Any] = (), **given: Any) -> Answer:
    """Return ``answer``'s answer with its request's id and page; a refusal in place of an error."""
    back: dict[str, Any] = {}
    try:
        if isinstance(request, Mapping):  # first: a refusal, too, says whose it is
            back["id"] = whole(request, "id")
            if "page" in request:
                back["page"] = page_name(request)
        made = answer(request, buffers, **given)
        return Answer(made.message | back, made.buffers)
    except Exception as error:
        return Answer({"type": "refused", **back, "sentence": sentence_of(error)}, [])


def answer(
    request: Any,
    buffers: Sequence[Any] = (),
    *,
    page_maker: PageMaker | None = None,
    stages: StagesOf = computed,
) -> Answer:
    """Return the answer to a request as it came, a dict with a ``type``."""
    kind = asked(request)
    if not isinstance(kind, str) or kind not in KEYS:
        raise RequestError(say("message.type", known=", ".join(KEYS), got=brief(kind)))
    check_keys(kind, request, (*ALWAYS, *KEYS[kind]))
    if kind == "picture":
        from convviz.app.upload import picture_source

        return Answer({"type": "picture", "source": picture_source(list(buffers)).to_dict()}, [])
    settings = Settings.from_dict(request.get("settings"))
    if kind == "tab":
        return _tab(request, settings, stages)
    if kind == "python":
        return Answer({"type": "python", "text": as_python(settings)}, [])
    if kind == "page":
        pages = [page_maker(settings.to_dict())] if page_maker is not None else []
        return Answer({"type": "page", "name": PAGE}, pages)
    made = numbers(stages(settings))
    tensors = made.pop("tensors")
    return Answer({"type": "numbers", **made, "tensors": list(tensors)}, list(tensors.values()))


def _tab(request: Mapping[str, Any], settings: Settings, stages: StagesOf) -> Answer:
    name = one_of(request, "tab", TABS, "")
    choices, ask = check_dict("choices", request.get("choices", {})), request.get("ask")
    back = {"type": "tab", "tab": name}
    if name in ALONE:
        return Answer(back | {"data": {"state": "alone"}}, [])
    tab = code_of(name)
    check_keys("choices", choices, getattr(tab, "CHOICES", ()))
    if ask is None:
        data = shown(lambda: tab.data(settings, stages(settings), choices))
        return Answer(back | {"data": data}, [])
    if not hasattr(tab, "reply"):
        raise RequestError(say("message.ask", tab=name))
    content, inside = tab.reply(settings, stages(settings), choices, ask)
    return Answer(back | {"reply": content}, inside)
