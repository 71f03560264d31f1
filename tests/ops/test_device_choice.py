"""Devices other than the CPU, through stand-ins: which there are, which is meant, what they cannot, how they fail."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import convviz
from convviz.app.messages import say
from convviz.app.page_requests import answer
from convviz.features.graph.nodes_and_edges import snapshot
from convviz.ops.devices_and_dtypes import available_devices, check_device, check_dtype, device_name, is_out_of_memory
from convviz.settings.as_python import as_python
from convviz.settings.state import Settings
from tests.app.test_app import ask
from tests.fake_accelerator import pretend

ROOT = Path(__file__).parents[2]


def refusal(app, state):
    """Ask for some settings as a page does → the sentence that refuses them, or nothing."""
    said = []
    app.send = lambda content, buffers=None: said.append(content)
    ask(app, state)
    return next((content["sentence"] for content in said if content["type"] == "refused"), "")


def test_one_device_has_no_index_and_several_have(monkeypatch):
    names = {
        1: {"cuda": "cuda", "cuda:0": "cuda", "cpu": "cpu", "cpu:0": "cpu", None: "cpu"},
        3: {"cuda": "cuda:2", "cuda:0": "cuda:0", "cuda:1": "cuda:1", "cpu:0": "cpu", None: "cpu"},
    }
    for count, expected in names.items():
        pretend(monkeypatch, "cuda", count, current=count - 1)
        offered = available_devices()
        assert offered == (("cpu", "cuda") if count == 1 else ("cpu", "cuda:0", "cuda:1", "cuda:2"))
        for given, name in expected.items():
            chosen = check_device(given)
            assert (str(chosen), device_name(chosen)) == (name, name), given
            assert name in offered
        assert check_device(torch.device("cuda", 0)) == torch.device("cuda" if count == 1 else "cuda:0")


def test_a_device_that_is_not_there_is_refused_with_how_many_there_are(monkeypatch):
    for count, words in ((1, "1 cuda device: got 'cuda:7'"), (2, "2 cuda devices: got 'cuda:7'")):
        pretend(monkeypatch, "cuda", count)
        for check in (check_device, lambda it: convviz.App(device=it), lambda it: Settings.from_dict({"device": it})):
            with pytest.raises(ValueError, match=f"on this machine, which has {words}"):
                check("cuda:7")
        with pytest.raises(ValueError, match=r"device is one of cpu, cuda(:0, cuda:1)? on this machine: got 'mps'"):
            check_device("mps")


def drawn(app, tab):
    """Return what a tab draws of an app's settings."""
    asked = {"type": "tab", "tab": tab, "settings": app.state()}
    return answer(asked, stages=app.session.numbers_of).message["data"]


def test_the_app_keeps_the_index(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"the card {device}")
    with pretend(monkeypatch, "cuda", 2) as there:
        app = convviz.App(device="cuda:1")
        assert app.session.settings.device == app.state()["device"] == "cuda:1"
        assert set(there.asked) == {"cuda:1"}
        assert list(app._facts["devices"]) == ["cpu", "cuda:0", "cuda:1"]
        assert app.device == app._state["device"] == "cuda:1"
        assert '"cuda:1"' in as_python(app.session.settings)
        assert convviz.App(state=app.state()).session.settings.device == "cuda:1"
        assert convviz.App(link=app.link(), device="cuda:1").session.settings.device == "cuda:1"
        monkeypatch.setenv("CONVVIZ_DEVICE", "cuda:1")
        assert convviz.App().session.settings.device == "cuda:1"
        there.asked.clear()
        ask(app, app.state() | {"device": "cuda:0"})
        assert set(there.asked) == {"cuda:0"}
        reported = drawn(app, "pytorch")
        assert ["device", "cuda:0 (the card cuda:0)"] in reported["machine"]
        assert reported["on"] == "float32, cuda:0"
        assert [change[0] for change in reported["changes"] if change[0].startswith("on ")] == ["on cpu"]
        assert set(there.asked) == {"cuda:0"}
        app.set_state(app._start)
        assert app.session.settings.device == "cuda:1"


