"""What the button Share asks of the kernel: a page, or Python; and what the app never carries by itself."""

from html import escape

import pytest

import convviz
from convviz.app.app import App
from convviz.export.page import export_html
from convviz.facts.i18n.current_language import use_locale
from convviz.settings.as_python import as_python
from convviz.settings.link import from_link
from tests.random_links import short_links

PAGE = {"type": "page", "name": "convolution.html", "id": 1, "page": "one"}


def replies_of(app):
    """Return a list that gets (content, buffers) of every message that the app sends from now on."""
    replies = []
    app.send = lambda content, buffers=None: replies.append((content, buffers))
    return replies


def ask(app, kind):
    """Ask as the page does."""
    content = {"type": kind, "id": 1, "page": "one", "settings": app.state()}
    app._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})


@pytest.fixture
def app():
    made = convviz.App()
    yield made
    made.close()


def test_the_saved_page_is_the_exported_one_to_the_byte(app, tmp_path):
    replies = replies_of(app)
    for link in ["v=1", "v=1&size=5&tab=code&dtype=bfloat16", *short_links(11, 6)]:
        app.set_state(from_link(link)[0].to_dict())
        ask(app, "page")
        ((content, buffers),) = [each for each in replies if each[0]["type"] == "page"]
        replies.clear()
        assert content == PAGE
        assert buffers == [export_html(app.state(), tmp_path / "page.html").read_bytes()]
        assert app.state() == from_link(link)[0].to_dict(), "saving moves nothing"


def test_the_page_is_no_part_of_the_widget(app):
    before = app.get_state()
    replies_of(app)
    ask(app, "page")
    assert app.get_state() == before
    assert before["_facts"]["makes_pages"] is True


def test_python_is_sent_as_text_and_what_is_none_of_it_is_refused(app):
    replies = replies_of(app)
    ask(app, "python")
    answer = {"type": "python", "text": as_python(app.session.settings), "id": 1, "page": "one"}
    assert replies == [(answer, [])]
    for kind in ("open", "pages", None, ""):
        replies.clear()
        ask(app, kind)
        assert [content["type"] for content, _ in replies] in (["notice"], []), "once is enough"
        assert app.session.notice[1]
        known = "compute, tab, python, page, picture, act, plotly, script, lesson, language"
        assert f"a message of the page is one of {known}" in app.session.notice[0]


def test_every_copy_of_a_layers_window_says_that_it_is_one(tmp_path):
    """The saved page, the exported one in any language, the still picture of a notebook, and Python."""
    import torch

    app = convviz.explain(torch.nn.Conv2d(1, 1, 3), torch.ones(1, 1, 80, 80), lang="en")
    words = app.introduction()
    assert "A window of it is shown: output rows 0 to 29 of 78" in words
    assert "grad_input is the layer's own in rows 0 to 29" in words
    replies = replies_of(app)
    ask(app, "page")
    saved = replies[0][1][0].decode()
    exported = export_html(app, tmp_path / "page.html", intro="Of *mine*.").read_text(encoding="utf-8")
    displayed = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("IPython.display.display", lambda data, **_: displayed.append(data["text/html"]))
        patch.setattr(App, "_repr_mimebundle_", lambda self: ({"text/html": ""}, {}))
        app._ipython_display_()
    for where, text in {"saved": saved, "exported": exported, "still": displayed[0]}.items():
        assert f"<p>{escape(words)}</p>" in text, where
    assert "<p>Of <em>mine</em>.</p>" in exported
    chinese = export_html(app, tmp_path / "zh.html", lang="zh-Hans").read_text(encoding="utf-8")
    with use_locale("zh-Hans"):
        assert f"<p>{escape(app.introduction())}</p>" in chinese
    assert words not in chinese
    plain = App()
    assert plain.introduction() == ""
    assert '<div class="cv-intro">' not in export_html(plain, tmp_path / "plain.html").read_text(encoding="utf-8")
    app.close()
    plain.close()


def test_without_somebody_who_writes_pages_none_is_offered(monkeypatch):
    monkeypatch.setattr(App, "page_maker", None)
    app = App()
    replies = replies_of(app)
    assert app._facts["makes_pages"] is False
    ask(app, "page")
    assert replies == [(PAGE, [])], "nothing to save"
    app.close()
