"""The tabs on the kernel's side: what is made when, what follows the session, what a tab's failure does. No browser."""

import pytest

import convviz
from convviz.app.session import Session
from convviz.app.tabs.base import Tab
from convviz.app.tabs.tabs import CLASSES, Tabs
from convviz.facts import facts
from convviz.settings.state import CHOICES, Settings
from convviz.spec import ConvSpec

SMALL = Settings(spec=ConvSpec((4, 4)))


class Probe(Tab):
    """A tab that shows the input's size, and counts how often it was asked."""

    def __init__(self, session, send=lambda message, buffers: None):
        self.asked, self.fails, self.acted = 0, None, []
        super().__init__(session, send)

    def data(self):
        self.asked += 1
        if self.fails:
            raise self.fails
        return {"size": list(self.session.settings.spec.input_size)}

    def act(self, message):
        self.acted.append(message)
        self.reply({"type": "done"}, [b"bytes"])


class SlowProbe(Probe):
    slow = True


def resize(session, size):
    session.apply(session.settings.replace(spec=session.settings.spec.replace(input_size=size)))


def test_the_settings_know_the_tabs():
    assert CHOICES["tab"] == ["", *CLASSES]
    assert sorted(facts("names")["tabs"]) == sorted(CLASSES)
    with pytest.raises(ValueError, match="tab is one of"):
        Settings(tab="heatmaps")


def test_a_tab_is_made_when_it_is_first_opened_and_kept():
    app = convviz.App()
    assert app._tabs.made == {}
    app.tab = "matrix"
    assert list(app._tabs.made) == ["matrix"]
    assert app.state()["tab"] == "matrix"
    tab = app._tabs.made["matrix"]
    app.tab = ""
    app.tab = "matrix"
    assert app._tabs.made == {"matrix": tab}
    app.close()
    assert app._tabs.made == {}


@pytest.mark.parametrize("name", CLASSES)
def test_every_tab_opens_from_a_state_and_says_something(name):
    app = convviz.App(state={"tab": name})
    shown = app._tabs.made[name].shown
    assert "error" not in shown
    assert shown["step"] == 1
    assert len(shown) > 3 or shown["state"] == "alone"  # the page computes it
    app.close()


def test_only_the_open_tab_follows(monkeypatch):
    session, sent = Session(SMALL), []
    monkeypatch.setattr("convviz.app.tabs.tabs._make", lambda name, session, send: Probe(session, send))
    tabs = Tabs(session, lambda message, buffers: sent.append(message))
    session.apply(session.settings.replace(tab="matrix"))
    tabs.show()
    probe = tabs.made["matrix"]
    resize(session, (5, 5))
    tabs.show()
    assert probe.shown["size"] == [5, 5]
    assert [message["data"]["size"] for message in sent] == [[4, 4], [5, 5]]
    assert {(message["type"], message["tab"]) for message in sent} == {("tab", "matrix")}
    asked = probe.asked
    session.apply(session.settings.replace(tab=""))
    tabs.show()
    resize(session, (6, 6))
    tabs.show()
    assert probe.asked == asked


def test_a_message_goes_to_its_tab_and_the_answer_back(monkeypatch):
    session, sent = Session(SMALL.replace(tab="matrix")), []
    monkeypatch.setattr("convviz.app.tabs.tabs._make", lambda name, session, send: Probe(session, send))
    tabs = Tabs(session, lambda message, buffers: sent.append((message, buffers)))
    tabs.show()
    sent.clear()
    tabs.receive("matrix", {"type": "edit", "value": 1})
    assert tabs.made["matrix"].acted == [{"type": "edit", "value": 1}]
    assert sent == [({"type": "tab", "tab": "matrix", "reply": {"type": "done"}}, [b"bytes"])]
    for name in ("graph", "", "heatmaps"):
        with pytest.raises(ValueError, match=r"a message goes to a tab that was opened \(matrix\): got"):
            tabs.receive(name, {"type": "refresh"})
    for message in (None, 5, "refresh", []):
        with pytest.raises(ValueError, match="a message of the page is a dict"):
            tabs.receive("matrix", message)
    tab = tabs.made["matrix"]
    tabs.close()
    sent.clear()
    tab.refresh()
    assert sent == [], "a closed tab is silent"


def test_a_slow_tab_waits_until_the_page_asks():
    session, sent = Session(SMALL), []
    tab = SlowProbe(session, lambda message, buffers: sent.append(message))
    assert tab.shown == {"size": [4, 4], "step": 1, "wanted": 0}
    resize(session, (5, 5))
    tab.follow()
    assert (tab.asked, tab.wanted, sent[-1]) == (1, 1, {"wanted": 1})
    tab.receive({"type": "refresh"})
    assert tab.shown == {"size": [5, 5], "step": 2, "wanted": 1}
    assert sent[-1] == {"data": tab.shown}


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (ValueError("too large: got 64 cells; show fewer"), "too large: got 64 cells; show fewer"),
        (KeyError("x"), "This tab could not be made (KeyError: 'x'). The board is as before."),
    ],
)
def test_a_tab_that_fails_says_so_and_recovers(failure, sentence):
    tab = Probe(Session(SMALL))
    tab.fails = failure
    tab.follow()
    assert tab.shown["error"] == sentence
    tab.fails = None
    tab.follow()
    assert tab.shown == {"size": [4, 4], "step": 3, "wanted": 0}
