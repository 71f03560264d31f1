"""The tab Code."""
