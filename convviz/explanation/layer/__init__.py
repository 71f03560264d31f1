"""A convolution layer of somebody's own model: found, recorded and shown as a window."""
