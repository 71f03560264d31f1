"""Torch's numbers held against the page's own: what torch computes passes, and what is wrong by more is found."""

import random

import pytest
import torch

from convviz.app.step_numbers import numbers
from convviz.settings.compute import compute
from convviz.settings.state import Settings
from tests.random_states import random_states

DTYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.float32}  # on the wire
COMPARE = """(cases) => {
  const { numbersOf } = js["numbers/ask_kernel.js"];
  const { firstDifference } = js["numbers/compare_with_torch.js"];
  return cases.map(([settings, wire]) => firstDifference(settings, numbersOf(settings, wire)));
}"""


@pytest.fixture
def compare(js):
    """Return a function: pairs of settings and wire → the first difference of each, or None."""
    return lambda cases: js.page.evaluate(COMPARE, cases)


def cases(seed, count, dtype):
    """Return what the kernel sends of some random states, as [settings, wire] with lists for bytes."""
    made = []
    for state in random_states(seed, count):
        settings = Settings.from_dict(state).replace(dtype=dtype)
        try:
            wire = numbers(compute(settings))
        except ValueError:  # too large a number for the dtype: nothing is sent
            continue
        lists = {
            name: torch.frombuffer(bytearray(b), dtype=DTYPES[dtype]).tolist() for name, b in wire["tensors"].items()
        }
        made.append([settings.to_dict(), wire | {"k": 1, "tensors": lists}])
    assert len(made) > 0.9 * count
    return made


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_torch_computes_passes(compare, dtype):
    sent = cases(4, 60, dtype)
    for (state, _), found in zip(sent, compare(sent), strict=True):
        assert found is None, (found, state["spec"], state["loss"], dtype)


def test_what_is_wrong_is_found_with_its_place(compare):
    draw = random.Random(5)
    sent = cases(6, 60, "float32")
    for _, wire in sent:
        values = wire["tensors"][draw.choice([each for each in wire["tensors"] if each != "grad_padded_input"])]
        # By more than rounding explains where large terms cancel.
        values[draw.randrange(len(values))] += 1 + 3 * max(map(abs, values))
    for (state, _), found in zip(sent, compare(sent), strict=True):
        assert found is not None, (state["spec"], state["loss"])
        assert found["torch"] != pytest.approx(found["page"], abs=0), found