@pytest.mark.parametrize("kind", ["mps", "xpu"])
def test_a_device_without_float64(monkeypatch, kind):
    if kind == "xpu":
        monkeypatch.setattr(torch.xpu, "is_available", lambda: True)
        monkeypatch.setattr(torch.xpu, "get_device_properties", lambda device: SimpleNamespace(has_fp64=False))
    sentence = f"the {kind} device has no float64: got dtype float64; use float32, or the cpu"
    with pretend(monkeypatch, kind, 1) as there:
        assert check_dtype("bfloat16", torch.device(kind)) is torch.bfloat16
        with pytest.raises(ValueError, match=sentence):
            check_dtype("float64", torch.device(kind))
        app = convviz.App(device=kind)
        before, result = app.state(), app.session.result
        assert refusal(app, app.state() | {"dtype": "float64"}) == sentence
        assert (app.state(), app.dtype) == (before, "float32")
        assert app.session.result is result
        changes = [row[0] for row in drawn(app, "pytorch")["changes"]]
        assert "bfloat16" in changes
        assert "float64" not in changes
        app.session.apply(app.session.settings.replace(device="cpu", dtype="float64"))
        there.asked.clear()
        assert refusal(app, app.state() | {"device": kind}) == sentence
        assert app.session.settings.device == "cpu"
        assert not there.asked, "nothing was sent there"


def test_the_numbers_of_a_box_are_read_on_a_device_without_float64(monkeypatch):
    monkeypatch.setattr("convviz.features.graph.nodes_and_edges.has_float64", lambda device: False)
    monkeypatch.setattr(torch.Tensor, "double", lambda tensor: pytest.fail("this device has no float64"))
    assert snapshot(torch.tensor([1.0, 2.0])).mean == 1.5


def test_an_intel_device_with_float64_and_one_of_another_machine(monkeypatch):
    assert check_dtype("float64", torch.device("xpu")) is torch.float64, "a snippet for a machine that has one"
    monkeypatch.setattr(torch.xpu, "is_available", lambda: True)
    monkeypatch.setattr(torch.xpu, "get_device_properties", lambda device: SimpleNamespace(has_fp64=True))
    assert check_dtype("float64", torch.device("xpu")) is torch.float64


