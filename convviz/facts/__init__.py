"""What Python and JavaScript both know, said once: both read the JSON files in ``data/``.

``settings.json`` has the fields of a state, their kinds, limits and keys in a link; ``names.json`` the labels;
``digits.json`` the pictures that an input may show; ``picture.json`` the rows of the picture and how they are walked
through; ``mistakes/`` the catalogue; ``argument_names.json`` what people call arguments and results; ``lesson.json``
the keys of a lesson's file; ``torch_backends.json`` the backends and files of PyTorch; ``words/`` the
sentences. ``i18n/`` gives them in another language. ``features`` is the list of what the folders of
``convviz/features`` say they are.
"""

import functools
from typing import Any

from convviz.facts.i18n.current_language import ENGLISH, language
from convviz.facts.i18n.translation import translated
from convviz.facts.load_english_facts import FEATURES, english, feature_names, names_in

# First letters of the ids of mistakes that a plain convolution cannot have: no script of the page computes them.
OF_POOLINGS, OF_BINARY_WEIGHTS = "PMA", "Q"
CATALOGUES = ("mistakes",)  # folders of which all files are one fact: who adds a file names it nowhere else


def facts(name: str) -> Any:
    """Return what a file of facts, or each of a folder, holds, in the language that is spoken here.

    ``"features/<name>/<file>"`` is a file in the folder of a feature.
    """
    return _said(name, language())


@functools.cache
def _said(name: str, tag: str) -> Any:
    if name == FEATURES:
        found = [{"name": each, **_said(f"{FEATURES}/{each}/feature", tag)} for each in feature_names()]
        return sorted(found, key=lambda feature: (feature["order"], feature["name"]))
    if name in CATALOGUES:
        return [_said(each, tag) for each in names_in(name)]
    return english(name) if tag == ENGLISH else translated(name, english(name), tag)
