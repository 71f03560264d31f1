"""A convolution and its gradients by rotating the kernel: the pictures' own way.

Both gradients are correlations again, of other tensors:

* to the input: put zeros between the cells of grad_output, pad it, rotate the kernel, correlate with stride 1;
* to the weight: correlate the padded input with the grad_output that has the zeros in it.

The correlation itself is PyTorch's conv2d, which also pads and dilates: ``grad_input`` and ``grad_weight`` leave that
to it, which saves copies, and where the stride inserts zeros ``grad_input`` takes the kernel apart, which saves their
products. The functions after them make every tensor that the pictures show.
"""

import torch
import torch.nn.functional as F

from convviz.geometry.spec import ConvSpec, Pair, Sides
from convviz.ops import half_precision
from convviz.ops.half_precision import widened

# How many samples one correlation adds up on a CPU: its kernel is grad_output, and all samples at once leave the cache.
SAMPLES = 8


def conv2d(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, spec: ConvSpec) -> torch.Tensor:
    """Return the output ``[N, C_out, H_out, W_out]``: the kernel slides over the padded input."""
    padding = (spec.padding[0][0], spec.padding[1][0])
    return half_precision.correlate(input, weight, bias, spec.stride, padding, spec.dilation, spec.groups)


def grad_input(grad_output: torch.Tensor, weight: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Return grad_input ``[N, C_in, H, W]`` for ``[N, C_out, H_out, W_out]`` and ``[C_out, C_in / groups, kH, kW]``.

    Entry ``[n, c, i, j]`` is the sum of ``grad_output[o] * weight[k]`` over the taps (o, k) that read this input cell,
    and over the output channels of the group.
    """
    if spec.stride != (1, 1):
        return _by_sub_kernels(grad_output, weight, spec)
    rotated = rotate_weight(weight, spec.groups)
    rows, columns = backward_padding(spec)
    if rows[0] == rows[1] >= 0 and columns[0] == columns[1] >= 0:
        # The same on both sides is what conv2d pads by itself, without a copy of grad_output.
        return half_precision.correlate(
            grad_output, rotated, None, 1, (rows[0], columns[0]), spec.dilation, spec.groups
        )
    return correlate(pad_grad_output(grad_output, spec), rotated, spec)


def _by_sub_kernels(grad_output: torch.Tensor, weight: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Return the same gradient for a stride of 2 or more, without a single product with an inserted zero.

    The rotated kernel meets the cells of grad_output only at every stride-th of its own cells: which ones, depends on
    where it stands. So it falls into stride × stride sub-kernels, each of which slides over grad_output as it is. Cell
    u of the kernel's sub-kernel a is its cell ``a + stride * u``; what o sends through it goes to row
    ``stride * (o + dilation * u) + dilation * a`` of the padded input.
    """
    (down, across), (d_down, d_across) = spec.stride, spec.dilation
    wide, padded = widened(grad_output), None
    for a in range(min(down, spec.kernel_size[0])):
        for b in range(min(across, spec.kernel_size[1])):
            part = rotate_weight(widened(weight)[..., a::down, b::across], spec.groups)
            reach = (d_down * (part.shape[-2] - 1), d_across * (part.shape[-1] - 1))
            sent = half_precision.correlate(wide, part, None, 1, reach, spec.dilation, spec.groups)
            if padded is None:  # made of what it takes up: under vmap either tensor may be the batched one
                padded = sent.new_zeros(*sent.shape[:2], *spec.padded_size)
            rows, columns = padded[..., d_down * a :: down, :], slice(d_across * b, None, across)
            rows[..., : sent.shape[-2], columns][..., : sent.shape[-1]] += sent
    assert padded is not None  # a kernel has cells
    (top, _), (left, _) = spec.padding if spec.padding_mode == "zeros" else ((0, 0), (0, 0))
    height, width = spec.input_size if spec.padding_mode == "zeros" else spec.padded_size
    return padded[..., top : top + height, left : left + width].to(grad_output.dtype).contiguous()


def grad_weight(input: torch.Tensor, grad_output: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Return grad_weight ``[C_out, C_in / groups, kH, kW]`` for ``[N, C_in, H, W]`` and ``[N, C_out, H_out, W_out]``.

    Entry ``[o, c, u, v]`` is the sum of ``grad_output[o] * input[i]`` over the taps (o, i) of kernel cell (u, v), and
    over the samples.
    """
    # conv2d pads by itself, and a dilation by the stride stands for the inserted zeros: fewer copies, same sums.
    padding = (spec.padding[0][0], spec.padding[1][0])
    return _slide_grad_output(input, grad_output, spec, padding, dilation=spec.stride)


def dilate_grad_output(grad_output: torch.Tensor, stride: Pair) -> torch.Tensor:
    """Insert ``stride - 1`` zeros between neighbouring cells: ``[N, C_out, s (H_out - 1) + 1, s (W_out - 1) + 1]``."""
    if stride == (1, 1):
        return grad_output
    *leading, height, width = grad_output.shape
    dilated = grad_output.new_zeros(*leading, stride[0] * (height - 1) + 1, stride[1] * (width - 1) + 1)
    dilated[..., :: stride[0], :: stride[1]] = grad_output
    return dilated


def backward_padding(spec: ConvSpec) -> Sides:
    """How many cells the backward pass adds around dilated_grad_output; a negative number crops.

    ``d (k - 1) - p`` before, ``d (k - 1) - p' + remainder`` after. The remainder belongs after: these are the
    rows at the end of the padded input that no window reached. In a padding mode other than zeros the border
    has a gradient as well, which is folded back afterwards, so there p counts as 0.
    """
    sides = []
    for axis in range(2):
        before, after = spec.padding[axis] if spec.padding_mode == "zeros" else (0, 0)
        reach = spec.effective_kernel[axis] - 1
        sides.append((reach - before, reach - after + spec.remainder[axis]))
    return (sides[0], sides[1])


def pad_grad_output(dilated_grad_output: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Pad dilated_grad_output so that the rotated kernel, sliding over it, produces exactly the input's size."""
    (top, bottom), (left, right) = backward_padding(spec)
    # Pad first, crop second: F.pad crops first, and fails when the crop is larger than what is there.
    padded = F.pad(dilated_grad_output, (max(left, 0), max(right, 0), max(top, 0), max(bottom, 0)))
    height, width = padded.shape[-2:]
    return padded[..., max(-top, 0) : height - max(-bottom, 0), max(-left, 0) : width - max(-right, 0)]


def rotate_weight(weight: torch.Tensor, groups: int) -> torch.Tensor:
    """Turn every kernel by 180 degrees and swap its channels within each group: ``[C_in, C_out / groups, kH, kW]``.

    Entry ``[c, o, u, v]`` is ``weight[o, c, kH - 1 - u, kW - 1 - v]``, o and c counted within the group.
    """
    out_channels, in_per_group, height, width = weight.shape
    by_group = weight.flip(-2, -1).reshape(groups, out_channels // groups, in_per_group, height, width)
    return by_group.transpose(1, 2).reshape(groups * in_per_group, out_channels // groups, height, width)


def correlate(
    padded_grad_output: torch.Tensor,
    rotated_weight: torch.Tensor,
    spec: ConvSpec,
    bias: torch.Tensor | None = None,
) -> torch.Tensor:
    """Slide the rotated kernel over padded_grad_output, stride 1, the forward pass's dilation.

    That is the gradient ``[N, C_in, H, W]`` of the input, or of padded_input when the padding mode is not zeros, or
    with ``bias`` the output of a transposed convolution.
    """
    return half_precision.correlate(
        padded_grad_output, rotated_weight, bias, dilation=spec.dilation, groups=spec.groups
    )


def correlate_with_grad_output(
    padded_input: torch.Tensor, dilated_grad_output: torch.Tensor, spec: ConvSpec
) -> torch.Tensor:
    """Slide the dilated grad_output over the padded input: the gradient of the weight, as the picture shows it."""
    return _slide_grad_output(padded_input, dilated_grad_output, spec, padding=(0, 0), dilation=(1, 1))


def _slide_grad_output(
    input: torch.Tensor, grad_output: torch.Tensor, spec: ConvSpec, padding: Pair, dilation: Pair
) -> torch.Tensor:
    """Correlate the input with grad_output; nothing is rotated.

    Stride and dilation change places: the forward stride spreads grad_output apart, and the forward dilation
    becomes the step of the window. Samples are summed, so batch and channels change places as well.
    """
    batch, _, height, width = input.shape
    in_per_group = spec.in_channels // spec.groups
    if in_per_group == 1 and not (batch > 1 and half_precision.is_narrow(input)):
        # Nothing is shared between channels: each sample can be a group of its own, and nothing has to be moved. In 16
        # bits each sample's sum would be rounded before they are added up: there conv2d adds the samples as well.
        images = input.reshape(1, batch * spec.groups, height, width)
        kernels = grad_output.reshape(batch * spec.out_channels, 1, *grad_output.shape[-2:])
        products = half_precision.correlate(
            images, kernels, None, spec.dilation, padding, dilation, batch * spec.groups
        )
        gradient = products.reshape(batch, spec.out_channels, 1, *products.shape[-2:]).sum(0)
    else:
        few = batch if half_precision.is_narrow(input) or input.device.type != "cpu" else SAMPLES
        parts = [
            _sum_over_samples(images, gradients, spec, padding, dilation)
            for images, gradients in zip(input.split(few), grad_output.split(few), strict=True)
        ]
        gradient = sum(parts[1:], parts[0])
    # A remainder of at least the dilation lets the window move on past the kernel: those rows are not weights.
    return gradient[..., : spec.kernel_size[0], : spec.kernel_size[1]].contiguous()


def _sum_over_samples(
    input: torch.Tensor, grad_output: torch.Tensor, spec: ConvSpec, padding: Pair, dilation: Pair
) -> torch.Tensor:
    """Correlate with the samples as channels, over which every convolution adds up."""
    batch, _, height, width = input.shape
    in_per_group = spec.in_channels // spec.groups
    images = (
        input.reshape(batch, spec.groups, in_per_group, height, width)
        .permute(2, 1, 0, 3, 4)
        .reshape(in_per_group, spec.groups * batch, height, width)
    )
    kernels = grad_output.transpose(0, 1)  # [C_out, N, H_out, W_out]
    swapped = half_precision.correlate(images, kernels, None, spec.dilation, padding, dilation, spec.groups)
    return swapped.transpose(0, 1)
