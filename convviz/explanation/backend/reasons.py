"""Why torch chose a backend: its own rule, said for one call; silent where the rule does not lead there."""

from __future__ import annotations

import torch

from convviz.explanation.backend.torch_call import TorchCall

# From select_conv_backend and use_mkldnn in aten/src/ATen/native/Convolution.cpp.
MANY_NUMBERS = 20_480
LARGE_KERNEL = 3
MANY_SAMPLES = 16
TORCHS_OWN = ("Slow2d", "SlowDilated2d", "SlowTranspose2d")
ONEDNN = ("Mkldnn", "MkldnnTranspose")
UNKNOWN = "This torch chose it by a rule that convviz does not know."
NO_ONEDNN = "oneDNN is switched off, or this torch was built without it: what runs is torch's own code."


def onednn_on() -> bool:
    """Whether torch may use oneDNN."""
    return torch.backends.mkldnn.is_available() and bool(torch._C._get_mkldnn_enabled())


def nnpack_on() -> bool:
    """Whether torch may use NNPACK."""
    return torch.backends.nnpack.is_available() and bool(torch._C._get_nnpack_enabled())


def reasons(call: TorchCall, forward: str) -> tuple[str, ...]:
    """Return sentences on why the forward pass has this backend.

    Args:
        call: what was computed.
        forward: the backend's name.
    """
    if call.kind != "cpu":
        return _elsewhere(call, forward)
    found = _onednn(call) if forward in ONEDNN else _own_code(call) if forward in TORCHS_OWN else ""
    if forward == "NnpackSpatial" and not onednn_on():
        found = f"oneDNN is off, and NNPACK takes float32 from {MANY_SAMPLES} samples on."
    if not found:
        return (UNKNOWN,)
    return (found, *_family(call, forward))


def sizes(call: TorchCall) -> list[str]:
    """Return what makes torch count a float32 call as large enough for oneDNN."""
    spec, cells = call.spec, 1
    for length in call.input_shape:
        cells *= length
    found = {
        f"{spec.batch} samples": spec.batch > 1,
        f"{spec.groups} groups": spec.groups > 1,
        f"a kernel larger than {LARGE_KERNEL} on both sides": min(spec.kernel_size) > LARGE_KERNEL,
        f"more than {MANY_NUMBERS} input numbers": cells > MANY_NUMBERS,
    }
    return [words for words, true in found.items() if true]


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _plain_product(call: TorchCall) -> bool:
    """Whether the call is little more than one product of matrices."""
    spec = call.spec
    alone = spec.kernel_size == spec.stride == spec.dilation == (1, 1)
    return alone and spec.batch < MANY_SAMPLES and torch.get_num_threads() == 1


def _onednn(call: TorchCall) -> str:
    if call.dtype == "bfloat16":
        return "oneDNN is on, and on this processor it takes bfloat16 at every size."
    if call.dtype == "float32" and (large := sizes(call)):
        return (
            f"oneDNN is on, and torch gives it the float32 calls that it counts as large: this one has {_and(large)}."
        )
    return ""


def _own_code(call: TorchCall) -> str:
    if not onednn_on():
        return NO_ONEDNN
    if call.dtype == "float64":
        return "oneDNN has no convolution in float64: what runs is torch's own code."
    if call.dtype == "bfloat16":
        return "oneDNN does not take bfloat16 on this processor: what runs is torch's own code."
    if not sizes(call):
        return (
            "The call is small, so torch spares itself the way to oneDNN: one sample, one group, a kernel that is not "
            f"larger than {LARGE_KERNEL} on both sides, an input of no more than {MANY_NUMBERS} numbers."
        )
    if _plain_product(call):
        return (
            f"A 1 × 1 kernel at stride 1 is a plain matrix product: below {MANY_SAMPLES} samples and on one thread "
            "torch does not go to oneDNN for it."
        )
    return ""


def _family(call: TorchCall, forward: str) -> tuple[str, ...]:
    """Return why it is this one of torch's own versions."""
    spec = call.spec
    found = []
    if forward == "SlowDilated2d":
        found.append(
            "The dilation leaves gaps between the kernel's cells, and of torch's own versions only this one reads "
            "windows with gaps."
        )
    elif forward == "SlowTranspose2d":
        found.append("Of torch's own versions it is the one for transposed convolutions.")
    elif forward == "Slow2d":
        found.append("Of torch's own versions it is the one for windows without gaps.")
    if spec.groups > 1 and forward in TORCHS_OWN:
        found.append(f"It knows no groups: it runs {spec.groups} times, and aten::cat joins the results.")
    return tuple(found)


def _elsewhere(call: TorchCall, forward: str) -> tuple[str, ...]:
    if forward.startswith("Cudnn"):
        found = "On a CUDA device torch leaves to cuDNN what cuDNN can compute."
        new = " In bfloat16 that is so from compute capability 8.0 on; an older GPU runs torch's own code."
        return (found + (new if call.dtype == "bfloat16" else ""),)
    if forward == "CudaDepthwise2d":
        return ("Each group has one input channel: for that torch has CUDA kernels of its own.",)
    if forward.startswith("Mps"):
        return ("On Apple's device there is no other.",)
    if call.kind == "xpu" and forward == "Overrideable":
        return ("Torch has no rule of its own for this device: it calls what the maker registered, Intel's oneDNN.",)
    if call.kind == "cuda" and forward in TORCHS_OWN:
        return ("cuDNN is missing, switched off, or cannot compute this call.",)
    return (UNKNOWN,)
