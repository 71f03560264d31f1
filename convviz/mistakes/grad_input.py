"""grad_input by a recipe: zero-insert grad_output, pad it, rotate the kernel, correlate."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from convviz.geometry.spec import ConvSpec
from convviz.mistakes.recipe_steps import (
    ORIENTATIONS,
    Numbers,
    Recipe,
    axes,
    complete,
    correlate,
    factor,
    overwritten,
    padded,
    spread,
)
from convviz.ops.padding import fold_padding

# Which channel axes of one group's weight, [C_out, C_in, kH, kW], are taken in reverse order.
REVERSED = {"channels of each group": (0, 1), "input channels": (1,), "output channels": (0,)}


def grad_input(recipe: Recipe, spec: ConvSpec, grad_output: torch.Tensor, weight: torch.Tensor) -> torch.Tensor | None:
    """Return grad_input by a recipe, in whatever shape it comes out; None where it cannot be computed at all.

    grad_output is ``[N, C_out, H_out, W_out]``, the weight ``[C_out, C_in / groups, kH, kW]``.
    """
    chosen = complete("grad_input", recipe)
    if spec.padding_mode != "zeros" and any(map(any, spec.padding)) and chosen["border"] == "folded":
        inner = spec.replace(input_size=spec.padded_size, padding=0, padding_mode="zeros")
        found = grad_input(recipe, inner, grad_output, weight)
        whole = found is not None and tuple(found.shape[-2:]) == spec.padded_size
        return fold_padding(found, spec) if found is not None and whole else found
    rows, columns = lines = axes(chosen, spec)
    # The groups, as far as the recipe knows, the output channels as they take them, and those whose gradients are used.
    groups = 1 if chosen["groups"] in ("ignored", "all into the first", "repeated") else spec.groups
    outputs = used = torch.arange(spec.out_channels)
    every = outputs.reshape(-1, groups).T.flatten()
    if chosen["groups"].startswith("every g-th "):
        outputs, used = every, outputs if chosen["groups"] == "every g-th filter" else every
    elif chosen["groups"] == "grad_output reversed":
        used = outputs.reshape(groups, -1).flip(0).flatten()
    per = spec.out_channels // groups
    used = used[per - 1 :: per] if chosen["overlaps"] == "last channel" else used
    kernel = _kernel(chosen, spec.groups, ORIENTATIONS[chosen["kernel"]](weight)[outputs].chunk(groups))
    sent, inserted = grad_output[:, used], [line[chosen["inserted"]] for line in lines]
    sizes = [(o - 1) * (between + 1) + 1 for o, between in zip(sent.shape[2:], inserted, strict=True)]
    around = [_around(chosen, *of) for of in zip(lines, sizes, kernel.shape[2:], strict=True)]
    if chosen["axes"] == "border":
        around.reverse()
    spacing = (rows[chosen["spacing"]], columns[chosen["spacing"]])
    if chosen["overlaps"] in ("add", "last channel"):
        plane = padded(spread(sent, *inserted), [*around[1], *around[0]])
        result = correlate(plane, kernel, (rows[chosen["step"]], columns[chosen["step"]]), spacing, groups)
    else:
        pitch, sides = (inserted[0] + 1, inserted[1] + 1), (around[0], around[1])
        result = overwritten(sent, kernel, groups, chosen["overlaps"], pitch, spacing, sides)
    if result is None:
        return None
    return _finished(chosen, _placed(chosen["groups"], result, spec.groups), rows, columns) * factor(chosen, spec)


def _kernel(chosen: Recipe, count: int, blocks: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the kernel that slides over grad_output, ``[C_in, C_out / groups, kH, kW]``, from those of the groups."""
    if chosen["reversed"] == "all channels":
        blocks = [block.flip(0, 1) for block in blocks][::-1]
    if chosen["groups"] == "repeated":
        blocks = [block.repeat(1, count, 1, 1) for block in blocks]
    flipped = REVERSED.get(chosen["reversed"], ())
    exchanged = (0, 1) if chosen["channels"] == "kept" else (1, 0)
    ordered = blocks[::-1] if chosen["groups"] == "reversed" else blocks
    kernel = torch.cat([block.flip(flipped).permute(*exchanged, 2, 3) for block in ordered])
    return kernel[:, -1:] if chosen["overlaps"] == "last channel" else kernel


def _placed(way: str, result: torch.Tensor, groups: int) -> torch.Tensor:
    """Return the result with the channels of its groups in order."""
    if way == "all into the first":
        return torch.cat([result, *[torch.zeros_like(result)] * (groups - 1)], 1)
    if way == "results reversed":
        return torch.cat(result.chunk(groups, 1)[::-1], 1)
    if way == "every g-th channel":
        return torch.stack(result.chunk(groups, 1), 2).flatten(1, 2)
    return result


def _around(chosen: Recipe, line: Numbers, size: int, cells: int) -> tuple[int, int]:
    """Return how many zeros go before and after a spread grad_output along one axis; negative ones crop."""
    turned = chosen["reach"] == "d * (K turned - 1)"
    border = (line["d"] * (cells - 1) if turned else line[chosen["reach"]]) - line[chosen["crop"]]
    if chosen["negative"] == "clamp":
        border = max(border, 0)
    before = border + line[chosen["lead"]]
    if chosen["rest"].startswith("up to "):
        unpadded = -1 if line["p"] == 0 else 0
        more = {"up to N": 0, "up to N, less 1 if p = 0": unpadded, "up to N - r + s - 1": line["s"] - 1 - line["r"]}
        wanted = more[chosen["rest"]]
        return before, line["N"] + wanted - (size + before - line[chosen["spacing"]] * (cells - 1))
    return before, border + line[chosen["rest"]]


def _finished(chosen: Recipe, result: torch.Tensor, rows: Numbers, columns: Numbers) -> torch.Tensor:
    if chosen["cut"] == "beyond N":
        height, width = rows["N"], columns["N"]
    else:
        height = max(result.shape[-2] - rows[chosen["cut"]], 0)
        width = max(result.shape[-1] - columns[chosen["cut"]], 0)
    result = result[..., :height, :width]
    top, fill = chosen["top"], chosen["fill"]
    result = F.pad(result, (columns[top], columns[fill], rows[top], rows[fill]))
    if chosen["slice"] == "p:-p":
        down, across = rows["p"], columns["p"]
        result = result if down else result[..., :0, :]  # what -0 means to Python
        result = result if across else result[..., :0]
    return result
