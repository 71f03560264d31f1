"""The tab Matrix."""
