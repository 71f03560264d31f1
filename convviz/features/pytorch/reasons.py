"""Why torch chose a backend: its own rule, said for one call; silent where the rule does not lead there."""

import math

import torch

from convviz.facts.join_lists import listed
from convviz.facts.words import sentences
from convviz.features.pytorch.asked_call import AskedCall

say = sentences("features/pytorch")
# From select_conv_backend and use_mkldnn in aten/src/ATen/native/Convolution.cpp.
MANY_NUMBERS = 20_480
LARGE_KERNEL = 3
MANY_SAMPLES = 16
TORCHS_OWN = {"Slow2d": "family.plain", "SlowDilated2d": "family.dilated", "SlowTranspose2d": "family.transposed"}
ONEDNN = ("Mkldnn", "MkldnnTranspose")


def onednn_on() -> bool:
    return torch.backends.mkldnn.is_available() and bool(torch._C._get_mkldnn_enabled())


def nnpack_on() -> bool:
    return torch.backends.nnpack.is_available() and bool(torch._C._get_nnpack_enabled())


def reasons(call: AskedCall, forward: str) -> tuple[str, ...]:
    if call.kind != "cpu":
        return (say(_elsewhere(call, forward)),)
    found = _onednn(call) if forward in ONEDNN else _own_code(call) if forward in TORCHS_OWN else ""
    if forward == "NnpackSpatial" and not onednn_on():
        found = say("nnpack", samples=MANY_SAMPLES)
    if not found:
        return (say("unknown"),)
    return (found, *_family(call, forward))


def sizes(call: AskedCall) -> list[str]:
    """Return what makes torch count a float32 call as large enough for oneDNN."""
    spec, cells = call.spec, math.prod(call.input_shape)
    found = (
        (spec.batch > 1, say("samples", count=spec.batch)),
        (spec.groups > 1, say("large.groups", count=spec.groups)),
        (min(spec.kernel_size) > LARGE_KERNEL, say("large.kernel", largest=LARGE_KERNEL)),
        (cells > MANY_NUMBERS, say("large.input", most=MANY_NUMBERS)),
    )
    return [words for true, words in found if true]


def _plain_product(call: AskedCall) -> bool:
    spec = call.spec
    alone = spec.kernel_size == spec.stride == spec.dilation == (1, 1)
    return alone and spec.batch < MANY_SAMPLES and torch.get_num_threads() == 1


def _onednn(call: AskedCall) -> str:
    if call.dtype == "bfloat16":
        return say("onednn.bfloat16")
    if call.dtype == "float32" and (large := sizes(call)):
        return say("onednn.large", sizes=listed(large))
    return ""


def _own_code(call: AskedCall) -> str:
    if not onednn_on():
        return say("own.off")
    if call.dtype != "float32":
        return say(f"own.{call.dtype}")
    if not sizes(call):
        return say("own.small", largest=LARGE_KERNEL, most=MANY_NUMBERS)
    if _plain_product(call):
        return say("own.product", samples=MANY_SAMPLES)
    return ""


def _family(call: AskedCall, forward: str) -> tuple[str, ...]:
    if forward not in TORCHS_OWN:
        return ()
    groups = (say("family.groups", count=call.spec.groups),) if call.spec.groups > 1 else ()
    return (say(TORCHS_OWN[forward]), *groups)


def _elsewhere(call: AskedCall, forward: str) -> str:
    if forward.startswith("Cudnn"):
        return "cuda.cudnn.bfloat16" if call.dtype == "bfloat16" else "cuda.cudnn"
    if forward == "CudaDepthwise2d":
        return "cuda.depthwise"
    if forward.startswith("Mps"):
        return "mps"
    if call.kind == "xpu" and forward == "Overrideable":
        return "xpu"
    return "cuda.own" if call.kind == "cuda" and forward in TORCHS_OWN else "unknown"
