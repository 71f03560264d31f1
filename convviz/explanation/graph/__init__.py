"""The autograd graph behind a tensor: read, replayed, laid out and drawn."""
