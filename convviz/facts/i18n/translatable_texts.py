"""Which parts of the facts are texts that other languages say, too, and the context that names each in a catalogue."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from convviz.facts.load_english_facts import FEATURES, english, names_in

Text = str | Mapping[str, str]  # with forms, one is chosen by the argument ``count``
Change = Callable[[str, Text], Text]

# Of names.json; the rest are tensors and formulas.
LABELS = ("groups", "groups_of_the_kernel", "controls", "values", "axes", "cells")
OF_A_MISTAKE = ("title", "fix")


class Catalogue(TypedDict):
    """A language as it is read: a wheel's from a file that is ready, a checkout's from its PO."""

    texts: Mapping[str, Text]
    plural: str
    forms: Mapping[str, int]
    scripts: Mapping[str, str]


def with_texts(name: str, data: Any, change: Change) -> Any:
    """Return a file of facts with each text changed, given its context, such as ``"words/rules:moved.groups"``."""
    if name.startswith("words/") or (name.startswith(FEATURES) and name.endswith("/words")):
        return {id: change(f"{name}:{id}", text) for id, text in data.items()}
    if name.startswith("mistakes/"):
        return data | {part: change(f"{name}:{part}", data[part]) for part in OF_A_MISTAKE}
    if name == "names":
        return data | {part: _labels(f"{name}:{part}", data[part], change) for part in LABELS}
    if name.startswith(FEATURES) and name.endswith("/feature"):
        return data | {"label": change(f"{name}:label", data["label"])}
    if name == "language":
        return data | {"name": change(f"{name}:name", data["name"])}
    return data


def all_texts() -> dict[str, Text]:
    found: dict[str, Text] = {}

    def keep(context: str, text: Text) -> Text:
        found[context] = text
        return text

    for name in (*names_in(), *names_in(FEATURES)):
        with_texts(name, english(name), keep)
    return found


def _labels(context: str, labels: Mapping[str, Any], change: Change) -> dict[str, Any]:
    return {
        key: _labels(f"{context}.{key}", label, change)
        if isinstance(label, Mapping)
        else change(f"{context}.{key}", label)
        for key, label in labels.items()
    }
