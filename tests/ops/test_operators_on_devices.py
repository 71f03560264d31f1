"""The operators on every device of this machine, against autograd through the definition in float64 on the CPU.

With an accelerator that is 432 geometries, by every method; `python -m pytest -s` prints the largest differences.
"""

import pytest
import torch

from convviz import conv2d
from convviz.ops.devices_and_dtypes import available_devices, full_precision, has_float64
from tests.geometries import EDGE_CASES, random_specs, reals
from tests.operator_cases import METHODS, definition, drawn, results

COUNTS = {"cpu": 10}  # other tests hold the CPU's numbers: here it shows that this one works
COUNT = 432 - len(EDGE_CASES)
MAX_EPS = 50  # of the largest number of a geometry: a sum of some dozen products, in another order


def worst_of(device: torch.device, dtype: torch.dtype) -> tuple[float, int]:
    """Return the largest difference, as a share of the largest number of its geometry, and of how many geometries."""
    specs = [*EDGE_CASES.values(), *random_specs(500, COUNTS.get(device.type, COUNT))]
    worst = 0.0
    for number, spec in enumerate(specs):
        *tensors, g = (tensor.to(dtype) for tensor in drawn(spec, number, reals))
        truth = results(lambda *t, s=spec: definition(*t, s), [each.double() for each in tensors], g.double())
        arguments = (spec.stride, spec.padding, spec.dilation, spec.groups)
        largest = max(each.abs().max().item() for each in truth)
        for method in METHODS:
            with full_precision(device):
                found = results(
                    lambda *t, a=arguments, m=method, s=spec: conv2d(*t, *a, padding_mode=s.padding_mode, method=m),
                    [each.to(device) for each in tensors],
                    g.to(device),
                )
            for name, ours, right in zip(("output", "input", "weight", "bias"), found, truth, strict=True):
                assert (ours.device.type, ours.dtype) == (device.type, dtype), (name, method, spec)
                off = (ours.cpu().double() - right).abs().max().item() / largest
                assert off <= MAX_EPS * torch.finfo(dtype).eps, (name, method, spec)
                worst = max(worst, off)
    return worst, len(specs)


@pytest.mark.parametrize("name", available_devices())
def test_every_device_has_the_numbers_of_the_definition(name):
    device = torch.device(name)
    for dtype in (torch.float64, torch.float32):
        if dtype is torch.float64 and not has_float64(device):
            continue
        worst, count = worst_of(device, dtype)
        print(f"\n{device}, {dtype}, {count} geometries: at most {worst:.1e} of the largest number")