def test_what_counts_as_out_of_memory():
    for error in (
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("MPS backend out of memory (MPS allocated: 1.00 GB, other allocations: 2.00 GB)"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 4000 bytes."),
        MemoryError(),
    ):
        assert is_out_of_memory(error), error
    for error in (RuntimeError("The size of tensor a must match"), ValueError("out of memory")):
        assert not is_out_of_memory(error), error
    assert say("memory").count(".") == 1


STANDIN = """
import os
from tests import fake_accelerator
from tests.fake_accelerator import NAME, Standin
library = fake_accelerator.register()
import torch
import convviz
from convviz.app.messages import say
from convviz.ops.devices_and_dtypes import available_devices
from convviz.ops.methods import METHODS
from tests.app.test_app import ask
from tests.ops.test_device_choice import drawn
"""

COMPUTES = """
assert available_devices() == ("cpu", NAME)
for transposed in (False, True):
    for dtype in ("float32", "float64", "bfloat16"):
        app, on_cpu = (convviz.App(device=device, dtype=dtype, transposed=transposed) for device in (NAME, "cpu"))
        assert app.session.settings.device == NAME
        for name in ("output", "grad_output", "padded_grad_output", "grad_input", "grad_weight", "loss"):
            there, here = (getattr(each.session.result, name) for each in (app, on_cpu))
            assert there.device.type == NAME, name
            assert torch.equal(there.cpu(), here), name
        assert app.session.result.deviation == on_cpu.session.result.deviation
        values = app._numbers["truth"]["values"]
        assert (values["device"], values["dtype"]) == (NAME, dtype), "the caption says where"
    for tab in ("matrix", "graph", "code", "pytorch", "check", "quantised", "linear"):
        Standin.ran.clear()
        error = drawn(app, tab).get("error", "")
        assert error == "" or (transposed and tab == "quantised"), (tab, error)
        assert Standin.ran or error or tab in ("code", "linear"), tab
x, w = (torch.randn(shape, device="cpu").to(NAME).requires_grad_() for shape in ((2, 3, 6, 6), (4, 3, 3, 3)))
for method in METHODS:
    y = convviz.conv2d(x, w, stride=2, padding=1, method=method)
    found = torch.autograd.grad(y.sum(), (x, w))
    truth = torch.autograd.grad(torch.conv2d(x, w, None, 2, 1).sum(), (x, w))
    assert y.device.type == NAME
    for mine, theirs in zip(found, truth):
        assert mine.device.type == NAME and torch.allclose(mine.cpu(), theirs.cpu(), atol=1e-4), method
try:
    convviz.conv2d(x, w.cpu())
except ValueError as error:
    assert f"must be on one device: got {NAME}:0 and cpu" in str(error), error
else:
    raise AssertionError("tensors of two devices")
found = convviz.graph(y, {"x": x, "w": w})
assert found.node("n0").value.tensor.device.type == "cpu"
layer = torch.nn.Conv2d(1, 1, 3).to(NAME)
assert convviz.explain(layer, torch.ones(1, 1, 5, 5).to(NAME)).session.settings.device == NAME
"""

FAILS = """
from tests.ops.test_device_choice import refusal
app = convviz.App(state={"device": NAME})
sentence = say("memory") + " Your settings are unchanged."

def seen(app):
    return app.state(), {**app._state, **app._sources}, app.stride, app.dtype, app.device, id(app.session.result)

def attempt(changes, at):
    before = seen(app)
    Standin.fails_in = at
    reported = refusal(app, app.state() | changes)
    came_to_it, Standin.fails_in = not Standin.fails_in, 0
    if reported:
        assert reported == sentence, reported
        assert seen(app) == before, (changes, at)
    else:
        assert app.state() != before[0], (changes, at)
        app.set_state(before[0])
    return came_to_it, bool(reported)

def attempt_without_backward(changes):
    before, grad = seen(app), torch.autograd.grad
    def fail(*args, **kwargs):
        raise torch.OutOfMemoryError(fake_accelerator.OUT_OF_MEMORY)
    torch.autograd.grad = fail
    reported = refusal(app, app.state() | changes)
    torch.autograd.grad = grad
    assert reported == sentence
    assert seen(app) == before, changes

for changes in ({"spec": {**app.state()["spec"], "stride": [1, 1]}}, {"dtype": "float64"}):
    at, failed, came = 1, 0, True
    while came:
        came, reported = attempt(changes, at)
        at, failed = at + 4, failed + reported
    assert failed > 10, (changes, failed)
    attempt_without_backward(changes)
app = convviz.App()
for at in (1, 4, 20):
    assert attempt({"device": NAME}, at)[0]
attempt_without_backward({"device": NAME})
assert app.session.settings.device == "cpu"
app.device = NAME
Standin.fails_in = 3
assert drawn(app, "pytorch") == {"error": say("memory") + " The board is unchanged."}
assert "error" not in drawn(app, "pytorch")
"""


@pytest.mark.skipif(
    not hasattr(torch.utils.backend_registration, "_setup_privateuseone_for_python_backend"),
    reason="this torch lets nobody write a device in Python",
)
def test_a_device_of_our_own():
    # Left at once: torch's threads of a device that is written in Python do not always end in good order.
    code = STANDIN + COMPUTES + FAILS + "\nprint('all held', flush=True)\nos._exit(0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.endswith("all held\n"), done.stdout + done.stderr[-3000:]
