"""The tab Check."""
