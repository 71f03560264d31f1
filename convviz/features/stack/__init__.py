"""The tab Stack."""
