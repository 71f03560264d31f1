"""What a page is answered: the same by every process, and a sentence where it cannot be."""

import hashlib
import inspect
import json
import logging
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from convviz.app import page_requests as answers
from convviz.app.page_requests import KEYS, TABS, answer, answered, computed
from convviz.app.stateful_tab import Tab
from convviz.app.step_numbers import TENSORS
from convviz.app.validate_request import DEEPEST, asked, brief
from convviz.facts.features import ALONE, FEATURES, STATEFUL, code_of
from convviz.facts.i18n.current_language import use_locale
from convviz.settings.as_python import as_python
from convviz.settings.compute import compute
from convviz.settings.state import CHOICES, Settings
from convviz.settings.tensors import bias_tensor, grad_tensor, input_tensor, target_tensor, weight_tensor
from tests.autograd_truth import truth, truth_transposed
from tests.random_states import random_states

ROOT = Path(__file__).parents[2]
NAN, INFINITE = float("nan"), float("inf")

GEOMETRIES = {
    "the base": {},
    "channels": {"spec": {"input_size": [6, 5], "in_channels": 4, "out_channels": 2, "groups": 2, "batch": 2}},
    "uneven reflect": {
        "spec": {"input_size": [7, 6], "padding": [[2, 1], [0, 1]], "padding_mode": "reflect", "dilation": [2, 1]},
        "loss": "mean",
        "dtype": "float64",
    },
    "transposed": {"spec": {"input_size": [5, 6], "stride": [2, 2]}, "transposed": True, "loss": "cross_entropy"},
    "bias": {"bias": {"kind": "values", "values": [2.5], "shape": [1]}, "dtype": "bfloat16", "seed": 7},
}
CHOSEN = {
    "code": [{"numbers": True}],
    "matrix": [{"start": 40}],
    "linear": [{"in_features": 5, "batch": 1, "seed": 9, "loss": "sum", "typed": [["weight", 1, 2, -0.5]]}],
    "double": [{"of": "grad_weight", "number": "squares"}, {"cell": [0, 1]}],
    "quantised": [{"kind": "xnor"}, {"kind": "binary", "variant": "clip"}],
}


def tab(name, settings=None, **more):
    """Return a request for a tab."""
    return {"type": "tab", "id": 1, "tab": name, "settings": settings or {}, **more}


def data(name, settings=None, **choices):
    """Return what a tab draws."""
    return answer(tab(name, settings, choices=choices)).message["data"]


def requests():
    """Return a request of every kind and geometry, and of every tab and choice in two of them."""
    made = []
    for settings in GEOMETRIES.values():
        made += [{"type": kind, "id": 1, "settings": settings} for kind in ("compute", "python", "page")]
    for settings in (GEOMETRIES["uneven reflect"], GEOMETRIES["transposed"]):
        for name in TABS:
            made += [tab(name, settings, choices=choices) for choices in CHOSEN.get(name, [{}])]
        made += [tab("graph", settings, ask={"type": kind, "id": "n3"}) for kind in ("node", "inside")]
    return made


def lines(asked_for):
    """Return what is compared of each answer: its kind, its text, what its buffers are."""
    for request in asked_for:
        made = answered(request, page_maker=lambda state: json.dumps(state).encode())
        plain = json.dumps(made.message, allow_nan=False)
        yield [made.message["type"], plain, [hashlib.sha256(each).hexdigest() for each in made.buffers]]


ASK_ALL = f"""
import sys
sys.modules["ipywidgets"] = sys.modules["anywidget"] = None  # a worker has none
import hashlib, json
from convviz.app.page_requests import answered
{inspect.getsource(lines)}
json.dump([*lines(json.load(sys.stdin))], sys.stdout)
"""


def test_a_fresh_process_gives_the_same_bytes_as_another_whatever_was_asked_before():
    asked_for = requests()
    done = subprocess.run(
        [sys.executable, "-c", ASK_ALL], input=json.dumps(asked_for), capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-3000:]
    here = [*lines(asked_for[::-1])][::-1]
    for request, one, other in zip(asked_for, json.loads(done.stdout), here, strict=True):
        assert one == other, f"{request}"
        assert one[0] == {"compute": "numbers"}.get(request["type"], request["type"]), (request, one[1][:300])
        if request["type"] == "tab" and request["tab"] not in ALONE:
            assert len(one[1]) > 150, request


