"""Everything that a visitor reads, in a pseudo-language: a text is bracketed, and 1.4 times as long.

It is a fourth language: a catalogue, and nothing else. ``python -m tests.pseudo_language FOLDER`` writes pages in it,
in a process that has imported everything before: what a module has read at its import would be English. Letters outside
the brackets were then never a fact, and a box that cuts the longer text off is too narrow for another language.
"""

import base64
import importlib
import json
import math
import pkgutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from convviz.facts.features import ALONE, STATEFUL, TABS
from convviz.serve import SLOW_TO_LOAD

TAG = "en-XA"  # CLDR's name of a language that nobody speaks
OPEN, CLOSE = "\u27e6", "\u27e7"
LENGTHENED = 1.4
CONTROLS = ("kernel", "geometry", "channels", "input", "loss", "look")
STATES = {"page": {}, "transposed": {"transposed": True}}
PANES = [name for name in TABS if name not in {*ALONE, *STATEFUL}]  # what Python draws of the first picture


def pseudo(text):
    """Return a text in brackets and lengthened, its arguments kept; the forms of a plural each."""
    if isinstance(text, dict):
        return {name: pseudo(each) for name, each in text.items()}
    more = math.ceil(LENGTHENED * len(text)) - len(text) - 2
    filler = "".join(" " if place % 7 == 0 and len(text) > 14 else "\u00f8" for place in range(more))
    return f"{OPEN}{text}{filler}{CLOSE}"


def write_catalogue(folder):
    """Write the catalogue of the language, and let this process find it beside the others."""
    from convviz.facts.i18n import current_language, translatable_texts, update_catalogues

    for path in current_language.FOLDER.iterdir():
        folder.joinpath(path.name).write_bytes(path.read_bytes())
    made = {context: pseudo(text) for context, text in translatable_texts.all_texts().items()}
    given = {context: [text] if isinstance(text, str) else list(text.values()) for context, text in made.items()}
    folder.joinpath(f"{TAG}.po").write_text(update_catalogues.renewed(TAG, "", given)[0], encoding="utf-8")
    current_language.FOLDER = folder


def import_all():
    """Import every module of convviz, in English."""
    import convviz

    sys.modules[SLOW_TO_LOAD] = None
    for module in pkgutil.walk_packages(convviz.__path__, "convviz."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def write_pages(folder):
    """Write one exported page a state, and one with every pane, and the live app's."""
    from convviz.export.page import page_bytes
    from convviz.settings.state import Settings

    for name, wanted in STATES.items():
        # As the app begins: with the ends of a scale in each band, longer words have no room beside them.
        state = Settings().replace(scale="quantity", **wanted).to_dict()
        folder.joinpath(f"{name}.html").write_bytes(page_bytes(state, controls=CONTROLS))
    for tab in ALONE:
        folder.joinpath(f"{tab}.html").write_bytes(page_bytes(Settings().replace(tab=tab).to_dict(), controls=CONTROLS))
    folder.joinpath("panes.html").write_text(panes(), encoding="utf-8")
    folder.joinpath("app.html").write_text(live_app(), encoding="utf-8")
    folder.joinpath("app.json").write_text(json.dumps(app_texts()), encoding="utf-8")


def app_texts():
    """Return what the kernel of an app says to strange messages of a page."""
    from convviz.app.app import App
    from convviz.app.page_requests import answered
    from convviz.facts.i18n.current_language import use_locale

    app, texts = App(lang=TAG), []
    strange = [5, {"type": "nothing"}, {"type": "compute", "k": "one"}, {"type": "act", "tab": "none"}]
    for message in strange:
        app.session.notify("")
        app._receive(None, message, [])
        texts.append(app.session.notice[0])
    app.close()
    with use_locale(TAG):
        for buffers in ([], [b"x" * 9_000_000]):
            texts.append(answered({"type": "picture", "id": 1}, buffers).message["sentence"])
    return texts


def live_app():
    """Return a page with the whole app, beside a kernel that has computed the first picture and says nothing more."""
    from convviz.app.app import App
    from convviz.web.bundle import bundle
    from convviz.web.widget_assets import HERE, app_styles

    app = App(lang=TAG)
    state = {
        name: getattr(app, name)
        for name in ("_facts", "_start", "_state", "_sources", "_introduction", "_notice", "_lesson")
    }
    tensors = {name: base64.b64encode(data).decode() for name, data in app._numbers["tensors"].items()}
    numbers = app._numbers | {"tensors": tensors}
    start = """state._numbers.tensors = Object.fromEntries(Object.entries(state._numbers.tensors).map(([name, text]) =>
    [name, new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer)]));
const made = widget();
made.initialize({ model });
made.render({ model, el: place });"""
    script = _script("app", bundle(HERE, "page/widget_app.js"), state | {"_numbers": numbers}, start)
    app.close()
    return _page(app_styles(), '<div id="app"></div>', script)


def panes():
    """Return a page with every tab's pane, each drawing what Python makes of the first picture."""
    from convviz.app.page_requests import answer
    from convviz.settings.state import Settings
    from convviz.views.theme import COLORSCALES
    from convviz.web.bundle import bundle_several
    from convviz.web.widget_assets import app_styles, tab_file, tab_sheet

    settings, scripts = Settings.first_picture().to_dict(), []
    for name in PANES:
        data = answer({"type": "tab", "tab": name, "settings": settings}).message["data"]
        state = {"data": data, "tab": name, "theme": "auto", "colorscales": COLORSCALES}
        source = bundle_several(files("convviz.web"), {"pane": tab_file(name)})
        draw = "pane.render({ model, el: place });"
        scripts.append(_script(f"pane-{name}", source, state, draw))
    places = "\n".join(f'<div id="pane-{name}"></div>' for name in PANES)
    return _page(app_styles() + "".join(map(tab_sheet, PANES)), places, "\n".join(scripts))


def _page(styles, places, scripts):
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title></title><style>{styles}</style></head>
<body><main class="cv-app cv-look">{places}</main>{scripts}</body></html>"""


def _script(place, source, state, start):
    plain = json.dumps(state, default=list).replace("<", "\\u003c")
    widget = source.replace("export default", "const widget =").replace("</script", "<\\/script")
    return f"""<script type="module">
{widget}
const state = {plain};
const nothing = () => {{}};
const deaf = Object.fromEntries(["set", "on", "off", "send", "save_changes"].map((name) => [name, nothing]));
const model = {{ ...deaf, get: (name) => state[name] }};
const place = document.getElementById("{place}");
{start}
place.dataset.drawn = "";
</script>"""


if __name__ == "__main__":
    import_all()
    from convviz.facts.i18n.current_language import use_locale

    with tempfile.TemporaryDirectory() as made:
        write_catalogue(Path(made))
        with use_locale(TAG):
            write_pages(Path(sys.argv[1]))
