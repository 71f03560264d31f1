"""What the page gets with each step: the tensors that torch computed, as bytes, and what they were compared with."""

from typing import Any

import torch

from convviz.facts.format_numbers import MINUS
from convviz.ops.devices_and_dtypes import device_name
from convviz.ops.stages import Stages

# All other stages are copies of these, with borders, zeros and turns: the page makes them.
TENSORS = (
    *("input", "weight", "bias", "output", "target", "grad_output"),
    *("grad_padded_input", "grad_input", "grad_weight", "grad_bias"),
)


def numbers(stages: Stages) -> dict[str, Any]:
    """Return one step's numbers as the page reads them: ``web/numbers/ask_kernel.js``."""
    wide = stages.input.dtype is torch.float64
    given = {name: getattr(stages, name) for name in TENSORS}
    return {
        "dtype": str(stages.input.dtype).removeprefix("torch."),
        "loss": float(stages.loss),
        "truth": truth(stages),
        "tensors": {
            name: _bytes(tensor, torch.float64 if wide else torch.float32)
            for name, tensor in given.items()
            if tensor is not None
        },
    }


def truth(stages: Stages) -> dict[str, Any]:
    """Return the line of truth: id and values of its sentence, and whether it is good news."""
    deviation = stages.deviation_from_autograd
    where = {"device": device_name(stages.input.device), "dtype": str(stages.input.dtype).removeprefix("torch.")}
    if deviation is None:
        return {"id": "truth.none", "values": where, "ok": True}
    if deviation.value == 0:
        return {"id": "truth.exact", "values": where, "ok": True}
    largest = {"largest": _short(deviation.value)}
    if deviation.within_rounding:
        return {"id": "truth.rounding", "values": where | largest, "ok": True}
    if not deviation.index:
        return {"id": "truth.shape", "values": where | {"tensor": deviation.tensor}, "ok": False}
    place = {"tensor": deviation.tensor, "place": ", ".join(str(i) for i in deviation.index)}
    return {"id": "truth.differs", "values": where | largest | place, "ok": False}


def _short(value: float) -> str:
    return f"{value:.1e}".replace("e-0", f"e{MINUS}").replace("e-", f"e{MINUS}").replace("e+0", "e")


def _bytes(tensor: torch.Tensor, dtype: torch.dtype) -> bytes:
    array: bytes = tensor.detach().to("cpu", dtype).contiguous().numpy().tobytes()
    return array
