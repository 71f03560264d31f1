"""A network as one offline page: what was recorded, reduced to what is drawn; without scripts, an SVG."""

import os
from html import escape
from importlib.resources import files
from pathlib import Path

from convviz import __version__
from convviz.export.page import inert
from convviz.export.page_assets import page_styles, to_json
from convviz.facts.i18n.current_language import language
from convviz.facts.words import sentences
from convviz.features.network.network import Network
from convviz.features.network.page_data import NetworkPage
from convviz.file_io import utf8, write
from convviz.views.theme import COLORSCALES
from convviz.web.bundle import bundle_several
from convviz.web.widget_assets import HERE

TAB = "../features/network/recorded_tab.js"

say = sentences("features/network")


def export_network(network: Network, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write one self-contained HTML page with what was recorded, reduced to what is drawn; it asks nobody for anything.

    Args:
        network: from ``convviz.network``.
        path: of the file; a file that is there is replaced once the new one is whole.
        title: of the page; default: the question, and the name of the model.

    Returns:
        The path that was written.

    Raises:
        OSError: the file cannot be written.
    """
    return write(Path(path), utf8(network_page(network, title=title), "page"), "page")


def network_page(network: Network, *, title: str | None = None) -> str:
    recorded = NetworkPage(network).data() | {"live": False}
    recorded["said"] = [{"id": "said.recorded", "args": {}}, *recorded["said"]]
    data = {"data": {"network": recorded, "step": 1}, "colorscales": COLORSCALES}
    heading = escape(title or say("page.title", model=network.model))
    start = files("convviz.features.network").joinpath("start_page.js").read_text(encoding="utf-8")
    scripts = bundle_several(HERE, {"pane": TAB, "values": "base/observable_values.js"})
    return f"""<!doctype html>
<html lang="{language()}" data-convviz-version="{__version__}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{heading}</title>
<style>
{page_styles(("network",))}
.cv-network {{ min-height: max(520px, 100vh - 110px); }}
.cv-network-head > h3 {{ display: none; }}</style>
</head>
<body>
<main class="cv-app cv-page cv-look">
<h1>{heading}</h1>
<div id="convviz-still">
{network.to_svg()}
</div>
<div id="convviz-network"></div>
</main>
<script type="application/json" id="convviz-data">{to_json(data)}</script>
<script type="module">
{inert(scripts)}
{start}</script>
</body>
</html>
"""
