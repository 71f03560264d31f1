"""The button Share on Python's side: what it sends when the page asks, and what it never carries by itself."""

import pytest
from convviz.app.share import Share

import convviz
from convviz.app.app import App
from convviz.export.page import export_html
from convviz.settings.as_python import as_python
from convviz.settings.link import from_link
from tests.links import short_links

LARGE = "v=1&size=64&in_channels=8&out_channels=8&kernel=5&stride=1&padding=2"


def share_of(app):
    """Return the button of an app; its list `replies` gets (content, buffers) of everything that it sends."""
    (share,) = (widget for widget in app.children[2].children[0].children[0].children if isinstance(widget, Share))
    share.replies = []
    share.send = lambda content, buffers=None: share.replies.append((content, buffers))
    return share


def ask(share, kind):
    """Ask as the page does."""
    share._handle_msg({"content": {"data": {"method": "custom", "content": {"type": kind}}}, "buffers": []})


@pytest.fixture
def app():
    made = convviz.App()
    yield made
    made.close()


def test_the_saved_page_is_the_exported_one_to_the_byte(app, tmp_path):
    share = share_of(app)
    for link in ["v=1", "v=1&size=5&tab=code&dtype=bfloat16", *short_links(11, 6)]:
        app.model.open_link(link)
        ask(share, "page")
        ((content, buffers),) = share.replies
        share.replies.clear()
        assert content == {"type": "page", "name": "convolution.html"}
        assert buffers == [export_html(app.state(), tmp_path / "page.html").read_bytes()]
        assert app.state() == from_link(link)[0].to_dict(), "saving moves nothing"


def test_the_page_is_no_part_of_the_widget(app):
    share = share_of(app)
    before = share.get_state()
    ask(share, "page")
    assert share.get_state() == before
    assert before["makes_pages"] is True
    assert sum(len(str(value)) for name, value in before.items() if name != "_esm") < 2000


def test_a_state_too_large_for_a_page_is_a_sentence_in_the_notice(app):
    share = share_of(app)
    app.model.open_link(LARGE)
    ask(share, "page")
    assert share.replies == [({"type": "page", "name": "convolution.html"}, [])]
    assert app.model.failed
    assert app.model.notice == (
        "a page computes up to 5 million products a step: this geometry takes 6.6 million; export a window of it, or "
        "fewer channels"
    )
    assert 'role="alert"' in app._notice.value
    app.model.open_link("v=1")
    app.model.tell("Something old.", failed=True)
    ask(share, "page")
    assert len(share.replies[1][1]) == 1
    assert (app.model.notice, app.model.failed) == ("", False)


def test_what_goes_wrong_in_the_exporter_is_a_sentence_too(app, monkeypatch):
    def broken(state):
        raise RuntimeError("no disk")

    monkeypatch.setattr(App, "page_maker", staticmethod(broken))
    share = share_of(app)
    ask(share, "page")
    assert share.replies[0][1] == []
    assert app.model.notice.startswith("That did not work (RuntimeError: no disk)")


def test_python_is_sent_as_before_and_nothing_else_is_answered(app):
    share = share_of(app)
    for kind in ("python", "open", "pages", None, ""):
        ask(share, kind)
    assert share.replies == [({"type": "python", "text": as_python(app.model.settings)}, None)]


def test_a_layer_of_ones_own_can_be_saved_as_well():
    import torch

    app = convviz.explain(torch.nn.Conv2d(1, 1, 3), torch.ones(1, 1, 5, 5))
    share = share_of(app)
    ask(share, "page")
    assert share.replies[0][1][0].startswith(b"<!doctype html>")
    app.close()


def test_without_somebody_who_writes_pages_none_is_offered(monkeypatch):
    monkeypatch.setattr(App, "page_maker", None)
    app = App()
    share = share_of(app)
    assert share.makes_pages is False
    ask(share, "page")
    assert share.replies == []
    app.close()


def test_a_closed_button_is_silent(app):
    share = share_of(app)
    app.close()
    ask(share, "page")
    ask(share, "python")
    assert share.replies == []
