"""The features: each a tab and a folder of ``convviz/features``, found by its name, which nothing else imports."""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from convviz.facts import facts

# What each says it is in its ``feature.json``, in the order of the page; its label is read in a visitor's language.
FEATURES: dict[str, Mapping[str, Any]] = {feature["name"]: feature for feature in facts("features")}
TABS = list(FEATURES)


def tabs_that(holds: Callable[[Mapping[str, Any]], Any]) -> list[str]:
    """Return the features of which something holds, by name."""
    return [name for name, feature in FEATURES.items() if holds(feature)]


ALONE = tabs_that(lambda feature: feature["works"] == "page")  # the page computes them
LARGE = tabs_that(lambda feature: feature.get("large"))  # a page to keep has them only if they are asked for
OF_A_NOTEBOOK = tabs_that(lambda feature: feature["works"] == "notebook")  # run a visitor's own code
HELD = tabs_that(lambda feature: feature.get("held_by_server"))  # keep their state where a server keeps no other
STATEFUL = tabs_that(lambda feature: "state" in feature)  # act, and stay as they are
SLOW = tabs_that(lambda feature: feature.get("slow") is True)  # keep torch busy
# Torch makes them at once.
QUICK = tabs_that(lambda feature: feature["works"] == "torch" and not feature.get("slow") and "state" not in feature)
RECORDED = tabs_that(lambda feature: feature.get("recorded"))  # show what was recorded where torch never answers


def code_of(name: str) -> ModuleType:
    """Return the module of a feature that makes the data of its tab."""
    return import_module(f"convviz.features.{name}.data")
