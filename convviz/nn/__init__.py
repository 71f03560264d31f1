"""Layers: torch's, computed in our ways, and quantised ones whose gradient is stated and checked."""

from convviz.nn.binary_conv2d import BinaryConv2d
from convviz.nn.conv2d import Conv2d
from convviz.nn.conv_transpose2d import ConvTranspose2d
from convviz.nn.linear import Linear
from convviz.nn.power_of_two_conv2d import Conv2dShift
from convviz.nn.replacement import replace
from convviz.nn.surrogate_gradcheck import surrogate_check
from convviz.nn.xnor_conv2d import XNORConv2d

__all__ = [
    "BinaryConv2d",
    "Conv2d",
    "Conv2dShift",
    "ConvTranspose2d",
    "Linear",
    "XNORConv2d",
    "replace",
    "surrogate_check",
]