GIVEN = {"input": input_tensor, "weight": weight_tensor, "bias": bias_tensor, "grad": grad_tensor,
         "target": target_tensor}  # fmt: skip


def test_the_numbers_are_those_of_autograd_through_the_definition():
    """In float64; in the other formats they are what was computed, bit by bit, in the format that holds it."""
    compared = 0
    for k, state in enumerate(random_states(24, 60)):
        settings, about = Settings.from_dict(state), (k, state)
        message, buffers = answered({"type": "compute", "id": 1, "settings": state})
        if message["type"] == "refused":
            with pytest.raises(ValueError, match=re.escape(message["sentence"])):
                compute(settings)
            continue
        given = {each: make(settings) for each, make in GIVEN.items()}
        found = (truth_transposed if settings.transposed else truth)(settings.spec, settings.loss, given)
        assert message["truth"]["ok"], about
        assert math.isclose(message["loss"], found["loss"].item(), rel_tol=1e-12, abs_tol=1e-12), about
        for name, data in zip(message["tensors"], buffers, strict=True):
            if name in found:
                ours, wanted = torch.frombuffer(bytearray(data), dtype=torch.float64), found[name].detach().flatten()
                torch.testing.assert_close(ours, wanted, rtol=1e-12, atol=1e-11, msg=f"{name} of {about}")
                compared += 1
        dtype = ("float32", "bfloat16")[k % 2]
        stages = computed(settings.replace(dtype=dtype))
        message, buffers = answer({"type": "compute", "settings": state | {"dtype": dtype}})
        assert message["tensors"] == [each for each in TENSORS if getattr(stages, each) is not None], about
        assert (message["dtype"], message["loss"]) == (dtype, float(stages.loss)), about
        for name, data in zip(message["tensors"], buffers, strict=True):
            ours = torch.frombuffer(bytearray(data), dtype=torch.float32)
            assert torch.equal(ours, getattr(stages, name).float().flatten()), (name, about)
    assert compared > 200


def test_what_is_only_looked_at_is_not_computed_anew(monkeypatch):
    settings = Settings(digit=8)
    stages = computed(settings)
    assert computed(settings.replace(tab="code", theme="dark", scale="panel")) is stages
    assert computed(settings.replace(digit=7)) is not stages
    monkeypatch.setattr(answers, "_computed", None)
    answer({"type": "compute", "settings": {"digit": 8}}, stages=lambda _: stages)


def test_python_page_and_picture():
    state = {"digit": 4}
    settings = Settings.from_dict(state)
    assert answer({"type": "python", "settings": state}) == ({"type": "python", "text": as_python(settings)}, [])
    page = {"type": "page", "name": "convolution.html"}
    assert answer({"type": "page", "settings": state}) == (page, [])
    made = answer({"type": "page", "settings": state}, page_maker=lambda whole: repr(whole).encode())
    assert made == (page, [repr(settings.to_dict()).encode()])
    with pytest.raises(ValueError, match="PNG or JPEG"):
        answer({"type": "picture"}, [b"x"])


def test_an_answer_repeats_who_asked_and_so_does_a_refusal():
    assert (
        answered({"type": "python", "settings": {}, "id": 7, "page": "p"}).message.items()
        >= {"id": 7, "page": "p"}.items()
    )
    assert "page" not in answered({"type": "python", "settings": {}, "id": 7}).message
    refused = answered({"type": "python", "settings": {"digit": 99}, "id": 7, "page": "p"}).message
    assert refused == {"type": "refused", "id": 7, "page": "p", "sentence": refused["sentence"]}
    assert "got 99" in refused["sentence"]
    for id in (None, True, 1.5, "1", [], 2**60):
        refused = answered({"type": "python", "settings": {}, "id": id})
        assert refused == ({"type": "refused", "sentence": f"id is a whole number: got {id!r}"}, []), id
    for page in (None, 5, "x" * 65):
        refused = answered({"type": "python", "settings": {}, "id": 7, "page": page}).message
        assert refused.keys() == {"type", "id", "sentence"}, page
    with use_locale("zh-Hans"):
        assert "而得到的是" in answered({"type": "nothing", "id": 1}).message["sentence"]


