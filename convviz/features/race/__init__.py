"""The tab Race."""
