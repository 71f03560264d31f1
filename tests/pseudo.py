"""Everything that a visitor reads, in a pseudo-language: a text is bracketed, and 1.4 times as long.

``python -m tests.pseudo FOLDER`` writes pages whose texts were read so, in a process of its own: what a module reads
at its import is pseudo as well. Letters outside the brackets were then never a fact, and a box that cuts the longer
text off is too narrow for another language.
"""

import functools
import json
import math
import re
import sys
from importlib.resources import files
from pathlib import Path

OPEN, CLOSE = "\u27e6", "\u27e7"
LENGTHENED = 1.4
LABELS = ("groups", "tabs", "controls", "values", "axes", "cells")  # of names.json; the rest are tensors and formulas
CONTROLS = ("kernel", "geometry", "channels", "input", "loss", "look")
STATES = {"page": {}, "transposed": {"transposed": True}}
PANES = ("matrix", "graph", "code", "pytorch", "check", "quantised", "linear")


def pseudo(text):
    """Return a text in brackets and lengthened, its arguments kept; the forms of a plural each."""
    if isinstance(text, dict):
        return {name: pseudo(each) for name, each in text.items()}
    more = math.ceil(LENGTHENED * len(text)) - len(text) - 2
    filler = "".join(" " if place % 7 == 0 and len(text) > 14 else "\u00f8" for place in range(more))
    return f"{OPEN}{text}{filler}{CLOSE}"


def pseudo_facts(name, data):
    """Return what a file of facts holds, its texts in the pseudo-language."""
    if name.startswith("words/"):
        return pseudo(data)
    if name == "names":
        return data | {part: pseudo(data[part]) for part in LABELS}
    return data


class _File:
    """Stands in for a file of facts, or for their folder."""

    def __init__(self, path=""):
        self._path = path

    def joinpath(self, name):
        return _File(name)

    def read_text(self, encoding):
        text = files("convviz.facts").joinpath(self._path).read_text(encoding=encoding)
        return json.dumps(pseudo_facts(self._path.removesuffix(".json"), json.loads(text)))


def speak_pseudo():
    """Let this process read every fact in the pseudo-language; call it before anything else of convviz is imported."""
    import convviz.facts

    convviz.facts.files = lambda package: _File()
    convviz.facts.facts.cache_clear()


def write_pages(folder):
    """Write one exported page a state, and one with every pane."""
    from convviz.export.page import page_bytes
    from convviz.settings.state import Settings

    for name, wanted in STATES.items():
        state = Settings().replace(**wanted).to_dict()
        folder.joinpath(f"{name}.html").write_bytes(page_bytes(state, controls=CONTROLS))
    folder.joinpath("panes.html").write_text(panes(), encoding="utf-8")
    folder.joinpath("app.json").write_text(json.dumps(app_texts()), encoding="utf-8")


def app_texts():
    """Return every text that the widgets of an app hold, and what it says to strange messages of a page."""
    from convviz.app.app import App, _all_below
    from convviz.app.upload import read_picture

    texts = []
    for transposed in (False, True):
        app = App(transposed=transposed)
        for widget in _all_below(app):
            held = [getattr(widget, name, None) for name in ("description", "tooltip", "label")]
            if type(widget).__name__ == "HTML":
                held.append(re.sub("<style>.*?</style>|<[^>]*>", "", widget.value, flags=re.DOTALL))
            held += [label for label, _ in widget.options] if hasattr(widget, "options") else []
            texts += [text for text in held if text]
        far = {"type": "edit", "panel": "weight", "row": 90, "column": 0, "value": 1}
        said = [functools.partial(app.model.act, message) for message in (far, {"type": "select"}, 5)]
        for action in [*said, *(functools.partial(read_picture, data) for data in (b"", b"x" * 9_000_000))]:
            app.model.attempt(action)
            texts.append(app.model.notice)
        app.close()
    return texts


def panes():
    """Return a page with the row of tabs and every tab's pane, each drawing what Python makes of the first picture."""
    import importlib

    from convviz.app.model import Model
    from convviz.board.tabbar import TabBar

    from convviz.app.tabs.tabs import CLASSES, TABS
    from convviz.board.pane import Pane

    model = Model()
    drawn = [("bar", TabBar._esm, {"tabs": list(TABS.items()), "chosen": ""})]
    for name in PANES:
        pane = getattr(importlib.import_module(f"convviz.app.tabs.{name}"), CLASSES[name])(model).pane
        state = {each: getattr(pane, each) for each in ("data", "wanted", "tab", "theme", "colorscales")}
        drawn.append((name, pane._esm, state))
    scripts = "\n".join(_script(*each) for each in drawn)
    places = "\n".join(f'<div id="pane-{name}"></div>' for name, _, _ in drawn)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title></title><style>{Pane._css}</style></head>
<body><main class="cv-app cv-look">{places}</main>{scripts}</body></html>"""


def _script(name, source, state):
    plain = json.dumps(state, default=list).replace("<", "\\u003c")
    widget = source.replace("export default", "const widget =").replace("</script", "<\\/script")
    return f"""<script type="module">
{widget}
const state = {plain};
const nothing = () => {{}};
const deaf = Object.fromEntries(["set", "on", "off", "send", "save_changes"].map((name) => [name, nothing]));
const model = {{ ...deaf, get: (name) => state[name] }};
const place = document.getElementById("pane-{name}");
widget.render({{ model, el: place }});
place.dataset.drawn = "";
</script>"""


if __name__ == "__main__":
    speak_pseudo()
    write_pages(Path(sys.argv[1]))
