"""The app: widgets wired to one model."""
