"""What other devices would run and where the code lives: held against torch's own answers and its own library."""

import dataclasses
import mmap
import re
from pathlib import Path

import pytest
import torch

from convviz.features.pytorch.asked_call import AskedCall
from convviz.features.pytorch.explain_backend import backend_story
from convviz.features.pytorch.other_devices import KINDS, elsewhere, note, would_run
from convviz.features.pytorch.torch_sources import CHOICE, NATIVE, READ_AT, file_of_backend, file_of_op
from convviz.geometry.spec import ConvSpec
from convviz.ops.detect_torch_backend import BACKENDS
from convviz.ops.devices_and_dtypes import DTYPES
from tests.fake_accelerator import pretend
from tests.features.pytorch.test_backend_story import SPECS, TEACHING, is_transposable
from tests.ops.test_which_backend import switched

DEPTHWISE = ConvSpec(8, 4, 8, groups=4)
LIBRARIES = [
    path for path in (Path(torch.__file__).parent / "lib").glob("*torch_cpu.*") if path.suffix in (".so", ".dylib")
]


def calls():
    for spec in [*SPECS, DEPTHWISE]:
        for transposed in (False, True) if is_transposable(spec) else (False,):
            for dtype in DTYPES:
                yield AskedCall(spec, dtype=dtype, transposed=transposed)


@pytest.mark.skipif(torch.version.hip is not None, reason="ROCm's rules are others")
def test_the_rules_are_those_of_this_torch_as_far_as_it_can_be_asked():
    """Tensors without numbers that say they are on a device lead torch through its choice, as built: without cuDNN."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    cudnn, asked = torch.backends.cudnn.is_available(), set()
    for call in calls():
        for kind in ("cuda", "xpu"):
            with FakeTensorMode():
                found = dataclasses.replace(call, device=kind).ask()
            expected = would_run(call, kind, cudnn=cudnn)
            assert found == (expected, expected), (call, kind)
            asked.add(expected)
    assert {"CudaDepthwise2d", "Overrideable"} <= asked
    assert cudnn or {"Slow2d", "SlowDilated2d", "SlowTranspose2d"} <= asked


def test_each_device_that_is_not_here_has_its_row(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    found = {each.device: each for each in elsewhere(AskedCall(TEACHING))}
    assert tuple(found) == KINDS
    assert [each.backend for each in found.values()] == ["Cudnn", "Mps", "Overrideable"]
    for each in found.values():
        assert each.file.startswith(NATIVE)
        assert each.why.endswith(".")
    found = {each.device: each for each in elsewhere(AskedCall(TEACHING, dtype="float64", transposed=True))}
    assert [each.backend for each in found.values()] == ["CudnnTranspose", "", "Overrideable"]
    assert found["mps"].why == "Apple's devices have no float64."
    (cuda, *_) = elsewhere(AskedCall(DEPTHWISE))
    assert cuda.backend == "CudaDepthwise2d"
    assert "one input channel" in cuda.why
    (cuda, *_) = elsewhere(AskedCall(TEACHING, dtype="bfloat16"))
    assert "compute capability 8.0" in cuda.why
    for words in (CHOICE, f"as of torch {READ_AT}", torch.__version__, "torch did not run there", "its own heuristics"):
        assert words in note()
    pretend(monkeypatch, "mps", 1)
    assert [each.device for each in elsewhere(AskedCall(TEACHING))] == ["cuda", "xpu"], "torch is asked where it can be"


def test_every_op_of_the_settings_has_its_file():
    unknown = set()
    for call in [*calls()][::7]:
        for libraries in ({}, {"mkldnn": False}, {"mkldnn": False, "nnpack": False}):
            with switched(**libraries):
                found = call.watch()
            unknown |= {op for op in (*found.forward_ops, *found.backward_ops) if not file_of_op(op)}
    # What is left is the profiler's own: autograd's engine at work, and an op below another of the same name.
    assert {op for op in unknown if not op.startswith("autograd::engine::")} <= {"detach"}
    files = dict(backend_story(AskedCall(TEACHING, dtype="float64")).files)
    assert files["aten::_slow_conv2d_backward"] == f"{NATIVE}ConvolutionMM2d.cpp"
    assert files["Slow2d, backward"] == f"{NATIVE}ConvolutionMM2d.cpp"
    assert files[f"{CHOICE}, the choice"] == f"{NATIVE}Convolution.cpp"
    assert file_of_op("aten::_slow_conv2d_backward", "cuda") == f"{NATIVE}cuda/ConvolutionMM2d.cu"
    assert file_of_op("aten::unheard_of") == ""


def test_every_backend_has_its_file_and_its_op_agrees():
    for name, op in BACKENDS.items():
        if name in ("Empty", "Overrideable"):  # no code, and nobody knows whose
            assert file_of_backend(name) == ""
            continue
        assert file_of_backend(name), name
        if op:
            folder = Path(file_of_backend(name)).parent
            assert Path(file_of_op(op)).parent == folder, name
    assert file_of_backend("Overrideable", "xpu") == f"{NATIVE}mkldnn/xpu/Conv.cpp"


@pytest.mark.skipif(not LIBRARIES, reason="this torch keeps its code elsewhere")
def test_this_torch_was_built_from_these_files():
    """Torch's library carries the paths of its sources, for its error messages."""
    from convviz.features.pytorch import torch_sources

    here = [file for file in torch_sources.FACTS["files"] if re.match(r"[A-Z]|mkldnn/(?!xpu)", file)]
    assert len(here) > 12
    with LIBRARIES[0].open("rb") as library, mmap.mmap(library.fileno(), 0, access=mmap.ACCESS_READ) as code:
        missing = [file for file in here if code.find(f"{NATIVE}{file}".encode()) < 0]
    assert not missing
