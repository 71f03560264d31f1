"""What the page says about rules and picture: in a language of brackets all of it stands in brackets."""

import pytest

from convviz.geometry.spec import ConvSpec
from convviz.settings.state import Settings
from convviz.settings.tensor_source import Source
from convviz.views.panels import Sign
from tests.browser.call_javascript import called
from tests.facts.test_every_sentence_is_used import bracketed, outside
from tests.geometries import EDGE_CASES, random_specs


@pytest.fixture(scope="module")
def foreign(request):
    """The page's functions, whose sentences are of another language: each in brackets, half as long again."""
    with called(request, bracketed) as functions:
        yield functions


def texts_of(row):
    """Return the title of a row of panels, and what is said beside its signs."""
    return [row["title"], *(item["note"] for item in row["items"] if "symbol" in item)]


def test_nothing_about_the_picture_is_written_outside_of_its_sentences(foreign):
    drawn = []
    for number, spec in enumerate([*EDGE_CASES.values(), *random_specs(31, 60)]):
        transposed = spec.padding_mode == "zeros" and number % 2 == 0
        bias = Source("values", (1.0,), (1,)) if number % 3 else None
        drawn.append(Settings(spec=spec, transposed=transposed, bias=bias, input_view=("window", "stamps")[number % 2]))
    states = [settings.to_dict() for settings in drawn]
    numbers = [seen["numbers"] for (seen,) in foreign.play([(state, []) for state in states], numbers=True)]
    rows = foreign("picture/panels.js", "equationsOf", list(zip(states, numbers, strict=True)))
    texts = [text for equations in rows for row in equations for text in texts_of(row)]
    named = [
        (state, row["name"], row["view"]) for state, equations in zip(states, rows, strict=True) for row in equations
    ]
    texts += foreign("picture/formulas_and_notes.js", "noteOf", named)
    texts += foreign("picture/formulas_and_notes.js", "lossWords", [(state["loss"], 1.5) for state in states])
    for file, name in (("remainder", "remainderStory"), ("output_padding", "paddingStory")):
        asked = [(settings.spec.to_dict(), linked) for settings in drawn for linked in (True, False)
                 if settings.spec.padding_mode == "zeros" or file == "remainder"]  # fmt: skip
        for story in filter(None, foreign(f"picture/{file}_sentences.js", name, asked)):
            near = [text for size in story["sizes"] for text in (size["label"], size["note"])]
            texts += [*story["paragraphs"], story["named"], *near]
    where = {"device": "⟦cpu⟧", "dtype": "⟦float32⟧", "largest": "⟦1⟧", "tensor": "⟦output⟧", "place": "⟦0⟧"}
    truths = ("none", "exact", "rounding", "shape", "differs")
    texts += foreign("picture/formulas_and_notes.js", "torchWords", [(f"truth.{id}", where) for id in truths])
    makers = [(who,) for who in ("page", "meanwhile", "alone", "torch_alone")]
    texts += foreign("picture/formulas_and_notes.js", "truthWords", makers)
    assert [text for text in texts if outside(text)] == []
    assert len(list(filter(None, texts))) > 1000


def test_nothing_that_is_moved_or_refused_is_written_outside_of_its_sentences(foreign):
    narrow = Settings(spec=ConvSpec((3, 8), 4, 4, kernel_size=3, padding=(4, 1), groups=4))
    uneven = Settings(spec=ConvSpec((8, 7), stride=(2, 1)), link_axes=False)
    layer = Settings(spec=ConvSpec(8, stride=2, padding=1), transposed=True)
    edit = {"type": "edit", "row": 0, "column": 0, "value": 1.0}
    plays = [
        (narrow, ["setGeometry", {"out_channels": 2}]),
        (narrow, ["setGeometry", {"padding_mode": "reflect", "input_size": [1, 1]}]),
        (uneven, ["linkAxes", True]),
        (narrow.replace(spec=ConvSpec(5, padding=1, padding_mode="circular")), ["setTransposed", True]),
        (layer, ["setAxis", "stride", 0, 1]),
        (layer, ["send", {"type": "size", "size": [90, 90]}]),
        (layer, ["send", {"type": "size", "size": [2, 2]}]),
        (Settings(), ["setAxis", "kernel_size", 0, 99]),
        (Settings(), ["send", edit | {"panel": "output"}]),
        (Settings(), ["send", edit | {"panel": "bias"}]),
        (Settings(), ["send", edit | {"panel": "padded_input"}]),
        (Settings(), ["send", edit | {"panel": "weight", "row": 9}]),
        (Settings(), ["send", edit | {"panel": "weight", "value": 1e301}]),
        (Settings(), ["set", {"spec": ConvSpec(99).to_dict()}]),
        (Settings(), ["send", {"type": "open", "link": "v=1&size=x&padding=x&digit=x&one=1&loss=sum"}]),
    ]
    for (_, action), (_, seen) in zip(
        plays, foreign.play([(settings.to_dict(), [action]) for settings, action in plays]), strict=True
    ):
        assert seen["notice"], action
        assert outside(seen["notice"]) == "", action


def test_signs_are_those_of_the_stills():
    assert set(Sign.__dataclass_fields__) == {"symbol", "note"}, "as the page's: see texts_of"
