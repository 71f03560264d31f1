"""The tab Linear."""
