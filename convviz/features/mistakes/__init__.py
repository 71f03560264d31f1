"""The tab Mistakes."""
