"""Which of PyTorch's backends runs a convolution, asked of torch, and told as a story."""
