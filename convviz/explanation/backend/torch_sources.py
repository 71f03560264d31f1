"""Where the ops of a convolution live in PyTorch's source: the map for somebody who wants to read it."""

from collections.abc import Iterable

from convviz.facts.words import sentences

say = sentences("backend")
READ_AT = "2.13"  # the torch whose files these are; they move rarely
NATIVE = "aten/src/ATen/native/"
CHOICE = "select_conv_backend"  # the function that chooses the backend, in the file of aten::convolution

# File below NATIVE → the ops whose code it holds, without aten::.
_FILES = {
    "Convolution.cpp": (
        *("conv2d", "conv_transpose2d", "convolution", "_convolution", "_convolution_mode", "convolution_backward"),
        "convolution_overrideable",
    ),
    "ConvolutionMM2d.cpp": ("thnn_conv2d", "_slow_conv2d_forward", "_slow_conv2d_backward"),
    "NaiveDilatedConvolution.cpp": ("slow_conv_dilated2d",),
    "NaiveConvolutionTranspose2d.cpp": ("slow_conv_transpose2d",),
    "NNPACK.cpp": ("_nnpack_spatial_convolution", "_nnpack_available"),
    "mkldnn/Conv.cpp": ("mkldnn_convolution",),
    "cudnn/ConvShared.cpp": ("cudnn_convolution", "cudnn_convolution_transpose"),
    "cuda/DepthwiseConv2d.cu": ("_conv_depthwise2d",),
    "miopen/Conv_miopen.cpp": (
        *("miopen_convolution", "miopen_convolution_transpose", "miopen_depthwise_convolution"),
    ),
    "mps/operations/Convolution.mm": ("_mps_convolution", "_mps_convolution_transpose"),
    "BinaryOps.cpp": ("add_",),
    "Copy.cpp": ("copy_",),
    "Fill.cpp": ("fill_", "zero_"),
    "PadNd.cpp": ("constant_pad_nd",),
    "ReduceOps.cpp": ("sum",),
    "Resize.cpp": ("resize_", "resize_as_"),
    "TensorConversions.cpp": ("to", "_to_copy"),
    "TensorFactories.cpp": ("empty", "empty_like", "empty_strided", "clone"),
    "TensorProperties.cpp": ("contiguous",),
    "TensorShape.cpp": (
        *("as_strided", "as_strided_", "cat", "detach", "narrow", "reshape", "select", "slice", "view"),
    ),
}
# Where CUDA's code of the same op is another file.
_ON_CUDA = {
    "ConvolutionMM2d.cpp": "cuda/ConvolutionMM2d.cu",
    "NaiveDilatedConvolution.cpp": "cuda/NaiveDilatedConvolution.cu",
    "NaiveConvolutionTranspose2d.cpp": "cuda/NaiveConvolutionTranspose2d.cu",
}
_OPS = {f"aten::{op}": file for file, ops in _FILES.items() for op in ops}
# What the profiler names that is no op.
_AUTOGRAD = {
    "ConvolutionBackward0": "tools/autograd/derivatives.yaml",
    "torch::autograd::AccumulateGrad": "torch/csrc/autograd/functions/accumulate_grad.cpp",
}
# Backends whose code, or whose backward pass, has no op of its own.
_BACKENDS = {
    "Slow2d": "ConvolutionMM2d.cpp",
    "SlowDilated2d": "NaiveDilatedConvolution.cpp",
    "SlowTranspose2d": "NaiveConvolutionTranspose2d.cpp",
    "NnpackSpatial": "NNPACK.cpp",
    "Mkldnn": "mkldnn/Conv.cpp",
    "MkldnnTranspose": "mkldnn/Conv.cpp",
    "Cudnn": "cudnn/Conv_v8.cpp",
    "CudnnTranspose": "cudnn/Conv_v8.cpp",
    "CudaDepthwise2d": "cuda/DepthwiseConv2d.cu",
    "Miopen": "miopen/Conv_miopen.cpp",
    "MiopenDepthwise": "miopen/Conv_miopen.cpp",
    "MiopenTranspose": "miopen/Conv_miopen.cpp",
    "Mps": "mps/operations/Convolution.mm",
    "MpsTranspose": "mps/operations/Convolution.mm",
}


def file_of_op(op: str, kind: str = "cpu") -> str:
    """Return the file that holds an op's code, or nothing where this table does not know it."""
    file = _OPS.get(op, "")
    return NATIVE + _on(file, kind) if file else _AUTOGRAD.get(op, "")


def file_of_backend(name: str, kind: str = "cpu") -> str:
    """Return the file that holds a backend's code, or nothing where this table does not know it."""
    file = "mkldnn/xpu/Conv.cpp" if (name, kind) == ("Overrideable", "xpu") else _BACKENDS.get(name, "")
    return NATIVE + _on(file, kind) if file else ""


def files_of(ops: Iterable[str], forward: str, backward: str, kind: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of what ran and its file: the choice, both passes of the backend, then each op that is known."""
    named = [
        (say("file.choice", function=CHOICE), file_of_op("aten::convolution")),
        (say("file.forward", backend=forward), file_of_backend(forward, kind)),
        (say("file.backward", backend=backward), file_of_backend(backward, kind)),
        *((op, file_of_op(op, kind)) for op in dict.fromkeys(ops)),
    ]
    return tuple((what, file) for what, file in named if file)


def _on(file: str, kind: str) -> str:
    return _ON_CUDA.get(file, file) if kind == "cuda" else file
