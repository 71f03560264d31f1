"""Lists what convviz offers, one thing a line: hold a change against it, so that nothing goes by accident.

    python -m tests.abilities > now; PYTHONPATH=/path/to/an/older/tree python -m tests.abilities > then; diff then now

What the page can do is a test each: `make board`.
"""

import argparse
import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import convviz
from convviz.cli import build_parser
from convviz.ops.methods import METHODS

PACKAGE = Path(convviz.__file__).parent
# A tree before 1.1 has its facts beside what reads them.
FACTS = next(folder for folder in (PACKAGE / "facts" / "data", PACKAGE / "facts") if folder.is_dir())
FEATURES = PACKAGE / "features"


def abilities() -> Iterator[str]:
    """Yield each public name, option, setting, control, tab, method, lesson, mistake and sentence."""
    for name in sorted(convviz.__all__):
        thing = getattr(convviz, name)
        is_error = isinstance(thing, type) and issubclass(thing, BaseException)
        arguments = ", ".join(inspect.signature(thing).parameters) if callable(thing) and not is_error else ""
        yield f"name {name}({arguments})"
    yield from _options(build_parser(), "option convviz")
    yield from (f"method {name}" for name in METHODS)
    settings = json.loads((FACTS / "settings.json").read_text(encoding="utf-8"))
    yield from (f"setting {name}" for name in {**settings["base_state"], **settings["base_state"].get("spec", {})})
    for group in settings["controls"]:
        yield from (f"control {name}" for name in _texts(group))
    yield from (f"tab {file.parent.name}" for file in sorted(FEATURES.glob("*/feature.json")))
    yield from (f"lesson {file.stem}" for file in sorted((PACKAGE / "lessons").rglob("*.json")))
    yield from (f"mistake {file.stem}" for file in sorted((FACTS / "mistakes").glob("*.json")))
    of_features = {file: f"features/{file.parent.name}" for file in sorted(FEATURES.glob("*/words.json"))}
    for file, part in ({file: file.stem for file in sorted((FACTS / "words").rglob("*.json"))} | of_features).items():
        words = json.loads(file.read_text(encoding="utf-8"))
        yield from (f"sentence {part}:{id}" for id in words)


def _options(parser: argparse.ArgumentParser, command: str) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _options(inner, f"{command} {name}")
        else:
            yield f"{command} {action.option_strings[-1] if action.option_strings else action.dest}"


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


if __name__ == "__main__":
    print("\n".join(sorted(set(abilities()))))
