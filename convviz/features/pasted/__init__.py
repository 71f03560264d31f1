"""The tab My numbers."""
