"""The row of tabs: what is made when, what follows the model, and what a tab's failure does. No browser."""

import pytest
from convviz.app.model import Model

import convviz
from convviz.app.tabs.base import Tab
from convviz.app.tabs.tabs import TABS, Tabs
from convviz.settings.state import CHOICES, Settings
from convviz.spec import ConvSpec

SMALL = Settings(spec=ConvSpec((4, 4)))


class Probe(Tab):
    """A tab that shows the input's size, and counts how often it was asked."""

    script = "tabs/tab_matrix.js"

    def __init__(self, model):
        self.asked, self.fails = 0, None
        super().__init__(model)

    def data(self):
        self.asked += 1
        if self.fails:
            raise self.fails
        return {"size": list(self.model.settings.spec.input_size)}


class SlowProbe(Probe):
    slow = True


def resize(model, size):
    model.apply(model.settings.replace(spec=model.settings.spec.replace(input_size=size)))


def test_the_settings_know_the_tabs():
    assert CHOICES["tab"] == ["", *TABS]
    with pytest.raises(ValueError, match="tab is one of"):
        Settings(tab="heatmaps")


def test_a_tab_is_made_when_it_is_first_opened_and_kept():
    app = convviz.App()
    assert app._tabs._made == {}
    assert app._tabs.slot.children == ()
    app._tabs.bar.chosen = "matrix"
    (pane,) = app._tabs.slot.children
    assert list(app._tabs._made) == ["matrix"]
    assert app.state()["tab"] == "matrix"
    app._tabs.bar.chosen = ""
    assert app._tabs.slot.children == ()
    app._tabs.bar.chosen = "matrix"
    assert app._tabs.slot.children == (pane,)
    app.close()
    assert pane.comm is None or pane._on_action is None


@pytest.mark.parametrize("name", TABS)
def test_every_tab_opens_from_a_state_and_says_something(name):
    app = convviz.App(state={"tab": name})
    (pane,) = app._tabs.slot.children
    assert "error" not in pane.data
    assert pane.data["step"] == 1
    assert app._tabs.bar.chosen == name
    app.close()


def test_undo_leaves_the_open_tab_alone():
    app = convviz.App()
    resize(app.model, (9, 9))
    app._tabs.bar.chosen = "matrix"
    app.model.undo()
    assert app.model.settings.tab == "matrix"
    assert app.model.settings.spec.input_size == (8, 8)


def test_what_is_only_looked_at_computes_nothing():
    model = Model(SMALL)
    result = model.result
    for change in ({"tab": "code"}, {"theme": "dark"}, {"scale": "panel"}, {"link_axes": False}):
        model.apply(model.settings.replace(**change))
        assert model.result is result
    model.apply(model.settings.replace(digit=5))
    assert model.result is not result


def test_only_the_open_tab_follows(monkeypatch):
    model = Model(SMALL)
    monkeypatch.setattr("convviz.app.tabs.tabs._make", lambda name, model: Probe(model))
    tabs = Tabs(model)
    tabs.bar.chosen = "matrix"
    tabs.show()
    probe = tabs._made["matrix"]
    resize(model, (5, 5))
    tabs.show()
    assert probe.pane.data["size"] == [5, 5]
    asked = probe.asked
    tabs.bar.chosen = ""
    tabs.show()
    resize(model, (6, 6))
    tabs.show()
    assert probe.asked == asked


def test_a_slow_tab_waits_until_the_page_asks():
    model = Model(SMALL)
    tab = SlowProbe(model)
    assert tab.pane.data == {"size": [4, 4], "step": 1, "wanted": 0}
    resize(model, (5, 5))
    tab.follow()
    assert (tab.asked, tab.pane.wanted) == (1, 1)
    tab.pane._receive(None, {"type": "refresh"}, [])
    assert tab.pane.data == {"size": [5, 5], "step": 2, "wanted": 1}


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (ValueError("too large: got 64 cells; show fewer"), "too large: got 64 cells; show fewer"),
        (KeyError("x"), "This tab could not be made (KeyError: 'x'). The board is as before."),
    ],
)
def test_a_tab_that_fails_says_so_and_recovers(failure, sentence):
    model = Model(SMALL)
    tab = Probe(model)
    tab.fails = failure
    tab.follow()
    assert tab.pane.data["error"] == sentence
    tab.fails = None
    tab.follow()
    assert tab.pane.data == {"size": [4, 4], "step": 3, "wanted": 0}
