"""The tab Double backward."""
