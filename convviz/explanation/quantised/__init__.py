"""Quantised layers: what rounding the weights does to numbers and gradients."""
