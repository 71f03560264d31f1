"""Computes with autograd what must stand on the page, from the tensors and the geometry that it shows."""

import torch
import torch.nn.functional as F

from tests.browser.app_page.read_page import see

LOSSES = {
    "½ squared error": "half_squared_error",
    "cross-entropy": "cross_entropy",
    "sum": "sum",
    "mean": "mean",
    "set by hand": "weighted_sum",
}


def autograd_of_page(page, seen=None):
    """Return {name: tensor} of what torch computes from the tensors and the geometry that the page shows.

    Args:
        page: the page.
        seen: what `see(page)` returned; default: look now.
    """
    seen = seen or see(page)
    at, shown = seen.geometry, seen.tensors
    (top, left), (height, width) = at["padding"], at["input_size"]
    mode = "constant" if at["mode"] == "zeros" else at["mode"]
    x = shown["padded_input"][..., top : top + height, left : left + width].clone().requires_grad_()
    w = shown["weight"].clone().requires_grad_()
    b = shown["bias"].clone().requires_grad_() if "bias" in shown else None
    padded = F.pad(x, (left, left, top, top), mode=mode)
    padded.retain_grad()
    output = F.conv2d(padded, w, b, at["stride"], 0, at["dilation"], at["groups"])
    output.backward(shown["grad_output"])
    expected = {
        "padded_input": padded.detach(),
        "weight": w.detach(),
        "output": output.detach(),
        "grad_output": _grad_output(seen),
        "rotated_weight": _rotated(w.detach(), at["groups"]),
        "grad_input": x.grad,
        "grad_weight": w.grad,
    }
    expected |= _spread(shown["grad_output"], at) | _target(seen)
    if mode != "constant":
        expected["grad_padded_input"] = padded.grad
    if b is not None:
        expected |= {"bias": b.detach(), "grad_bias": b.grad}
    return expected


def _grad_output(seen):
    """The derivative of the loss that the menus name; itself where nobody but its author can know it."""
    shown, menus = seen.tensors, seen.shot["menus"]
    kind, output = LOSSES[menus["loss"]], shown["output"]
    if kind == "weighted_sum":
        return torch.ones_like(output) if menus["grad_output"] == "ones" else shown["grad_output"]
    if kind == "half_squared_error":
        return output - shown["target"]
    if kind == "cross_entropy":
        shares = output.flatten(1).softmax(1).reshape(output.shape)
        return (shares - shown["target"]) / len(output)
    return torch.full_like(output, 1 if kind == "sum" else 1 / output.numel())


def _target(seen):
    """The target that the menus name, if the loss has one; itself where nobody but its author can know it."""
    shown, menus = seen.tensors, seen.shot["menus"]
    if LOSSES[menus["loss"]] not in ("half_squared_error", "cross_entropy"):
        return {}
    if menus["target"] in ("zeros", "ones"):
        return {"target": torch.full_like(shown["output"], float(menus["target"] == "ones"))}
    if LOSSES[menus["loss"]] == "cross_entropy":
        assert shown["target"].sum((1, 2, 3)).tolist() == [1] * len(shown["target"])
        assert (shown["target"] == shown["target"][0]).all()
    return {"target": shown["target"]}


def _rotated(weight, groups):
    out, into, *kernel = weight.shape
    per_group = weight.flip(2, 3).reshape(groups, out // groups, into, *kernel)
    return per_group.transpose(1, 2).reshape(groups * into, out // groups, *kernel)


def _spread(grad_output, at):
    """grad_output with the stride's zeros, and that with the border which the backward pass reads."""
    *leading, rows, columns = grad_output.shape
    (down, right), size = at["stride"], at["input_size"]
    dilated = torch.zeros(*leading, (rows - 1) * down + 1, (columns - 1) * right + 1, dtype=grad_output.dtype)
    dilated[..., ::down, ::right] = grad_output
    sides = []
    for axis in (0, 1):
        reach = at["dilation"][axis] * (at["kernel_size"][axis] - 1)
        crop = at["padding"][axis] if at["mode"] == "zeros" else 0
        remainder = (size[axis] + 2 * at["padding"][axis] - reach - 1) % at["stride"][axis]
        sides.append((reach - crop, reach - crop + remainder))
    return {"dilated_grad_output": dilated, "padded_grad_output": F.pad(dilated, (*sides[1], *sides[0]))}
