"""What torch's convolution backends are, and what their names do not say."""

from __future__ import annotations

# Name, as in torch's enum → the op that only this backend runs forward, and what the backend is.
BACKENDS = {
    "Slow2d": (
        "aten::_slow_conv2d_forward",
        "im2col: windows become the columns of a matrix, and the weight times this matrix is the output; backward, "
        "col2im adds the columns' gradients up in the image.",
    ),
    "SlowDilated2d": (
        "aten::slow_conv_dilated2d",
        "im2col that leaves gaps between the kernel's cells, one sample after the other.",
    ),
    "SlowTranspose2d": (
        "aten::slow_conv_transpose2d",
        "a matrix product that makes a patch of the kernel's size from each input cell; col2im adds the patches up.",
    ),
    "Mkldnn": ("aten::mkldnn_convolution", "oneDNN: convolution and both gradients compiled for this very processor."),
    "MkldnnTranspose": (None, "oneDNN: a transposed convolution compiled for this very processor, without an op name."),
    "NnpackSpatial": (
        "aten::_nnpack_spatial_convolution",
        "NNPACK: Winograd or Fourier transforms, or a matrix product; forward only, backward is SlowDilated2d's.",
    ),
    "Empty": (None, "nothing to compute: without a sample or without a channel there are no products to add."),
    "Overrideable": ("aten::convolution_overrideable", "what the maker of the device registered for it."),
    "Cudnn": ("aten::cudnn_convolution", "cuDNN, NVIDIA's library: an algorithm is picked for output and gradients."),
    "CudnnTranspose": ("aten::cudnn_convolution_transpose", "cuDNN's gradient to the input, used as forward pass."),
    "CudaDepthwise2d": ("aten::_conv_depthwise2d", "torch's own CUDA kernels for groups of one channel."),
    "Miopen": ("aten::miopen_convolution", "MIOpen, AMD's library."),
    "MiopenDepthwise": ("aten::miopen_depthwise_convolution", "MIOpen, AMD's library, for groups of one channel."),
    "MiopenTranspose": ("aten::miopen_convolution_transpose", "MIOpen, AMD's library, transposed."),
    "Mps": ("aten::_mps_convolution", "Metal Performance Shaders, Apple's library."),
    "MpsTranspose": ("aten::_mps_convolution_transpose", "Metal Performance Shaders, Apple's library, transposed."),
}
UNDESCRIBED = (None, "a backend that convviz cannot describe; the ops that ran say more.")
BACKWARD_OF = {"NnpackSpatial": "SlowDilated2d"}  # every other one has a backward pass of its own

NOTES = (
    "derivatives.yaml, torch's table of derivatives, gives aten::convolution one formula for input, weight and bias, "
    "aten::convolution_backward: that is why grad_fn is ConvolutionBackward0 whatever runs.",
    "aten::convolution_backward chooses a backend anew by the same rules: forward and backward belong to one family "
    "unless a switch such as torch.backends.mkldnn.flags is turned in between.",
    "finput is the im2col buffer of Slow2d, [N, C_in · kH · kW, H_out · W_out], one column per window; the forward "
    "pass once handed it to the backward pass.",
    "fgrad_input was room for the gradient of these columns, from which col2im makes grad_input; it left torch's ops "
    "with version 1.10.",
    "Today finput is an empty tensor where old code still passes one, and no longer an argument of torch's ops: since "
    "the end of 2021 the backward pass computes the columns anew, so of the tensors only input and weight are saved.",
)
