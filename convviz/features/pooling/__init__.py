"""The tab Pooling."""
