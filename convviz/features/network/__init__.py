"""The tab Network."""
