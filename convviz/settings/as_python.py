"""The settings as Python that opens the app with them."""

import dataclasses
import inspect
import json
import textwrap
from typing import Any

from convviz.geometry.spec import ConvSpec
from convviz.settings.link import to_link
from convviz.settings.link_values import folded
from convviz.settings.state import Settings
from convviz.settings.tensor_source import Source

WIDTH = 100


def as_python(settings: Settings) -> str:
    """Return Python that opens the app with these settings: by a link where it is short."""
    if settings == Settings.first_picture():
        return "import convviz\n\nconvviz.App()\n"
    if line := _linked(settings):
        return f"import convviz\n\n{line}\n"
    default = Settings()
    entries = []
    for name, value in settings.to_dict().items():
        held = getattr(settings, name, None)
        if name == "version" or held == getattr(default, name):
            continue
        if isinstance(held, ConvSpec):
            value = _short_spec(held)
        entries.append(_entry(name, value, held))
    state = "\n".join(textwrap.indent(entry, " " * 8) for entry in entries)
    return f"import convviz\n\nconvviz.App(\n    state={{\n{state}\n    }}\n)\n"


def _linked(settings: Settings) -> str:
    try:
        link = to_link(settings)
    except ValueError:  # more typed numbers than a link holds
        return ""
    device = "" if settings.device == Settings().device else f', device="{settings.device}"'
    line = f'convviz.App(link="{link}"{device})'
    return line if len(line) <= WIDTH else ""


def _entry(name: str, value: Any, held: Any) -> str:
    line = f'"{name}": {_literal(value)},'
    if len(line) <= WIDTH:
        return line
    if not isinstance(held, Source):
        fields = "".join(f'    "{key}": {_literal(each)},\n' for key, each in value.items())
        return f'"{name}": {{\n{fields}}},'
    numbers = textwrap.fill(
        f"{_literal(value['values'])[1:-1]},", WIDTH - 4, break_long_words=False, break_on_hyphens=False
    )
    shape = f'    "shape": {_literal(value["shape"])},\n' if "shape" in value else ""
    values = f'    "values": [\n{textwrap.indent(numbers, " " * 8)}\n    ],\n'
    return f'"{name}": {{\n    "kind": "{held.kind}",\n{values}{shape}}},'


def _short_spec(spec: ConvSpec) -> dict[str, Any]:
    defaults = {name: each.default for name, each in inspect.signature(ConvSpec).parameters.items()}
    fields = {field.name: folded(getattr(spec, field.name)) for field in dataclasses.fields(spec)}
    return {name: value for name, value in fields.items() if value != defaults[name]}


def _literal(value: Any) -> str:
    """Return plain data as Python; its words need no escapes."""
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)}: {_literal(each)}' for key, each in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value)
