"""The tab PyTorch."""
