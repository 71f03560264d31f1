"""Gradients computed step by step, so that each step can also be taken wrongly."""
