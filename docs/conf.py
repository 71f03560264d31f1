"""How `make docs` builds this folder: offline, each warning an error. What is ours in it stands in ext/."""

import sys
from pathlib import Path

from convviz import __version__
from convviz.facts import facts

sys.path.insert(0, str(Path(__file__).parent / "ext"))
sys.modules.setdefault("rfc3987_syntax", None)  # nbformat would load it for seconds: see convviz/serve/__init__.py

project = "convviz"
author = "convviz contributors"
release = version = __version__
language = "en"  # of all folders that are no language's: see ext/live_boards.py
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# Ours, in ext/.
extensions += ["mistake_cards", "docstrings", "live_boards", "pictures", "page_language", "check_links"]
exclude_patterns = ["examples", "_build", "README.md"]

# The cells of a page run as it is built, and one that fails is an error; none asks for anything outside.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_show_tb = True
nb_output_stderr = "error"  # a warning, too
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]

autodoc_member_order = "bysource"
autoclass_content = "both"  # __init__ documents the arguments
autodoc_typehints = "none"  # the signatures have them
napoleon_google_docstring = True
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

COLOURS = facts("colours")
COLOURS_OF = {  # what the theme colours → the board's name for it
    **dict.fromkeys(("brand-primary", "brand-content"), "accent"),
    **dict.fromkeys(("brand-visited", "api-name"), "weight"),
    **dict.fromkeys(("foreground-secondary", "foreground-muted", "api-pre-name"), "muted"),
    **{"foreground-primary": "ink", "background-border": "line"},
}
GROUNDS = {
    "light": {"background-secondary": "paper"},
    "dark": {"background-primary": "paper", "background-secondary": "card"},
}
html_theme = "furo"
html_title = "convviz"
html_static_path = ["_static"]
html_css_files = ["docs.css"]
html_js_files = [("docs.js", {"type": "module"})]
html_copy_source = html_show_sourcelink = html_show_copyright = False
html_theme_options = {
    # The board's own colours, so that page and board are one.
    **{
        f"{theme}_css_variables": {
            f"color-{of}": COLOURS[theme][name] for of, name in {**COLOURS_OF, **grounds}.items()
        }
        for theme, grounds in GROUNDS.items()
    },
}
