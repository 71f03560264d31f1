"""The computation that the app shows, done once more under autograd, and its graph."""

import torch

from convviz.explanation.by_torch import by_torch
from convviz.features.graph.autograd_graph import Graph
from convviz.features.graph.read_graph import private_graph
from convviz.ops.devices_and_dtypes import full_precision, onednn_off_for
from convviz.ops.losses import loss_value
from convviz.ops.stages import Stages


def graph_of_stages(stages: Stages) -> Graph:
    """Return the graph from input, weight and bias to the loss, as one would write it in PyTorch."""
    here = stages.input
    with torch.inference_mode(False), torch.enable_grad(), full_precision(here.device), onednn_off_for([here]):
        loss, params = _compute(stages)
        return private_graph(loss, params)


def _compute(stages: Stages) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    input, grad_output = stages.input, stages.grad_output
    if stages.transposed:
        input, grad_output = grad_output, input
    leaves = {"input": input, "weight": stages.weight, "bias": stages.bias}
    params = {name: leaf.detach().clone().requires_grad_() for name, leaf in leaves.items() if leaf is not None}
    output = by_torch(params["input"], params["weight"], params.get("bias"), stages.spec, stages.transposed)
    # The weights of a weighted sum are its grad_output.
    other = stages.target if stages.target is not None else grad_output
    return loss_value(stages.loss_kind, output, other), params