def test_what_nobody_foresaw_is_a_sentence_and_a_line_in_the_log(caplog):
    def broken(_):
        raise RuntimeError("no disk")

    refused = answered({"type": "page", "settings": {}, "id": 1}, page_maker=broken).message
    assert refused["sentence"] == "That did not work (RuntimeError: no disk). Your settings are unchanged."
    error = answered(tab("matrix"), stages=broken).message["data"]
    assert error == {"error": "This tab could not be built (RuntimeError: no disk). The board is unchanged."}
    assert "the action failed" in caplog.text
    assert "the tab failed" in caplog.text


# The tabs.


def test_the_settings_know_the_tabs():
    assert CHOICES["tab"] == ["", *TABS]
    for name in TABS:
        assert data(name) == {"state": "alone"} if name in ALONE else data(name).keys() - {"error", "step"}, name


def test_a_tab_that_cannot_show_the_settings_says_why(monkeypatch):
    def fail(_):
        raise ValueError("the graph of output must have at most 500 nodes")

    assert "transposed" in data("quantised", {"transposed": True})["error"]
    monkeypatch.setattr("convviz.features.graph.data.graph_of_stages", fail)
    assert data("graph") == {"error": "the graph of output must have at most 500 nodes"}
    with pytest.raises(ValueError, match="500 nodes"):
        answer(tab("graph", ask={"type": "node", "id": "n1"}))


def test_choices_are_echoed_and_what_is_missing_has_its_default():
    assert [data("code", numbers=on)["numbers"]["on"] for on in (True, False)] == [True, False]
    assert data("code")["numbers"]["on"] is False
    many = {"spec": {"input_size": [40, 40], "kernel_size": [5, 5]}}
    first = data("matrix", many)["windows"]
    assert first["start"] == 0 < first["step"] < first["of"]
    for start, shown in ((first["step"], first["step"]), (first["step"] + 1, first["step"]), (-5, 0)):
        assert data("matrix", many, start=start)["windows"]["start"] == shown, start
    last = data("matrix", many, start=2**53)["windows"]
    assert last["start"] < last["end"] == last["of"]
    assert data("quantised").items() >= {"kind": "binary", "variant": "clip"}.items()
    kinds = [kind["name"] for kind in data("quantised")["kinds"]]
    for kind in kinds:
        shown = data("quantised", kind=kind, variant="clip")  # another layer takes its own first variant
        assert shown["kind"] == kind
        assert shown["variant"] in [each["name"] for each in shown["variants"]], kind


def test_what_is_typed_in_the_lesson_is_there_and_its_last_number_counts():
    chosen = data("linear", in_features=2, typed=[["weight", 0, 1, 9], ["weight", 0, 1, 2.5], ["bias", 0, 0, -4]])
    assert chosen["settings"]["in_features"] == 2
    tensors = {name: torch.tensor(values) for name, values in chosen["tensors"].items()}
    assert (tensors["weight"][0, 1], tensors["bias"][0]) == (2.5, -4)
    leaves = [tensors[name].clone().requires_grad_() for name in ("input", "weight", "bias")]
    output = torch.nn.functional.linear(*leaves)
    (0.5 * output.square()).sum().backward()
    for name, leaf in zip(("input", "weight", "bias"), leaves, strict=True):
        assert torch.equal(leaf.grad, tensors[f"grad_{name}"]), name
    for value, where in ((1e200, "weight"), (1e30, "grad_input")):
        error = data("linear", typed=[["weight", 0, 1, value]])["error"]
        assert error.startswith(f"every number on the board must be finite in float32: got inf in {where}"), value


def test_a_box_is_asked_about_with_the_settings_that_it_stands_in():
    state = {"spec": {"input_size": [8, 8], "in_channels": 2, "out_channels": 2, "stride": 2, "padding": 1}}
    boxes = [step["id"] for step in data("graph", state)["steps"]]
    for id in boxes:
        message, buffers = answer(tab("graph", state, ask={"type": "node", "id": id, "planes": {}}))
        assert message["reply"]["id"] == id
        places = [each["buffer"] for each in message["reply"]["tensors"] if "buffer" in each]
        assert places == list(range(len(buffers))), id
    with pytest.raises(ValueError, match="id is one of n0"):
        answer(tab("graph", state, ask={"type": "node", "id": "n99"}))
    with pytest.raises(ValueError, match="the tab code answers no question"):
        answer(tab("code", ask={"type": "node", "id": "n0"}))


