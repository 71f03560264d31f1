"""The same convolution and its gradients, written out as Python for one setting: one template for each way."""
