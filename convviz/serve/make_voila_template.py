"""Write the Voilà template files with our JavaScript and texts: ``python -m convviz.serve.make_voila_template``.

Voilà reads a template from its folder, on Binder too, where nothing of ours runs that could make them; a test says
when they are old.
"""

import json
from importlib.resources import files
from pathlib import Path

from convviz.facts.words import sentences
from convviz.web.bundle import bundle_several

HERE = Path(__file__).resolve().parent.parent / "share" / "voila" / "templates" / "convviz"
MADE = "Made by python -m convviz.serve.make_voila_template: change what it is made of, and make it anew."
say = sentences("live_page")


def made_files() -> dict[Path, str]:
    words = {id: say(id) for id in ("starting", "skip", "noscript", "reload", "restart")}
    script = bundle_several(files("convviz.web"), {"voila_page": "page/voila_page.js"})
    return {
        # In a function, so that the page's other scripts see no name of it.
        HERE / "static" / "page.js": f"// {MADE}\n(() => {{\n{script}\nvoila_page.start();\n}})();\n",
        HERE / "words.html.j2": f"{{# {MADE} #}}\n{{%- set words = {json.dumps(words, ensure_ascii=False)} -%}}\n",
    }


def main() -> None:
    for path, text in made_files().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
