"""The tab Graph."""
