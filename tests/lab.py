"""What the tests of the race share."""

import pytest

from convviz.lab import network


@pytest.fixture
def small_network(monkeypatch):
    """The article's network with few channels: as many layers and the same code, at a fiftieth of the time."""
    convolutions = {"conv1": ((1, 3, 3), (3, 26, 26)), "conv2": ((3, 4, 3), (4, 24, 24))}
    linears = {"linear1": ((576, 12), (12,)), "linear2": ((12, 10), (10,))}
    monkeypatch.setattr(network, "CONVOLUTIONS", convolutions)
    monkeypatch.setattr(network, "LINEARS", linears)