# What a stranger sends.

ODD = [
    *(None, True, 5, -1, 1.5, NAN, INFINITE, -INFINITE, 10**400, 2**63, 1e308, "", "x", "a\0b", "\ud800", "y" * 10**5),
    *([], {}, [[]], {"a": 1}, {1: 2}, [NAN], [None, 10**400], ["x", 0, 0, 0], {"values": [NAN], "shape": [1]}),
]


def forged():
    """Yield requests that no page of ours sends."""
    deep = []
    for _ in range(500_000):  # not where the file is imported, which every worker of the tests does: it takes a second
        deep = [deep]
    values = [*ODD, deep]
    yield from values
    yield from ({"type": each, "id": 1, "settings": {}} for each in values)
    full = Settings().to_dict()
    for kind in KEYS:
        yield from ({"type": kind, "id": 1, "settings": each} for each in values)
        yield {"type": kind, "id": 1, "settings": {}, "more": 1}
    for key in full:
        yield from ({"type": "compute", "id": 1, "settings": {key: each}} for each in values)
    for key in full["spec"]:
        yield from ({"type": "compute", "id": 1, "settings": {"spec": {key: each}}} for each in values)
    for name in TABS:
        yield from (tab(name, choices=each) for each in values)
        yield from (tab(name, ask=each) for each in values if each is not None)
        keys = ["unknown", *{key for chosen in CHOSEN.get(name, []) for key in chosen}]
        yield from (tab(name, choices={key: each}) for key in keys for each in values)
    for key in ("type", "id", "planes", "plane"):
        yield from (tab("graph", ask={"type": "node", "id": "n1", key: each}) for each in values)
    yield from (tab(each) for each in values)
    yield from (tab("linear", choices={"typed": [["weight", row, 0, row]]}) for row in values)
    yield from (tab("double", choices={"cell": [each, 0]}) for each in values)
    yield tab("linear", choices={"typed": [["weight", 0, 0, 1]] * 101})


def test_nothing_comes_of_a_forged_request_but_an_answer_or_a_sentence(caplog):
    caplog.set_level(logging.WARNING)
    refused = 0
    for request in forged():
        about = brief(request)
        message, buffers = answered(request)
        json.dumps(message, allow_nan=False)
        assert not caplog.records, (about, caplog.text[-1500:])
        sentence = message.get("sentence") or message.get("data", {}).get("error")
        if message["type"] == "refused" or sentence:
            refused += 1
            assert 10 < len(sentence) < 610, (about, sentence)
            assert "did not work" not in sentence, (about, sentence)
            assert "could not be made" not in sentence, (about, sentence)
            assert not buffers, about
    assert refused > 1000


def test_what_nobody_asks_for_is_refused_by_name():
    for name in set(TABS) - set(ALONE):
        with pytest.raises(ValueError, match=r"no.* got 'unknown'"):
            answer(tab(name, choices={"unknown": 1}))
    for kind in KEYS:
        with pytest.raises(ValueError, match=f"^{kind} has the keys .* got 'more'"):
            answer({"type": kind, "more": 1})
    for request in (tab(""), tab("heatmaps"), tab(None)):
        with pytest.raises(ValueError, match=r"^tab is one of mistakes, network, "):
            answer(request)
    for key, settings in (("input", {"input": None}), ("weight", {"weight": None})):
        with pytest.raises(ValueError, match=f"{key} .*dict"):
            answer({"type": "compute", "settings": settings})


def test_what_is_nested_more_deeply_than_settings_are_is_refused():
    deep = 5
    for _ in range(DEEPEST - 1):
        deep = [deep]
    assert asked({"type": "x", "settings": deep}) == "x"
    with pytest.raises(ValueError, match=f"up to {DEEPEST} dicts and lists"):
        asked({"type": "x", "settings": [deep]})


def test_every_tab_is_a_function_and_has_a_state_only_where_it_acts():
    for name in set(TABS) - set(ALONE):
        assert callable(code_of(name).data), name
        assert ("state" in FEATURES[name]) == (name in STATEFUL), name
    assert all(issubclass(getattr(code_of(name), FEATURES[name]["state"]), Tab) for name in STATEFUL)
