"""The tab Your code."""
