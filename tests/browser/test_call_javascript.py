"""Node and a browser run the page's functions alike: the tests that call them take node where it is."""

import math
from itertools import chain

import pytest

from convviz.settings.state import Settings
from tests.browser.call_javascript import called_in_node, called_in_page, find_node
from tests.facts.test_every_sentence_is_used import bracketed, outside
from tests.random_states import random_states

NUMBERLESS = {"type": "edit", "panel": "weight", "row": 0, "column": 0, "value": math.nan}


@pytest.fixture(scope="module")
def both(browser):
    """The same functions twice, with sentences in brackets: in node, and in a page."""
    if not (node := find_node()):
        pytest.skip("there is no node: all tests call the page's functions in the browser")
    with called_in_node(node, bracketed) as in_node, called_in_page(browser, bracketed) as in_page:
        yield in_node, in_page


def test_numbers_and_sentences_are_the_same_in_node_and_in_a_browser(both):
    states = [Settings.from_dict(state).to_dict() for state in random_states(8, 20)]
    actions = [["setAxis", "stride", 0, 3], ["setAxis", "kernel_size", 0, 99], ["send", NUMBERLESS], ["undo"]]
    in_node, in_page = (functions.play([(state, actions) for state in states], numbers=True) for functions in both)
    for one, other in zip(chain(*in_node), chain(*in_page), strict=True):
        ours, theirs = one.pop("numbers"), other.pop("numbers")
        assert one == other
        assert ours.keys() == theirs.keys()
        for name in filter(ours.get, ours):
            mine, same = (each[name] if name == "loss" else each[name]["data"] for each in (ours, theirs))
            assert mine == pytest.approx(same, rel=1e-12, abs=1e-12), name  # Math.exp is each engine's own
    refused = [seen[3] for seen in in_node]
    assert all(each["failed"] and each["notice"] and not outside(each["notice"]) for each in refused), "not a number"


def test_a_fault_is_an_error_in_both(both):
    for functions in both:
        with pytest.raises(Exception, match="TypeError"):
            functions("rules/bounds.js", "boundsOf", [[None, "stride", 0, True, False]])
        assert functions("rules/bounds.js", "groupChoices", [[Settings().spec.to_dict()]]) == [[1]], "it answers on"
