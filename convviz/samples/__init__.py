"""What one can look at: inputs and kernels to start from. Torch only; random ones from their own generator."""
