"""What torch's convolution backends are, and what their names do not say."""

from convviz.facts.words import sentences

say = sentences("backend")

# Name, as in torch's enum → the op that only this backend runs forward; what it is stands in facts/words/backend.json.
BACKENDS: dict[str, str | None] = {
    "Slow2d": "aten::_slow_conv2d_forward",
    "SlowDilated2d": "aten::slow_conv_dilated2d",
    "SlowTranspose2d": "aten::slow_conv_transpose2d",
    "Mkldnn": "aten::mkldnn_convolution",
    "MkldnnTranspose": None,
    "NnpackSpatial": "aten::_nnpack_spatial_convolution",
    "Empty": None,
    "Overrideable": "aten::convolution_overrideable",
    "Cudnn": "aten::cudnn_convolution",
    "CudnnTranspose": "aten::cudnn_convolution_transpose",
    "CudaDepthwise2d": "aten::_conv_depthwise2d",
    "Miopen": "aten::miopen_convolution",
    "MiopenDepthwise": "aten::miopen_depthwise_convolution",
    "MiopenTranspose": "aten::miopen_convolution_transpose",
    "Mps": "aten::_mps_convolution",
    "MpsTranspose": "aten::_mps_convolution_transpose",
}
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


def described(name: str) -> str:
    """Return what a backend is, in a sentence."""
    return say(f"is.{name}" if name in BACKENDS else "is.unknown")
