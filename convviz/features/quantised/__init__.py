"""The tab Quantised."""
