"""What a notebook keeps of the app: a picture and a line, for those who open or convert it without a kernel."""

import json
import re

import ipywidgets
import nbformat
import pytest
import torch

import convviz
from convviz.features.graph.graph_widget import GraphView
from tests.random_states import random_states

ALIVE = ipywidgets.widgets.widget._instances
VIEW = "application/vnd.jupyter.widget-view+json"
MAX_BYTES = 200_000  # the picture of 8 x 8 takes half of it


@pytest.fixture
def outputs(monkeypatch):
    """Return a function: what a cell that ends with an app keeps, output by output."""

    def shown(app):
        found = []
        monkeypatch.setattr("IPython.display.display", lambda data, metadata=None, raw=False: found.append((data, raw)))
        app._ipython_display_()
        assert all(raw for _, raw in found)
        return [data for data, _ in found]

    return shown


def test_the_picture_is_that_of_an_exported_page(closing, outputs, tmp_path):
    app = closing(convviz.App(link="v=1&size=6&stride=3&weight=box"))
    picture, view = outputs(app)
    assert (set(picture), set(view)) == ({"text/html", "text/plain"}, {VIEW, "text/plain"})
    assert view[VIEW]["model_id"] == app.model_id
    html = picture["text/html"]
    assert html.startswith(f'<div data-convviz-still="{app._facts["id"]}">'), "the live view hides its own"
    assert "<script" not in html
    assert len(html) < MAX_BYTES
    page = convviz.export_html(app.state(), tmp_path / "page.html").read_text(encoding="utf-8")
    in_page, here = (re.findall(r'text-anchor="middle"[^>]*>([^<]*)<', text) for text in (page, html))
    assert here == in_page != []


def test_every_state_has_a_picture(closing, outputs):
    for state in random_states(5, 12):
        picture, _ = outputs(closing(convviz.App(state=state)))
        assert picture["text/html"].count("<figcaption>") >= 3, state


def test_the_line_opens_the_same(closing, outputs):
    app = closing(convviz.App(link="v=1&size=6&stride=3&weight=box"))
    for output in outputs(app):
        assert output["text/plain"] == repr(app)
    again = eval(repr(app), {"convviz": convviz})
    assert again.state() == app.state()
    again.close()
    many = closing(convviz.App(input=torch.randn(64, 64)))
    assert repr(many) == "convviz.App(state=...)", "too many numbers for a link"


def test_a_served_page_is_spared_the_picture(closing, outputs, monkeypatch):
    monkeypatch.setenv("VOILA_KERNEL_ID", "0")
    (view,) = outputs(closing(convviz.App()))
    assert set(view) == {VIEW, "text/plain"}


def test_a_converted_notebook_shows_the_picture(closing, outputs):
    from nbconvert import HTMLExporter  # here, for every worker of the tests imports this file

    kept = json.loads(json.dumps(outputs(closing(convviz.App()))))
    cell = nbformat.v4.new_code_cell(
        "convviz.App()", outputs=[nbformat.v4.new_output("display_data", data=data) for data in kept], execution_count=1
    )
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert page.count("<figcaption>") == 3
    assert "App(children=" not in page


def test_a_graph_that_is_closed_leaves_no_widget():
    before = set(ALIVE)
    x = torch.tensor(3.0, requires_grad=True)
    GraphView(convviz.graph(x**2, params={"x": x})).close()
    assert set(ALIVE) == before
